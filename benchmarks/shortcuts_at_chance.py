"""What the probes of text reach if no text tells its truth: `python benchmarks/shortcuts_at_chance.py [--draws 20]`.

Each draw is a task whose truths are random, or balanced exactly: each word is true equally often, beside any other
word. A probe that is not biased is right as often as guessing, and none solves more cases than luck allows. It takes
some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from types import MappingProxyType

import numpy as np

from vlgate.audit.choices import at_random
from vlgate.audit.shortcuts import PROBES, shortcuts
from vlgate.images.files import missing_image
from vlgate.seeds import quick_generator
from vlgate.types import Case, Match, Task

WORDS = ("dog", "cup", "red", "tall", "sits", "near", "box", "man", "runs", "tree", "lamp", "bird")
SIDES = ("on", "under", "left of", "right of")
NOUNS = ("ball", "cup", "dog", "car", "tree", "hat", "key")
RANDOM = ((60, 4, 5), (400, 4, 5), (400, 4, 4), (1000, 4, 5))
"""The number of cases, and of the words of both texts."""
SIZES = (40, 120, 400)
"""The numbers of cases of the tasks that are balanced exactly."""


def made(name: str, cases: int, *lengths: int) -> Task:
    """Return a task of pairs of random words; ``name`` seeds the draw."""
    draw = quick_generator(name)
    return _task(name, ([" ".join(draw.choices(WORDS[:10], k=length)) for length in lengths] for _ in range(cases)))


def balanced(name: str, cases: int, *, words: Sequence[str], offered: int, sentence: str) -> Task:
    """Return a task in which each word is true equally often, beside ``offered`` - 1 others; ``name`` seeds it."""
    draw = quick_generator(name)
    true = draw.sample([words[index % len(words)] for index in range(cases)], cases)
    return _task(name, (_texts(draw, word, words, offered, sentence) for word in true))


def _texts(draw: Random, true: str, words: Sequence[str], offered: int, sentence: str) -> list[str]:
    others = draw.sample([word for word in words if word != true], offered - 1)
    noun = draw.choice(NOUNS)
    return [sentence.format(word, noun) for word in (true, *others)]


def _task(name: str, rows: Iterator[Sequence[str]]) -> Task:
    cases = tuple(
        Case(
            id=str(number),
            requests=tuple(Match(image=missing_image(f"{name}-{number}", ()), text=text) for text in texts),
            truths=(True, *[False] * (len(texts) - 1)),
        )
        for number, texts in enumerate(rows)
    )
    shape = "pair" if len(cases[0].requests) == len(("caption", "foil")) else "choice"
    return Task(id="made/chance", capability="foil", shape=shape, cases=cases)


EXACT: Mapping[str, Callable[[str, int], Task]] = MappingProxyType(
    {
        "left and right": partial(balanced, words=SIDES[2:], offered=2, sentence="the {1} is {0} the table"),
        "three words": partial(balanced, words=WORDS[:3], offered=2, sentence="there is a {} here"),
        "six words": partial(balanced, words=WORDS[:6], offered=2, sentence="there is a {} here"),
        "eight words": partial(balanced, words=WORDS[:8], offered=2, sentence="the {1} is {0}"),
        "twelve words": partial(balanced, words=WORDS, offered=2, sentence="a {} {}"),
        "one of four": partial(balanced, words=SIDES, offered=4, sentence="a {1} {0} a table"),
        "four of eight": partial(balanced, words=WORDS[:8], offered=4, sentence="a {} {}"),
    }
)
"""Tasks that are balanced exactly, by what they are balanced over."""


def main(arguments: Sequence[str]) -> int:
    """Print a line per kind of task and size.

    Returns: the exit status: 1 if a probe is more than 0.02 and three standard errors from chance.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, metavar="N")
    draws = parser.parse_args(arguments).draws
    status = 0
    for size in RANDOM:
        tasks = (at_random(made(f"{draw} {size}", *size), f"at random {draw}") for draw in range(draws))
        status |= _measured(f"random truths, {size[0]} cases of {size[1]} and {size[2]} words", list(tasks))
    for name, make in EXACT.items():
        for cases in SIZES:
            tasks = (make(f"{name} {draw}", cases) for draw in range(draws))
            status |= _measured(f"balanced over {name}, {cases} cases", list(tasks))
    return status


def _measured(title: str, tasks: Sequence[Task]) -> int:
    chance = 1 / len(tasks[0].cases[0].requests)
    found = [shortcuts(task) for task in tasks]
    right = np.array([one.right.mean(axis=0) for one in found])
    means, errors = right.mean(axis=0), right.std(axis=0, ddof=1) / len(tasks) ** 0.5
    told = ", ".join(
        f"{name} {mean:.4f} +- {error:.4f}" for name, mean, error in zip(PROBES, means, errors, strict=True)
    )
    lucky = float(np.mean([1 - one.unsolved.mean() for one in found]))
    print(f"{title}: right {told} (chance {chance:.4f}); solved by luck {lucky:.4f}", flush=True)
    return int((np.abs(means - chance) > np.maximum(0.02, 3 * errors)).any())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

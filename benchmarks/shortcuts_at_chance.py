"""What the probes of text reach on random truths: `python benchmarks/shortcuts_at_chance.py [--draws 60]`.

Each draw is a task of pairs of random words whose truths are drawn anew. A probe that is not biased is right in half
of the pairs, and none solves more cases than luck allows. It takes half a minute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from vlgate.images.files import missing_image
from vlgate.seeds import quick_generator
from vlgate.shortcuts.choices import at_random
from vlgate.shortcuts.scoring import PROBES, shortcuts
from vlgate.types import Case, Match, Task

WORDS = ("dog", "cup", "red", "tall", "sits", "near", "box", "man", "runs", "tree")
SIZES = ((60, 4, 5), (400, 4, 5), (400, 4, 4), (1000, 4, 5))
"""The number of cases, and of the words of both texts."""


def made(name: str, cases: int, *lengths: int) -> Task:
    """Return a task of pairs of random words; ``name`` seeds the draw."""
    draw = quick_generator(name)
    return Task(
        id="random/pairs",
        capability="foil",
        shape="pair",
        cases=tuple(
            Case(
                id=str(number),
                requests=tuple(
                    Match(image=missing_image(f"{name}-{number}", ()), text=" ".join(draw.choices(WORDS, k=length)))
                    for length in lengths
                ),
                truths=(True, False),
            )
            for number in range(cases)
        ),
    )


def main(arguments: Sequence[str]) -> int:
    """Print a line per size.

    Returns: the exit status: 1 if a probe is more than three standard errors from one half.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=60, metavar="N")
    draws = parser.parse_args(arguments).draws
    status = 0
    for size in SIZES:
        found = [shortcuts(at_random(made(f"{draw} {size}", *size), f"at random {draw}")) for draw in range(draws)]
        right = np.array([one.right.mean(axis=0) for one in found])
        means, errors = right.mean(axis=0), right.std(axis=0, ddof=1) / draws**0.5
        status |= int((np.abs(means - 0.5) > 3 * errors).any())
        told = ", ".join(
            f"{name} {mean:.4f} +- {error:.4f}" for name, mean, error in zip(PROBES, means, errors, strict=True)
        )
        lucky = float(np.mean([1 - one.unsolved.mean() for one in found]))
        print(f"{size[0]} cases of {size[1]} and {size[2]} words: right {told}; solved by luck {lucky:.4f}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Near-copies: cases that ask nearly the same of the same image as a case of another task.

SugarCrepe++ has the captions and foils of SugarCrepe, and POPE's three files of COCO share their questions about the
objects that are there. Results on two such tasks are one piece of evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from vlgate.health.flaws import EXAMPLES, Flaw, contrasts
from vlgate.types import Case, LazyImage, Request, Shape, Task, images_of, text_of

NAME = "near-copy"
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset(("a", "an", "the"))
_SPLIT = re.compile(r"^COCO_(?:train|val|test)\d{4}_")
"""What COCO's images were called in 2014, before the numbers that they have kept."""
_DIGITS = 4
"""The fewest digits of an image's number that tells it without its folder."""
_NAMED = 3
_Marks = Sequence[tuple[int, ...]]


def near_copies(tasks: Sequence[Task]) -> dict[str, Flaw]:
    """Find the cases of each task that another one of these tasks asks nearly so.

    What is compared are a true and a false text of one image, or all questions of a case. Two texts are nearly the same
    if their words are, in their order, without case, punctuation and articles; two images are the same if they have
    the same key, or the same number of COCO or Visual Genome, without the folder, the extension and COCO's former
    prefix. The time is linear in the number of cases.

    Args:
        tasks: the tasks, with different ids.

    Returns: a flaw per task that has such cases, by id; its sentence names the other tasks, with how many there are.

    >>> near_copies([])
    {}
    """
    marks = [[_marks(case, task.shape) for case in task.cases] for task in tasks]
    seen: dict[int, int] = {}
    for number, of_task in enumerate(marks):
        for mark in chain.from_iterable(of_task):
            seen[mark] = seen.get(mark, 0) | 1 << number
    found = {task.id: _flaw(number, marks[number], tasks, seen) for number, task in enumerate(tasks)}
    return {name: flaw for name, flaw in found.items() if flaw is not None}


def _flaw(number: int, marks: _Marks, tasks: Sequence[Task], seen: Mapping[int, int]) -> Flaw | None:
    places: list[int] = []
    counts: dict[int, int] = {}
    for place, asked in enumerate(marks):
        others = 0
        for mark in asked:
            others |= seen[mark]
        others &= ~(1 << number)
        if others:
            places.append(place)
            counts[others] = counts.get(others, 0) + 1
    if not places:
        return None
    examples = tuple(tasks[number].cases[place].id for place in places[:EXAMPLES])
    return Flaw(name=NAME, count=len(places), examples=examples, why=_why(counts, tasks))


def _why(counts: Mapping[int, int], tasks: Sequence[Task]) -> str:
    found = {
        task.id: sum(count for others, count in counts.items() if others >> number & 1)
        for number, task in enumerate(tasks)
    }
    most = sorted((name for name, count in found.items() if count), key=lambda name: (-found[name], name))
    named = ", ".join(f"{name} ({found[name]:,})" for name in most[:_NAMED])
    more = f" and {len(most) - _NAMED} more" if len(most) > _NAMED else ""
    return f"nearly the same is asked of the same image in {named}{more}"


def _marks(case: Case, shape: Shape) -> tuple[int, ...]:
    """What a case asks, as numbers of 64 bits: of 400,000 cases, two that differ have the same once in 10^8 runs."""
    pairs = contrasts(case, shape)
    if not pairs:
        return (hash(tuple(map(_mark, case.requests))),)
    return tuple({hash((_mark(case.requests[true]), _mark(case.requests[false]))) for true, false in pairs})


def _mark(request: Request) -> tuple[str, ...]:
    return (*(map(_name, images_of(request)) if images_of(request) else ("",)), *_words(text_of(request)))


def _name(image: LazyImage) -> str:
    """The number of an image of COCO or Visual Genome, whatever its folder; of other images the whole key."""
    name, mark, perturbed = image.key.rpartition("/")[2].partition("#")
    stem = _SPLIT.sub("", name.rpartition(".")[0] or name)
    return stem + mark + perturbed if stem.isdecimal() and len(stem) >= _DIGITS else image.key


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _ARTICLES]

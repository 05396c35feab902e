"""What voters are asked: an image and two texts in random order, one of which is true of the image.

The order is balanced: the caption comes first in half of the items of each task (VALSE, section 4.3 and appendix E).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from vlgate.errors import OptionError
from vlgate.seeds import quick_generator
from vlgate.types import Case, LazyImage, Match, Shape, Task

Answer = Literal["first", "second", "both", "neither", "cannot_tell"]

ANSWERS: Mapping[Answer, str] = MappingProxyType(
    {
        "first": "the first, but not the second",
        "second": "the second, but not the first",
        "both": "both of them",
        "neither": "neither of the two",
        "cannot_tell": "I cannot tell",
    },
)
"""The five answers of VALSE's appendix E, by the names that they have in files."""

_ASKED: Mapping[Shape, tuple[tuple[int, int], ...]] = MappingProxyType(
    {
        "pair": ((0, 1),),
        "quad": ((0, 1), (3, 2)),
        "set": ((0, 2), (1, 3)),
        "active_passive_set": ((0, 2), (1, 3)),
        "twin_captions": ((0, 1), (3, 2)),
    },
)
"""The items of a case of each shape: the positions of the requests with the true and with the false text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One image with two texts. ``caption`` is true of it, ``foil`` is not, and ``caption_first`` is their order.

    ``id`` is a digest of everything that a voter sees and of the case, so a changed text has another id.
    """

    task: str
    case: Case
    image: LazyImage
    caption: str
    foil: str
    caption_first: bool
    id: str

    @property
    def texts(self) -> tuple[str, str]:
        """The two texts in the order that voters see."""
        return (self.caption, self.foil) if self.caption_first else (self.foil, self.caption)

    @property
    def right(self) -> Answer:
        """The answer that finds the item valid."""
        return "first" if self.caption_first else "second"


def can_be_asked(task: Task) -> bool:
    """Return whether the cases of a task have true and false texts."""
    return task.shape in _ASKED


def items_of(task: Task, seed: int) -> tuple[Item, ...]:
    """Return the items of a task, in the order of its cases.

    A pair is one item. A 2x2 is two, each image with both captions. A set is two as well: the first true sentence
    with the first false one, and the second ones.

    Raises: OptionError if the cases are questions, which have no foil.
    """
    if not can_be_asked(task):
        raise OptionError(f"task {task.id!r} has questions, which have no foil to vote on; leave it out with --suite")
    asked = [(case, *places) for case in task.cases for places in _ASKED[task.shape]]
    first = [place % 2 == 0 for place in range(len(asked))]
    quick_generator(f"{seed}:votes:{task.id}").shuffle(first)
    return tuple(_item(task.id, *one, caption_first=one_first) for one, one_first in zip(asked, first, strict=True))


def shuffled(items: Iterable[Item], seed: int) -> tuple[Item, ...]:
    """Return the items in the random order of a form."""
    ordered = sorted(items, key=lambda item: item.id)
    quick_generator(f"{seed}:votes").shuffle(ordered)
    return tuple(ordered)


def digest(items: Iterable[Item]) -> str:
    """Return the digest of a form: 16 hexadecimal digits that depend on its items, but not on their order."""
    return _digest(sorted(item.id for item in items), 16)


def _item(task: str, case: Case, true: int, false: int, *, caption_first: bool) -> Item:
    caption, foil = case.requests[true], case.requests[false]
    assert isinstance(caption, Match)  # noqa: S101  # the shapes that are asked about consist of these
    assert isinstance(foil, Match)  # noqa: S101
    texts = [caption.text, foil.text] if caption_first else [foil.text, caption.text]
    return Item(
        task=task,
        case=case,
        image=caption.image,
        caption=caption.text,
        foil=foil.text,
        caption_first=caption_first,
        id=_digest([task, case.id, true, caption.image.key, *texts], 12),
    )


def _digest(content: object, digits: int) -> str:
    return sha256(json.dumps(content).encode()).hexdigest()[:digits]

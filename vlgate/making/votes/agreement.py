"""How far voters agree: the shares and the coefficient that VALSE prints in Table 5.

Krippendorff's alpha is computed by the ``krippendorff`` library over the five answers as they were given, at the
nominal level. "The first" and "the second" are two of the five: an alpha over caption and foil would be below 0 on the
valid items, since nearly all votes there are for the caption, whereas Table 5 prints 0.23 to 0.64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from vlgate.errors import OptionError
from vlgate.making.votes.items import Answer, Item

Ballots = Mapping[str, Mapping[str, Answer]]
"""The answers by item and annotator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A line of VALSE's Table 5: numbers of items, and alpha over all items and over the valid ones.

    An alpha is None if it is not defined: no item has two votes, or all votes are the same.
    """

    items: int
    valid: int
    unanimous: int
    alpha: float | None
    alpha_valid: float | None


def is_valid(item: Item, votes: Mapping[str, Answer], voters: int = 3) -> bool:
    """Return whether an item has the votes of ``voters`` annotators, and two of three chose the caption, not the foil.

    With another number of votes, two thirds must have chosen it.
    """
    chosen = sum(answer == item.right for answer in votes.values())
    return len(votes) >= voters and 3 * chosen >= 2 * len(votes)


def is_unanimous(item: Item, votes: Mapping[str, Answer], voters: int = 3) -> bool:
    """Return whether an item has enough votes, and all of them are for the caption, not the foil."""
    return len(votes) >= voters and all(answer == item.right for answer in votes.values())


def agreement(items: Sequence[Item], ballots: Ballots, voters: int = 3) -> Agreement:
    """Return the line of the table for some items."""
    valid = [item for item in items if is_valid(item, ballots[item.id], voters)]
    return Agreement(
        items=len(items),
        valid=len(valid),
        unanimous=sum(is_unanimous(item, ballots[item.id], voters) for item in items),
        alpha=alpha([ballots[item.id] for item in items]),
        alpha_valid=alpha([ballots[item.id] for item in valid]),
    )


def alpha(ballots: Sequence[Mapping[str, Answer]]) -> float | None:
    """Return Krippendorff's alpha of nominal answers; None if it is not defined.

    Raises: OptionError, which says how to install it, if the library is missing.
    """
    try:
        import krippendorff
    except ImportError:
        raise OptionError("counting votes needs krippendorff; run pip install 'vlgate[text]'") from None
    answers = get_args(Answer)
    counts = [[[*votes.values()].count(answer) for answer in answers] for votes in ballots if len(votes) > 1]
    if sum(any(column) for column in zip(*counts, strict=True)) < 2:
        return None
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))

"""Whether captions and foils say the same things equally often: VALSE's Table 5 (appendix E, "Bias check")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2, sqrt

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How often each phrase stands in captions and in foils; ``distance`` is their Jensen-Shannon distance in 0..1."""

    captions: Mapping[str, int]
    foils: Mapping[str, int]

    @property
    def distance(self) -> float:
        """The square root of the Jensen-Shannon divergence of the two distributions, with logarithms to base 2."""
        return jensen_shannon(self.captions, self.foils)

    @property
    def items(self) -> int:
        """How many different phrases stand in captions or foils: #Lex.it. of Table 5."""
        return len({*self.captions, *self.foils})


def jensen_shannon(captions: Mapping[str, int], foils: Mapping[str, int]) -> float:
    """Return the Jensen-Shannon distance of two distributions, given as counts: 0 if they are equal, 1 if disjoint.

    Table 5 calls it a divergence, but its formula has the square root (Endres and Schindelin 2003).

    Raises: ValueError if one of them is empty.

    >>> jensen_shannon({"on": 2}, {"under": 1}), jensen_shannon({"on": 2, "in": 2}, {"on": 1, "in": 1})
    (1.0, 0.0)
    """
    sums = sum(captions.values()), sum(foils.values())
    if not all(sums):
        raise ValueError("captions and foils must have at least one phrase each")
    total = 0.0
    for phrase in sorted({*captions, *foils}):
        shares = captions.get(phrase, 0) / sums[0], foils.get(phrase, 0) / sums[1]
        mean = sum(shares) / 2
        total += sum(share * log2(share / mean) for share in shares if share)
    return sqrt(max(0.0, total / 2))


def of_classes(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Balance:
    """Count what differs between each caption and its foil, such as (("on",), ("under",)).

    A caption or a foil may have several classes, as the released foils of existence have several numbers.
    """
    captions: Counter[str] = Counter()
    foils: Counter[str] = Counter()
    for caption, foil in pairs:
        captions.update(caption)
        foils.update(foil)
    return Balance(captions=captions, foils=foils)


def of_words(pairs: Iterable[tuple[str, str]]) -> Balance:
    """Count the words of captions and of their foils, in lower case."""
    return of_classes((words(caption), words(foil)) for caption, foil in pairs)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation marks.

    >>> words("A man's hat, and 2 dogs.")
    ['a', "man's", 'hat', 'and', '2', 'dogs']
    """
    return _WORD.findall(text.lower())

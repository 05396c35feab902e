"""Rules that find a text among others about the same image by comparing the texts with one another.

Foils that are made by editing a caption have the caption in common, so it is the text that shares most words with the
others: their medoid. A model can find it without the image. So can one that knows that it is the longest, the shortest,
the first or the last in the alphabet, or the one that is least like the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.stats import wilson
from vlgate.types import FloatArray

RULES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "most words in common": (0, 1),
        "fewest words in common": (0, -1),
        "least edited": (1, 1),
        "most edited": (1, -1),
        "most letters in common": (2, 1),
        "fewest letters in common": (2, -1),
        "longest": (3, 1),
        "shortest": (3, -1),
        "last in the alphabet": (4, 1),
        "first in the alphabet": (4, -1),
    }
)
"""The column of ``likeness`` of which each rule prefers a high (1) or a low (-1) value."""
_WORD = re.compile(r"\w+")
_LETTERS = 3
_CONFIDENCE = 0.95
_CLEARLY = 0.02  # of the cases, or one standard error if that is more
_SMALL = 1e-12
_TWO = 2


def likeness(texts: Sequence[str]) -> FloatArray:
    """Compare each text with the others.

    Returns: shape (n, 5). The number of its words that others have, summed over the others; the number of words that
        differ, negative; the share of its sequences of three characters that others have; its length in characters;
        its place in the alphabet.

    >>> likeness(["a red cup", "a blue cup", "a red ball"])[:, 0].tolist()
    [4.0, 3.0, 3.0]
    """
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    shared, sizes = _shared(words), np.array([len(some) for some in words], dtype=np.float64)
    differing = (len(texts) - 2) * sizes + sizes.sum() - 2 * shared
    letters = [_sequences(text) for text in texts]
    places = {text: place for place, text in enumerate(sorted(set(texts)))}
    columns = (
        shared,
        -differing,
        _shared(letters) / np.array([len(some) for some in letters]),
        np.array([len(text) for text in texts], dtype=np.float64),
        np.array([places[text] for text in texts], dtype=np.float64),
    )
    return np.stack(columns, axis=1)


def by_rules(texts: Sequence[str], groups: Sequence[Hashable]) -> FloatArray:
    """Return what each rule says of each text among the distinct texts of its group.

    Returns: shape (n, 10), one column per rule; values in -1..1, whose mean over the distinct texts of a group is 0.
    """
    rows = compared(texts, groups)
    rows /= np.maximum(np.abs(rows).max(axis=0, initial=0.0), _SMALL)
    columns, signs = zip(*RULES.values(), strict=True)
    return np.asarray(rows[:, list(columns)] * np.array(signs), dtype=np.float64)


def compared(texts: Sequence[str], groups: Sequence[Hashable]) -> FloatArray:
    """Return the ``likeness`` of each text to the other distinct texts of its group, less its mean, shape (n, 5)."""
    members: dict[Hashable, dict[str, None]] = {}
    for text, group in zip(texts, groups, strict=True):
        members.setdefault(group, {})[text] = None
    known: dict[tuple[Hashable, str], FloatArray] = {}
    for group, some in members.items():
        values = likeness(list(some))
        known |= {(group, text): row for text, row in zip(some, values - values.mean(axis=0), strict=True)}
    return np.array([known[key] for key in zip(groups, texts, strict=True)]).reshape(len(texts), -1)


def rule_above(wins: FloatArray, guess: FloatArray, known: FloatArray) -> int | None:
    """Return the rule that is surely above chance and clearly better than what is known; None if there is none.

    Args:
        wins: what each rule gets right of each case, shape (n, rules); a tie counts what guessing gives.
        guess: what guessing gets right of each case, shape (n,).
        known: what the classifier that it may replace gets right of each case, shape (n,).
    """
    if not len(wins):
        return None
    shares = wins.mean(axis=0)
    best = int(np.argmax(shares))
    low, _ = wilson(float(shares[best]), len(wins), 1 - (1 - _CONFIDENCE) / wins.shape[1])
    gains = wins[:, best] - known
    clearly = max(_CLEARLY, float(np.sqrt((gains**2).mean() / len(gains))))
    return best if low > guess.mean() and gains.mean() > clearly else None


def several(texts: Sequence[str], groups: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Return whether the group of each text has more than two texts, shape (n,): two are as like one to the other."""
    sizes = Counter(group for group, _ in set(zip(groups, texts, strict=True)))
    return np.array([sizes[group] > _TWO for group in groups], dtype=np.bool_)


def _shared(parts: Sequence[frozenset[str]]) -> FloatArray:
    """The number of its parts that others have, summed over the others: linear in the number of texts."""
    counts = Counter(part for some in parts for part in some)
    return np.array([sum(counts[part] for part in some) - len(some) for some in parts], dtype=np.float64)


def _sequences(text: str) -> frozenset[str]:
    whole = f" {' '.join(text.casefold().split())} "
    return frozenset(whole[at : at + _LETTERS] for at in range(max(1, len(whole) - _LETTERS + 1)))

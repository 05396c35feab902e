"""Rules that find a text among others about the same image by comparing the texts with one another.

Foils that are made by editing a caption have the caption in common, so it is the text which shares most words with the
others: their medoid. A model can find it without the image. So can one that knows that it is the longest, the shortest,
the first or the last in the alphabet, or the one that is least like the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from vlgate.types import FloatArray

_WORD = re.compile(r"\w+")
_LETTERS = 3

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
"""The column of ``likeness`` that each rule prefers a high (1) or a low (-1) value of."""
SYMMETRIC = tuple(name for name, (column, _) in RULES.items() if column < 3)
"""The rules that two texts always tie by."""


def likeness(texts: Sequence[str]) -> FloatArray:
    """Compare each text with the others.

    Returns: shape (n, 5). How many of its words the others have, summed over the others; minus how many words differ
        from each of the others; the share of its sequences of three characters that the others have; its length in
        characters; its place in the alphabet. The first three are sums over the others, in time linear in the texts.

    >>> likeness(["a red cup", "a blue cup", "a red ball"])[:, 0].tolist()
    [4.0, 3.0, 3.0]
    """
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    shared, sizes = _shared(words), np.array([len(some) for some in words], dtype=np.float64)
    others = len(texts) - 1
    edits = others * sizes + sizes.sum() - sizes - 2 * shared
    letters = [_sequences(text) for text in texts]
    places = {text: place for place, text in enumerate(sorted(set(texts)))}
    columns = (
        shared,
        -edits,
        _shared(letters) / np.array([max(1, len(some)) for some in letters]),
        np.array([len(text) for text in texts], dtype=np.float64),
        np.array([places[text] for text in texts], dtype=np.float64),
    )
    return np.stack(columns, axis=1)


def _shared(parts: Sequence[frozenset[str]]) -> FloatArray:
    """How many of its parts each of the others has, summed over the others."""
    counts = Counter(part for some in parts for part in some)
    return np.array([sum(counts[part] for part in some) - len(some) for some in parts], dtype=np.float64)


def _sequences(text: str) -> frozenset[str]:
    whole = f" {' '.join(text.casefold().split())} "
    return frozenset(whole[at : at + _LETTERS] for at in range(max(1, len(whole) - _LETTERS + 1)))

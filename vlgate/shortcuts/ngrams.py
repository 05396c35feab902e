"""A language model of words, trained on the true texts of the other folds: trigrams, interpolated with fixed weights.

The probability of a word is a mean of those after the two words, the one word and no word before it (Jelinek and
Mercer 1980), so that every text has one. It needs no weights from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from vlgate.health.text_classifier import IntArray
from vlgate.shortcuts.choices import BoolArray, Choices, Findings
from vlgate.types import FloatArray

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[^\w\s]")
_WEIGHTS = (0.5, 0.3, 0.2)  # of trigrams, bigrams and single words
_BEGIN, _END = 0, 1


def ngram_features(found: Choices) -> Findings:
    """Return the mean log-probability of each candidate's words, weighed by its length, as features of shape (m, 2).

    The features are the mean times 1 more than the number of words above that of the shortest text, and below that of
    the longest. Sums of them with weights of at least 0 are the scores of means and sums of log-probabilities that, of
    two texts of a length, never prefer the less likely one: it is unlikely elsewhere because it is true here.
    """
    texts = Trigrams(found.whole())
    folds = found.folds[found.owners]
    longer, shorter = texts.lengths - texts.lengths.min() + 1, texts.lengths.max() - texts.lengths + 1

    def without(fold: int) -> FloatArray:
        """Return the features with a fold left out."""
        means = texts.mean_logs(found.true & (folds != fold), folds)
        return np.stack([means * longer, means * shorter], axis=1)

    return without, np.array([True, True])


class Trigrams:
    """The words of m texts, numbered, with the one and the two words before each.

    ``lengths``, shape (m,), counts the words of each text and its end.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Number the words."""
        words, rows, self._size = _words(texts)
        inside = rows[2:] >= 0
        before = _numbered(words[:-2] * self._size + words[1:-1])
        ends = [words[2:], words[1:-1] * self._size + words[2:], before * self._size + words[2:]]
        self._after = [_numbered(one[inside]) for one in ends]
        contexts = [np.zeros(len(before), dtype=np.int64), words[1:-1], before]
        self._contexts = [_numbered(one[inside]) for one in contexts]
        self._rows = rows[2:][inside]
        self.lengths = np.bincount(self._rows, minlength=len(texts)).astype(np.float64)

    def mean_logs(self, trained: BoolArray, folds: IntArray) -> FloatArray:
        """Return the mean log-probability of the words of each text, its end included, shape (m,).

        Args:
            trained: which texts the model is trained on, shape (m,).
            folds: the fold of each text, shape (m,); a text is scored by the counts of the other folds.
        """
        kept, place = trained[self._rows], folds[self._rows]
        keys = (*self._after, *self._contexts)
        whole = [_counts(one, kept) for one in keys]
        logs = np.zeros(len(self._rows))
        for fold in np.unique(folds):
            here = place == fold
            seen = [total - _counts(one, kept & here) for total, one in zip(whole, keys, strict=True)]
            found = [count[one[here]] for count, one in zip(seen, keys, strict=True)]
            logs[here] = _interpolated(list(zip(found[:3], found[3:], strict=True)), self._size)
        return np.bincount(self._rows, weights=logs, minlength=len(self.lengths)) / self.lengths


def _interpolated(likely: Sequence[tuple[IntArray, IntArray]], size: int) -> FloatArray:
    """The log-probabilities from the counts of words and of their contexts: one word, two words, three words."""
    (single, total), *longer = likely
    found = (single + 1) / (total + size)
    result = _WEIGHTS[2] * found
    lower = found
    for weight, (count, context) in zip((_WEIGHTS[1], _WEIGHTS[0]), longer, strict=True):
        lower = np.where(context > 0, count / np.maximum(context, 1), lower)
        result = result + weight * lower
    return np.asarray(np.log(result), dtype=np.float64)


def _words(texts: Sequence[str]) -> tuple[IntArray, IntArray, int]:
    """The numbers of all words, two beginnings before and one end after each text, the text of each, the vocabulary.

    The text of a beginning is -1.
    """
    known: dict[str, int] = {}
    words: list[int] = []
    rows: list[int] = []
    for row, text in enumerate(texts):
        found = [known.setdefault(word, len(known) + 2) for word in _WORD.findall(text.lower())]
        words += [_BEGIN, _BEGIN, *found, _END]
        rows += [-1, -1, *[row] * (len(found) + 1)]
    return np.array(words, dtype=np.int64), np.array(rows, dtype=np.int64), len(known) + 2


def _numbered(keys: IntArray) -> IntArray:
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _counts(keys: IntArray, kept: BoolArray) -> IntArray:
    return np.bincount(keys[kept], minlength=int(keys.max()) + 1)

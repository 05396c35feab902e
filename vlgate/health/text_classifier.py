"""Naive Bayes over the words of short texts, cross-validated: a text is classified by a model trained on other folds.

The model is multinomial, with add-one smoothing (Manning, Raghavan and Schuetze 2008, section 13.2). The features are
words, punctuation marks, and pairs of neighbours including the two ends of the text, all in lower case.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray

IntArray = NDArray[np.int64]
_END = "\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The features of n texts: text i has the features ``ids[starts[i]:starts[i + 1]]``, each below ``size``."""

    ids: IntArray
    starts: IntArray
    size: int

    def of(self, texts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the features of some texts, one text after the other.

        Returns: the ids of the features, and the position in ``texts`` of each feature's text; both of shape (f,).
        """
        lengths = self.starts[texts + 1] - self.starts[texts]
        rows = np.repeat(np.arange(len(texts)), lengths)
        before = np.cumsum(lengths) - lengths
        return self.ids[np.arange(len(rows)) + np.repeat(self.starts[texts] - before, lengths)], rows


def features(texts: Sequence[str]) -> Features:
    """Return the features of texts; all at once, because one call per text would take longer than the classifier."""
    whole = f" {_END} ".join(["", *(text.replace(_END, " ") for text in texts), ""]).lower()
    for mark in string.punctuation:
        whole = whole.replace(mark, f" {mark} ")
    tokens = whole.split()
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    words = np.fromiter(map(numbers.__getitem__, tokens), dtype=np.int64, count=len(tokens))
    distinct, pairs = np.unique(words[:-1] * len(numbers) + words[1:], return_inverse=True)
    ends = words == numbers[_END]
    both = np.stack([words[1:], pairs.reshape(-1) + len(numbers)], axis=1)
    kept = np.stack([~ends[1:], np.ones(len(pairs), dtype=bool)], axis=1)
    rows = np.cumsum(ends)[:-1] - 1
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, weights=kept.sum(axis=1), minlength=len(texts)))])
    return Features(ids=both[kept], starts=starts.astype(np.int64), size=len(numbers) + len(distinct))


def log_odds(known: Features, texts: IntArray, truths: NDArray[np.bool_], folds: IntArray) -> FloatArray:
    """Return the log odds that each text is true rather than false, learnt from the texts of the other folds.

    Args:
        known: the features of the distinct texts.
        texts: the number of each instance's text, shape (n,).
        truths: whether it is true, shape (n,).
        folds: its fold, shape (n,).

    Returns: log odds of shape (n,); 0.0 if the other folds do not hold both true and false texts.
    """
    scores = np.zeros(len(texts))
    whole = [_counts(known, texts[truths == label]) for label in (False, True)]
    for fold in np.unique(folds):
        inside = folds == fold
        others = [int(np.sum(~inside & (truths == label))) for label in (False, True)]
        if not all(others):
            continue
        seen = [whole[label] - _counts(known, texts[inside & (truths == label)]) for label in (False, True)]
        false, true = (np.log(counts + 1) - np.log(counts.sum() + known.size) for counts in seen)
        ids, rows = known.of(texts[inside])
        prior = np.log(others[1] + 1) - np.log(others[0] + 1)
        scores[inside] = prior + np.bincount(rows, weights=(true - false)[ids], minlength=int(inside.sum()))
    return scores


def _counts(known: Features, texts: IntArray) -> IntArray:
    return np.bincount(known.of(texts)[0], minlength=known.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The texts, right answers, folds and candidate answers of n questions.

    ``texts``, ``answers`` and ``folds`` have shape (n,). ``candidates`` and ``owners`` have shape (m,): candidate j
    belongs to question ``owners[j]``. Owners are in ascending order, each question has at least one candidate, and the
    candidates of a question are in ascending order.
    """

    texts: IntArray
    answers: IntArray
    folds: IntArray
    candidates: IntArray
    owners: IntArray


def likely_answers(known: Features, asked: Questions) -> IntArray:
    """Return the most likely candidate of each question, learnt from the questions of the other folds.

    Returns: answers of shape (n,); if candidates are equally likely, the smallest of them.
    """
    return _best(answer_scores(known, asked), asked)


def answer_scores(known: Features, asked: Questions) -> FloatArray:
    """Return how likely each candidate is, learnt from the questions of the other folds.

    Returns: logarithms of likelihoods, of shape (m,), which differ from the true ones by a constant for each question.
    """
    scores = np.zeros(len(asked.owners))
    labels = int(max(asked.answers.max(), asked.candidates.max())) + 1
    ids, rows = known.of(asked.texts)
    codes, where = np.unique(asked.answers[rows] * known.size + ids, return_inverse=True)
    where = where.reshape(-1)
    for fold in np.unique(asked.folds):
        others = asked.folds != fold
        counts = np.bincount(where[others[rows]], minlength=len(codes))
        answers = np.bincount(asked.answers[others], minlength=labels)
        words = np.bincount(asked.answers[rows[others[rows]]], minlength=labels)
        inside = asked.folds[asked.owners] == fold
        candidates = asked.candidates[inside]
        texts = asked.texts[asked.owners[inside]]
        word_ids, places = known.of(texts)
        wanted = candidates[places] * known.size + word_ids
        found = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        likely = np.log(np.where(codes[found] == wanted, counts[found], 0) + 1)
        lengths = np.bincount(places, minlength=len(texts))
        smooth = np.log(answers[candidates] + 1) - lengths * np.log(words[candidates] + known.size)
        scores[inside] = smooth + np.bincount(places, weights=likely, minlength=len(texts))
    return scores


def _best(scores: FloatArray, asked: Questions) -> IntArray:
    _, starts = np.unique(asked.owners, return_index=True)
    highest = np.maximum.reduceat(scores, starts)
    winners = np.flatnonzero(scores == highest[asked.owners])
    _, first = np.unique(asked.owners[winners], return_index=True)
    return asked.candidates[winners[first]]

"""The probe ``words``: which words, and pairs of neighbours, are more often true than false in the other folds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vlgate.health.text_classifier import Questions, answer_scores, features, log_odds
from vlgate.shortcuts.choices import BoolArray, Choices, Findings
from vlgate.types import FloatArray


def word_features(found: Choices) -> Findings:
    """Return the log odds of naive Bayes that each candidate is right, as features of shape (m, 1).

    It is the classifier of the text-only baseline, ``vlgate.health.text_classifier``.
    """
    learnt = _of_answers(found) if found.questions else _of_texts(found)
    every = learnt(np.ones(len(found.cases), dtype=np.bool_))

    def without(fold: int) -> FloatArray:
        """Return the features with a fold left out."""
        kept = found.folds != fold
        rows = kept[found.owners]
        scores = every.copy()
        scores[rows] = learnt(kept)
        return scores[:, None]

    return without, np.array([True])


def _of_texts(found: Choices) -> Callable[[BoolArray], FloatArray]:
    numbers = {text: number for number, text in enumerate(dict.fromkeys(found.texts))}
    texts = np.array([numbers[text] for text in found.texts], dtype=np.int64)
    known, folds = features(list(numbers)), found.folds[found.owners]

    def learnt(kept: BoolArray) -> FloatArray:
        """Return the log odds of the candidates of some choices, cross-fitted among them."""
        rows = kept[found.owners]
        return log_odds(known, texts[rows], found.true[rows], folds[rows])

    return learnt


def _of_answers(found: Choices) -> Callable[[BoolArray], FloatArray]:
    labels = {text: number for number, text in enumerate(sorted(set(found.texts)))}
    numbers = {text: number for number, text in enumerate(dict.fromkeys(found.questions))}
    candidates = np.array([labels[text] for text in found.texts], dtype=np.int64)
    texts = np.array([numbers[text] for text in found.questions], dtype=np.int64)
    known, answers = features(list(numbers)), candidates[found.true]

    def learnt(kept: BoolArray) -> FloatArray:
        """Return the log-likelihoods of the answers to some questions, cross-fitted among them."""
        rows = kept[found.owners]
        asked = Questions(
            texts=texts[kept],
            answers=answers[kept],
            folds=found.folds[kept],
            candidates=candidates[rows],
            owners=(np.cumsum(kept) - 1)[found.owners[rows]],
        )
        return answer_scores(known, asked)

    return learnt

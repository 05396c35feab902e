"""Choose one of a question's choices from a model's scores over its answers.

Nothing is guessed. A question with a choice that the model does not know as an answer has no reply, with a reason. If
the best choices have exactly the same score, the reply is ``TIED``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from vlgate.errors import ModelReplyError, NoReplyError
from vlgate.inference.batching import OVERFLOW
from vlgate.judging.answers import normal_answer
from vlgate.perturb.numbers import NUMBER_WORDS
from vlgate.types import TIED, Ask, FloatArray

MODES = ("restricted", "open")

_DIGITS = {word: str(number) for number, word in enumerate(NUMBER_WORDS[:11])}
_ARTICLES = frozenset(("a", "an", "the"))


def vqa_form(text: str) -> str:
    """Return an answer in the form of the labels of VQA v2: no articles or punctuation, numbers up to ten as digits.

    >>> vqa_form("The Two dogs.")
    '2 dogs'

    Source: the answer processing of the VQA evaluation (Antol et al. 2015, visualqa.org/evaluation).
    """
    words = (word.strip("':") for word in re.sub(r"[^\w\s':]", " ", normal_answer(text)).split())
    return " ".join(_DIGITS.get(word, word) for word in words if word and word not in _ARTICLES)


class Vocabulary:
    """The answers that a classifier chooses from, and their positions in its logits."""

    def __init__(self, labels: Sequence[str]) -> None:
        """Index the labels, given in the order of the logits; of two that read the same, the first one counts."""
        self.labels = tuple(labels)
        self._exact: dict[str, int] = {}
        self._formed: dict[str, int] = {}
        for place, label in enumerate(self.labels):
            self._exact.setdefault(normal_answer(label), place)
            self._formed.setdefault(vqa_form(label), place)
        self._formed.pop("", None)  # from a label that is only an article

    def place(self, choice: str) -> int | None:
        """Return the index of a choice among the labels, as written or in the form of VQA v2; None if it is not one.

        >>> Vocabulary(("yes", "2")).place("Two")
        1
        """
        formed = vqa_form(choice)
        found = (self._exact.get(normal_answer(choice)), self._exact.get(formed), self._formed.get(formed))
        return next((place for place in found if place is not None), None)

    def unknown(self, choices: Sequence[str]) -> list[str]:
        """Return the choices that are not labels."""
        return [choice for choice in choices if self.place(choice) is None]


def refuse(reasons: Mapping[int, str]) -> None:
    """Refuse to answer some questions.

    Args:
        reasons: the reasons, by the position of the question; empty to refuse nothing.

    Raises: NoReplyError for all questions with the first of the reasons; the caller asks the other questions again.
    """
    if reasons:
        why = next(iter(reasons.values()))
        raise NoReplyError([place for place, reason in reasons.items() if reason == why], why)


def best(choices: Sequence[Sequence[str]], scores: Sequence[FloatArray]) -> list[str]:
    """Return the choice of each question that has the highest score.

    Args:
        choices: the choices of n questions, at least one for each.
        scores: the scores of the choices, one array per question.

    Returns: n choices, as they were given; ``TIED`` for a question whose best choices have exactly the same score.
    Raises: ModelReplyError if a score is not finite.

    >>> best([("yes", "no"), ("red", "blue")], [np.array([0.2, 0.1]), np.array([0.3, 0.3])])
    ['yes', '<tied>']
    """
    found = []
    for offered, values in zip(choices, scores, strict=True):
        if not np.isfinite(values).all():
            raise ModelReplyError(f"a score of an answer is not finite: {OVERFLOW}")
        first = np.flatnonzero(values == np.max(values))
        found.append(offered[int(first[0])] if len(first) == 1 else TIED)
    return found


def restricted(question: Ask, mode: str) -> bool:
    """Return whether a question must be answered by one of its choices, not by any answer that the model knows."""
    return mode == "restricted" and bool(question.choices)

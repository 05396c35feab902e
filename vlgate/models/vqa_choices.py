"""From what a model says of each answer to one of a question's choices, or to a plain statement that it is none.

Nothing is guessed: a question with a choice that is no answer that the model knows has no reply, and the reason says
so; where the best choices score exactly the same, the reply is ``TIED``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from vlgate.answers import normal_answer
from vlgate.errors import ModelReplyError, NoReplyError
from vlgate.types import TIED, Ask, FloatArray

MODES = ("restricted", "open")

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS)}
_ARTICLES = frozenset(("a", "an", "the"))


def vqa_form(text: str) -> str:
    """An answer as the labels of VQA v2 are written: no articles or punctuation, numbers up to ten as digits.

    >>> vqa_form("The Two dogs.")
    '2 dogs'

    Source: the answer processing of the VQA evaluation (Antol et al. 2015, visualqa.org/evaluation).
    """
    words = (word.strip("':") for word in re.sub(r"[^\w\s':]", " ", normal_answer(text)).split())
    return " ".join(_DIGITS.get(word, word) for word in words if word and word not in _ARTICLES)


class Vocabulary:
    """The answers that a classifier chooses from, by their places in its logits."""

    def __init__(self, labels: Sequence[str]) -> None:
        """Take the labels in the order of the logits; of two that read the same, the first counts."""
        self.labels = tuple(labels)
        self._exact: dict[str, int] = {}
        self._formed: dict[str, int] = {}
        for place, label in enumerate(self.labels):
            self._exact.setdefault(normal_answer(label), place)
            self._formed.setdefault(vqa_form(label), place)
        self._formed.pop("", None)  # of a label that is an article only

    def place(self, choice: str) -> int | None:
        """Where a choice stands among the labels: as it is written, else as VQA v2 would write it; None for nowhere.

        >>> Vocabulary(("yes", "2")).place("Two")
        1
        """
        formed = vqa_form(choice)
        ways = (self._exact.get(normal_answer(choice)), self._exact.get(formed), self._formed.get(formed))
        return next((place for place in ways if place is not None), None)

    def unknown(self, choices: Sequence[str]) -> list[str]:
        """Those of some choices that are no label."""
        return [choice for choice in choices if self.place(choice) is None]


def refuse(reasons: Mapping[int, str]) -> None:
    """Leave questions without a reply.

    Args:
        reasons: why, by the question's place among those asked; an empty mapping refuses nothing.

    Raises: NoReplyError for all the questions with the first reason; those left are asked again by the caller.
    """
    if reasons:
        why = next(iter(reasons.values()))
        raise NoReplyError([place for place, reason in reasons.items() if reason == why], why)


def best(choices: Sequence[Sequence[str]], scores: Sequence[FloatArray]) -> list[str]:
    """The choice of each question that scores highest.

    Args:
        choices: of n questions, each at least one.
        scores: as many numbers a question as it has choices.

    Returns: n choices, as they were given; ``TIED`` for a question whose best choices score exactly the same.
    Raises: ModelReplyError where a score is not finite.

    >>> best([("yes", "no"), ("red", "blue")], [np.array([0.2, 0.1]), np.array([0.3, 0.3])])
    ['yes', '<tied>']
    """
    found = []
    for offered, values in zip(choices, scores, strict=True):
        if not np.isfinite(values).all():
            raise ModelReplyError("a score of an answer is not finite; use another dtype")
        first = np.flatnonzero(values == np.max(values))
        found.append(offered[int(first[0])] if len(first) == 1 else TIED)
    return found


def restricted(question: Ask, mode: str) -> bool:
    """Whether a question is answered by one of its choices rather than by anything that the model knows."""
    return mode == "restricted" and bool(question.choices)

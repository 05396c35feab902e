"""The common part of models that answer questions from pixels: preparing a batch, and noting texts that are cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vlgate.models.cross.cross_encoder import Inputs, Preparation
from vlgate.types import Ask


class Replies(Protocol):
    """The part of an architecture that computes the answers of a prepared batch."""

    @property
    def note(self) -> str:
        """A note on the replies so far for the readers of the results; "" for nothing."""

    def check(self, questions: Sequence[Ask]) -> None:
        """Raise NoReplyError for questions that cannot be answered, before anything is computed."""

    def reply(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        """Return n answers, ``TIED`` if the best choices of a question have exactly the same score."""


class QuestionAnswerer:
    """A model that answers questions about images.

    ``cut_texts`` holds all questions so far that were longer than the model's context and lost their end.
    """

    def __init__(self, replies: Replies, prepare: Preparation, *, fingerprint: str) -> None:
        """Combine the replies of an architecture with the preparation of its inputs."""
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._replies = replies
        self._prepare = prepare

    @property
    def note(self) -> str:
        """A note for the readers of the results; "" for nothing."""
        return self._replies.note

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """Answer n questions, each by one of its choices if it has some and the mode is not ``open``.

        Returns: n answers, ``TIED`` if the best choices have exactly the same score.
        Raises: ImageError for the first image that cannot be decoded; NoReplyError for refused images, and for
            questions with a choice that the model cannot give.
        """
        import torch

        self._replies.check(questions)
        inputs = self._prepare.inputs(
            [question.image for question in questions], [question.question for question in questions]
        )
        with torch.inference_mode():
            found = self._replies.reply(inputs, questions)
        self.cut_texts |= inputs.cut
        return found

    def text_keys(self, texts: Sequence[str]) -> list[bytes]:
        """Return the tokens of each question; longer ones are cut at the model's context and added to ``cut_texts``."""
        self.cut_texts |= self._prepare.cut(texts)
        return self._prepare.text_keys(texts)

"""What models that answer questions about pixels have in common: the batch, and the texts that were cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vlgate.models.matching import Inputs, Preparation
from vlgate.types import Ask


class Replies(Protocol):
    """How one architecture comes to its answers. ``note`` says what a reader of the results must know."""

    @property
    def note(self) -> str:
        """What to know of the replies so far; "" for nothing."""

    def check(self, questions: Sequence[Ask]) -> None:
        """Raise NoReplyError for questions that cannot be answered, before anything is computed for them."""

    def reply(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        """Return n answers, ``TIED`` where the best of a question's choices score exactly the same."""


class QuestionAnswerer:
    """A model that answers questions about pictures.

    ``cut_texts`` holds the questions so far that lost their end.
    """

    def __init__(self, replies: Replies, prepare: Preparation, *, fingerprint: str) -> None:
        """Take an architecture's way to its answers, and what makes its inputs."""
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._replies = replies
        self._prepare = prepare

    @property
    def note(self) -> str:
        """What a reader of the results must know; "" for nothing."""
        return self._replies.note

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """Answer n questions, each by one of its choices where it has some and the mode is not ``open``.

        Returns: n answers, ``TIED`` where the best choices score exactly the same.
        Raises: PictureError of the first picture that cannot be decoded; NoReplyError for those too narrow to prepare,
            and for questions with a choice that is none of the model's answers.
        """
        import torch

        self._replies.check(questions)
        inputs = self._prepare.inputs(
            [question.picture for question in questions], [question.question for question in questions]
        )
        with torch.inference_mode():
            found = self._replies.reply(inputs, questions)
        self.cut_texts |= inputs.cut
        return found

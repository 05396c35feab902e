"""``vilt-vqa:WEIGHTS``: ViLT fine-tuned to choose among the answers of VQA v2 (Kim et al. 2021, section 4.4).

A question is answered by the one of its choices whose label has the highest logit; with ``?mode=open`` after the
weights by the label that has the highest of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.answering import QuestionAnswerer
from vlgate.models.checkpoints import Architecture, check_local, checked_option, loaded
from vlgate.models.hub import Pretrained, pretrained, split_options
from vlgate.models.matching import Inputs
from vlgate.models.vilt import pooled, preparation
from vlgate.models.vqa_choices import MODES, Vocabulary, alike, best, refuse, restricted
from vlgate.types import Ask

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT = "dandelin/vilt-b32-finetuned-vqa"
_ANSWERING = Architecture(kind="vilt", model="ViltForQuestionAnswering", processor="ViltProcessor")


class LabelReplies:
    """Answers from a classifier's logits over its vocabulary."""

    def __init__(self, model: Any, vocabulary: Vocabulary, mode: str) -> None:
        """Take a ``ViltForQuestionAnswering``; ``mode`` is one of ``MODES``."""
        self._model = model
        self._vocabulary = vocabulary
        self._mode = mode
        self._unknown: set[str] = set()

    @property
    def note(self) -> str:
        """How many choices so far are no answer that the model knows."""
        if not self._unknown:
            return ""
        some = ", ".join(map(repr, sorted(self._unknown)[:3]))
        return (
            f"{len(self._unknown)} choices are none of the model's {len(self._vocabulary.labels)} answers ({some}); "
            "questions with them have no reply, except with ?mode=open"
        )

    def check(self, questions: Sequence[Ask]) -> None:
        """Refuse questions with a choice that is no label, or with two that are the same label."""
        reasons: dict[int, str] = {}
        for place, question in enumerate(questions):
            if restricted(question, self._mode) and (why := self._problem(question.choices)):
                reasons[place] = why
        refuse(reasons)

    def _problem(self, choices: Sequence[str]) -> str | None:
        if unknown := self._vocabulary.unknown(choices):
            self._unknown.update(unknown)
            return f"the choice {unknown[0]!r} is none of the answers that the model knows"
        return alike(choices, [self._vocabulary.place(choice) for choice in choices])

    def reply(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        """The best of each question's choices, or of all labels."""
        logits = self._model.classifier(pooled(self._model.vilt, inputs)).float().cpu().numpy().astype(np.float64)
        labels = self._vocabulary.labels
        offered = [question.choices if restricted(question, self._mode) else labels for question in questions]
        return best(offered, [row[self._places(some)] for row, some in zip(logits, offered, strict=True)])

    def _places(self, choices: Sequence[str]) -> list[int]:
        if choices is self._vocabulary.labels:
            return list(range(len(choices)))
        return [place for choice in choices if (place := self._vocabulary.place(choice)) is not None]


def labels_of(names: Mapping[int, str], asked: str) -> Vocabulary:
    """The vocabulary that a checkpoint's ``id2label`` gives.

    Raises: ModelLoadError where it names no answers.
    """
    labels = [names[place] for place in range(len(names))]
    if not labels or all(label == f"LABEL_{place}" for place, label in enumerate(labels)):
        raise ModelLoadError(f"{asked}: its config.json names no answers; write them as id2label, in the logits' order")
    return Vocabulary(labels)


def _parsed(weights: str, folder: Path) -> tuple[Pretrained, str]:
    name, options = split_options(weights, ("mode",))
    return pretrained(name, folder, default=DEFAULT), checked_option("mode", options.get("mode", MODES[0]), MODES)


def check(weights: str, folder: Path) -> None:
    """Say whether local weights are there and the options known; imports no torch.

    Raises: ModelLoadError.
    """
    check_local(_parsed(weights, folder)[0], _ANSWERING)


def build(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> QuestionAnswerer:
    """Load a ViLT that answers questions.

    Args:
        weights: a hub repository or a local folder (``DEFAULT`` where empty), then ``?mode=open`` for answers that
            are not held to the question's choices.
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError, which says what was looked for, where, and what to do.
    """
    source, mode = _parsed(weights, folder)
    model, processor, what = loaded(_ANSWERING, source, device=device, dtype=dtype)
    replies = LabelReplies(model, labels_of(model.config.id2label, source.asked), mode)
    return QuestionAnswerer(replies, preparation(model, processor), fingerprint=f"{what} {mode}")

"""``vilt-vqa:WEIGHTS``: ViLT fine-tuned to choose among the answers of VQA v2 (Kim et al. 2021, section 4.4).

A question is answered by the one of its choices whose label has the highest logit; with ``?mode=open`` after the
weights by the label that has the highest of all. The labels stand in the checkpoint's ``config.json``; ``answers=FILE``
names others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.models.answer_lists import AnswerList, answer_list, answers_file, read_answers
from vlgate.models.answering import QuestionAnswerer
from vlgate.models.checkpoints import Architecture, check_local, checked_option, loaded
from vlgate.models.hub import Pretrained, pretrained, split_options
from vlgate.models.matching import Inputs
from vlgate.models.trial import tried
from vlgate.models.vilt import pooled, preparation
from vlgate.models.vqa_choices import MODES
from vlgate.types import Ask

DEFAULT = "dandelin/vilt-b32-finetuned-vqa"
_ANSWERING = Architecture(kind="vilt", model="ViltForQuestionAnswering", processor="ViltProcessor")
_WHERE = "the labels in the order of its logits, which a published checkpoint has as id2label in its config.json"


class LabelReplies:
    """Answers from a classifier's logits over its vocabulary."""

    def __init__(self, model: Any, answers: AnswerList) -> None:
        """Take a ``ViltForQuestionAnswering`` and the names of its labels."""
        self._model = model
        self._answers = answers

    @property
    def note(self) -> str:
        """How many choices so far are no answer that the model knows."""
        return self._answers.note

    def check(self, questions: Sequence[Ask]) -> None:
        """Refuse questions with a choice that is no label."""
        self._answers.check(questions)

    def reply(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        """The best of each question's choices, or of all labels."""
        logits = self._model.classifier(pooled(self._model.vilt, inputs)).float().cpu().numpy().astype(np.float64)
        return self._answers.choose(logits, questions)


def _parsed(weights: str, folder: Path) -> tuple[Pretrained, str, Path | None]:
    name, options = split_options(weights, ("mode", "answers"))
    mode = checked_option("mode", options.get("mode", MODES[0]), MODES)
    file = answers_file(options.get("answers", ""), folder, None, ())
    return pretrained(name, folder, default=DEFAULT), mode, file


def check(weights: str, folder: Path) -> None:
    """Say whether local weights are there and the options known; imports no torch.

    Raises: ModelLoadError.
    """
    source, _, file = _parsed(weights, folder)
    check_local(source, _ANSWERING)
    if file is not None:
        read_answers(file)


def build(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> QuestionAnswerer:
    """Load a ViLT that answers questions.

    Args:
        weights: a hub repository or a local folder (``DEFAULT`` where empty), then ``?mode=open`` for answers that
            are not held to the question's choices, and ``&answers=FILE`` for the names of the labels.
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError, which says what was looked for, where, and what to do.
    """
    source, mode, file = _parsed(weights, folder)
    model, processor, what = loaded(_ANSWERING, source, device=device, dtype=dtype)
    config = model.config
    answers = answer_list(file, config.id2label, config.num_labels, mode=mode, where=_WHERE)
    replies = LabelReplies(model, answers)
    found = QuestionAnswerer(replies, preparation(model, processor), fingerprint=f"{what} {answers.fingerprint}")
    return tried(found, source.asked)

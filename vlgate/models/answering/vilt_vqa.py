"""``vilt-vqa:WEIGHTS``: ViLT fine-tuned to choose among the answers of VQA v2 (Kim et al. 2021, section 4.4).

The reply to a question is the choice whose label has the highest logit or, with ``?mode=open`` after the weights, the
label with the highest logit of all. The labels are in the checkpoint's ``config.json``; ``answers=FILE`` gives others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.models.answering.answer_lists import AnswerList, answer_list, answers_file, read_answers
from vlgate.models.answering.question_answerer import QuestionAnswerer
from vlgate.models.answering.vqa_choices import MODES
from vlgate.models.checkpoints.architecture import Architecture, check_local, checked_option, loaded
from vlgate.models.checkpoints.hub import Pretrained, pretrained, split_options
from vlgate.models.checkpoints.trial import tried
from vlgate.models.cross.cross_encoder import Inputs
from vlgate.models.cross.vilt import pooled, preparation
from vlgate.types import Ask

DEFAULT = "dandelin/vilt-b32-finetuned-vqa"
_ANSWERING = Architecture(kind="vilt", model="ViltForQuestionAnswering", processor="ViltProcessor")
_WHERE = "the labels in the order of its logits, which a published checkpoint has as id2label in its config.json"


class LabelReplies:
    """Replies of a classifier over a fixed list of labels."""

    def __init__(self, model: Any, answers: AnswerList) -> None:
        """Use a ``ViltForQuestionAnswering`` with the names of its labels."""
        self._model = model
        self._answers = answers

    @property
    def note(self) -> str:
        """A note with the number of choices so far that the model cannot give; "" for none."""
        return self._answers.note

    def check(self, questions: Sequence[Ask]) -> None:
        """Raise NoReplyError for questions with a choice that is not a label."""
        self._answers.check(questions)

    def reply(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        """Return the best choice of each question, or the best of all labels."""
        logits = self._model.classifier(pooled(self._model.vilt, inputs)).float().cpu().numpy().astype(np.float64)
        return self._answers.choose(logits, questions)


def _parsed(weights: str, folder: Path) -> tuple[Pretrained, str, Path | None]:
    name, options = split_options(weights, ("mode", "answers"))
    mode = checked_option("mode", options.get("mode", MODES[0]), MODES)
    file = answers_file(options.get("answers", ""), folder, None, ())
    return pretrained(name, folder, default=DEFAULT), mode, file


def check(weights: str, folder: Path) -> None:
    """Check the options and the files of a local checkpoint. Imports no torch.

    Raises: ModelLoadError if an option is unknown, or if files are missing.
    """
    source, _, file = _parsed(weights, folder)
    check_local(source, _ANSWERING)
    if file is not None:
        read_answers(file)


def build(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> QuestionAnswerer:
    """Load a ViLT that answers questions.

    Args:
        weights: a hub repository or a local folder (empty for ``DEFAULT``), then ``?mode=open`` for answers that are
            not restricted to the question's choices, and ``&answers=FILE`` for the names of the labels.
        folder: the folder that the user started in.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError if the checkpoint cannot be loaded; the message says what was looked for and what to do.
    """
    source, mode, file = _parsed(weights, folder)
    model, processor, what = loaded(_ANSWERING, source, device=device, dtype=dtype)
    config = model.config
    answers = answer_list(file, config.id2label, config.num_labels, mode=mode, where=_WHERE)
    replies = LabelReplies(model, answers)
    found = QuestionAnswerer(replies, preparation(model, processor), fingerprint=f"{what} {answers.fingerprint}")
    return tried(found, source.asked)

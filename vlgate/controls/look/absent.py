"""Does a model describe an image that is not there? A fixed list of questions about "the image", asked without one."""

from __future__ import annotations

import re

import numpy as np

from vlgate.controls.look.told import answers_without_image
from vlgate.errors import printable
from vlgate.inference.predictor import ModelPredictor
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.perturb.images.hidden import uniform
from vlgate.types import Ask

QUESTIONS = (
    "What does the image show?",
    "What is in the middle of the image?",
    "What is in the background of the image?",
    "Which colours does the image have?",
    "How many people are in the image?",
    "What is the person in the image doing?",
    "Which animal is in the image?",
    "What is written in the image?",
    "Where was the image taken?",
    "What is the weather like in the image?",
    "What is to the left of the largest object in the image?",
    "What time of day is it in the image?",
)
REFUSALS = (
    "no image", "no picture", "no photo", "not an image", "no visual", "no attachment", "without an image",
    "without the image", "without seeing", "can't see", "cannot see", "can not see", "don't see", "do not see",
    "can't view", "cannot view", "can not view", "unable to", "not able to", "can't tell", "cannot tell",
    "can't determine", "cannot determine", "can't answer", "cannot answer", "can't describe", "cannot describe",
    "can't identify", "cannot identify", "not provided", "n't provided", "not attached", "n't attach", "not attach",
    "not receive", "n't receive", "not upload", "n't upload", "not included", "not available", "not visible",
    "not shown", "not given", "not specified", "not possible", "impossible to", "please upload", "please provide",
    "please share", "please attach", "please send", "don't have access", "do not have access", "is missing",
    "don't know", "do not know", "unknown", "unanswerable", "not sure", "unclear",
)  # fmt: skip
"""An answer that has one of these, in lower case, does not describe an image."""
NOTHING = ("nothing", "none", "no", "no one", "nobody", "n/a", "0", "zero", "null")
"""An answer that is one of these as a whole, without marks at its ends, does not describe an image either."""
_SHOWN = 80  # characters of an answer in a note


def about_model(predictor: ModelPredictor, seed: int) -> ControlledTask | None:  # noqa: ARG001  # the list is fixed
    """Ask the questions without an image.

    Returns: the share of answers that describe one; an empty answer, or one that was not given, counts neither way.
        None if the model cannot be asked without an image.
    """
    asked = [Ask(image=uniform("blank"), question=question) for question in QUESTIONS]
    replies = answers_without_image(predictor, asked)
    if not replies:
        return None
    answers = [replies[one].answer or "" for one in asked]
    read = [bool(answer.strip()) for answer in answers]
    described = [describes(answer) for answer in answers]
    first = next((place for place, says in enumerate(described) if says), None)
    said = () if first is None else (f"to {QUESTIONS[first]!r} without an image it says {_short(answers[first])!r}",)
    return ControlledTask(
        cases=QUESTIONS,
        images=QUESTIONS,
        columns={"described": np.where(read, np.array(described, dtype=np.float64), np.nan)},
        figures={"describes_absent": Figure(column="described")},
        left_out={} if all(read) else {"questions without an answer": read.count(False)},
        notes=said,
        requests=len(asked),
    )


def describes(answer: str) -> bool:
    """Return whether an answer describes an image: it has no phrase of ``REFUSALS``, and is none of ``NOTHING``.

    >>> describes("A dog on a beach."), describes("I can\u2019t see an image."), describes("None."), describes(" ")
    (True, False, False, False)
    """
    plain = " ".join(answer.replace("\u2019", "'").casefold().split())
    bare = re.sub(r"^\W+|\W+$", "", plain)
    return bool(bare) and bare not in NOTHING and not any(phrase in plain for phrase in REFUSALS)


def _short(answer: str) -> str:
    plain = printable(" ".join(answer.split()))
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 3]}..."

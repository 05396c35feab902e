"""Explanations as one record, and the protocols of models that can be explained in their own terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from vlgate.types import Attended, Box, FloatArray

Method = Literal[
    "hide windows",
    "hide boxes",
    "hide segments",
    "exchange between images",
    "leave words out",
    "exchange words",
    "exchange between texts",
]
INTERVENTIONS: tuple[Method, ...] = get_args(Method)
ATTENDS = "what the model attends to; it hardly predicts whether an answer is right"
"""What stands beside every map of attention (R_pb 0.001 over 3,090 answers, arXiv 2605.08200)."""


def of_the_true_text(method: Method) -> str:
    """Return the name of what a method measures on the score of the true text alone."""
    return f"{method}: the true text"


def turning(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the parts that turn the verdict, those with the greatest effect first."""
    found = [part for part in parts if part.turns and part.effect is not None]
    return tuple(sorted(found, key=lambda part: -abs(part.effect or 0.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of an image, or a word, with the effect of hiding it.

    ``effect`` is how much the margin falls: above 0 if the part speaks for the right answer, below 0 if it speaks for
    the wrong one. It is None if the model gave no reply. ``support`` is how much the score of the true text falls, the
    mean if there are several; it is None for a word, and for a model that gives no scores. ``turns`` is true if the
    change turns a missed case into a right one, or a right one into a missed one. ``box`` and ``image`` are given for a
    part of an image, ``word`` for a word.
    """

    effect: float | None
    support: float | None = None
    turns: bool = False
    box: Box | None = None
    image: int | None = None
    word: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The effects of one method on one case; ``lacking`` counts the changes without a reply, and ``why`` says why."""

    method: Method
    parts: tuple[Part, ...]
    lacking: int = 0
    why: str = ""

    @property
    def measured(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.effect is not None)

    def of_image(self, image: int) -> Iterator[tuple[str, tuple[Box, ...], FloatArray]]:
        """Yield what the method measured about the parts of an image: its name, n boxes, and n numbers."""
        parts = [part for part in self.measured if part.image == image and part.box is not None]
        boxes = tuple(part.box for part in parts if part.box is not None)
        if parts:
            yield self.method, boxes, np.array([part.effect for part in parts], dtype=np.float64)
        if parts and all(part.support is not None for part in parts):
            yield of_the_true_text(self.method), boxes, np.array([part.support for part in parts], dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why one case was missed, or right.

    ``images`` are the keys of its images, ``margin`` is the smallest lead of a right text or choice (the share of right
    answers if ``graded`` is false), and ``requests`` the number that the model was asked. ``unseen`` says why there are
    no maps of attention, if the model raised.
    """

    task: str
    case: str
    right: bool
    images: tuple[str, ...]
    texts: tuple[str, ...]
    margin: float
    graded: bool
    findings: tuple[Finding, ...]
    attended: tuple[Attended, ...]
    unseen: str
    requests: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """The explanations of a run, and why some are lacking; empty if none is."""

    explanations: tuple[Explanation, ...] = ()
    lacking: str = ""

"""Explanations as one record, and the margin of a case: how far it is from another verdict, as one number."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from vlgate.asking.adapters import ask_adapter, completed
from vlgate.judging.answers import read_reply
from vlgate.judging.normal import normal_choice
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Ask, Attended, Box, Case, Compare, FloatArray, Match, Prediction, Request, Shape, Verdict

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
    return f"{method}: the true text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    # ``effect`` is how much the margin falls: above 0 if the part speaks for the right answer, below 0 if it speaks for
    # the wrong one. It is None if the model gave no reply. ``support`` is how much the score of the true text falls,
    # the mean if there are several; it is None for a word, and for a model that gives no scores. ``turns`` is true if
    # the change turns a missed case into a right one, or a right one into a missed one. ``box`` and ``image`` are given
    # for a part of an image, ``word`` for a word.

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
    def turning(self) -> tuple[Part, ...]:
        parts = (part for part in self.measured if part.turns)
        return tuple(sorted(parts, key=lambda part: -abs(part.effect or 0.0)))

    @property
    def measured(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.effect is not None)

    def of_image(self, image: int) -> Iterator[tuple[str, tuple[Box, ...], FloatArray]]:
        parts = [part for part in self.measured if part.image == image and part.box is not None]
        boxes = tuple(part.box for part in parts if part.box is not None)
        if parts:
            yield self.method, boxes, np.array([part.effect for part in parts], dtype=np.float64)
        if parts and all(part.support is not None for part in parts):
            yield of_the_true_text(self.method), boxes, np.array([part.support for part in parts], dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    # ``images`` are the keys of its images, ``margin`` is the smallest lead of a right text or choice (the share of
    # right answers if ``graded`` is false), and ``requests`` the number that the model was asked. ``unseen`` says why
    # there are no maps of attention, if the model raised.

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
    explanations: tuple[Explanation, ...] = ()
    lacking: str = ""


Compared = tuple[Request, tuple[Request, ...]]
"""A request that should score highest, and those that it is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """The comparisons of scores that make a case right, or the right answers of its questions."""

    # The margin is the smallest lead of a true text, or a right choice, over the false ones: above 0 for a right case.
    # If the model gives words only, it is the share of questions with a right answer.

    compared: tuple[Compared, ...] = ()
    answers: tuple[tuple[Ask | Compare, str], ...] = ()

    @property
    def requests(self) -> tuple[Request, ...]:
        asked = [one for true, others in self.compared for one in (true, *others)]
        return tuple(dict.fromkeys([*asked, *(question for question, _ in self.answers)]))

    @property
    def graded(self) -> bool:
        return bool(self.compared)

    def of(self, said: Mapping[Request, Prediction]) -> float | None:
        if any(said[request].problem is not None for request in self.requests):
            return None
        if self.compared:
            return min(_lead(said[true], [said[other] for other in others]) for true, others in self.compared)
        return sum(_right(said[question], truth) for question, truth in self.answers) / len(self.answers)

    def fit(self, said: Mapping[Request, Prediction]) -> float | None:
        true = dict.fromkeys(request for request, _ in self.compared)
        scores = [said[request].score for request in true]
        known = [score for score in scores if score is not None]
        return sum(known) / len(known) if known and len(known) == len(scores) else None

    def right(self, margin: float) -> bool:
        return margin > 0 if self.graded else margin == 1


def margin_of(case: Case, shape: Shape, model: object) -> Margin | None:
    # Questions are compared by the scores of their choices if the model answers by matching, so that the margin tells
    # more than whether the answer is right.
    asked = case.requests
    if any(isinstance(one, Compare) for one in asked):
        kinds = Compare if SHAPES[shape].headline == "image" else Ask | Compare
        truths = zip(asked, case.truths, strict=True)
        return Margin(answers=tuple((one, str(truth)) for one, truth in truths if isinstance(one, kinds)))
    spec = SHAPES[shape]
    if spec.compared or spec.candidates:
        if not all(isinstance(one, Match) for one in asked):
            return None
        pairs = tuple((asked[true], (asked[false],)) for true, false in spec.compared)
        return Margin(compared=((asked[0], tuple(asked[1:])),) if spec.candidates else pairs)
    questions = [(one, str(truth)) for one, truth in zip(asked, case.truths, strict=True) if isinstance(one, Ask)]
    if ask_adapter(model) == "answer by match":
        compared: list[Compared] = []
        for question, truth in questions:
            choices = question.choices
            right = [choice for choice in choices if normal_choice(choice, choices) == normal_choice(truth, choices)]
            others = tuple(completed(question, choice) for choice in choices if choice not in right)
            if not right or not others:
                return None
            compared.append((completed(question, right[0]), others))
        return Margin(compared=tuple(compared)) if compared else None
    return Margin(answers=tuple(questions)) if questions else None


def _lead(true: Prediction, others: Sequence[Prediction]) -> float:
    if true.score is None or any(other.score is None for other in others):
        raise ValueError(f"a reply to a pair has no score: {true!r}")
    return true.score - max(other.score for other in others if other.score is not None)


def _right(reply: Prediction, truth: str) -> bool:
    if reply.answer is None or not isinstance(reply.request, Ask | Compare):
        return False
    choices = reply.request.choices
    said = read_reply(reply.answer, reply.request)
    return said is not None and normal_choice(said, choices) == normal_choice(truth, choices)


def margin(verdict: Verdict, shape: Shape) -> float | None:
    # It is the smallest lead of a true text over the false ones that the rule of the shape compares it with, and for
    # questions the share of right answers.
    if shape == "single":
        return None
    try:
        pairs = zip(verdict.case.requests, verdict.case.truths, strict=True)
        questions = tuple((request, str(truth)) for request, truth in pairs if isinstance(request, Ask))
        asked = margin_of(verdict.case, shape, None) or Margin(answers=questions)
        return asked.of({reply.request: reply for reply in verdict.predictions}) if asked.requests else None
    except (KeyError, ValueError):  # a reply has no score
        return None

"""A model that can be asked without any image: its protocol, and its answers if it is told that there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from vlgate.inference.batching import Problem
from vlgate.inference.predictor import ModelPredictor
from vlgate.perturb.images.hidden import uniform
from vlgate.types import TIED, Ask, Case, Prediction, Request

TOLD = "There is no image with this question. Answer it as well as you can."
CALLED = "answer_without_image"


@runtime_checkable
class ImagelessAnswerer(Protocol):
    """A model that answers questions as text alone."""

    def answer_without_image(self, questions: Sequence[Ask]) -> Sequence[str]:
        """Return n answers as ``Answerer.answer`` does; the images of the questions are not looked at."""


def told(case: Case) -> Case | None:
    """Return a case that says in each question that there is no image; None if it asks no questions.

    The image stands for none: it is a blank one, which no model is shown.
    """
    asked = [request for request in case.requests if isinstance(request, Ask)]
    if len(asked) < len(case.requests):
        return None
    blank = uniform("blank")
    return replace(case, requests=tuple(replace(one, image=blank, question=f"{TOLD} {one.question}") for one in asked))


def answers_without_image(predictor: ModelPredictor, questions: Sequence[Ask]) -> dict[Request, Prediction]:
    """Ask a model some questions without an image, in batches and through its memory; each distinct one once.

    Returns: a prediction per question; empty if the model cannot be asked so.
    """
    model = predictor.model
    if not isinstance(model, ImagelessAnswerer):
        return {}
    distinct = list(dict.fromkeys(questions))
    replies = predictor.caller.strings(distinct, model.answer_without_image, CALLED)
    return {one: _prediction(one, reply) for one, reply in zip(distinct, replies, strict=True)}


def _prediction(question: Ask, reply: str | Problem) -> Prediction:
    if isinstance(reply, Problem):
        return Prediction(request=question, problem=reply.why)
    return Prediction(request=question, answer=None if reply == TIED else reply)

"""Pairs of a question and its perturbed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vlgate.perturb.question_tests import Test
from vlgate.perturb.questions.drafts import Kind
from vlgate.perturb.questions.phrases import NounPhrase
from vlgate.perturb.scene_graph import Box, SceneGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the words of a question stand for: its noun phrases, the attribute asked about, the class of its choices.

    ``x`` is the first phrase, ``y`` the second operand of a conjunction or disjunction. ``attribute`` is "" and
    ``category`` is "" if the question has none.
    """

    x: NounPhrase
    y: NounPhrase | None = None
    attribute: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPair:
    """Two questions about one image, or one question about an image and its perturbed form.

    ``questions``, ``choices`` and ``answers`` are those of the original and of the perturbed form. ``perturbation`` is
    the perturbation of the second image, or of the first if ``reverse``, and "" if the image is not perturbed.
    ``foreground`` are the boxes that it keeps or covers, in the graph's pixels; empty if it needs none. ``instead`` are
    the boxes that it covers in the other image; empty if that is as it was.

    ``rule`` says how the second question was made from the first. ``objects`` are the ids of the graph's objects that
    the nouns of the first question stand for, in the order of the text, with None for what is not in the image.
    ``asked`` is what the words of both questions stand for.
    ``tags`` are the slices that the paper reports (Tables 2 to 4, 18).
    """

    id: str
    test: Test
    kind: Kind
    graph: SceneGraph
    questions: tuple[str, str]
    choices: tuple[tuple[str, ...], tuple[str, ...]]
    answers: tuple[str, str]
    rule: str
    objects: tuple[str | None, ...]
    asked: tuple[Asked, Asked]
    tags: Mapping[str, str]
    perturbation: str = ""
    foreground: tuple[Box, ...] = ()
    instead: tuple[Box, ...] = ()
    reverse: bool = False

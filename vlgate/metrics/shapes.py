"""The shapes of cases: what is asked, which rule says what is right, its metrics, and the sentence that explains it.

A new shape is one row of ``SHAPES``; asking, judging, metrics and gates need no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import numpy as np

from vlgate.metrics import answer_rules, score_rules, sentences, shape_rules
from vlgate.metrics.measures import Measure
from vlgate.metrics.sentences import CaseReplies
from vlgate.metrics.shape_rules import BoolArray, Odds, Rule
from vlgate.types import Case, FloatArray, Shape

if TYPE_CHECKING:
    from vlgate.metrics.measures import Columns

Pairs = tuple[tuple[int, int], ...]
"""Pairs of requests of a case, by their positions: the first should score higher than the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """How a shape is judged if its images are asked about in one prompt, with each question in two orders."""

    asked: Literal["quad", "image_choice", "questions"]
    labels: tuple[str, ...]
    rule: Rule
    guess: Callable[[Odds], dict[str, FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeSpec:
    name: Shape  # its name, in tasks and files
    about: str  # what a case is, with the source of its metrics
    roles: tuple[str, ...]  # the requests of a case in their order
    metrics: tuple[str, ...]  # the names of the metrics, in the order of every report
    headline: str  # the metric that decides whether a case as a whole is right: its fact is 1
    rule: Rule  # from replies to facts; a metric is the mean of the facts of its name
    why: Callable[[CaseReplies], str]  # the sentence of a judged case
    answered: bool = False  # whether the rule reads what is said, not only scores
    definitions: tuple[Callable[..., object], ...] = ()  # the functions that define the metrics, for the reference
    like: tuple[Shape, str] | None = None  # the shape that has the same definitions, and the difference
    # the chance level of metrics for scores in random order without ties; others depend on more than that
    chance: Mapping[str, float] = field(default_factory=dict)
    guess: Callable[[Odds], Mapping[str, float]] | None = None  # the chance level of metrics from the odds of the cases
    # the probability that each case is guessed right, shape (n,), if it differs between cases
    guessed_right: Callable[[Odds], FloatArray] | None = None
    # the metrics that are not means over all cases
    statistics: Callable[[Columns], Mapping[str, Measure]] | None = None
    # which cases lower a metric because they lack an answer, shape (n,); see ``compute.at_most``
    silent: Callable[[Columns, str], BoolArray] | None = None
    undirected: tuple[str, ...] = ()  # the metrics of which neither a higher nor a lower value is better
    # how it is judged if its images are asked about in one prompt; None if it cannot be
    together: Together | None = None
    # the requests are one true candidate, a text or an image, and any number of false ones
    candidates: Literal["", "texts", "images"] = ""
    contrasts: Pairs = ()  # the requests with a true and a false text of one image
    compared: Pairs = ()  # the requests whose scores the rule compares: a case is right if each first one is higher
    voted: Pairs = ()  # the requests with a true and a false text that people vote on
    word_pairs: Pairs = ()  # the requests whose texts exchange words in an explanation
    exchanged: tuple[int, ...] = ()  # the order of the requests that exchanges the true and the false texts
    # the fields of a line of own cases that hold its texts, if no kind of own case has the shape
    fields: tuple[str, ...] = ()


def headlines() -> tuple[str, ...]:
    return tuple(dict.fromkeys(spec.headline for spec in SHAPES.values()))


def contrasts(case: Case, shape: Shape) -> Pairs:
    """Return the positions of the requests of a case that hold a true and a false text of one image, as pairs."""
    spec = SHAPES[shape]
    return tuple((0, other) for other in range(1, len(case.requests))) if spec.candidates == "texts" else spec.contrasts


_QUAD_ROLES = ("image 0, caption 0", "image 0, caption 1", "image 1, caption 0", "image 1, caption 1")
_SET_ROLES = ("true 1", "true 2", "false 1", "false 2")
_QUAD_CHANCE = {"text": 1 / 4, "image": 1 / 4, "group": 1 / 6, "group_match": 1 / 2}
_SET_CHANCE = {"sen_acc": 1 / 2, "set_acc": 1 / 6, "set_error": 1 / 6}
_IN_A_QUAD = ((0, 1), (3, 2), (0, 2), (3, 1))
_IN_A_SET = ((0, 2), (0, 3), (1, 2), (1, 3))
_SET_PAIRS = ((0, 2), (1, 3))
_QUAD_LABELS = ("the text of image 1", "the text of image 2", "the image of text 1", "the image of text 2")
_QUAD_TOGETHER = Together(
    asked="quad", labels=_QUAD_LABELS, rule=shape_rules.quad_together, guess=shape_rules.guess_quads_together
)


_PAIR = ShapeSpec(
    name="pair",
    about="A caption and its foil, for one image (VALSE §4, VL-CheckList §4, SugarCrepe).",
    roles=("caption", "foil"),
    metrics=score_rules.PAIR_METRICS,
    headline="acc_r",
    rule=lambda replies: score_rules.pair_case_metrics(replies.scores, replies.accepted, replies.ties),
    why=sentences.pair,
    definitions=(score_rules.pair_case_metrics, score_rules.pair_statistics),
    chance={"acc_r": 1 / 2, "acc": 1 / 2, "auroc": 1 / 2},
    statistics=lambda cases: score_rules.pair_statistics(cases.scores, cases.accepted),
    contrasts=((0, 1),),
    compared=((0, 1),),
    voted=((0, 1),),
    word_pairs=((0, 1),),
    exchanged=(1, 0),
)
_QUAD = ShapeSpec(
    name="quad",
    about="Two images and two captions of the same words (Winoground §3, equations 1 to 3).",
    roles=_QUAD_ROLES,
    metrics=score_rules.QUAD_METRICS,
    headline="group",
    rule=lambda replies: score_rules.quad_case_metrics(replies.scores, replies.ties),
    why=sentences.quad,
    definitions=(score_rules.quad_case_metrics,),
    chance=_QUAD_CHANCE,
    together=_QUAD_TOGETHER,
    contrasts=((0, 1), (3, 2)),
    compared=_IN_A_QUAD,
    voted=((0, 1), (3, 2)),
    word_pairs=((0, 1),),
    exchanged=(1, 0, 3, 2),
)
_IMAGE_QUAD = replace(
    _QUAD,
    name="image_quad",
    about="Two captions and two images, one of them edited.",
    headline="image",
    definitions=(),
    like=("quad", "another metric is the headline"),
    compared=((0, 2), (3, 1)),
    voted=(),
    word_pairs=(),
)
_TWIN_CAPTIONS = replace(
    _QUAD,
    name="twin_captions",
    about="Two captions of an image and of its counterfactual twin.",
    roles=(
        "normal image, its caption",
        "normal image, other caption",
        "twin, caption of the normal image",
        "twin, its caption",
    ),
    metrics=score_rules.QUAD_TWIN_METRICS,
    rule=lambda replies: score_rules.quad_twin_case_metrics(replies.scores, replies.ties),
    why=sentences.twin_captions,
    definitions=(score_rules.quad_twin_case_metrics,),
    chance={**_QUAD_CHANCE, "acc_normal": 1 / 2, "acc_counterfactual": 1 / 2, "prior_rate": 1 / 2},
    silent=shape_rules.silent_twins,
    together=Together(
        asked="quad",
        labels=_QUAD_LABELS,
        rule=shape_rules.twin_captions_together,
        guess=lambda odds: {
            **shape_rules.guess_quads_together(odds),
            "acc_normal": odds.right[0],
            "acc_counterfactual": odds.right[1],
            "prior_rate": odds.right[1],
        },
    ),
    exchanged=(),
)
_SET = ShapeSpec(
    name="set",
    about="Two true and two false sentences, ranked for one image (BLA §5.3, §7.1).",
    roles=_SET_ROLES,
    metrics=score_rules.SET_METRICS,
    headline="set_acc",
    rule=lambda replies: score_rules.set_case_metrics(replies.scores, score_rules.SET_METRICS, replies.ties),
    why=sentences.sentence_set,
    definitions=(score_rules.set_case_metrics,),
    chance=dict.fromkeys(score_rules.SET_METRICS, 1 / 2) | _SET_CHANCE,
    silent=partial(shape_rules.silent_set, score_rules.SET_METRICS),
    undirected=score_rules.SET_METRICS[score_rules.N_RANKED :],
    contrasts=_IN_A_SET,
    compared=_IN_A_SET,
    voted=_SET_PAIRS,
    word_pairs=_SET_PAIRS,
    exchanged=(2, 3, 0, 1),
)
_ACTIVE_PASSIVE_SET = replace(
    _SET,
    name="active_passive_set",
    about="A set in the active and the passive voice (BLA §5.3, §7.1).",
    roles=("true, active", "true, passive", "false, active", "false, passive"),
    metrics=score_rules.VOICE_SET_METRICS,
    rule=lambda replies: score_rules.set_case_metrics(replies.scores, score_rules.VOICE_SET_METRICS, replies.ties),
    definitions=(),
    like=("set", "the preferences have other names"),
    chance=dict.fromkeys(score_rules.VOICE_SET_METRICS, 1 / 2) | _SET_CHANCE,
    silent=partial(shape_rules.silent_set, score_rules.VOICE_SET_METRICS),
    undirected=score_rules.VOICE_SET_METRICS[score_rules.N_RANKED :],
)
_QUESTIONS = ShapeSpec(
    name="questions",
    about="An original question and its perturbed partner (CARETS §5).",
    roles=("original", "perturbed"),
    metrics=answer_rules.QUESTION_PAIR_METRICS,
    headline="c_acc",
    rule=shape_rules.questions,
    why=sentences.questions,
    answered=True,
    definitions=(answer_rules.question_pair_case_metrics,),
    guess=shape_rules.guess_question_pairs,
    guessed_right=lambda odds: odds.right[0] * odds.right[1],
    word_pairs=((0, 1),),
)
_TWIN_QUESTIONS = ShapeSpec(
    name="twin_questions",
    about="One question about an image and about its counterfactual twin.",
    roles=("normal image", "twin"),
    metrics=answer_rules.QUESTION_TWIN_METRICS,
    headline="c_acc",
    rule=shape_rules.twin_questions,
    why=sentences.twin_questions,
    answered=True,
    definitions=(answer_rules.question_twin_case_metrics,),
    guess=shape_rules.guess_question_twins,
    guessed_right=lambda odds: odds.right[0] * odds.right[1],
    silent=shape_rules.silent_twins,
    together=Together(
        asked="questions",
        labels=("the normal image", "the counterfactual image"),
        rule=shape_rules.twin_questions_together,
        guess=shape_rules.guess_twins_together,
    ),
)
_CHOICE = ShapeSpec(
    name="choice",
    about=(
        "One image with one true and several false texts (What'sUp's controlled sets: Kamath et al. 2023, section 3; "
        "SPEC's image-to-text half: Peng et al. 2024)."
    ),
    roles=("true text", "false texts"),
    metrics=(score_rules.TEXT,),
    headline=score_rules.TEXT,
    rule=lambda replies: score_rules.choice_case_metrics(replies.scores, score_rules.TEXT, replies.ties),
    why=sentences.choice,
    definitions=(score_rules.choice_case_metrics,),
    guess=lambda odds: {score_rules.TEXT: fmean(1 / size for size in odds.sizes)},
    guessed_right=lambda odds: np.array([1 / size for size in odds.sizes]),
    candidates="texts",
)
_IMAGE_CHOICE = replace(
    _CHOICE,
    name="image_choice",
    about=(
        "One text with one true and several false images (SPEC's text-to-image half; SVO-Probes: Hendricks and "
        "Nematzadeh 2021)."
    ),
    roles=("true image", "false images"),
    metrics=(score_rules.IMAGE,),
    headline=score_rules.IMAGE,
    rule=lambda replies: score_rules.choice_case_metrics(replies.scores, score_rules.IMAGE, replies.ties),
    definitions=(),
    like=("choice", "the candidates are images"),
    guess=lambda odds: {score_rules.IMAGE: fmean(1 / size for size in odds.sizes)},
    together=Together(
        asked="image_choice",
        labels=("the image of the text",),
        rule=shape_rules.image_choice_together,
        guess=lambda odds: {score_rules.IMAGE: odds.right[0]},
    ),
    candidates="images",
)
_SINGLE = ShapeSpec(
    name="single",
    about="Single yes/no questions and statements (Li et al. 2023, POPE, section 5; Liu et al. 2023, VSR).",
    roles=("question or statement",),
    metrics=answer_rules.SINGLE_METRICS,
    headline="accuracy",
    rule=shape_rules.single,
    why=sentences.single,
    answered=True,
    definitions=(answer_rules.single_case_metrics, answer_rules.single_statistics),
    chance={"accuracy": 1 / 2, "recall": 1 / 2, "auroc": 1 / 2},
    guess=shape_rules.guess_yes_or_no,
    statistics=shape_rules.single_statistics,
    silent=shape_rules.silent_single,
)
_QUESTION_QUAD = ShapeSpec(
    name="question_quad",
    about="Two questions about two images whose answers are crossed (Li et al. 2024, NaturalBench, section 4).",
    roles=("image 0, question 0", "image 0, question 1", "image 1, question 0", "image 1, question 1"),
    metrics=answer_rules.QUESTION_QUAD_METRICS,
    headline="g_acc",
    rule=lambda replies: answer_rules.question_quad_case_metrics(replies.right, replies.read),
    why=sentences.question_quad,
    answered=True,
    definitions=(answer_rules.question_quad_case_metrics,),
    guess=shape_rules.guess_question_quads,
    guessed_right=lambda odds: np.array([1 / prod(row) for row in odds.offered.T.tolist()]),
    together=Together(
        asked="questions",
        labels=tuple(f"question {question} about image {image}" for image in (1, 2) for question in (1, 2)),
        rule=shape_rules.question_quad_together,
        guess=lambda odds: shape_rules.guess_crossings(odds.right),
    ),
)
_TWO_TRUE = ShapeSpec(
    name="two_true",
    about="Two true captions and a false one, for one image (Dumpala et al. 2024, SugarCrepe++, section 3).",
    roles=("true 1", "true 2", "false"),
    metrics=score_rules.TWO_TRUE_METRICS,
    headline="itt",
    rule=lambda replies: score_rules.two_true_case_metrics(replies.scores, replies.ties),
    why=sentences.two_true,
    definitions=(score_rules.two_true_case_metrics,),
    chance={"itt": 1 / 3, "itt_first": 1 / 2, "itt_second": 1 / 2},
    contrasts=((0, 2), (1, 2)),
    compared=((0, 2), (1, 2)),
)
_ALL = (
    *(_PAIR, _QUAD, _IMAGE_QUAD, _SET, _ACTIVE_PASSIVE_SET, _QUESTIONS, _CHOICE, _IMAGE_CHOICE, _SINGLE),
    *(_QUESTION_QUAD, _TWO_TRUE, _TWIN_QUESTIONS, _TWIN_CAPTIONS),
)
SHAPES: dict[Shape, ShapeSpec] = {spec.name: spec for spec in _ALL}
"""The shapes by name; a row of a package of your own is ``SHAPES["mine"] = ShapeSpec(name="mine", ...)``."""

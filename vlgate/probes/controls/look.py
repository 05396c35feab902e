"""The control ``look``: the same cases without the image, with another case's, and with a blurred one."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vlgate.asking.batching import Call, Problem
from vlgate.asking.items import case_with, images_of_case, requests_of
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import printable
from vlgate.judging.verdicts import unread
from vlgate.metrics.clusters import case_clusters, photograph
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.shapes import SHAPES
from vlgate.perturb.images.graded import AWAY, LEVELS, uniform
from vlgate.perturb.images.registry import perturbed
from vlgate.probes.controls.control import Control, Sample
from vlgate.seeds import generator
from vlgate.types import TIED, Ask, Case, FloatArray, LazyImage, Prediction, Read, Request, Task, Verdict, text_of

TOLD = "There is no image with this question. Answer it as well as you can."


@runtime_checkable
class ImagelessAnswerer(Protocol):
    def answer_without_image(self, questions: Sequence[Ask]) -> Sequence[str]:
        """Return n answers as ``Answerer.answer`` does; the images of the questions are not looked at."""


def answers_without_image(predictor: ModelPredictor, questions: Sequence[Ask]) -> dict[Request, Prediction]:
    model = predictor.model
    if not isinstance(model, ImagelessAnswerer):
        return {}
    distinct = list(dict.fromkeys(questions))
    call = Call(called="answer_without_image", method=model.answer_without_image, kind="strings")
    replies = predictor.through_chain()(call, distinct)
    return {
        question: Prediction(request=question, problem=reply.why)
        if isinstance(reply, Problem)
        else Prediction(request=question, answer=None if reply == TIED else reply)
        for question, reply in zip(distinct, replies, strict=True)
    }


_TRIED = 64  # cases; a task in which so many share an image or a true text with a case has no other one to show


def others_of(task: Task, cases: Sequence[Case], seed: int) -> dict[str, Mapping[LazyImage, LazyImage]]:
    # The cases of the task are put in a random order, and each is shown the images of the next one that shares neither
    # an image nor a true text nor a question with its answer. So a case never sees its own image, a part of it or a
    # perturbed copy, and what is true of it is not known to be true of what it sees. It may still be true by chance.
    order = generator(f"{seed}:look:{task.id}").permutation(len(task.cases)).tolist()
    places = {task.cases[number].id: index for index, number in enumerate(order)}
    found: dict[str, Mapping[LazyImage, LazyImage]] = {}
    for case in cases:
        following = (order[(places[case.id] + step) % len(order)] for step in range(1, min(_TRIED, len(order))))
        known = _known(case)
        others = (task.cases[number] for number in following)
        other = next((one for one in others if known.isdisjoint(_known(one))), None)
        if other is not None:
            shown = images_of_case(other)
            found[case.id] = {image: shown[index % len(shown)] for index, image in enumerate(images_of_case(case))}
    return found


def _known(case: Case) -> set[tuple[str, ...]]:
    pairs = zip(case.requests, case.truths, strict=True)
    true = ((text_of(request), str(truth)) for request, truth in pairs if truth is not False)
    return {*((photograph(image.key),) for image in images_of_case(case)), *true}


TELLS = "told"
SHOWN: Mapping[str, str] = {
    "grey": "that with a uniform grey image in its place, untold",
    "blank": "that with a white image in its place, untold",
    "other": "that with the image of another case in its place, untold",
    "blurred": "that with the image blurred beyond recognition, untold",
}  # what each condition is that shows the model an image
CONDITIONS: Mapping[str, str] = {
    **SHOWN,
    TELLS: "that of questions which say that there is no image, if the model can be asked without one",
}
WITHOUT = ("grey", "blank", "other", TELLS)
"""The conditions under which nothing of the image is left; one that is blurred keeps its colours."""


def changed(condition: str, sample: Sample) -> dict[str, Case]:
    cases = [case for case in sample.cases if images_of_case(case)]
    if condition == TELLS:
        return {case.id: _told(case) for case in cases if all(isinstance(request, Ask) for request in case.requests)}
    if condition == "other":
        others = others_of(sample.task, cases, sample.seed)
        return {case.id: case_with(case, others[case.id].__getitem__) for case in cases if case.id in others}
    if condition in LEVELS:
        plain = uniform(condition)
        return {case.id: case_with(case, lambda _: plain) for case in cases}
    return {case.id: case_with(case, lambda image: perturbed(image, AWAY)) for case in cases}


def _told(case: Case) -> Case:
    """A case that says in each question that there is no image; a blank placeholder is never sent to a model."""
    asked = [replace(request, image=uniform("blank")) for request in case.requests if isinstance(request, Ask)]
    return replace(case, requests=tuple(replace(one, question=f"{TOLD} {one.question}") for one in asked))


_TABLE = tomllib.loads(Path(__file__).with_name("look.toml").read_text(encoding="utf-8"))
QUESTIONS, REFUSALS, NOTHING = (tuple[str, ...](_TABLE[name]) for name in ("questions", "refusals", "nothing"))
_SHOWN = 80  # characters of an answer in a note


def about_model(predictor: ModelPredictor, seed: int) -> ControlledTask | None:  # noqa: ARG001  # the list is fixed
    # an empty answer, or one that was not given, counts neither way
    asked = [Ask(image=uniform("blank"), question=question) for question in QUESTIONS]
    replies = answers_without_image(predictor, asked)
    if not replies:
        return None
    answers = [replies[one].answer or "" for one in asked]
    read = [bool(answer.strip()) for answer in answers]
    described = [describes(answer) for answer in answers]
    examples = [
        f"to {question!r} without an image it says {_short(answer)!r}"
        for question, answer, says in zip(QUESTIONS, answers, described, strict=True)
        if says
    ]
    return ControlledTask(
        cases=QUESTIONS,
        images=QUESTIONS,
        columns={"described": np.where(read, np.array(described, dtype=np.float64), np.nan)},
        figures={"describes_absent": Figure(column="described")},
        left_out={} if all(read) else {"questions without an answer": read.count(False)},
        notes=tuple(examples[:1]),
        requests=len(asked),
    )


def describes(answer: str) -> bool:
    plain = " ".join(answer.replace("\u2019", "'").casefold().split())
    bare = re.sub(r"^\W+|\W+$", "", plain)
    return bool(bare) and bare not in NOTHING and not any(phrase in plain for phrase in REFUSALS)


def _short(answer: str) -> str:
    plain = printable(" ".join(answer.split()))
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 3]}..."


GAIN = "visual_gain"
IMAGE = "image"
_ONE_IMAGE = (
    "grey and blank put one image in the place of several, so the model cannot tell them apart: texts about them tie, "
    "and answers agree"
)
_IF_READ = "_if_read"  # a column in which a case without a readable answer has its value with the image
_MOST_SILENT = 0.5  # of the cases of a condition
_NOTHING_READ = "most answers without the image could not be read, so there is nothing to compare with"


def requests(cases: Sequence[Case], brief: bool = False) -> int:
    distinct = {request for request in requests_of(cases) if not isinstance(request, Read)}
    shown = SHOWN.keys() & WITHOUT if brief else SHOWN
    return len(shown) * len(distinct) + sum(isinstance(one, Ask) for one in distinct)


def measure(sample: Sample, predictor: ModelPredictor) -> ControlledTask:
    metric = SHAPES[sample.task.shape].headline
    names = [*WITHOUT] if sample.brief else [*CONDITIONS]
    names = [name for name in names if name != TELLS or isinstance(predictor.model, ImagelessAnswerer)]
    asked = {name: cases for name in names if (cases := changed(name, sample)) or name != TELLS}
    # The images of those that are told are not shown.
    texts = [request for case in asked.get(TELLS, {}).values() for request in case.requests if isinstance(request, Ask)]
    seen = [request for name in asked if name != TELLS for case in asked[name].values() for request in case.requests]
    replies = {**predictor.predict(seen), **answers_without_image(predictor, texts)}
    columns = {IMAGE: np.array([verdict.facts.get(metric, np.nan) for verdict in sample.verdicts], dtype=np.float64)}
    left_out = dict(sample.left_out)
    several = any(len(images_of_case(case)) > 1 for case in sample.cases)
    notes, silent = [_ONE_IMAGE] if several else [], dict[str, int]()
    for name, cases in asked.items():
        verdicts = sample.judged(cases.values(), replies)
        judged = (verdict for verdict in verdicts if verdict.state == "judged")
        known = {verdict.case.id: verdict.facts.get(metric, np.nan) for verdict in judged}
        columns[name] = np.array([known.get(case.id, np.nan) for case in sample.cases], dtype=np.float64)
        if lacking := int(np.isnan(columns[name]).sum()):
            left_out[f"without a value for {name}"] = lacking
        quiet = _silent(sample, verdicts)
        if name in WITHOUT and quiet.any():
            silent[name] = int(quiet.sum())
            columns[f"{name}{_IF_READ}"] = np.where(quiet, columns[IMAGE], columns[name])
            notes.append(f"{name}: the answers of {silent[name]} cases could not be read; these cases show no gain")
    if _silent(sample, sample.verdicts).mean() > _MOST_SILENT:
        silent = {}  # a model that says nothing anyway has no condition to leave out
    figures = _figures(columns, silent, several=several)
    beside = {"blind": sample.blind[metric].value} if metric in sample.blind else {}
    beside |= {"chance": sample.chance[metric]} if metric in sample.chance else {}
    return ControlledTask(
        cases=tuple(case.id for case in sample.cases),
        images=case_clusters(sample.cases),
        columns=columns,
        figures=figures,
        left_out=left_out,
        notes=tuple(notes),
        beside=beside,
        requests=len(replies),
        doubt="" if GAIN in figures or not silent else _NOTHING_READ,
    )


def _silent(sample: Sample, verdicts: Sequence[Verdict]) -> NDArray[np.bool_]:
    silent = {verdict.case.id for verdict in verdicts if verdict.state == "judged" and unread(verdict)}
    return np.array([case.id in silent for case in sample.cases], dtype=np.bool_)


def _figures(columns: Mapping[str, FloatArray], silent: Mapping[str, int], *, several: bool) -> dict[str, Figure]:
    # A model could gain by refusing to answer without the image. So such a case counts for ``visual_gain`` as it does
    # with the image. A condition in which a model that otherwise speaks leaves most answers unread cannot be compared.
    names = [name for name in columns if not name.endswith(_IF_READ)]
    figures = {name: Figure(column=name) for name in names}
    figures |= {f"gain_{name}": Figure(column=IMAGE, before=name) for name in names if name != IMAGE}
    known = {name: int(np.isfinite(columns[name]).sum()) for name in WITHOUT if name in columns}
    kept: dict[str, float] = {}
    for name, number in known.items():
        column = f"{name}{_IF_READ}" if f"{name}{_IF_READ}" in columns else name
        if number and number * 2 >= max(known.values()) and silent.get(name, 0) <= _MOST_SILENT * number:
            kept[column] = float(np.nanmean(columns[column]))
    # Grey and blank put one image in the place of several, over which any model that sees pixels gains.
    if kept and (any(name.startswith("other") for name in kept) or not several):
        figures[GAIN] = Figure(column=IMAGE, before=max(kept, key=lambda name: kept[name]), others=tuple(kept))
    return figures


LOOK = Control(
    name="look",
    says="What the model knows without looking, beside what text alone tells",
    figures={
        GAIN: "the metric of the task with the image minus that without, under the condition that keeps most of it; "
        "its interval allows for the choice, and the smallest of several gains is by chance too small",
        IMAGE: "the metric of the task with the image",
        **CONDITIONS,
        **{f"gain_{name}": f"the metric with the image minus that of {name}" for name in CONDITIONS},
    },
    shown=(GAIN, IMAGE, *CONDITIONS),
    beside={"blind": "the metric of the text-only model on all judged cases", "chance": "what guessing reaches"},
    of_model={"describes_absent": "the share of answers that describe an image, to questions without one"},
    of_model_requests=len(QUESTIONS),
    requests=requests,
    measure=measure,
    about_model=about_model,
)

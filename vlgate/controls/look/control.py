"""It looked: the same cases without the image, with another case's, and with one that is blurred beyond recognition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vlgate.controls.control import Control, Sample
from vlgate.controls.look.absent import QUESTIONS, about_model
from vlgate.controls.look.conditions import CONDITIONS, SHOWN, TELLS, WITHOUT, changed
from vlgate.controls.look.others import images_of
from vlgate.controls.look.told import ImagelessAnswerer, answers_without_image
from vlgate.inference.predictor import ModelPredictor
from vlgate.judging.verdicts import judge, unread
from vlgate.metrics.clusters import case_clusters
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.names import HEADLINE
from vlgate.types import Ask, Batch, Case, FloatArray, Prediction, Read, Request, Verdict

GAIN = "visual_gain"
IMAGE = "image"
_ONE_IMAGE = (
    "grey and blank put one image in the place of several, so the model cannot tell them apart: texts about them tie, "
    "and answers agree"
)
_IF_READ = "_if_read"  # a column in which a case without a readable answer has its value with the image
_MOST_SILENT = 0.5  # of the cases of a condition
_NOTHING_READ = "most answers without the image could not be read, so there is nothing to compare with"


def requests(cases: Sequence[Case]) -> int:
    """Return how many distinct requests the control asks about some cases, at most: those of each condition."""
    distinct = {one for case in cases for one in case.requests if not isinstance(one, Read)}
    return len(SHOWN) * len(distinct) + sum(isinstance(one, Ask) for one in distinct)


def measure(sample: Sample, predictor: ModelPredictor) -> ControlledTask:
    """Ask the cases of a sample under each condition, and judge them by the task's own metric.

    Exceptions of the model pass through.
    """
    metric = HEADLINE[sample.task.shape]
    names = [name for name in CONDITIONS if name != TELLS or isinstance(predictor.model, ImagelessAnswerer)]
    asked = {name: cases for name in names if (cases := changed(name, sample)) or name != TELLS}
    replies, n = _replies(asked, predictor)
    columns = {IMAGE: np.array([one.facts.get(metric, np.nan) for one in sample.verdicts], dtype=np.float64)}
    left_out = dict(sample.left_out)
    several = any(len(images_of(case)) > 1 for case in sample.cases)
    notes, silent = [_ONE_IMAGE] if several else [], dict[str, int]()
    for name, cases in asked.items():
        verdicts = _judged(sample, cases, replies)
        columns[name] = _values(sample, verdicts, metric)
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
    return ControlledTask(
        cases=tuple(case.id for case in sample.cases),
        images=case_clusters(sample.cases),
        columns=columns,
        figures=figures,
        left_out=left_out,
        notes=tuple(notes),
        beside=_beside(sample, metric),
        requests=n,
        doubt="" if GAIN in figures or not silent else _NOTHING_READ,
    )


def _replies(
    asked: Mapping[str, Mapping[str, Case]], predictor: ModelPredictor
) -> tuple[dict[Request, Prediction], int]:
    """The replies under all conditions, and their number; the images of those that are told are not shown."""
    texts = [one for case in asked.get(TELLS, {}).values() for one in case.requests if isinstance(one, Ask)]
    seen = [one for name in asked if name != TELLS for case in asked[name].values() for one in case.requests]
    replies = {**predictor.predict(seen), **answers_without_image(predictor, texts)}
    return replies, len(replies)


def _judged(sample: Sample, cases: Mapping[str, Case], replies: Mapping[Request, Prediction]) -> Sequence[Verdict]:
    task = replace(sample.task, cases=tuple(cases.values()))
    return judge(Batch(task=task, positions=tuple(range(len(cases))), ties=sample.ties), replies)


def _values(sample: Sample, verdicts: Sequence[Verdict], metric: str) -> FloatArray:
    known = {one.case.id: one.facts.get(metric, np.nan) for one in verdicts if one.state == "judged"}
    return np.array([known.get(case.id, np.nan) for case in sample.cases], dtype=np.float64)


def _silent(sample: Sample, verdicts: Sequence[Verdict]) -> NDArray[np.bool_]:
    """Which cases of a sample are judged and have an answer that could not be read, shape (n,)."""
    silent = {one.case.id for one in verdicts if one.state == "judged" and unread(one)}
    return np.array([case.id in silent for case in sample.cases], dtype=np.bool_)


def _figures(columns: Mapping[str, FloatArray], silent: Mapping[str, int], *, several: bool) -> dict[str, Figure]:
    """The metric under each condition, the gain over each, and the gain over the one in which the model keeps most.

    A model could gain by refusing to answer without the image. So such a case counts for ``visual_gain`` as it does
    with the image. A condition in which a model that otherwise speaks leaves most answers unread cannot be compared.
    """
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


def _beside(sample: Sample, metric: str) -> dict[str, float]:
    found = {"blind": sample.blind[metric].value} if metric in sample.blind else {}
    return found | ({"chance": sample.chance[metric]} if metric in sample.chance else {})


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

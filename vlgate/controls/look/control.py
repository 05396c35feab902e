"""It looked: the same cases without the image, with another case's, and with one that is blurred beyond recognition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from vlgate.controls.control import Control, Sample
from vlgate.controls.look.absent import QUESTIONS, about_model
from vlgate.controls.look.conditions import CONDITIONS, SHOWN, TELLS, WITHOUT, changed
from vlgate.controls.look.others import images_of
from vlgate.controls.look.told import ImagelessAnswerer, answers_without_image
from vlgate.inference.predictor import ModelPredictor
from vlgate.judging.verdicts import judge
from vlgate.metrics.clusters import photograph
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.names import HEADLINE
from vlgate.types import Ask, Batch, Case, FloatArray, Prediction, Read, Request, Verdict

GAIN = "visual_gain"
IMAGE = "image"
_ONE_IMAGE = (
    "grey and blank put one image in the place of several, so the model cannot tell them apart: texts about them tie, "
    "and answers agree"
)


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
    for name, cases in asked.items():
        columns[name] = _values(sample, _judged(sample, cases, replies), metric)
        if lacking := int(np.isnan(columns[name]).sum()):
            left_out[f"without a value for {name}"] = lacking
    return ControlledTask(
        cases=tuple(case.id for case in sample.cases),
        images=tuple(_cluster(case) for case in sample.cases),
        columns=columns,
        figures=_figures(columns, several=several),
        left_out=left_out,
        notes=(_ONE_IMAGE,) if several else (),
        beside=_beside(sample, metric),
        requests=n,
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


def _figures(columns: Mapping[str, FloatArray], *, several: bool) -> dict[str, Figure]:
    """The metric under each condition, the gain over each, and the gain over the one in which the model keeps most."""
    figures = {name: Figure(column=name) for name in columns}
    figures |= {f"gain_{name}": Figure(column=IMAGE, before=name) for name in columns if name != IMAGE}
    known = {name: int(np.isfinite(columns[name]).sum()) for name in WITHOUT if name in columns}
    kept = {
        name: float(np.nanmean(columns[name]))
        for name, number in known.items()
        if number and number * 2 >= max(known.values())
    }
    # Grey and blank put one image in the place of several, over which any model that sees pixels gains.
    if kept and ("other" in kept or not several):
        figures[GAIN] = Figure(column=IMAGE, before=max(kept, key=lambda name: kept[name]))
    return figures


def _beside(sample: Sample, metric: str) -> dict[str, float]:
    found = {"blind": sample.blind[metric].value} if metric in sample.blind else {}
    return found | ({"chance": sample.chance[metric]} if metric in sample.chance else {})


def _cluster(case: Case) -> str:
    images = images_of(case)
    return photograph(images[0].key) if images else case.id


LOOK = Control(
    name="look",
    says="What the model knows without looking, beside what text alone tells",
    figures={
        GAIN: "the metric of the task with the image minus that without, under the condition that keeps most of it",
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

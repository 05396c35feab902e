"""It looked: the same cases without the image, with another case's, and with one that is blurred beyond recognition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from vlgate.controls.control import Control, Sample
from vlgate.controls.look.others import images_of, others_of
from vlgate.inference.predictor import ModelPredictor
from vlgate.judging.verdicts import judge
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.names import HEADLINE
from vlgate.perturb.images.hidden import AWAY, LEVELS, uniform
from vlgate.perturb.images.lazy import perturbed
from vlgate.types import Batch, Case, FloatArray, LazyImage, Read, Request, Verdict

_SAYS = MappingProxyType(
    {
        "grey": "a uniform grey image instead, untold",
        "blank": "a white image instead, untold",
        "other": "the image of another case instead, untold",
        "blurred": "the image blurred beyond recognition",
    }
)
_WITHOUT = ("grey", "blank", "other")
"""The conditions under which nothing of the image is left; a blurred one keeps its colours."""
Shown = Callable[[LazyImage], LazyImage]


def requests(cases: Sequence[Case]) -> int:
    """Return how many distinct requests the control asks about some cases: those of each condition."""
    return len(_SAYS) * len({one for case in cases for one in case.requests if not isinstance(one, Read)})


def measure(sample: Sample, predictor: ModelPredictor) -> ControlledTask:
    """Ask the cases of a sample under each condition, and judge them by the task's own metric.

    Exceptions of the model pass through.
    """
    metric = HEADLINE[sample.task.shape]
    asked = {name: _changed(name, sample) for name in _SAYS}
    wanted = dict.fromkeys(one for cases in asked.values() for case in cases.values() for one in case.requests)
    replies = predictor.predict(wanted)
    columns = {"image": np.array([verdict.facts.get(metric, np.nan) for verdict in sample.verdicts])}
    left_out = dict(sample.left_out)
    for name, cases in asked.items():
        batch = Batch(
            task=replace(sample.task, cases=tuple(cases.values())), positions=tuple(range(len(cases))), ties=sample.ties
        )
        columns[name] = _values(sample, judge(batch, replies), metric)
        lacking = int(np.isnan(columns[name]).sum())
        if lacking:
            left_out[f"without a value for {name}"] = lacking
    return ControlledTask(
        cases=tuple(case.id for case in sample.cases),
        images=tuple(_cluster(case) for case in sample.cases),
        columns=columns,
        figures=_figures(columns),
        left_out=left_out,
        beside=_beside(sample, metric),
        requests=len(wanted),
    )


def _changed(name: str, sample: Sample) -> dict[str, Case]:
    """The cases under a condition, by their ids; a case that it does not apply to is absent."""
    cases = [case for case in sample.cases if images_of(case)]
    if name == "other":
        others = others_of(sample.task, cases, sample.seed)
        return {case.id: _with(case, others[case.id].__getitem__) for case in cases if case.id in others}
    if name in LEVELS:
        plain = uniform(name)
        return {case.id: _with(case, lambda _: plain) for case in cases}
    return {case.id: _with(case, lambda image: perturbed(image, AWAY)) for case in cases}


def _with(case: Case, shown: Shown) -> Case:
    return replace(case, requests=tuple(_shown(request, shown) for request in case.requests))


def _shown(request: Request, shown: Shown) -> Request:
    return request if isinstance(request, Read) else replace(request, image=shown(request.image))


def _values(sample: Sample, verdicts: Sequence[Verdict], metric: str) -> FloatArray:
    known = {one.case.id: one.facts.get(metric, np.nan) for one in verdicts if one.state == "judged"}
    return np.array([known.get(case.id, np.nan) for case in sample.cases], dtype=np.float64)


def _figures(columns: Mapping[str, FloatArray]) -> dict[str, Figure]:
    figures = {name: Figure(column=name) for name in columns}
    figures |= {f"gain_{name}": Figure(column="image", before=name) for name in _SAYS}
    kept = {name: float(np.nanmean(columns[name])) for name in _WITHOUT if np.isfinite(columns[name]).any()}
    if kept:
        figures["visual_gain"] = Figure(column="image", before=max(kept, key=lambda name: kept[name]))
    return figures


def _beside(sample: Sample, metric: str) -> dict[str, float]:
    found = {"blind": sample.blind[metric].value} if metric in sample.blind else {}
    return found | ({"chance": sample.chance[metric]} if metric in sample.chance else {})


def _cluster(case: Case) -> str:
    images = images_of(case)
    return images[0].key if images else case.id


LOOK = Control(
    name="look",
    says="What the model knows without looking, beside what text alone tells",
    figures={
        "visual_gain": "the metric of the task with the image minus that without, where the model keeps most of it",
        "image": "the metric of the task with the image",
        **_SAYS,
        **{f"gain_{name}": f"with the image minus with {name}" for name in _SAYS},
    },
    shown=("visual_gain", "image", *_SAYS),
    beside={"blind": "the metric of the text-only model", "chance": "what guessing reaches"},
    requests=requests,
    measure=measure,
)

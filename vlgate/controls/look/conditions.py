"""The conditions of the control ``look``: what a model is shown, or told, in the place of the image of a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from vlgate.controls.control import Sample
from vlgate.controls.look.others import images_of, others_of
from vlgate.controls.look.told import told
from vlgate.perturb.images.hidden import AWAY, LEVELS, uniform
from vlgate.perturb.images.lazy import perturbed
from vlgate.types import Case, LazyImage, with_images

TELLS = "told"
SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "grey": "that with a uniform grey image in its place, untold",
        "blank": "that with a white image in its place, untold",
        "other": "that with the image of another case in its place, untold",
        "blurred": "that with the image blurred beyond recognition, untold",
    }
)
"""What each condition is that shows the model an image."""
CONDITIONS: Mapping[str, str] = MappingProxyType(
    {**SHOWN, TELLS: "that of questions which say that there is no image, if the model can be asked without one"}
)
WITHOUT = ("grey", "blank", "other", TELLS)
"""The conditions under which nothing of the image is left; one that is blurred keeps its colours."""


def changed(condition: str, sample: Sample) -> dict[str, Case]:
    """Return the cases of a sample under a condition, by their ids; a case that it does not apply to is absent."""
    cases = [case for case in sample.cases if images_of(case)]
    if condition == TELLS:
        return {case.id: instead for case in cases if (instead := told(case)) is not None}
    if condition == "other":
        others = others_of(sample.task, cases, sample.seed)
        return {case.id: _with(case, others[case.id].__getitem__) for case in cases if case.id in others}
    if condition in LEVELS:
        plain = uniform(condition)
        return {case.id: _with(case, lambda _: plain) for case in cases}
    return {case.id: _with(case, lambda image: perturbed(image, AWAY)) for case in cases}


def _with(case: Case, shown: Callable[[LazyImage], LazyImage]) -> Case:
    return replace(case, requests=tuple(with_images(request, shown) for request in case.requests))

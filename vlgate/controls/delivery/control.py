"""The control ``delivery``: flips under changes that nobody sees, and canaries that name the fault of a pipeline."""

from __future__ import annotations

from vlgate.controls.control import Control
from vlgate.controls.delivery.arriving import LOST
from vlgate.controls.delivery.canaries import CANARIES
from vlgate.controls.delivery.diagnosing import BY_NAME, MOST_REQUESTS, diagnose
from vlgate.controls.delivery.findings import Diagnosis
from vlgate.controls.delivery.flips import measure, requests
from vlgate.controls.delivery.variants import FAMILIES
from vlgate.inference.predictor import ModelPredictor
from vlgate.metrics.controlled import ControlledTask, Figure

_BLIND = "answers that do not depend on the picture survive every change of it"


def about_model(predictor: ModelPredictor, _: int) -> ControlledTask | None:
    """Ask the model about the canaries; what they say of its pipeline stands in the notes."""
    found = diagnose(predictor)
    n = len(found.recognised)
    return ControlledTask(
        cases=tuple(f"{one.colour} {one.kind}" for one in CANARIES[:n]),
        images=tuple(f"{one.colour} {one.kind}" for one in CANARIES[:n]),
        columns={"canaries": found.recognised} if n else {},
        figures={"canaries": Figure(column="canaries")} if n else {},
        notes=tuple(_said(found)),
        beside={"chance": found.chance} if n else {},
        requests=found.requests,
        doubt=_doubt(found),
    )


def _doubt(found: Diagnosis) -> str:
    """Why no change of a picture can tell anything."""
    if found.inapplicable == BY_NAME:
        return BY_NAME
    return next((f"{_BLIND}: {one.says}" for one in found.findings if one.bug == LOST), "")


def _said(found: Diagnosis) -> list[str]:
    if found.inapplicable:
        return [f"canaries: not applicable, because {found.inapplicable}"]
    said = [f"canaries: {one.says}" for one in found.findings]
    return [*said, *found.notes] or ["canaries: pictures and texts arrive as they are"]


DELIVERY = Control(
    name="delivery",
    says="Whether pictures arrive as they are, and answers survive changes that nobody sees",
    figures={
        "flip_rate": "the share of all variants of a case's images that change its verdict, or leave it unanswered",
        **{f"flip_rate_{family}": f"the same, of these variants: {about}" for family, about in FAMILIES.items()},
        "unstable": "the share of cases that some variant flips",
        "replies_changed": "the share of variants that change an answer, or a score by more than rounding",
    },
    shown=("flip_rate", *(f"flip_rate_{family}" for family in FAMILIES)),
    of_model={"canaries": "drawn things that the model recognises among four texts; guessing recognises 0.250"},
    requests=requests,
    measure=measure,
    about_model=about_model,
    of_model_requests=MOST_REQUESTS,
)

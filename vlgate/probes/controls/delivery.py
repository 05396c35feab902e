"""The control ``delivery``: whether images arrive intact, and verdicts survive changes that nobody sees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from vlgate.asking.adapters import match_adapter
from vlgate.asking.predictor import ModelPredictor
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.probes.controls.canaries import CANARIES, Asker, Diagnosis, Finding, behind, recognised
from vlgate.probes.controls.control import Control
from vlgate.probes.controls.faults import (
    LOST,
    aliased,
    alone,
    by_name,
    frame,
    kept,
    lost,
    misplaced,
    opened,
    repaired,
    truncated,
    wrong_frame,
)
from vlgate.probes.controls.flips import FAMILIES, measure, requests
from vlgate.types import FloatArray

# Names the fault of a pipeline from the replies to the canaries.
#
# The order matters: a fault that spoils every picture is looked for first, and what it would spoil is not looked at.

CHANCE = 0.25
"""The share of canaries that guessing recognises: one text of four is true."""
ENOUGH = 0.75
"""The share of canaries that a model recognises if it knows what is drawn."""
BY_NAME = "equal pictures in files of other names get other scores, so it is not the picture alone that decides"
"""Why the canaries tell nothing about a model, and why no gate on its flips can pass."""
MOST_REQUESTS = 940
"""The most requests that a diagnosis asks."""
_NONE = np.zeros(0)


def diagnose(predictor: ModelPredictor) -> Diagnosis:
    """Ask a model, never a memory of its replies, about the canaries: at most ``MOST_REQUESTS`` requests."""
    if match_adapter(predictor.model) in {None, "match by perplexity"}:
        return _nothing(0, "the model compares no text with a picture")
    with TemporaryDirectory(prefix="vlgate-canaries-") as folder:
        return _diagnosed(Asker(predictor=predictor, folder=Path(folder)))


def _diagnosed(asker: Asker) -> Diagnosis:
    apart = alone(asker)
    if not np.isfinite(apart).all():
        return _nothing(sum(asker.asked), "the model gives no score to pictures that are not in the tasks of the run")
    nothing = lost(apart)
    if nothing is None and by_name(asker, apart):
        return _nothing(sum(asker.asked), BY_NAME)
    moved = nothing or misplaced(asker, apart)
    if moved is not None:
        return Diagnosis(
            findings=(moved,),
            recognised=recognised(_plain(asker)),
            chance=CHANCE,
            requests=sum(asker.asked),
            notes=("because pictures do not arrive, or not in their places, no other fault was looked for",),
        )
    plain = _plain(asker)
    findings = [*kept(asker, apart), *opened(asker, plain), *_of_pixels(asker, plain)]
    cut = truncated(asker)
    findings += [cut] if cut else []
    if not findings:
        findings += _unclear(plain)
    return Diagnosis(findings=tuple(findings), recognised=recognised(plain), chance=CHANCE, requests=sum(asker.asked))


def _of_pixels(asker: Asker, plain: FloatArray) -> Iterator[Finding]:
    if behind(plain):  # it sees what is drawn, so the texts are at fault
        return
    undone = repaired(asker, plain)
    if undone is not None:
        yield undone
    if undone is not None or recognised(plain).mean() < ENOUGH:
        return  # what is asked below needs a model that sees the canaries as they are
    declared = getattr(asker.predictor.model, "aspect", None)
    found = (wrong_frame(frame(asker), declared or ""), aliased(asker))
    yield from (one for one in found if one is not None)


def _unclear(plain: FloatArray) -> Iterator[Finding]:
    """Yield a finding if few canaries are recognised, and no change explains why."""
    seen = recognised(plain)
    if seen.mean() >= ENOUGH:
        return
    said = f"{int(seen.sum())} of {len(seen)} canaries are recognised"
    if behind(plain):
        why = f"{said}; the true texts score lower than the others, so the texts arrive as something else"
        yield Finding(bug="wrong template", why=why, or_else=("reversed scores",))
    else:
        why = f"{said}, and no change of the pictures helps"
        yield Finding(bug="wrong template", why=why, or_else=("wrong mean", "a model that does not know drawings"))


def _plain(asker: Asker) -> FloatArray:
    return asker.views("plain", CANARIES, lambda canary: canary.pixels)


def _nothing(requests: int, why: str) -> Diagnosis:
    return Diagnosis(recognised=_NONE, chance=CHANCE, requests=requests, inapplicable=why)


# The control ``delivery``: flips under changes that nobody sees, and canaries that name the fault of a pipeline.

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

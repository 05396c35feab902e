"""The control ``delivery``: whether images arrive intact, and verdicts survive changes that nobody sees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from vlgate.asking.adapters import match_adapter
from vlgate.asking.predictor import ModelPredictor
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.probes.controls import faults
from vlgate.probes.controls.canaries import CANARIES, Asker, Diagnosis, Finding, behind, recognised
from vlgate.probes.controls.control import Control
from vlgate.probes.controls.flips import FAMILIES, measure, requests

CHANCE = 0.25  # the share of canaries that guessing recognises: one text of four is true
ENOUGH = 0.75  # the share of canaries that a model recognises if it knows what is drawn
MOST_REQUESTS = 940  # the most requests that a diagnosis asks
BY_NAME = "equal pictures in files of other names get other scores, so it is not the picture alone that decides"
"""Why the canaries tell nothing about a model, and why no gate on its flips can pass."""
_BLIND = "answers that do not depend on the picture survive every change of it"


def diagnose(predictor: ModelPredictor) -> Diagnosis:
    """Ask a model, never a memory of its replies, about the canaries: at most ``MOST_REQUESTS`` requests."""
    if match_adapter(predictor.model) in {None, "match by perplexity"}:
        return Diagnosis(inapplicable="the model compares no text with a picture")
    with TemporaryDirectory(prefix="vlgate-canaries-") as folder:
        asker = Asker(predictor=predictor, folder=Path(folder))
        return replace(_diagnosed(asker), requests=sum(asker.asked))


def _diagnosed(asker: Asker) -> Diagnosis:
    # A fault that spoils every picture is looked for first, and what it would spoil is not looked at.
    apart = faults.alone(asker)
    if not np.isfinite(apart).all():
        return Diagnosis(inapplicable="the model gives no score to pictures that are not in the tasks of the run")
    nothing = faults.lost(apart)
    if nothing is None and faults.by_name(asker, apart):
        return Diagnosis(inapplicable=BY_NAME)
    moved = nothing or faults.misplaced(asker, apart)
    plain = asker.views("plain", CANARIES, lambda canary: canary.pixels)
    seen = recognised(plain)
    if moved is not None:
        note = "because pictures do not arrive, or not in their places, no other fault was looked for"
        return Diagnosis(findings=(moved,), recognised=seen, notes=(note,))
    findings: list[Finding | None] = [*faults.kept(asker, apart), *faults.opened(asker, plain)]
    drawings = not behind(plain)  # it sees what is drawn; otherwise the texts are at fault
    undone = faults.repaired(asker, plain) if drawings else None
    findings.append(undone)
    if drawings and undone is None and seen.mean() >= ENOUGH:  # it sees the canaries as they are
        declared = getattr(asker.predictor.model, "aspect", None)
        findings += [faults.wrong_frame(faults.frame(asker), declared or ""), faults.aliased(asker)]
    findings.append(faults.truncated(asker))
    found = tuple(finding for finding in findings if finding is not None)
    if not found and seen.mean() < ENOUGH:
        why = f"{int(seen.sum())} of {len(seen)} canaries are recognised"
        or_else: tuple[str, ...] = ("wrong mean", "a model that does not know drawings")
        if drawings:
            why += ", and no change of the pictures helps"
        else:
            why += "; the true texts score lower than the others, so the texts arrive as something else"
            or_else = ("reversed scores",)
        found = (Finding(bug="wrong template", why=why, or_else=or_else),)
    return Diagnosis(findings=found, recognised=seen)


def about_model(predictor: ModelPredictor, _: int) -> ControlledTask | None:
    """Ask the model about the canaries; what they say of its pipeline stands in the notes."""
    found = diagnose(predictor)
    n = len(found.recognised)
    names = tuple(f"{canary.colour} {canary.kind}" for canary in CANARIES[:n])
    notes = [*(f"canaries: {finding.says}" for finding in found.findings), *found.notes]
    if found.inapplicable:
        notes = [f"canaries: not applicable, because {found.inapplicable}"]
    doubt = next((f"{_BLIND}: {finding.says}" for finding in found.findings if finding.bug == faults.LOST), "")
    return ControlledTask(
        cases=names,
        images=names,
        columns={"canaries": found.recognised} if n else {},
        figures={"canaries": Figure(column="canaries")} if n else {},
        notes=tuple(notes) or ("canaries: pictures and texts arrive as they are",),
        beside={"chance": CHANCE} if n else {},
        requests=found.requests,
        doubt=BY_NAME if found.inapplicable == BY_NAME else doubt,
    )


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

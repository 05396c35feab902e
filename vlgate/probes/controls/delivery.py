"""The control ``delivery``: whether images arrive intact, and verdicts survive changes that nobody sees."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from vlgate.asking.adapters import match_adapter
from vlgate.asking.checks.check import ROUNDING
from vlgate.asking.items import case_with, images_of_case, requests_of
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import VlgateError
from vlgate.images.files import file_image
from vlgate.judging.verdicts import unread
from vlgate.metrics.clusters import case_clusters
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.perturb.images.benign import LOSSLESS, MOST_PIXELS, as_jpeg, as_png, as_progressive, pad, rescale, shift
from vlgate.perturb.images.pixels import Pixels
from vlgate.probes.controls import faults
from vlgate.probes.controls.canaries import CANARIES, Asker, Diagnosis, Finding, behind, recognised
from vlgate.probes.controls.control import Control, Sample
from vlgate.seeds import generator
from vlgate.types import Ask, Case, Compare, FloatArray, LazyImage, Prediction, Read, Verdict

OWN = ""  # the reference of a variant that is compared with the image itself
_FACTORS = (0.98, 0.99, 1.01, 1.02)
Make = Callable[[Pixels, np.random.Generator], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    # ``family`` is the name of the family that it counts in, and ``reference`` the variant whose verdict its own is
    # compared with: that of the image itself, or of the one with the same pixels.

    family: str
    make: Make
    reference: str = OWN


def _encoded(encode: Callable[[Pixels], bytes | None]) -> Make:
    return lambda pixels, _: encode(pixels)


def _shifted(pixels: Pixels, chance: np.random.Generator) -> bytes:
    right, down = (int(one) for one in chance.integers(1, MOST_PIXELS + 1, 2) * chance.choice((-1, 1), 2))
    return as_png(shift(pixels, right, down))


VARIANTS: Mapping[str, Variant] = {
    **{name: Variant(family="reencoded", make=_encoded(encode)) for name, encode in LOSSLESS.items()},
    "jpeg": Variant(family="jpeg", make=_encoded(as_jpeg)),
    "progressive": Variant(family="reencoded", make=_encoded(as_progressive), reference="jpeg"),
    "shift": Variant(family="shift", make=_shifted),
    "pad": Variant(
        family="pad", make=lambda pixels, chance: as_png(pad(pixels, int(chance.integers(1, MOST_PIXELS + 1))))
    ),
    "rescale": Variant(
        family="rescale", make=lambda pixels, chance: as_png(rescale(pixels, float(chance.choice(_FACTORS))))
    ),
}  # all variants, by name; one that another one refers to comes before it
FAMILIES: Mapping[str, str] = {
    "reencoded": "the same pixels in another file: PNG, turned by EXIF, palette, transparent white, CMYK; "
    "progressive against baseline JPEG",
    "shift": "moved by 1 to 4 pixels across and down",
    "pad": "a border of 1 to 4 pixels",
    "rescale": "1 or 2 % larger or smaller",
    "jpeg": "JPEG of quality 95",
}  # what the variants of each family are

Verdicts = Mapping[str, Verdict]  # judged verdicts by the ids of their cases


def requests(cases: Sequence[Case], _: bool = False) -> int:
    return len(VARIANTS) * len({request for request in requests_of(cases) if not isinstance(request, Read)})


def measure(sample: Sample, predictor: ModelPredictor) -> ControlledTask:
    with TemporaryDirectory(prefix="vlgate-variants-") as folder:
        files, left_out = _written(sample, Path(folder))
        judged: dict[str, Verdicts] = {OWN: {verdict.case.id: verdict for verdict in sample.verdicts}}
        asked = 0
        for name in VARIANTS:
            made = files.get(name, {})
            shown = [case for case in sample.cases if images_of_case(case) and made.keys() >= {*images_of_case(case)}]
            cases = [case_with(case, made.__getitem__) for case in shown]
            wanted = dict.fromkeys(request for case in cases for request in case.requests)
            asked += len(wanted)
            verdicts = sample.judged(cases, predictor.predict(wanted)) if cases else ()
            judged[name] = {verdict.case.id: verdict for verdict in verdicts if verdict.state == "judged"}
            left_out["variants of cases without a reply"] += len(cases) - len(judged[name])
        columns = _columns(sample, judged)
        return ControlledTask(
            cases=tuple(case.id for case in sample.cases),
            images=case_clusters(sample.cases),
            columns=columns,
            figures={name: Figure(column=name) for name in columns},
            left_out={**sample.left_out, **{why: number for why, number in left_out.items() if number}},
            requests=asked,
        )


def _written(sample: Sample, folder: Path) -> tuple[dict[str, dict[LazyImage, LazyImage]], Counter[str]]:
    files: dict[str, dict[LazyImage, LazyImage]] = {}
    left_out: Counter[str] = Counter()
    for number, image in enumerate(dict.fromkeys(image for case in sample.cases for image in images_of_case(case))):
        try:
            pixels: Pixels = np.asarray(image.load())
        except VlgateError:  # a model that needs no file replies without one
            left_out["images that cannot be decoded"] += 1
            continue
        for name, variant in VARIANTS.items():
            content = variant.make(pixels, generator(f"{sample.seed}:delivery:{name}:{image.key}"))
            if content is None:
                left_out[f"images that have no variant {name!r}: more than 256 colours"] += 1
                continue
            file = folder / f"{number}-{name}"
            file.write_bytes(content)
            files.setdefault(name, {})[image] = file_image(f"{image.key}#delivery-{name}", file)
    return files, left_out


def _columns(sample: Sample, judged: Mapping[str, Verdicts]) -> dict[str, FloatArray]:
    """The columns: for each case the share of its variants that changes the verdict, or a reply beyond rounding."""
    rates = {family: f"flip_rate_{family}" for family in FAMILIES}
    names = ("flip_rate", *rates.values(), "unstable", "replies_changed")
    columns: dict[str, list[float]] = {name: [] for name in names}
    for case in sample.cases:
        flipped: list[bool] = []
        changed: list[bool] = []
        for family, rate in rates.items():
            compared = [(name, variant.reference) for name, variant in VARIANTS.items() if variant.family == family]
            both = [(judged[reference].get(case.id), judged[name].get(case.id)) for name, reference in compared]
            pairs = [(one, other) for one, other in both if one is not None and other is not None]
            # A reply that answers nothing agrees with none, so silence is not stable.
            flips = [one.right != other.right or not (_answered(one) and _answered(other)) for one, other in pairs]
            columns[rate].append(_share(flips))
            flipped += flips
            changed += [any(map(differ, one.predictions, other.predictions)) for one, other in pairs]
        columns["flip_rate"].append(_share(flipped))
        columns["unstable"].append(float(any(flipped)) if flipped else np.nan)
        columns["replies_changed"].append(_share(changed))
    return {name: np.array(values, dtype=np.float64) for name, values in columns.items()}


def _answered(verdict: Verdict) -> bool:
    asked = (reply for reply in verdict.predictions if isinstance(reply.request, Ask | Compare))
    tied = any(reply.answer is None for reply in asked)
    return not tied and not unread(verdict)


def _share(happened: Sequence[bool]) -> float:
    return sum(happened) / len(happened) if happened else float("nan")


def differ(reply: Prediction, other: Prediction) -> bool:
    if reply.score is None or other.score is None:
        return reply.answer != other.answer or (reply.score is None) != (other.score is None)
    return abs(reply.score - other.score) > ROUNDING["float32"] * max(1.0, abs(reply.score))


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

"""Explain cases: ask about all changed copies at once, measure how far the margin moves, and say it in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from vlgate.asking.items import images_of_case
from vlgate.errors import VlgateError, described
from vlgate.probes.explaining.changes import Boxes, Change, Subject, subject_of, texts_of
from vlgate.probes.explaining.record import INTERVENTIONS, Explanation, Finding, Part, turning
from vlgate.probes.explaining.regions import Decoded, segments
from vlgate.types import (
    Attended,
    Attends,
    Box,
    Boxed,
    Case,
    LazyImage,
    Match,
    Prediction,
    Predictor,
    Request,
    RollsOut,
    Shape,
    Verdict,
)


def attended_in(cases: Sequence[Case], model: object) -> tuple[tuple[tuple[Attended, ...], ...], str]:
    """Return what a model attends to in the pairs of each case, and why there are no maps, if the model raised."""
    # one map per method and different pair of a case; an error must not cost the interventions, which are worth more
    pairs = [tuple(dict.fromkeys(request for request in case.requests if isinstance(request, Match))) for case in cases]
    asked = list(dict.fromkeys(pair for some in pairs for pair in some))
    found: dict[Match, list[Attended]] = {pair: [] for pair in asked}
    problems = []
    ways: list[tuple[str, Callable[[Sequence[Match]], Sequence[Attended]]]] = []
    if isinstance(model, Attends):
        ways.append(("attended", model.attended))
    if isinstance(model, RollsOut):
        ways.append(("attention_rollout", model.attention_rollout))
    for name, ask in ways if asked else ():
        try:
            maps = ask(asked)
        except Exception as error:  # noqa: BLE001  # a foreign model may raise anything
            problems.append(f"{name}() of the model raised {described(error)}")
            continue
        if maps and len(maps) != len(asked):
            problems.append(
                f"{name}() of the model returned {len(maps)} maps for {len(asked)} pairs; return one per pair"
            )
            continue
        for pair, map_ in zip(asked, maps, strict=False):  # a model may have no maps at all
            found[pair].append(map_)
    return tuple(
        tuple(replace(one, image=images_of_case(case).index(pair.image)) for pair in some for one in found[pair])
        for case, some in zip(cases, pairs, strict=True)
    ), "; ".join(problems)


_NAMED = 3  # the most parts that a sentence names
_SAID = {
    "hide windows": "with the {place} of {image} hidden",
    "hide boxes": "with the box at the {place} of {image} hidden",
    "hide segments": "with the segment at the {place} of {image} hidden",
    "exchange between images": "with the {place} of {image} from the other image",
    "leave words out": "without {word!r}",
    "exchange words": "with 'thing' for {word!r}",
    "exchange between texts": "with {word!r} exchanged between the texts",
}


def says(found: Explanation) -> str:
    """Return what turns the verdict of a case, or else what moves its margin most."""
    outcome = "missed" if found.right else "right"
    turns = [
        text
        for finding in found.findings
        for text in dict.fromkeys(_said(found, finding, part) for part in turning(finding.parts)[:_NAMED])
    ]
    if turns:
        return f"The case is {outcome} {_joined(turns)}."
    strongest = []
    for finding in found.findings:
        moved = [(part.effect, part) for part in finding.measured if part.effect]
        if moved:
            effect, part = max(moved, key=lambda one: abs(one[0]))
            strongest.append(f"{_said(found, finding, part)} ({-effect:+.3g})")
    if not strongest:
        return "No change could be measured, or none moves the reply."
    return f"No single change makes the case {outcome}; it moves most {_joined(strongest)}."


def place_of(box: Box) -> str:
    """Return the place of the middle of a box in words."""
    across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    row = "top" if down < 1 / 3 else "bottom" if down > 2 / 3 else ""
    column = "left" if across < 1 / 3 else "right" if across > 2 / 3 else ""
    return f"{row} {column}".strip() or "middle"


def _said(explanation: Explanation, finding: Finding, part: Part) -> str:
    image = "the image" if len(explanation.images) == 1 else f"image {chr(ord('A') + (part.image or 0))}"
    place = place_of(part.box) if part.box is not None else ""
    return _SAID[finding.method].format(place=place, image=image, word=part.word)


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


Told = tuple[str, Shape, Verdict]  # A verdict to explain, with the id and the shape of its task


def subjects(told: Sequence[Told], model: object) -> tuple[Subject, ...]:
    """Return what to ask about each verdict; those that have no margin are left out."""
    # The images are decoded here, for their segments, and a model with boxes is asked for those of the unchanged
    # images.
    images = dict.fromkeys(image for _, _, verdict in told for image in images_of_case(verdict.case))
    boxes = _boxes(model, list(images))
    parts = {image: some for image in images if (some := _segments(image))}
    found = (subject_of(task, shape, verdict.case, model, boxes, parts) for task, shape, verdict in told)
    return tuple(one for one in found if one is not None)


def number_of_requests(asked: Sequence[Subject]) -> int:
    return len({request for subject in asked for request in subject.requests})


def explain(asked: Sequence[Subject], predictor: Predictor, model: object) -> tuple[Explanation, ...]:
    """Explain cases that have a reply to their own requests; ``model`` is asked what it attends to."""
    said = predictor.predict(request for subject in asked for request in subject.requests)
    maps, unseen = attended_in([subject.case for subject in asked], model)
    found = []
    for subject, seen in zip(asked, maps, strict=True):
        base = subject.margin.of(said)
        if base is None:
            continue
        by_method = {
            method: [change for change in subject.changes if change.method == method] for method in INTERVENTIONS
        }
        made = Explanation(
            task=subject.task,
            case=subject.case.id,
            right=subject.margin.right(base),
            images=tuple(image.key for image in images_of_case(subject.case)),
            texts=texts_of(subject.case),
            margin=base,
            graded=subject.margin.graded,
            findings=tuple(_finding(subject, changes, said, base) for changes in by_method.values() if changes),
            attended=seen,
            unseen=unseen,
            requests=len(subject.requests),
            says="",
        )
        found.append(replace(made, says=says(made)))
    return tuple(found)


def _boxes(model: object, images: Sequence[LazyImage]) -> Boxes:
    if not isinstance(model, Boxed) or not images:
        return {}
    try:
        found = model.boxes(images)
    except VlgateError:  # an image without regions: its requests have no reply, and say why
        return {}
    return {
        image: [(float(x1), float(y1), float(x2), float(y2)) for x1, y1, x2, y2 in rows]
        for image, rows in zip(images, found, strict=True)
    }


def _segments(image: LazyImage) -> tuple[Box, ...]:
    try:
        return segments(Decoded(image).pixels)
    except VlgateError:  # an image that cannot be decoded: its requests have no reply, and say why
        return ()


def _finding(subject: Subject, changes: Sequence[Change], said: Mapping[Request, Prediction], base: float) -> Finding:
    was_right = subject.margin.right(base)
    fit = subject.margin.fit(said)
    parts: list[Part] = []
    problems: list[str] = []
    for change in changes:
        margin = change.margin.of(said)
        if margin is None:
            problems += [said[request].problem or "" for request in change.margin.requests if said[request].problem][:1]
            parts.append(change.part)
        else:
            turns = change.margin.right(margin) != was_right
            left = change.margin.fit(said) if change.part.box is not None else None
            support = None if fit is None or left is None else fit - left
            parts.append(replace(change.part, effect=base - margin, support=support, turns=turns))
    why = problems[0] if problems else ""
    return Finding(method=changes[0].method, parts=tuple(parts), lacking=len(problems), why=why)

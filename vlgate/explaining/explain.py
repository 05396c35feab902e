"""Explain cases: ask the model about all changed copies at once, and measure how far the margin moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vlgate.errors import VlgateError
from vlgate.explaining.attending import attended_in
from vlgate.explaining.changes import Boxes, Change, Subject, images_of, subject_of, texts_of
from vlgate.explaining.painting import Decoded
from vlgate.explaining.protocols import Boxed
from vlgate.explaining.record import INTERVENTIONS, Attended, Box, Explanation, Finding, Part
from vlgate.explaining.segments import segments
from vlgate.explaining.sentences import says
from vlgate.types import LazyImage, Prediction, Predictor, Request, Shape, Verdict

Told = tuple[str, Shape, Verdict]
"""A verdict to explain, with the id and the shape of its task."""


def subjects(told: Sequence[Told], model: object) -> tuple[Subject, ...]:
    """Return what to ask about each verdict; those that have no margin are left out.

    The images are decoded here, for their segments, and a model with boxes is asked for those of the unchanged images.
    """
    images = dict.fromkeys(image for _, _, verdict in told for image in images_of(verdict.case))
    boxes = _boxes(model, list(images))
    parts = {image: some for image in images if (some := _segments(image))}
    found = (subject_of(task, shape, verdict.case, model, boxes, parts) for task, shape, verdict in told)
    return tuple(one for one in found if one is not None)


def number_of_requests(asked: Sequence[Subject]) -> int:
    """Return how many different requests the explanations ask."""
    return len({request for subject in asked for request in subject.requests})


def explain(asked: Sequence[Subject], predictor: Predictor, model: object) -> tuple[Explanation, ...]:
    """Explain cases.

    Args:
        asked: the cases with their changes, as ``subjects`` returns them.
        predictor: what replies to the requests, each different one once, in batches.
        model: the model itself, for what it attends to.

    Returns: one explanation per case that has a reply to its own requests, in the order of ``asked``.
    """
    said = predictor.predict(request for subject in asked for request in subject.requests)
    maps, unseen = attended_in([subject.case for subject in asked], model)
    found = (_explained(subject, said, seen, unseen) for subject, seen in zip(asked, maps, strict=True))
    return tuple(one for one in found if one is not None)


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


def _explained(
    subject: Subject, said: Mapping[Request, Prediction], seen: tuple[Attended, ...], unseen: str
) -> Explanation | None:
    base = subject.margin.of(said)
    if base is None:
        return None
    findings = tuple(
        _finding(subject, [change for change in subject.changes if change.method == method], said, base)
        for method in INTERVENTIONS
        if any(change.method == method for change in subject.changes)
    )
    right = subject.margin.right(base)
    made = Explanation(
        task=subject.task,
        case=subject.case.id,
        right=right,
        images=tuple(image.key for image in images_of(subject.case)),
        texts=texts_of(subject.case),
        margin=base,
        graded=subject.margin.graded,
        findings=findings,
        attended=seen,
        unseen=unseen,
        requests=len(subject.requests),
        says="",
    )
    return replace(made, says=says(made))


def _finding(subject: Subject, changes: Sequence[Change], said: Mapping[Request, Prediction], base: float) -> Finding:
    was_right = subject.margin.right(base)
    fit = subject.margin.fit(said)
    parts: list[Part] = []
    problems: list[str] = []
    for change in changes:
        margin = change.margin.of(said)
        if margin is None:
            problems += [said[one].problem or "" for one in change.margin.requests if said[one].problem][:1]
            parts.append(change.part)
        else:
            turns = change.margin.right(margin) != was_right
            left = change.margin.fit(said) if change.part.box is not None else None
            support = None if fit is None or left is None else fit - left
            parts.append(replace(change.part, effect=base - margin, support=support, turns=turns))
    why = problems[0] if problems else ""
    return Finding(method=changes[0].method, parts=tuple(parts), lacking=len(problems), why=why)

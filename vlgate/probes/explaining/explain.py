"""Explain cases: ask about all changed copies at once, measure how far the margin moves, and say it in a sentence."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from vlgate import types
from vlgate.asking.items import case_with, images_of_case, saying
from vlgate.errors import VlgateError, described
from vlgate.metrics.shapes import SHAPES
from vlgate.probes.explaining.record import INTERVENTIONS, Explanation, Finding, Margin, Method, Part, margin_of
from vlgate.probes.explaining.regions import WINDOWS, Decoded, from_another, hidden, segments
from vlgate.types import Box, Case, Compare, LazyImage, Match, Prediction, Predictor, Request, Shape, Verdict, text_of

NEUTRAL = "thing"  # what a word is exchanged for: a word that names nothing in particular
MOST_WORDS = 40  # the most words of a case that are changed, the first ones
MOST_PLACES = 8  # the most places in which two texts differ that are exchanged, the first ones
_WORD = re.compile(r"[\w'\u2019-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    words: str
    texts: tuple[str, str]


def words_of(texts: Sequence[str]) -> tuple[str, ...]:
    found = (word.lower() for text in texts for word in _WORD.findall(text))
    return tuple(dict.fromkeys(found))[:MOST_WORDS]


def left_out(text: str, word: str) -> str | None:
    changed = re.sub(r"\s+([.,;:?!])", r"\1", " ".join(_changed(text, word, "").split()))
    return changed if changed != text and _WORD.search(changed) else None


def exchanged(text: str, word: str) -> str | None:
    changed = _changed(text, word, NEUTRAL)
    return None if changed == text else changed


def swaps(one: str, other: str) -> tuple[Swap, ...]:
    # There are none if they differ in fewer than two: the exchange would only change the roles of the texts.
    mine, yours = one.split(), other.split()
    apart = [code for code in SequenceMatcher(None, mine, yours, autojunk=False).get_opcodes() if code[0] != "equal"]
    if len(apart) < 2:
        return ()
    found = []
    for _, a, b, c, d in apart[:MOST_PLACES]:
        texts = [*mine[:a], *yours[c:d], *mine[b:]], [*yours[:c], *mine[a:b], *yours[d:]]
        words = " / ".join(" ".join(some).strip(" .,;:?!") or "nothing" for some in (mine[a:b], yours[c:d]))
        found.append(Swap(words=words, texts=(" ".join(texts[0]), " ".join(texts[1]))))
    return tuple(swap for swap in found if all(swap.texts))


def _changed(text: str, word: str, instead: str) -> str:
    return _WORD.sub(lambda found: instead if found[0].lower() == word else found[0], text)


Boxes = Mapping[LazyImage, Sequence[Box]]
"""Boxes by image: those that a model looks at (an image without them has windows), or the segments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    method: Method
    part: Part
    margin: Margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    task: str
    case: Case
    margin: Margin
    changes: tuple[Change, ...]

    @property
    def requests(self) -> tuple[Request, ...]:
        margins = (self.margin, *(change.margin for change in self.changes))
        return tuple(dict.fromkeys(request for margin in margins for request in margin.requests))


def texts_of(case: Case) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text_of(request) for request in case.requests))


def text_swaps(case: Case, shape: Shape) -> Iterator[tuple[tuple[int, int], Swap]]:
    for one, other in SHAPES[shape].word_pairs:
        for swap in swaps(*texts_at(case, (one, other))):
            yield (one, other), swap


def texts_at(case: Case, places: tuple[int, int]) -> tuple[str, str]:
    return text_of(case.requests[places[0]]), text_of(case.requests[places[1]])


def _copies(case: Case, shape: Shape, boxes: Boxes, segments: Boxes) -> Iterator[tuple[Method, Part, Case]]:
    images = images_of_case(case)
    for number, image in enumerate(images):
        hidden_parts: tuple[tuple[Method, Sequence[Box]], ...] = (
            ("hide boxes" if image in boxes else "hide windows", boxes.get(image, WINDOWS)),
            ("hide segments", segments.get(image, ())),
        )
        for method, places in hidden_parts:
            for region in hidden(image, places):
                yield method, Part(effect=None, box=region.box, image=number), _showing(case, image, region.changed)
    if len(images) == 2:  # one with a part of the other
        for number, image in enumerate(images):
            for region in from_another(image, images[1 - number], boxes.get(image, WINDOWS)):
                part = Part(effect=None, box=region.box, image=number)
                yield "exchange between images", part, _showing(case, image, region.changed)
    if not any(isinstance(request, Compare) for request in case.requests):
        yield from _reworded(case, shape)  # the words of a question about several images are mostly not the case's


def _reworded(case: Case, shape: Shape) -> Iterator[tuple[Method, Part, Case]]:
    texts = texts_of(case)
    word_changes: tuple[tuple[Method, Callable[[str, str], str | None]], ...]
    word_changes = (("leave words out", left_out), ("exchange words", exchanged))
    for method, change in word_changes:
        for word in words_of(texts):
            copy = _saying(case, {text: change(text, word) or text for text in texts})
            if copy.requests != case.requests:
                yield method, Part(effect=None, word=word), copy
    for places, swap in text_swaps(case, shape):
        copy = _saying(case, dict(zip(texts_at(case, places), swap.texts, strict=True)))
        yield "exchange between texts", Part(effect=None, word=swap.words), copy


def _showing(case: Case, image: LazyImage, instead: LazyImage) -> Case:
    return case_with(case, lambda own: instead if own == image else own)


def _saying(case: Case, instead: Mapping[str, str]) -> Case:
    asked = ((request, text_of(request)) for request in case.requests)
    return replace(case, requests=tuple(saying(request, instead.get(text, text)) for request, text in asked))


def attended_in(cases: Sequence[Case], model: object) -> tuple[tuple[tuple[types.Attended, ...], ...], str]:
    # one map per method and different pair of a case; an error must not cost the interventions, which are worth more
    pairs = [tuple(dict.fromkeys(request for request in case.requests if isinstance(request, Match))) for case in cases]
    asked = list(dict.fromkeys(pair for some in pairs for pair in some))
    found: dict[Match, list[types.Attended]] = {pair: [] for pair in asked}
    problems = []
    ways: list[tuple[str, Callable[[Sequence[Match]], Sequence[types.Attended]]]] = []
    if isinstance(model, types.Attends):
        ways.append(("attended", model.attended))
    if isinstance(model, types.RollsOut):
        ways.append(("attention_rollout", model.attention_rollout))
    for name, ask in ways if asked else ():
        try:
            maps = ask(asked)
        except Exception as error:  # noqa: BLE001  # a foreign model may raise anything
            problems.append(f"{name}() of the model raised {described(error)}")
            continue
        if maps and len(maps) != len(asked):
            count = f"{len(maps)} maps for {len(asked)} pairs"
            problems.append(f"{name}() of the model returned {count}; return one per pair")
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
    outcome = "missed" if found.right else "right"
    turning = ((finding, part) for finding in found.findings for part in finding.turning[:_NAMED])
    turns = list(dict.fromkeys(_said(found, *one) for one in turning))
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
    # The images are decoded here, for their segments, and a model with boxes is asked for those of the unchanged
    # images. Nothing else is asked yet. A case without a margin is left out.
    images = dict.fromkeys(image for _, _, verdict in told for image in images_of_case(verdict.case))
    boxes = _boxes(model, list(images))
    parts = {image: some for image in images if (some := _segments(image))}
    found = []
    for task, shape, verdict in told:
        own = margin_of(verdict.case, shape, model)
        changes = (
            Change(method=method, part=part, margin=changed)
            for method, part, copy in _copies(verdict.case, shape, boxes, parts)
            if (changed := margin_of(copy, shape, model)) is not None
        )
        if own is not None:
            found.append(Subject(task=task, case=verdict.case, margin=own, changes=tuple(changes)))
    return tuple(found)


def number_of_requests(asked: Sequence[Subject]) -> int:
    return len({request for subject in asked for request in subject.requests})


def explain(asked: Sequence[Subject], predictor: Predictor, model: object) -> tuple[Explanation, ...]:
    said = predictor.predict(request for subject in asked for request in subject.requests)
    maps, unseen = attended_in([subject.case for subject in asked], model)
    found = []
    for subject, seen in zip(asked, maps, strict=True):
        base = subject.margin.of(said)
        if base is None:
            continue
        by_method = [[one for one in subject.changes if one.method == method] for method in INTERVENTIONS]
        made = Explanation(
            task=subject.task,
            case=subject.case.id,
            right=subject.margin.right(base),
            images=tuple(image.key for image in images_of_case(subject.case)),
            texts=texts_of(subject.case),
            margin=base,
            graded=subject.margin.graded,
            findings=tuple(_finding(subject, changes, said, base) for changes in by_method if changes),
            attended=seen,
            unseen=unseen,
            requests=len(subject.requests),
            says="",
        )
        found.append(replace(made, says=says(made)))
    return tuple(found)


def _boxes(model: object, images: Sequence[LazyImage]) -> Boxes:
    if not isinstance(model, types.Boxed) or not images:
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

"""The changed copies of a case: one word or one part of an image hidden or exchanged, in all its requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from vlgate.asking.items import images_of_case
from vlgate.metrics.shapes import SHAPES
from vlgate.probes.explaining.margin import Margin, margin_of
from vlgate.probes.explaining.record import Method, Part
from vlgate.probes.explaining.regions import WINDOWS, from_another, hidden
from vlgate.types import Ask, Box, Case, Compare, LazyImage, Request, Shape, text_of, with_images

NEUTRAL = "thing"  # what a word is exchanged for: a word that names nothing in particular
MOST_WORDS = 40  # the most words of a case that are changed, the first ones
MOST_PLACES = 8  # the most places in which two texts differ that are exchanged, the first ones
_WORD = re.compile(r"[\w'\u2019-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Two texts with their words exchanged in one of the places in which they differ; ``words`` are those words."""

    words: str
    texts: tuple[str, str]


def words_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the different words of some texts in lower case, by first appearance, at most ``MOST_WORDS``."""
    found = (word.lower() for text in texts for word in _WORD.findall(text))
    return tuple(dict.fromkeys(found))[:MOST_WORDS]


def left_out(text: str, word: str) -> str | None:
    """Return the text without a word, wherever it stands; None if it has no such word, or none but it."""
    changed = re.sub(r"\s+([.,;:?!])", r"\1", " ".join(_changed(text, word, "").split()))
    return changed if changed != text and _WORD.search(changed) else None


def exchanged(text: str, word: str) -> str | None:
    """Return the text with ``NEUTRAL`` for a word, wherever it stands; None if it has no such word."""
    changed = _changed(text, word, NEUTRAL)
    return None if changed == text else changed


def swaps(one: str, other: str) -> tuple[Swap, ...]:
    """Return two texts with their words exchanged in each place in which they differ, at most ``MOST_PLACES``."""
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
    """A changed copy of a case: its margin, and the part that was changed, whose effect is not known yet."""

    method: Method
    part: Part
    margin: Margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A case to explain, with its margin and all of its changes."""

    task: str
    case: Case
    margin: Margin
    changes: tuple[Change, ...]

    @property
    def requests(self) -> tuple[Request, ...]:
        """All requests that the explanation asks, each once."""
        margins = (self.margin, *(change.margin for change in self.changes))
        return tuple(dict.fromkeys(request for margin in margins for request in margin.requests))


def subject_of(task: str, shape: Shape, case: Case, model: object, boxes: Boxes, segments: Boxes) -> Subject | None:
    """Return a case with all the changes that explain it, or None if it has no margin; nothing is asked yet."""
    margin = margin_of(case, shape, model)
    if margin is None:
        return None
    changes = (
        Change(method=method, part=part, margin=changed)
        for method, part, copy in _copies(case, shape, boxes, segments)
        if (changed := margin_of(copy, shape, model)) is not None
    )
    return Subject(task=task, case=case, margin=margin, changes=tuple(changes))


def texts_of(case: Case) -> tuple[str, ...]:
    """Return the different captions or questions of a case, in the order of its requests."""
    return tuple(dict.fromkeys(text_of(request) for request in case.requests))


def text_swaps(case: Case, shape: Shape) -> Iterator[tuple[tuple[int, int], Swap]]:
    """Yield the exchanges between a true text of a case and the false one beside it, with their places in the case."""
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
    word_changes: tuple[tuple[Method, Callable[[str, str], str | None]], ...] = (
        ("leave words out", left_out),
        ("exchange words", exchanged),
    )
    for method, change in word_changes:
        for word in words_of(texts):
            copy = _saying(case, {text: change(text, word) or text for text in texts})
            if copy.requests != case.requests:
                yield method, Part(effect=None, word=word), copy
    for places, swap in text_swaps(case, shape):
        copy = _saying(case, dict(zip(texts_at(case, places), swap.texts, strict=True)))
        yield "exchange between texts", Part(effect=None, word=swap.words), copy


def _showing(case: Case, image: LazyImage, instead: LazyImage) -> Case:
    requests = (with_images(request, lambda own: instead if own == image else own) for request in case.requests)
    return replace(case, requests=tuple(requests))


def _saying(case: Case, instead: Mapping[str, str]) -> Case:
    def change(request: Request) -> Request:
        text = instead.get(text_of(request), text_of(request))
        return replace(request, question=text) if isinstance(request, Ask | Compare) else replace(request, text=text)

    return replace(case, requests=tuple(map(change, case.requests)))

"""The changed copies of a case: one part of an image hidden, or one word left out or exchanged, in all its requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vlgate.explaining.margin import Margin, margin_of
from vlgate.explaining.record import Method, Part
from vlgate.explaining.regions import WINDOWS, Box, regions
from vlgate.explaining.words import exchanged, left_out, words_of
from vlgate.types import Ask, Case, LazyImage, Match, Read, Request, Shape

Boxes = Mapping[LazyImage, Sequence[Box]]
"""The boxes that a model looks at, by image; windows are hidden in an image that is not among them."""


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


def subject_of(task: str, shape: Shape, case: Case, model: object, boxes: Boxes) -> Subject | None:
    """Return a case with all the changes that explain it, or None if it has no margin; nothing is asked yet.

    Args:
        task: the id of its task.
        shape: the shape of its task.
        case: the case.
        model: the model that will be asked, for the way in which it answers.
        boxes: the boxes that the model looks at; may be empty.
    """
    margin = margin_of(case, shape, model)
    if margin is None:
        return None
    changes = (
        Change(method=method, part=part, margin=changed)
        for method, part, copy in (*_without_regions(case, boxes), *_without_words(case))
        if (changed := margin_of(copy, shape, model)) is not None
    )
    return Subject(task=task, case=case, margin=margin, changes=tuple(changes))


def images_of(case: Case) -> tuple[LazyImage, ...]:
    """Return the different images of a case, in the order of its requests."""
    return tuple(dict.fromkeys(one.image for one in case.requests if not isinstance(one, Read)))


def texts_of(case: Case) -> tuple[str, ...]:
    """Return the different captions or questions of a case, in the order of its requests."""
    return tuple(dict.fromkeys(one.question if isinstance(one, Ask) else one.text for one in case.requests))


def _without_regions(case: Case, boxes: Boxes) -> Iterator[tuple[Method, Part, Case]]:
    for number, image in enumerate(images_of(case)):
        own = boxes.get(image)
        method: Method = "hide windows" if own is None else "hide boxes"
        for region in regions(image, WINDOWS if own is None else own):
            part = Part(effect=None, box=region.box, image=number)
            yield method, part, _mapped(case, _shown_instead(image, region.hidden))


def _without_words(case: Case) -> Iterator[tuple[Method, Part, Case]]:
    methods: tuple[tuple[Method, Callable[[str, str], str | None]], ...] = (
        ("leave words out", left_out),
        ("exchange words", exchanged),
    )
    for method, change in methods:
        for word in words_of(texts_of(case)):
            copy = _mapped(case, _said_instead(change, word))
            if copy.requests != case.requests:
                yield method, Part(effect=None, word=word), copy


def _mapped(case: Case, change: Callable[[Request], Request]) -> Case:
    return replace(case, requests=tuple(change(request) for request in case.requests))


def _shown_instead(image: LazyImage, hidden: LazyImage) -> Callable[[Request], Request]:
    def change(request: Request) -> Request:
        """Show the changed image where the image stood."""
        if isinstance(request, Read) or request.image != image:
            return request
        return replace(request, image=hidden)

    return change


def _said_instead(how: Callable[[str, str], str | None], word: str) -> Callable[[Request], Request]:
    def change(request: Request) -> Request:
        """Change the word in the text, if it has it."""
        if isinstance(request, Ask):
            return replace(request, question=how(request.question, word) or request.question)
        if isinstance(request, Match):
            return replace(request, text=how(request.text, word) or request.text)
        return request

    return change

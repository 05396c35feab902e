"""A row of cases.parquet as a card: its texts with their differences, its replies, its images and its command."""

from __future__ import annotations

import json
import re
import shlex
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ImageError, printable
from vlgate.metrics.clusters import BETWEEN, image_of, photograph
from vlgate.record.cases import plain_id
from vlgate.report.difference import Piece, beside, difference
from vlgate.report.page.rows import History, Row, TaskRows
from vlgate.types import Case, LazyImage, images_of

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image as a data URI; ``source`` is empty if it cannot be shown, and ``problem`` says why."""

    key: str
    source: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A request of a case with its reply.

    ``pieces`` are the parts of its text; those that the text beside it lacks are marked. ``place`` is the place of the
    score between the lowest and the highest one of the task, in 0..100. ``right`` is None for a text, whose score is
    neither right nor wrong by itself. ``before`` is the reply of the baseline; empty if it is unknown.
    """

    picture: str
    pieces: tuple[Piece, ...]
    truth: str
    score: float | None = None
    place: float = 0.0
    answer: str | None = None
    right: bool | None = None
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A case as the page shows it.

    ``overlaid`` is true if its second image is a perturbation of its first. ``thumb`` is a small image of a worst case.
    ``change`` says what became of it since the baseline, ``age`` for how many releases it has been missed, and
    ``before`` how the baseline judged it; they are empty if that is unknown.
    """

    anchor: str
    task: str
    case: str
    state: str
    lines: tuple[Line, ...]
    pictures: tuple[Picture, ...]
    thumb: Picture | None
    overlaid: bool
    why: str
    tags: Mapping[str, str]
    origin: str
    command: str
    change: str = ""
    age: str = ""
    before: str = ""


SIDE = 256  # the most pixels of the longer side of an image
THUMB = 112  # the most pixels of the longer side of an image beside a sentence
BUDGET = 9_000_000  # the most bytes of the images of a page, as they are written, each as often as it is shown
SHARE = 0.7  # the part of the budget that is not kept for the worst and the newly broken cases
MOST = 900  # the most different images of a page: a photograph takes about 15 ms
UNKNOWN = "the image cannot be found again: the run's data were moved or changed"

_QUALITY = 78


class Pictures:
    """Turns the images of cases into data URIs, until the budget is spent; each image is loaded once."""

    def __init__(self) -> None:
        self.left_out = 0
        self._bytes = 0
        self._made: dict[LazyImage, Picture] = {}

    def of(
        self, keys: Sequence[str | None], case: Case | None, *, kept: bool
    ) -> tuple[list[Picture], list[tuple[int, ...]]]:
        """Return the different images of a case, and which of them each request shows, in order."""
        requests = () if case is None else case.requests
        if [image_of(one) for one in requests] != list(keys):
            several = [() if key is None else tuple(key.split(BETWEEN)) for key in keys]
            distinct = list(dict.fromkeys(key for some in several for key in some))
            places = [tuple(map(distinct.index, some)) for some in several]
            return [Picture(key=key, problem=UNKNOWN) for key in distinct], places
        shown = list(dict.fromkeys(image for one in requests for image in images_of(one)))
        places = [tuple(map(shown.index, images_of(one))) for one in requests]
        return [self._picture(image, kept=kept) for image in shown], places

    def small(self, picture: Picture) -> Picture:
        from PIL.Image import open as decoded

        if not picture.source:
            return picture
        with decoded(BytesIO(b64decode(picture.source.partition(",")[2]))) as image:
            source = encoded(image, THUMB)
        self._bytes += len(source)
        return replace(picture, source=source)

    def _picture(self, image: LazyImage, *, kept: bool) -> Picture:
        if self._bytes > BUDGET * (1.0 if kept else SHARE) or (image not in self._made and len(self._made) >= MOST):
            self.left_out += 1
            return Picture(key=image.key, problem="left out, because the page has its most images")
        if image not in self._made:
            self._made[image] = _drawn(image)
        self._bytes += len(self._made[image].source)
        return self._made[image]


def _drawn(image: LazyImage) -> Picture:
    try:
        return Picture(key=image.key, source=encoded(image.load(), SIDE))
    except ImageError as error:
        return Picture(key=image.key, problem=printable(str(error)))


def encoded(image: Image, side: int) -> str:
    """Return an image as a data URI, with at most ``side`` pixels on its longer side."""
    import cv2
    from PIL import Image

    share = side / max(image.size)
    if share < 1:  # OpenCV takes a fifth of the time of Pillow
        size = (max(1, round(image.width * share)), max(1, round(image.height * share)))
        image = Image.fromarray(cv2.resize(np.asarray(image), size, interpolation=cv2.INTER_AREA))
    stream = BytesIO()
    image.save(stream, "JPEG", quality=_QUALITY)
    return f"data:image/jpeg;base64,{b64encode(stream.getvalue()).decode()}"


# the options that decide what is asked, with their defaults
_ASKED_BY = (("seed", 0), ("pairs", 1000), ("ask", "apart"), ("ties", "strict"), ("dtype", "float32"))
_FACTS_OF_ANSWERS = (("acc_original", "acc_normal"), ("acc_perturbed", "acc_counterfactual"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMaker:
    """Makes the cards of one task; ``cases`` are those that can be read again, by id.

    ``history`` holds what earlier runs replied to the cases.
    """

    task: str
    capability: str
    headline: str
    rows: TaskRows
    cases: Mapping[str, Case]
    pictures: Pictures
    options: Mapping[str, Any]
    history: History = field(default_factory=History)

    def card(self, row: Row, *, worst: bool = False, kept: bool = False) -> Card:
        pictures, places = self.pictures.of(row["images"], self.cases.get(row["case"]), kept=worst or kept)
        names = ["".join(map(_letter, some)) if len(pictures) > 1 else "" for some in places]
        keys = [picture.key for picture in pictures]
        overlaid = len(keys) == 2 and "#" in keys[1] and photograph(keys[0]) == photograph(keys[1])
        before = self.history.before(row)
        return Card(
            anchor=anchor(f"{self.task}/{row['case']}"),
            task=self.task,
            case=row["case"],
            state=_state(row),
            lines=self._lines(row, names, before),
            pictures=tuple(pictures),
            overlaid=overlaid,
            thumb=self.pictures.small(pictures[-1 if overlaid else 0]) if worst and pictures else None,
            why=row["why"],
            tags=json.loads(row["tags"]),
            origin=row["origin"],
            command=command(self.task, row["case"], self.capability, self.options),
            change=self.history.change(row),
            age=self.history.age(row),
            before="" if before is None else before["why"],
        )

    def _lines(self, row: Row, names: list[str], before: Row | None) -> tuple[Line, ...]:
        texts = row["texts"]
        return tuple(
            Line(
                picture=names[number],
                pieces=_marked(texts[number], texts[other]),
                truth=row["truths"][number],
                score=row["scores"][number],
                place=self._place(row["scores"][number]),
                answer=row["answers"][number],
                right=self._right(row, number),
                before=_replied(before, number),
            )
            for number, other in enumerate(beside(self.headline, len(texts)))
        )

    def _place(self, score: float | None) -> float:
        span = self.rows.highest - self.rows.lowest
        return 0.0 if score is None or span <= 0 else round(100 * (score - self.rows.lowest) / span, 1)

    def _right(self, row: Row, number: int) -> bool | None:
        asked_apart = len(row["texts"]) == len(_FACTS_OF_ANSWERS)
        names = _FACTS_OF_ANSWERS[number] if self.headline == "c_acc" and asked_apart else ()
        fact = next((row[name] for name in names if row.get(name) is not None), None)
        return None if fact is None else fact == 1.0


def anchor(name: str) -> str:
    """Return the id of a task or a case in the page, which is the end of its address.

    >>> anchor("scenes/relations/a dog")
    'scenes/relations/a_dog'
    """
    return re.sub(r"[^A-Za-z0-9_.:/-]", "_", name)


def command(task: str, case: str, capability: str, options: Mapping[str, Any]) -> str:
    """Return the command that asks a case again, with the options of its run that decide what is asked."""
    item = plain_id(f"{task}:{case}")
    words = ["pytest", "--pyargs", f"tests_vl.test_{capability}::test_{capability}[{item}]", "--items=pair"]
    words += [f"--suite={task}", f"--model={options.get('model', '')}"]
    words += [f"--data={folder}" for folder in options.get("data", ())]
    for name, default in _ASKED_BY:
        if options.get(name, default) != default:
            words.append(f"--{name}={options[name]}")
    words += [f"--protocol={name}" for name in options.get("protocols", ())]
    return shlex.join(words)


def _marked(text: str, other: str) -> tuple[Piece, ...]:
    return difference(text, other)[0] if text != other else ((text, False),)


def _letter(place: int) -> str:
    return chr(ord("A") + place)


def _replied(row: Row | None, number: int) -> str:
    # What a run replied to a request; empty if it gave no reply
    if row is None:
        return ""
    score, answer = row["scores"][number], row["answers"][number]
    return f"{score:.4g}" if score is not None else answer or ""


def _state(row: Row) -> str:
    if row["state"] != "judged":
        return "not scored" if row["state"] == "unscored" else str(row["state"])
    return "right" if row["right"] else "missed"

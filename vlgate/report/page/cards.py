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
from vlgate.metrics.sentences import told_apart
from vlgate.report.difference import Piece, beside, difference
from vlgate.report.page.rows import History, Row, TaskRows
from vlgate.run.planning import plain_id
from vlgate.types import Case, LazyImage, images_of

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    key: str
    source: str = ""  # empty if it cannot be shown
    problem: str = ""  # why


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    picture: str
    pieces: tuple[Piece, ...]  # the parts of its text; those that the text beside it lacks are marked
    truth: str
    score: str | None = None
    place: float = 0.0  # of the score between the lowest and the highest one of the task, in 0..100
    answer: str | None = None
    right: bool | None = None  # None for a text, whose score is neither right nor wrong by itself
    before: str = ""  # the reply of the baseline; empty if it is unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    anchor: str
    task: str
    case: str
    state: str
    lines: tuple[Line, ...]
    pictures: tuple[Picture, ...]
    thumb: Picture | None  # a small image of a worst case
    overlaid: bool  # whether its second image is a perturbation of its first
    why: str
    tags: Mapping[str, str]
    origin: str
    command: str
    # Empty if unknown: what became of it since the baseline, for how many releases it has been missed, and how the
    # baseline judged it.
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
    def __init__(self) -> None:
        self.left_out = 0
        self._bytes = 0
        self._made: dict[LazyImage, Picture] = {}

    def of(
        self, keys: Sequence[str | None], case: Case | None, *, kept: bool
    ) -> tuple[list[Picture], list[tuple[int, ...]]]:
        requests = () if case is None else case.requests
        if [image_of(request) for request in requests] != list(keys):
            several = [() if key is None else tuple(key.split(BETWEEN)) for key in keys]
            distinct = list(dict.fromkeys(key for some in several for key in some))
            places = [tuple(map(distinct.index, some)) for some in several]
            return [Picture(key=key, problem=UNKNOWN) for key in distinct], places
        shown = list(dict.fromkeys(image for request in requests for image in images_of(request)))
        places = [tuple(map(shown.index, images_of(request))) for request in requests]
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
            try:
                self._made[image] = Picture(key=image.key, source=encoded(image.load(), SIDE))
            except ImageError as error:
                self._made[image] = Picture(key=image.key, problem=printable(str(error)))
        self._bytes += len(self._made[image].source)
        return self._made[image]


def encoded(image: Image, side: int) -> str:
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
    task: str
    capability: str
    headline: str
    rows: TaskRows
    cases: Mapping[str, Case]  # those that can be read again, by id
    pictures: Pictures
    options: Mapping[str, Any]
    history: History = field(default_factory=History)

    def card(self, row: Row, *, worst: bool = False, kept: bool = False) -> Card:
        pictures, places = self.pictures.of(row["images"], self.cases.get(row["case"]), kept=worst or kept)
        several = len(pictures) > 1
        names = ["".join(chr(ord("A") + place) for place in some) if several else "" for some in places]
        keys = [picture.key for picture in pictures]
        overlaid = len(keys) == 2 and "#" in keys[1] and photograph(keys[0]) == photograph(keys[1])
        before = self.history.before(row)
        state = {"unscored": "not scored", "judged": "right" if row["right"] else "missed"}
        return Card(
            anchor=anchor(f"{self.task}/{row['case']}"),
            task=self.task,
            case=row["case"],
            state=state.get(row["state"], str(row["state"])),
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
        texts, lowest, span = row["texts"], self.rows.lowest, self.rows.highest - self.rows.lowest
        asked_apart = self.headline == "c_acc" and len(texts) == len(_FACTS_OF_ANSWERS)
        lines, shown = [], told_apart(*row["scores"], *(() if before is None else before["scores"]))
        for number, other in enumerate(beside(self.headline, len(texts))):
            score, text, compared = row["scores"][number], texts[number], texts[other]
            facts = [row.get(name) for name in (_FACTS_OF_ANSWERS[number] if asked_apart else ())]
            fact = next((fact for fact in facts if fact is not None), None)
            line = Line(
                picture=names[number],
                pieces=difference(text, compared)[0] if text != compared else ((text, False),),
                truth=row["truths"][number],
                score=shown[number],
                place=0.0 if score is None or span <= 0 else round(100 * (score - lowest) / span, 1),
                answer=row["answers"][number],
                right=None if fact is None else fact == 1.0,
                before="" if before is None else shown[len(texts) + number] or before["answers"][number] or "",
            )
            lines.append(line)
        return tuple(lines)


def anchor(name: str) -> str:
    """Return the id of a task or a case in the page, which is the end of its address.

    >>> anchor("scenes/relations/a dog")
    'scenes/relations/a_dog'
    """
    return re.sub(r"[^A-Za-z0-9_.:/-]", "_", name)


def command(task: str, case: str, capability: str, options: Mapping[str, Any]) -> str:
    item = plain_id(f"{task}:{case}")
    words = ["pytest", "--pyargs", f"tests_vl.test_{capability}::test_{capability}[{item}]", "--items=pair"]
    words += [f"--suite={task}", f"--model={options.get('model', '')}"]
    words += [f"--data={folder}" for folder in options.get("data", ())]
    words += [f"--{name}={options[name]}" for name, default in _ASKED_BY if options.get(name, default) != default]
    words += [f"--protocol={name}" for name in options.get("protocols", ())]
    return shlex.join(words)

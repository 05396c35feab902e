"""The HTML that an Allure report shows: the table of a run, and a case with its images, texts and replies."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from vlgate import types
from vlgate.errors import ImageError, printable
from vlgate.gates.records import RELEASABLE
from vlgate.metrics.clusters import photograph
from vlgate.metrics.sentences import told_apart
from vlgate.metrics.shapes import SHAPES
from vlgate.record.folder import titled
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.record.verdict import outcome_of
from vlgate.report.allure.results import Attachment
from vlgate.report.difference import Piece, beside, difference
from vlgate.report.rows import coverage_line, result_table, unit_line
from vlgate.report.summary import headline
from vlgate.types import Ask, Compare, LazyImage, Prediction, Shape, Verdict, text_of

if TYPE_CHECKING:
    from PIL.Image import Image

# what Allure 2 and 3 show as two images side by side, over each other, and with a slider
DIFFERENCE = "application/vnd.allure.image.diff"
SIDE = 480  # the most pixels of the longer side of a shown image

_SMALL = 160  # images up to this side are PNG, because one pixel may be a whole object


class Pictures:
    def __init__(self) -> None:
        self._loaded: dict[LazyImage, Image | str] = {}
        self._encoded: dict[LazyImage, str] = {}

    def source(self, image: LazyImage) -> str:
        if image not in self._encoded:
            small = self._small(image)
            self._encoded[image] = "" if isinstance(small, str) else _uri(small)
        return self._encoded[image]

    def problem(self, image: LazyImage) -> str:
        small = self._small(image)
        return small if isinstance(small, str) else ""

    def attached(self, images: Sequence[LazyImage]) -> tuple[Attachment, ...]:
        """Return the images of a case as files, which Allure 2 needs: it shows no image in a page."""
        loaded = [image for image in images if not self.problem(image)]
        if len(loaded) == 2:  # one file for Allure's viewer of differences, the unchanged one first
            first, second = self._in_order(loaded)
            shown = {"expected": self.source(first), "actual": self.source(second)}
            if changed := self.changed(loaded):
                shown["diff"] = changed
            data = json.dumps(shown).encode()
            return (Attachment(name=f"{first.key} and {second.key}", kind=DIFFERENCE, ending="imagediff", data=data),)
        files = []
        for image in loaded:
            kind, _, encoded = self.source(image).removeprefix("data:").partition(";base64,")
            ending = kind.removeprefix("image/")
            files.append(Attachment(name=image.key, kind=kind, ending=ending, data=b64decode(encoded)))
        return tuple(files)

    def changed(self, images: Sequence[LazyImage]) -> str:
        """Return the changed one of two images as a data URI; all that is equal in both is pale."""
        from PIL import Image, ImageChops

        if len(images) != 2:
            return ""
        first, second = self._in_order(images)
        one, other = self._small(first), self._small(second)
        if isinstance(one, str) or isinstance(other, str):
            return ""
        siblings = photograph(first.key) == photograph(second.key) and one.size == other.size
        if not siblings and not second.key.startswith(f"{first.key}#"):
            return ""
        other = other if other.size == one.size else other.resize(one.size)
        changed = ImageChops.difference(one, other).convert("L").point([0] * 16 + [255] * 240)
        pale = Image.blend(other, Image.new("RGB", other.size, (255, 255, 255)), 0.8)
        return _uri(Image.composite(other, pale, changed))

    def _in_order(self, images: Sequence[LazyImage]) -> Sequence[LazyImage]:
        return images[::-1] if images[0].key.startswith(f"{images[1].key}#") else images

    def _small(self, image: LazyImage) -> Image | str:
        if image not in self._loaded:
            try:
                small = image.load().copy()
                small.thumbnail((SIDE, SIDE))
                self._loaded[image] = small
            except ImageError as error:
                self._loaded[image] = printable(str(error))
        return self._loaded[image]


def images_of(verdict: Verdict) -> list[LazyImage]:
    return list(dict.fromkeys(image for request in verdict.case.requests for image in types.images_of(request)))


def _uri(image: Image) -> str:
    kind = "png" if max(image.size) <= _SMALL else "jpeg"
    data = BytesIO()
    image.save(data, kind.upper(), quality=85)
    return f"data:image/{kind};base64,{b64encode(data.getvalue()).decode()}"


_COLOURS = {"fail": "#c0392b", "inconclusive": "#b9770e", "pass": "#1e8449"}
# the columns of the table: Allure 3 cuts a wide one off, so what is read first is on the left
_COLUMNS = ("decision", "task", "metric", "value", "interval", "threshold", "n", "chance", "blind")


def table(run: RunResult, model: ModelCard) -> str:
    said = stops(run, model) + [line for result in run.results if (line := coverage_line(result)) is not None]
    notes = "".join(f"<li>{text(line)}</li>" for line in said)
    title = f"{text(titled(model.name, model.weights))}: {text(headline(run, model))}"
    figures = result_table(run).columns(_COLUMNS).html(_COLOURS)
    return f"<h2>{title}</h2><p>{text(unit_line(run))}</p>{figures}<ul>{notes}</ul>"


def stops(run: RunResult, model: ModelCard) -> list[str]:
    gates = [decision for decision in run.decisions if decision.outcome not in RELEASABLE]
    return [*outcome_of(run, model).lacking, *(f"{gate.outcome}: {gate.gate.id}: {gate.why}" for gate in gates)]


def case(verdict: Verdict, shape: Shape, pictures: Pictures | None) -> str:
    images = images_of(verdict)
    shown = ""
    if pictures is not None:
        for number, image in enumerate(images):
            name = f"{_name(number)}: {image.key}" if len(images) > 1 else image.key
            problem = pictures.problem(image)
            shown += f"<p>{text(problem)}</p>" if problem else _figure(pictures.source(image), name)
        if changed := pictures.changed(images):
            shown += _figure(changed, "where A and B differ")
    lines = [text_of(reply.request) for reply in verdict.predictions]
    compared = beside(SHAPES[shape].headline, len(lines))
    body = ""
    scores = told_apart(*(reply.score for reply in verdict.predictions))
    for number, (reply, right) in enumerate(zip(verdict.predictions, verdict.case.truths, strict=True)):
        mine, theirs = printable(lines[number]), printable(lines[compared[number]])
        pieces: tuple[Piece, ...] = ((mine, False),) if mine == theirs else difference(mine, theirs)[0]
        marked = "".join(f"<b><mark>{escape(part)}</mark></b>" if differs else escape(part) for part, differs in pieces)
        body += f"<p><i>{text(_reply(reply, right, scores[number], images))}</i><br>{marked}</p>"
    return f"<p>{text(verdict.why)}</p>{shown}{body}"


def text(said: str) -> str:
    """Escape a text for HTML; control characters, which a user's files may hold, are shown as escapes."""
    return escape("\n".join(printable(line) for line in said.split("\n")))


def _figure(source: str, name: str) -> str:
    # An image above its name; Allure 2 removes the image and keeps the name
    shown = f'<img src="{source}" alt="{text(name)}" title="{text(name)}" style="max-width:100%">'
    return f'<div style="display:inline-block;margin:0 12px 8px 0">{shown}<br><i>{text(name)}</i></div>'


def _reply(reply: Prediction, right: bool | str, shown: str | None, images: list[LazyImage]) -> str:
    # What is true, and what the model said; with the letter of the image if the case has several
    request = reply.request
    own = "".join(_name(images.index(image)) for image in types.images_of(request)) if len(images) > 1 else ""
    image = f"{own}, " if own else ""
    if isinstance(request, Ask | Compare):
        said = "no answer" if reply.answer is None else f"answered {reply.answer!r}"
        return f"{image}{said}, right is {right!r}"
    score = "no score" if shown is None else f"score {shown}"
    return f"{image}{'true' if right else 'false'}, {score}"


def _name(place: int) -> str:
    return chr(ord("A") + place)

"""The HTML that an Allure report shows: the table of a run, and a case with its images, texts and replies."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from vlgate import types
from vlgate.errors import printable
from vlgate.gates.records import RELEASABLE, Outcome
from vlgate.metrics.names import HEADLINE
from vlgate.recorded.folder import titled
from vlgate.report.allure.pictures import Pictures, images_of
from vlgate.report.difference import Piece, beside, difference
from vlgate.report.rows import HEADINGS, coverage_line, rows, unit_line
from vlgate.report.summary import headline
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.run.verdict import outcome_of
from vlgate.types import Ask, Compare, LazyImage, Prediction, Shape, Verdict, text_of

_COLOURS = {"fail": "#c0392b", "inconclusive": "#b9770e", "pass": "#1e8449"}
_COLUMNS = ("decision", "task", "metric", "value", "interval", "threshold", "n", "chance", "blind")
"""The columns of the table: Allure 3 cuts a wide one off, so what is read first is on the left."""


def table(run: RunResult, model: ModelCard) -> str:
    """Return the table of a run as HTML, with the name of its model and what stops it from passing."""
    head = "".join(f"<th align='left'>{text(name)}</th>" for name in _COLUMNS)
    body = "".join(_row(dict(zip(HEADINGS, row.cells, strict=True)), row.outcome) for row in rows(run))
    said = stops(run, model) + [line for result in run.results if (line := coverage_line(result)) is not None]
    notes = "".join(f"<li>{text(line)}</li>" for line in said)
    return (
        f"<h2>{text(titled(model.name, model.weights))}: {text(headline(run, model))}</h2><p>{text(unit_line(run))}</p>"
        f"<table cellpadding='4'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><ul>{notes}</ul>"
    )


def stops(run: RunResult, model: ModelCard) -> list[str]:
    """Return what stops a run from passing, a line each."""
    gates = [one for one in run.decisions if one.outcome not in RELEASABLE]
    return [*outcome_of(run, model).lacking, *(f"{one.outcome}: {one.gate.id}: {one.why}" for one in gates)]


def case(verdict: Verdict, shape: Shape, pictures: Pictures | None) -> str:
    """Return a case as HTML: its images, then its texts with the words that differ marked, and the replies.

    Args:
        verdict: the judged case.
        shape: the shape of its task.
        pictures: shows the images; None leaves them out.
    """
    images = images_of(verdict)
    shown = "" if pictures is None else "".join(_picture(image, pictures, images) for image in images)
    if pictures is not None and (changed := pictures.changed(images)):
        shown += _figure(changed, "where A and B differ")
    lines = [_said(reply) for reply in verdict.predictions]
    compared = beside(HEADLINE[shape], len(lines))
    replies = zip(verdict.predictions, verdict.case.truths, compared, strict=True)
    body = "".join(
        f"<p><i>{text(_reply(reply, right, images))}</i><br>{_marked(_said(reply), lines[other])}</p>"
        for reply, right, other in replies
    )
    return f"<p>{text(verdict.why)}</p>{shown}{body}"


def text(said: str) -> str:
    """Escape a text for HTML; control characters, which a user's files may hold, are shown as escapes."""
    return escape("\n".join(printable(line) for line in said.split("\n")))


def _row(cells: Mapping[str, str], outcome: Outcome | None) -> str:
    colour = _COLOURS.get(outcome or "", "inherit")
    return f"<tr style='color:{colour}'>{''.join(f'<td>{text(cells[name])}</td>' for name in _COLUMNS)}</tr>"


def _picture(image: LazyImage, pictures: Pictures, images: list[LazyImage]) -> str:
    problem = pictures.problem(image)
    if problem:
        return f"<p>{text(problem)}</p>"
    name = f"{_name(images.index(image))}: {image.key}" if len(images) > 1 else image.key
    return _figure(pictures.source(image), name)


def _figure(source: str, name: str) -> str:
    """An image above its name; Allure 2 removes the image and keeps the name."""
    shown = f'<img src="{source}" alt="{text(name)}" title="{text(name)}" style="max-width:100%">'
    return f'<div style="display:inline-block;margin:0 12px 8px 0">{shown}<br><i>{text(name)}</i></div>'


def _reply(reply: Prediction, right: bool | str, images: list[LazyImage]) -> str:
    """What is true, and what the model said; with the letter of the image if the case has several."""
    request = reply.request
    own = "".join(_name(images.index(image)) for image in types.images_of(request)) if len(images) > 1 else ""
    image = f"{own}, " if own else ""
    if isinstance(request, Ask | Compare):
        said = "no answer" if reply.answer is None else f"answered {reply.answer!r}"
        return f"{image}{said}, right is {right!r}"
    score = "no score" if reply.score is None else f"score {reply.score:.6g}"
    return f"{image}{'true' if right else 'false'}, {score}"


def _name(place: int) -> str:
    return chr(ord("A") + place)


def _said(reply: Prediction) -> str:
    return text_of(reply.request)


def _marked(one: str, other: str) -> str:
    """A text as HTML, with the words marked that the other one does not have."""
    mine, theirs = printable(one), printable(other)
    pieces: tuple[Piece, ...] = ((mine, False),) if mine == theirs else difference(mine, theirs)[0]
    return "".join(f"<b><mark>{escape(part)}</mark></b>" if differs else escape(part) for part, differs in pieces)

"""The pages of an Allure report: the table of a run, a missed case with its images, and the files of the overview.

Nothing here imports allure: all of it is HTML and JSON that Allure shows as it is.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from time import time
from typing import TYPE_CHECKING
from uuid import uuid4

from vlgate.errors import ImageError, printable
from vlgate.recorded.folder import titled
from vlgate.report.rows import HEADINGS, coverage_line, rows, unit_line
from vlgate.report.summary import headline
from vlgate.report.whole_file import write_whole
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.types import Ask, LazyImage, Match, Prediction, Verdict

if TYPE_CHECKING:
    from PIL.Image import Image

CATEGORIES = [
    {"name": "Missed cases: the model was wrong", "matchedStatuses": ["broken"], "messageRegex": "^missed.*"},
    {"name": "Broken cases: a small change made it wrong", "matchedStatuses": ["broken"], "messageRegex": "^broken.*"},
    {"name": "Gates that do not pass", "matchedStatuses": ["failed"], "messageRegex": "^(fail|inconclusive): .*"},
]
"""Allure 2 reads them from ``categories.json``, Allure 3 from ``allurerc.json``; all other failures are errors."""

_INLINE = 320  # the most pixels of the longer side of an image that is part of a page
_ALERT = {"fail": "#c0392b", "inconclusive": "#b9770e", "pass": "#1e8449"}


def write_overview(folder: Path, run: RunResult, model: ModelCard) -> None:
    """Write what Allure shows of a whole run: model, table, gates that do not pass, and the names of the categories.

    An ``executor.json`` that is there already is kept, because continuous integration writes its own.
    """
    title = f"{titled(model.name, model.weights)}: {headline(run)}"
    page = f"{uuid4()}-attachment.html"
    write_whole(folder / page, f'<!doctype html><meta charset="utf-8"><title>{_text(title)}</title>{table(run, model)}')
    now = int(time() * 1000)
    shown = {"name": "results.html", "type": "text/html", "source": page, "timestamp": now}
    stops = [{"message": _stop(line), "timestamp": now} for line in _stops(run)]
    _write_json(folder / f"{uuid4()}-globals.json", {"attachments": [shown], "errors": stops})
    _write_json(folder / "categories.json", CATEGORIES)
    rules = [
        {"name": one["name"], "matchers": [{"statuses": one["matchedStatuses"], "message": one["messageRegex"]}]}
        for one in CATEGORIES
    ]
    _write_json(folder / "allurerc.json", {"name": title, "categories": {"rules": rules}})
    (folder / "environment.properties").write_bytes(properties(run, model).encode("latin-1", "backslashreplace"))
    if not (folder / "executor.json").exists():
        _write_json(folder / "executor.json", {"name": "vlgate", "type": "vlgate", "reportName": title})


def properties(run: RunResult, model: ModelCard) -> str:
    """Return ``environment.properties``, which Allure shows beside its overview: the model, and a line per figure."""
    lines = [f"model = {titled(model.name, model.weights)}"]
    for row in rows(run):
        cell = dict(zip(HEADINGS, row.cells, strict=True))
        gate = f", {cell['threshold']}: {cell['decision']}" if row.outcome is not None else ", no gate"
        lines.append(f"{cell['task']}.{cell['metric']} = {cell['value']} ({cell['interval']}), n = {cell['n']}{gate}")
    # The format is Java's: Latin-1, with a backslash before what would end the line or begin an escape.
    return "".join(f"{line}\n" for line in lines).replace("\\", "\\\\")


def table(run: RunResult, model: ModelCard) -> str:
    """Return the table of a run as HTML, with the name of its model and what stops it from passing."""
    head = "".join(f"<th align='left'>{_text(name)}</th>" for name in HEADINGS)
    body = "".join(
        f"<tr style='color:{_ALERT.get(row.outcome or '', 'inherit')}'>"
        + "".join(f"<td>{_text(cell)}</td>" for cell in row.cells)
        + "</tr>"
        for row in rows(run)
    )
    said = [_stop(line) for line in _stops(run)]
    said += [line for result in run.results if (line := coverage_line(result)) is not None]
    notes = "".join(f"<li>{_text(line)}</li>" for line in said)
    return (
        f"<h2>{_text(titled(model.name, model.weights))}: {_text(headline(run))}</h2><p>{_text(unit_line(run))}</p>"
        f"<table cellpadding='4'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><ul>{notes}</ul>"
    )


def cases(verdicts: Sequence[Verdict], why: str) -> str:
    """Return missed cases as HTML: the images themselves, then the texts and replies."""
    parts = [f"<p>{_text(why)}</p>"] if len(verdicts) != 1 else []
    for verdict in verdicts:
        parts.append(f"<p><b>{_text(verdict.case.id)}</b>: {_text(verdict.why)}</p>")
        parts += [_picture(image) for image in images_of(verdict)]
        parts.append(f"<pre>{_text(lines(verdict))}</pre>")
    return "".join(parts)


def images_of(verdict: Verdict) -> list[LazyImage]:
    """Return the different images of a case, in the order in which they were asked about."""
    asked = (prediction.request for prediction in verdict.predictions)
    return list(dict.fromkeys(request.image for request in asked if isinstance(request, Match | Ask)))


def lines(verdict: Verdict) -> str:
    """Return the texts of a case with their replies, one or two lines per request."""
    return "\n".join(
        _line(reply, truth, several=len(verdict.predictions) > 2)
        for reply, truth in zip(verdict.predictions, verdict.case.truths, strict=True)
    )


def encoded(shown: Image, side: int) -> tuple[bytes, str]:
    """Return an image with at most ``side`` pixels on its longer side as bytes, and its type: PNG if small, or JPEG."""
    small = shown.copy()
    small.thumbnail((side, side))
    kind = "png" if max(small.size) <= _INLINE // 2 else "jpeg"
    data = BytesIO()
    small.save(data, kind.upper(), quality=85)
    return data.getvalue(), kind


def _picture(image: LazyImage) -> str:
    try:
        data, kind = encoded(image.load(), _INLINE)
    except ImageError as error:
        return f"<p>{_text(str(error))}</p>"
    source = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return f'<img src="{source}" alt="{_text(image.key)}" title="{_text(image.key)}" style="margin-right:8px">'


def _line(reply: Prediction, truth: bool | str, *, several: bool) -> str:
    request = reply.request
    if isinstance(request, Ask):
        return f"{request.question}\n    answered {reply.answer!r}, right is {truth!r}"
    image = f"{request.image.key}  " if several and isinstance(request, Match) else ""
    score = "-" if reply.score is None else f"{reply.score:.6g}"
    return f"{'true ' if truth else 'false'}  {score:>12}  {image}{request.text}"


def _stops(run: RunResult) -> list[tuple[str, str]]:
    """What stops a run from passing: an outcome and a sentence each."""
    found = [("incomplete", run.incomplete)] if run.incomplete else []
    return found + [
        (one.outcome, f"{one.gate.id}: {one.why}")
        for one in run.decisions
        if one.outcome not in {"pass", "cannot", "not run"}
    ]


def _stop(line: tuple[str, str]) -> str:
    return f"{line[0]}: {line[1]}"


def _text(said: str) -> str:
    """Escape a text for HTML; control characters, which a user's files may hold, are shown as escapes."""
    return escape("\n".join(printable(line) for line in said.split("\n")))


def _write_json(file: Path, value: object) -> None:
    write_whole(file, json.dumps(value, ensure_ascii=False, indent=1))

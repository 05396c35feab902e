"""One line per case: comma-separated values, or JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

from vlgate.recorded.cases import LISTS, fact_names
from vlgate.report.after.missed import one_line
from vlgate.report.exports.rows import Exported

_QUOTED = ("=", "+", "-", "@", "\t", "\r", "'")
"""With one of these at its beginning a cell may be a formula to a spreadsheet, or has an apostrophe already."""


def csv_lines(run: Exported) -> Iterator[str]:
    """Yield the lines of a CSV file, the first with the names of the columns.

    Lists and tags are cells of JSON. Texts are written by ``cell``, and control characters in them as escapes;
    ``json_lines`` has the texts as they are.
    """
    facts = fact_names(run.table)
    yield _row(["task", "case", "state", "right", "unread", *map(_text, facts), *LISTS, "tags", "origin", "why"])
    for row in run.rows():
        right = "" if row["right"] is None else str(row["right"]).lower()
        cells = [_text(row["task"]), _text(row["case"]), row["state"], right, str(row["unread"]).lower()]
        cells += [row["facts"].get(name, "") for name in facts]
        cells += [_json(row[name]) for name in LISTS]
        yield _row([*cells, _json(row["tags"]), _text(row["origin"]), _text(row["why"])])


def json_lines(run: Exported) -> Iterator[str]:
    """Yield one JSON object per case, in ASCII."""
    for row in run.rows():
        yield json.dumps(row) + "\n"


def _row(cells: list[Any]) -> str:
    stream = StringIO()
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()


def _json(value: object) -> str:
    return one_line(json.dumps(value, ensure_ascii=False))


def _text(text: str | None) -> str:
    return cell(one_line(text or ""))


def cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula: behind an apostrophe; ``text_of_cell`` reads it.

    >>> cell("=1+1"), cell("a cup"), text_of_cell(cell("=1+1")), text_of_cell(cell("'tis"))
    ("'=1+1", 'a cup', '=1+1', "'tis")
    """
    return f"'{text}" if text.startswith(_QUOTED) else text


def text_of_cell(found: str) -> str:
    """Return the text that ``cell`` has written."""
    return found[1:] if found.startswith("'") and found[1:].startswith(_QUOTED) else found

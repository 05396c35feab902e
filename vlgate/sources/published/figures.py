"""The figures that the papers of the benchmarks print, to compare with those of a run.

There is one TOML file per paper. A table of the paper, of its release or of a report on it is a ``[[table]]``, and it
may have the number of its ``cases``. Each of its ``rows`` begins with the values of ``labels``, followed by one number
per column of ``columns``, as printed, or ``"-"`` if nothing is printed. The table, its columns and its rows say what a
figure is (``model``, ``target``, ``slice``, ``metric``, ``unit``); a row overrides its column, and a column overrides
the table. ``marks``, of a table or of the file, add to the figures that match their ``where``: a note (``why``), or a
correction of the ``printed`` number (``corrected``). If the heading of a column is wrong, ``headed`` holds what the
heading says, and the column's own values are right.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any

from vlgate.errors import DataError, UnknownNameError

PAPERS = (
    "aro",
    "bivlc",
    "bla",
    "carets",
    "cola",
    "colorswap",
    "mmvp",
    "naturalbench",
    "pope",
    "valse",
    "vismin",
    "vl_checklist",
    "vsr",
    "whatsup",
    "winoground",
)
"""The papers, by the names of their files."""

_SCALE: Mapping[str, int] = {"percent": 100, "fraction": 1, "count": 1}
_FACETS = ("model", "target", "slice", "metric", "unit")
_TOP = {"name", "citation", "url", "note", "marks", "table"}
_TABLE = {"id", "about", "note", "cases", "labels", "columns", "rows", "marks", *_FACETS}
_COLUMN = {"column", "note", "headed", *_FACETS}
_MARK = {"where", "printed", "corrected", "why"}
_REMEDY = "correct that line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number that a paper prints."""

    paper: str  # one of ``PAPERS``
    table: str  # the number of the paper's table ("4"), or what else has the figure: a section, README, an issue
    column: str  # its heading, as printed
    model: str  # its name in the paper, or human, chance or, for counts, data
    target: (
        str | None
    )  # a task, a pattern of tasks ("valse/*") for a mean over several, None if vlgate has no such task
    slice: str | None  # of the target, such as "collapsed_tag=Object"; None for the whole target
    metric: str  # vlgate's name, or the paper's if vlgate does not have the metric
    unit: str  # percent, fraction or count
    printed: Decimal  # with its trailing zeros
    value: float  # the right number, as a fraction unless it is a count
    note: str  # such as why ``value`` is not the printed number; may be empty
    cases: int | None = None  # None if the file does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    name: str
    citation: str
    url: str


def figures(paper: str | None = None) -> tuple[Figure, ...]:
    """Return all figures of a paper, or of all papers, in the order of the files."""
    return _read(paper)[1] if paper else tuple(figure for name in PAPERS for figure in figures(name))


def source(paper: str) -> Paper:
    return _read(paper)[0]


@cache
def beside(target: str, metric: str, part: str | None = None) -> tuple[Figure, ...]:
    """Return the published figures that a run's metric can be compared with: of models, people and chance.

    If a paper prints a figure in several tables, it is given once, with the most digits.

    >>> [(f.model, f.value) for f in beside("winoground/all", "group")][:2]
    [('human', 0.855), ('chance', 0.1667)]
    """
    paper = target.partition("/")[0].replace("-", "_")  # a paper's figures are of the benchmark that has its name
    found: dict[str, Figure] = {}
    for figure in figures(paper) if paper in PAPERS else ():
        if (figure.target, figure.metric, figure.slice) == (target, metric, part) and figure.unit != "count":
            best = found.get(figure.model)
            if best is None or _digits(figure.printed) > _digits(best.printed):
                found[figure.model] = figure
    return tuple(found.values())


def _digits(number: Decimal) -> int:
    return -int(number.as_tuple().exponent)


@cache
def _read(paper: str) -> tuple[Paper, tuple[Figure, ...]]:
    if paper not in PAPERS:
        raise UnknownNameError("paper", paper, PAPERS)
    file = resources.files("vlgate.sources.published") / f"{paper}.toml"
    return _parse(paper, str(file), file.read_text(encoding="utf-8"))


def _parse(paper: str, file: str, text: str) -> tuple[Paper, tuple[Figure, ...]]:
    try:
        content = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise DataError(file, None, f"is not valid TOML ({error})", _REMEDY) from None
    place: str | None = None
    found: list[Figure] = []
    try:
        _know(content, _TOP)
        origin = Paper(name=content["name"], citation=content["citation"], url=content["url"])
        for table in content["table"]:
            found += _table(paper, file, content.get("note", ""), table)
        for mark in content.get("marks", ()):
            place = f"mark {mark.get('where')}"
            found = _marked(found, mark)
    except (KeyError, _Flaw) as flaw:
        raise DataError(file, place, _problem(flaw), _REMEDY) from None
    return origin, tuple(found)


def _table(paper: str, file: str, note: str, table: Mapping[str, Any]) -> Sequence[Figure]:
    name = place = f"table {table.get('id', '?')}"
    found: list[Figure] = []
    try:
        _know(table, _TABLE)
        for column in table["columns"]:
            _know(column, _COLUMN)
        for row in table["rows"]:
            place = f"{name}, row {row[: len(table['labels'])]}"
            found += _row(paper, note, table, row)
        for mark in table.get("marks", ()):
            place = f"{name}, mark {mark.get('where')}"
            found = _marked(found, mark)
    except (KeyError, _Flaw) as flaw:
        raise DataError(file, place, _problem(flaw), _REMEDY) from None
    return found


class _Flaw(Exception):  # noqa: N818 - never reaches a caller: it becomes a DataError with its place
    """A problem of a part of a file."""


def _problem(flaw: Exception) -> str:
    return f"lacks {flaw}" if isinstance(flaw, KeyError) else str(flaw)


def _know(part: Mapping[str, Any], keys: set[str]) -> None:
    if unknown := sorted(set(part) - keys):
        raise _Flaw(f"has the unknown key {unknown[0]!r}; known are {', '.join(sorted(keys))}")


def _row(paper: str, note: str, table: Mapping[str, Any], row: Sequence[Any]) -> Sequence[Figure]:
    labels, columns = table["labels"], table["columns"]
    if len(row) != len(labels) + len(columns):
        raise _Flaw(f"has {len(row)} entries, expected one per label and column: {len(labels)} + {len(columns)}")
    facets = {key: table[key] for key in (*_FACETS, "cases") if key in table}
    named = dict(zip(labels, row, strict=False))
    return [
        _figure(paper, (note, table.get("note", "")), number, {**facets, **column, **named, "table": table["id"]})
        for column, number in zip(columns, row[len(labels) :], strict=True)
        if number != "-"
    ]


def _figure(paper: str, notes: Sequence[str], printed: int | Decimal, facets: Mapping[str, Any]) -> Figure:
    return Figure(
        paper=paper,
        table=facets["table"],
        column=facets["column"],
        model=facets["model"],
        target=facets.get("target"),
        slice=facets.get("slice"),
        metric=facets["metric"],
        unit=facets["unit"],
        printed=_number(printed),
        value=_value(printed, facets["unit"]),
        note=_joined(*notes, facets.get("note", "")),
        cases=facets.get("cases"),
    )


def _marked(found: Sequence[Figure], mark: Mapping[str, Any]) -> list[Figure]:
    """The figures, in which those that match the mark have its note and, if it corrects them, its value."""
    _know(mark, _MARK)
    about = [all(getattr(figure, key, None) == value for key, value in mark["where"].items()) for figure in found]
    if "corrected" in mark and sum(about) != 1:
        raise _Flaw(f"corrects {sum(about)} figures, expected exactly one")
    if not any(about):
        raise _Flaw("matches no figure")
    return [_with_mark(figure, mark) if here else figure for figure, here in zip(found, about, strict=True)]


def _with_mark(figure: Figure, mark: Mapping[str, Any]) -> Figure:
    note = _joined(figure.note, mark["why"])
    if "corrected" not in mark:
        return replace(figure, note=note)
    if _number(mark["printed"]) != figure.printed:
        raise _Flaw(f"has printed = {mark['printed']}, but the row has {figure.printed}")
    return replace(figure, value=_value(mark["corrected"], figure.unit), note=f"printed {figure.printed}: {note}")


def _value(number: int | Decimal, unit: str) -> float:
    if unit not in _SCALE:
        raise _Flaw(f"has the unit {unit!r}; known are {', '.join(_SCALE)}")
    value = _number(number) / _SCALE[unit]
    if unit != "count" and not 0 <= value <= 1:
        raise _Flaw(f"has {number}, which is not a {unit} in 0..{_SCALE[unit]}")
    return float(value)


def _number(number: object) -> Decimal:
    if isinstance(number, bool) or not isinstance(number, int | Decimal):
        raise _Flaw(f"has {number!r}, expected a number or '-'")
    return Decimal(number)


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)

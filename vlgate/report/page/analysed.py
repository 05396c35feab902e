"""The section of the page with the analyses of the benchmarks' papers, from ``analyses.json`` in the run's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlgate.record.folder import ANALYSES

SCHEMA = 1
MOST = 12
"""The most rows of a table on the page; the file has all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedRow:
    """A row of an analysis as the page prints it; ``small`` if it is made from too few cases to rely on."""

    labels: tuple[str, ...]
    n: str
    value: str
    interval: str
    more: tuple[str, ...]
    small: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedTable:
    """A table of an analysis; ``left`` counts its rows that the page does not show."""

    title: str
    about: str
    labels: tuple[str, ...]
    value: str
    more: tuple[str, ...]
    rows: tuple[AnalysedRow, ...]
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedPaper:
    """The analysis of a paper: its runs, the tasks that it took, its tables, and notes on what is left out."""

    name: str
    runs: str
    tasks: str
    tables: tuple[AnalysedTable, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyses:
    """The analyses of a page, and sentences on those that are not there."""

    papers: tuple[AnalysedPaper, ...] = ()
    problems: tuple[str, ...] = ()


def analyses(folder: Path) -> Analyses:
    """Return what the page shows of the analyses in the folder of a run; nothing if it has none."""
    if not (folder / ANALYSES).is_file():  # reading a pipe would block for ever
        return Analyses()
    try:
        content = json.loads((folder / ANALYSES).read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            return Analyses(problems=(f"{ANALYSES} has schema {content['schema']!r}, expected {SCHEMA}",))
        papers = tuple(_paper(one) for one in content["analyses"])
        problems = tuple(f"{name}: {why}" for name, why in content["lacking"].items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        remedy = "vlgate analyse PAPER RUN --save writes it again"
        return Analyses(problems=(f"{ANALYSES} is damaged; {remedy}",))
    return Analyses(papers=papers, problems=problems)


def _paper(one: Mapping[str, Any]) -> AnalysedPaper:
    return AnalysedPaper(
        name=one["analysis"],
        runs=", ".join(one["runs"]),
        tasks=one["tasks"],
        tables=tuple(_table(table) for table in one["tables"] if table["rows"]),
        notes=tuple(one["notes"]),
    )


def _table(table: Mapping[str, Any]) -> AnalysedTable:
    rows = table["rows"]
    return AnalysedTable(
        title=table["title"],
        about=table["about"],
        labels=tuple(table["labels"]),
        value=table["value"],
        more=tuple(table["more"]),
        rows=tuple(_row(table, row) for row in rows[:MOST]),
        left=max(0, len(rows) - MOST),
    )


def _row(table: Mapping[str, Any], row: Mapping[str, Any]) -> AnalysedRow:
    known = row["low"] is not None and row["high"] is not None
    return AnalysedRow(
        labels=tuple(str(row[name]) for name in table["labels"]),
        n=f"{row['n']:,}",
        value=_number(row["value"]),
        interval=f"{row['low']:.3f} \N{EN DASH} {row['high']:.3f}" if known else "\N{EN DASH}",
        more=tuple(_number(row.get(name)) for name in table["more"]),
        small=bool(row["small"]),
    )


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0.0 else f"{value:.1e}"
    return "\N{EN DASH}" if value is None else str(value)

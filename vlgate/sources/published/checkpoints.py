"""Where a figure stands among those of many checkpoints that one study ran on the same cases: ``checkpoints.toml``.

The file has the columns, each a metric of a task with the number of its cases, and a line of ``rows`` per checkpoint:
its name, and its figures in hundredths of a percent.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

BENCHMARKS = frozenset(("aro", "colorswap", "mmvp", "sugarcrepe", "valse", "whatsup", "winoground"))
"""The benchmarks of the study's tasks; the file is not read for others."""
_PARTS = 10_000
"""A figure of the file is in hundredths of a percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    name: str
    about: str
    citation: str
    url: str
    file: str
    checkpoints: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a figure stands among those of the checkpoints, which are compared in hundredths of a percent."""

    cases: int  # of their figures
    note: str  # may be empty
    below: int
    above: int
    within: int  # the interval, its ends included
    under: tuple[str, float] | None  # the nearest one below, with its figure
    over: tuple[str, float] | None  # the nearest one above
    same: tuple[str, ...]  # those with the same figure


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    cases: int
    note: str
    figures: Sequence[int]
    names: Sequence[str]


def study() -> Study:
    return _read()[0]


def compared(task: str) -> tuple[str, ...]:
    if task.partition("/")[0] not in BENCHMARKS:
        return ()
    return tuple(metric for of, metric in _read()[1] if of == task)


def standing(task: str, metric: str, value: float, interval: tuple[float, float]) -> Standing | None:
    """Find where a figure stands among those of the checkpoints; None if the study has none of this metric.

    Args:
        task: the id of the task.
        metric: vlgate's name of the metric.
        value: the figure, in 0..1.
        interval: its ends.
    """
    column = _read()[1].get((task, metric))
    if column is None:
        return None
    low, here, high = (round(_PARTS * one) for one in (interval[0], value, interval[1]))
    first, last = bisect_left(column.figures, here), bisect_right(column.figures, here)
    named = list(zip(column.names, (figure / _PARTS for figure in column.figures), strict=True))
    return Standing(
        cases=column.cases,
        note=column.note,
        below=first,
        above=len(column.figures) - last,
        within=bisect_right(column.figures, high) - bisect_left(column.figures, low),
        under=named[first - 1] if first else None,
        over=named[last] if last < len(named) else None,
        same=tuple(column.names[first:last]),
    )


@cache
def _read() -> tuple[Study, Mapping[tuple[str, str], _Column]]:
    file = resources.files("vlgate.sources.published") / "checkpoints.toml"
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    rows = [line.split(",") for line in content["rows"].strip().splitlines()]
    columns = {}
    for place, said in enumerate(content["columns"], 1):
        found = sorted((int(row[place]), row[0]) for row in rows)
        columns[said["task"], said["metric"]] = _Column(
            cases=said["cases"],
            note=said.get("note", ""),
            figures=[figure for figure, _ in found],
            names=[name for _, name in found],
        )
    known = {name: content[name] for name in ("name", "about", "citation", "url", "file")}
    return Study(**known, checkpoints=len(rows)), columns

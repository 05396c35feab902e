"""The rows of a run by task, of which only those that are shown become Python objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.recorded.cases import numbers, rows_at
from vlgate.report.page.worst import chosen, margins

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRows:
    """What a page shows of the rows of a task.

    ``example`` is its first judged case. ``missed`` are some of its missed cases, the worst first, out of
    ``all_missed``; ``broken`` are those of them that are newly broken, the worst first again. ``unscored`` are some
    cases without a verdict. ``lowest`` and ``highest`` are the ends of its scores.
    """

    example: Row | None
    missed: tuple[Row, ...]
    broken: tuple[Row, ...]
    unscored: tuple[Row, ...]
    all_missed: int
    lowest: float
    highest: float


UNSCORED = 2
"""The most cases of a task without a verdict that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which missed cases a page shows: at most ``most`` of a task, and of those in ``broken`` at most ``quota``.

    ``broken`` holds the ids of the newly broken cases, by task. ``seed`` is that of the samples.
    """

    most: int
    seed: int
    broken: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    quota: int = 0


def task_rows(table: Any, headlines: Mapping[str, str], wanted: Wanted) -> dict[str, TaskRows]:
    """Choose the rows that a page shows.

    Args:
        table: all rows; see ``read_cases``.
        headlines: the headline metric of each task.
        wanted: how many of them.

    Returns: the rows by task; a task of which there is none is absent.
    """
    tasks = table.column("task").combine_chunks().dictionary_encode()
    names, codes = tasks.dictionary.to_pylist(), np.from_dlpack(tasks.indices)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return {
        name: _of_task(name, _part(table, order[starts[number] : starts[number + 1]]), headlines.get(name, ""), wanted)
        for number, name in enumerate(names)
    }


def _part(table: Any, places: NDArray[Any]) -> Any:
    """The rows at some rising places; without a copy if they follow each other, as those of a task do."""
    together = len(places) and places[-1] - places[0] == len(places) - 1
    return table.slice(places[0], len(places)) if together else rows_at(table, places)


def _of_task(name: str, table: Any, headline: str, wanted: Wanted) -> TaskRows:
    states = np.array(table.column("state").to_pylist(), dtype=str)
    right = np.array(table.column("right").to_pylist(), dtype=bool)  # None, of a case that was not judged, is false
    judged = np.flatnonzero(states == "judged")
    missed = judged[~right[judged]]
    scores = _scores(table)
    margin = margins(headline, scores[missed], 1.0 - _column(table, "acc")[missed])
    places = _among(table, missed, wanted.broken.get(name, frozenset()))
    broken = places[chosen(margin[places], wanted.quota, f"{wanted.seed}:broken:{name}")]
    shown = chosen(margin, wanted.most, f"{wanted.seed}:page:{name}", [int(place) for place in broken])
    return TaskRows(
        example=_rows(table, judged[:1])[0] if len(judged) else None,
        missed=tuple(_rows(table, missed[shown])),
        broken=tuple(_rows(table, missed[broken])),
        unscored=tuple(_rows(table, np.flatnonzero(states == "unscored")[:UNSCORED])),
        all_missed=len(missed),
        lowest=float(np.nanmin(scores)) if np.isfinite(scores).any() else 0.0,
        highest=float(np.nanmax(scores)) if np.isfinite(scores).any() else 0.0,
    )


def _among(table: Any, rows: NDArray[Any], ids: frozenset[str]) -> NDArray[np.intp]:
    """The places in ``rows`` of the cases that are among some ids."""
    cases = rows_at(table.select(["case"]), rows).column("case").to_pylist() if ids else []
    return np.array([place for place, case in enumerate(cases) if case in ids], dtype=np.intp)


def _scores(table: Any) -> NDArray[np.float64]:
    """The scores of a task's cases, shape (n, k); NaN behind the last one of a case with fewer candidates."""
    import pyarrow.compute as pc

    flat = numbers(pc.list_flatten(table.column("scores")))
    sizes = np.array(pc.list_value_length(table.column("scores")).to_pylist(), dtype=np.intp)
    scores = np.full((len(sizes), int(sizes.max(initial=0))), np.nan)
    scores[np.arange(scores.shape[1]) < sizes[:, None]] = flat
    return scores


def _column(table: Any, name: str) -> NDArray[np.float64]:
    if name not in table.column_names:
        return np.zeros(table.num_rows)
    return numbers(table.column(name))


def _rows(table: Any, places: NDArray[Any]) -> list[Row]:
    rows: list[Row] = rows_at(table, places).to_pylist()
    return rows

"""The rows of ``cases.parquet`` by task, of which only those that are shown become Python objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def task_rows(file: Path, headlines: Mapping[str, str], wanted: Wanted) -> dict[str, TaskRows]:
    """Choose the rows that a page shows.

    Args:
        file: ``cases.parquet``.
        headlines: the headline metric of each task.
        wanted: how many of them.

    Returns: the rows by task; a task of which there is none is absent.
    """
    from pyarrow.parquet import read_table

    table = read_table(file)
    tasks = table.column("task").combine_chunks().dictionary_encode()
    names, codes = tasks.dictionary.to_pylist(), tasks.indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return {
        name: _of_task(name, table.take(order[starts[number] : starts[number + 1]]), headlines.get(name, ""), wanted)
        for number, name in enumerate(names)
    }


def _of_task(name: str, table: Any, headline: str, wanted: Wanted) -> TaskRows:
    states = table.column("state").to_numpy()
    right = table.column("right").to_numpy(zero_copy_only=False)
    judged = np.flatnonzero(states == "judged")
    missed = judged[[not right[place] for place in judged]] if len(judged) else judged
    scores = _scores(table)
    margin = margins(headline, scores[missed], 1.0 - _column(table, "acc")[missed])
    places = np.flatnonzero(_among(table.column("case").take(missed), wanted.broken.get(name, frozenset())))
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


def _among(cases: Any, ids: frozenset[str]) -> NDArray[np.bool_]:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.is_in(cases, value_set=pa.array(sorted(ids), pa.string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _scores(table: Any) -> NDArray[np.float64]:
    """The scores of a task's cases, shape (n, k): all cases of a task have equally many requests."""
    import pyarrow.compute as pc

    flat = pc.list_flatten(table.column("scores")).to_numpy()
    found: NDArray[np.float64] = np.asarray(flat, dtype=np.float64).reshape(table.num_rows, -1)
    return found


def _column(table: Any, name: str) -> NDArray[np.float64]:
    if name not in table.column_names:
        return np.zeros(table.num_rows)
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def _rows(table: Any, places: NDArray[Any]) -> list[Row]:
    rows: list[Row] = table.take(places).to_pylist()
    return rows

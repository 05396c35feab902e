"""The rows of ``cases.parquet`` by task, of which only those that are shown become Python objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.report.page.worst import chosen, margins

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRows:
    """What a page shows of the rows of a task.

    ``example`` is its first judged case. ``missed`` are some of its missed cases, the worst first, out of
    ``all_missed``. ``unscored`` are some cases without a verdict. ``lowest`` and ``highest`` are the ends of its
    scores.
    """

    example: Row | None
    missed: tuple[Row, ...]
    unscored: tuple[Row, ...]
    all_missed: int
    lowest: float
    highest: float


UNSCORED = 2
"""The most cases of a task without a verdict that are shown."""


def task_rows(file: Path, headlines: Mapping[str, str], most: int, seed: int) -> dict[str, TaskRows]:
    """Choose the rows that a page shows.

    Args:
        file: ``cases.parquet``.
        headlines: the headline metric of each task.
        most: the most missed cases of a task.
        seed: the seed of the samples.

    Returns: the rows by task; a task of which there is none is absent.
    """
    from pyarrow.parquet import read_table

    table = read_table(file)
    tasks = table.column("task").combine_chunks().dictionary_encode()
    names, codes = tasks.dictionary.to_pylist(), tasks.indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return {
        name: _of_task(table.take(order[starts[number] : starts[number + 1]]), headlines.get(name, ""), most, seed)
        for number, name in enumerate(names)
    }


def _of_task(table: Any, headline: str, most: int, seed: int) -> TaskRows:
    states = table.column("state").to_numpy()
    right = table.column("right").to_numpy(zero_copy_only=False)
    judged = np.flatnonzero(states == "judged")
    missed = judged[[not right[place] for place in judged]] if len(judged) else judged
    scores = _scores(table)
    wrong = 1.0 - _column(table, "acc")[missed]
    places = chosen(margins(headline, scores[missed], wrong), most, f"{seed}:page:{table.column('task')[0].as_py()}")
    return TaskRows(
        example=_rows(table, judged[:1])[0] if len(judged) else None,
        missed=tuple(_rows(table, missed[places])),
        unscored=tuple(_rows(table, np.flatnonzero(states == "unscored")[:UNSCORED])),
        all_missed=len(missed),
        lowest=float(np.nanmin(scores)) if np.isfinite(scores).any() else 0.0,
        highest=float(np.nanmax(scores)) if np.isfinite(scores).any() else 0.0,
    )


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

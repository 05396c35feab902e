"""The rows that a page shows: the worst missed cases of each task, and the replies of earlier runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.record.cases import numbers, read_cases, rows_at
from vlgate.record.folder import read_run
from vlgate.seeds import generator
from vlgate.types import FloatArray

# Which missed cases of a task a page shows: the worst ones, then a seeded sample of the others.

WORST = 2

_COMPARED: Mapping[str, tuple[tuple[int, int], ...]] = {
    "acc_r": ((1, 0),),
    "group": ((1, 0), (2, 3), (2, 0), (1, 3)),
    "set_acc": ((2, 0), (2, 1), (3, 0), (3, 1)),
}
"""By headline metric: the pairs of requests, false and true, whose scores the rule of a case compares."""


def margins(headline: str, scores: FloatArray, wrong: FloatArray) -> FloatArray:
    """Return by how much each missed case is missed: the most by which a false text scores above a true one.

    >>> margins("acc_r", np.array([[0.2, 0.5]]), np.zeros(1)).tolist()
    [0.3]
    """
    compared = _COMPARED.get(headline)
    if compared is None:
        return wrong
    above: FloatArray = np.max([scores[:, false] - scores[:, true] for false, true in compared], axis=0)
    return above


def chosen(margin: FloatArray, most: int, seed: str, kept: Sequence[int] = ()) -> list[int]:
    """Return the places of at most ``most`` missed cases: the ``WORST`` worst ones, ``kept``, then a seeded sample.

    >>> chosen(np.array([0.1, 0.3, 0.2]), 2, "x")
    [1, 2]
    >>> chosen(np.array([0.1, 0.3, 0.2, 0.0]), 3, "x", kept=[3])
    [1, 2, 3]
    """
    order: NDArray[Any] = np.argsort(-margin, kind="stable")
    first = order[: min(WORST, most)]
    must = np.setdiff1d(np.asarray(kept, dtype=order.dtype), first)
    others = np.setdiff1d(order[len(first) :], must)
    room = max(0, most - len(first) - len(must))
    if len(others) > room:
        others = generator(seed).choice(others, size=room, replace=False)
    return [int(place) for place in (*first, *np.sort(np.concatenate([must, others])))]


# The rows of a run by task, of which only those that are shown become Python objects.

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
    """Choose the rows that a page shows."""
    tasks = table.column("task").combine_chunks().dictionary_encode()
    names, codes = tasks.dictionary.to_pylist(), np.from_dlpack(tasks.indices)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return {
        name: _of_task(name, _part(table, order[starts[number] : starts[number + 1]]), headlines.get(name, ""), wanted)
        for number, name in enumerate(names)
    }


def _part(table: Any, places: NDArray[Any]) -> Any:
    # The rows at some rising places; without a copy if they follow each other, as those of a task do
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
    cases = rows_at(table.select(["case"]), rows).column("case").to_pylist() if ids else []
    return np.array([place for place, case in enumerate(cases) if case in ids], dtype=np.intp)


def _scores(table: Any) -> NDArray[np.float64]:
    # The scores of a task's cases, shape (n, k); NaN behind the last one of a case with fewer candidates
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


# What earlier runs replied to the cases of a page: what is newly broken, and how long a case has been missed.

BROKEN, STILL_WRONG = "newly broken", "still wrong"
_ASKED = ("images", "texts", "truths")
Rows = Mapping[tuple[str, str], Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """An earlier run: its name on the page, and some of its rows by task and case."""

    name: str
    rows: Rows = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What earlier runs replied.

    Attributes:
        baseline: the run that this one is compared with; None if there is none, or if its rows cannot be read.
        broken: the ids of the newly broken cases, by task.
        releases: earlier runs, the oldest first.
    """

    baseline: Release | None = None
    broken: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    releases: tuple[Release, ...] = ()

    def change(self, row: Row) -> str:
        """Return what became of a missed case since the baseline; empty if that is unknown."""
        if row["case"] in self.broken.get(row["task"], ()):
            return BROKEN
        found = self.before(row)
        return STILL_WRONG if _missed(row) and found is not None and _missed(found) else ""

    def before(self, row: Row) -> Row | None:
        """Return the row of the baseline for the same case; None if there is none, or if it asks something else."""
        return None if self.baseline is None else _same(self.baseline, row)

    def age(self, row: Row) -> str:
        """Say for how many releases a case has been missed, this one included; empty for a case that is not missed."""
        if not self.releases or not _missed(row):
            return ""
        found = [_same(release, row) for release in reversed(self.releases)]
        missed = next((place for place, one in enumerate(found) if one is None or not _missed(one)), len(found))
        newest = self.releases[-1].name
        if missed == 0:
            return f"missed for 1 release: {newest} {_was(found[0])}"
        first = self.releases[-missed].name
        more = " or before" if missed == len(found) else ""
        return f"missed for {missed + 1} releases: since {first}{more}"


def release(folder: Path, name: str, option: str, wanted: Mapping[str, Sequence[str]]) -> Release:
    """Read some rows of an earlier run."""
    table = read_cases(read_run(folder, f"{option} {folder}", frozenset({"tasks"})))
    asked = {(task, case) for task, found in wanted.items() for case in found}
    known = zip(table.column("task").to_pylist(), table.column("case").to_pylist(), strict=True)
    rows = rows_at(table, np.array([place for place, one in enumerate(known) if one in asked])).to_pylist()
    return Release(name=name, rows={(row["task"], row["case"]): row for row in rows})


def names(folders: Sequence[Path]) -> list[str]:
    """Return names of runs for a reader: the folder's own name if it tells it from the others, else its whole path.

    >>> names([Path("results/v1"), Path("results/v2"), Path("old/v2")])
    ['v1', 'results/v2', 'old/v2']
    """
    own = [folder.name for folder in folders]
    return [name if own.count(name) == 1 and name else str(folder) for name, folder in zip(own, folders, strict=True)]


def _same(found: Release, row: Row) -> Row | None:
    other = found.rows.get((row["task"], row["case"]))
    return other if other is not None and all(other[name] == row[name] for name in _ASKED) else None


def _was(row: Row | None) -> str:
    if row is None:
        return "did not ask it"
    return "got it right" if row["state"] == "judged" else "did not judge it"


def _missed(row: Mapping[str, Any]) -> bool:
    return row["state"] == "judged" and not row["right"]

"""The rows that a page shows: the worst missed cases of each task, and the replies of earlier runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.record.cases import CaseTable, case_tables
from vlgate.record.folder import read_run
from vlgate.seeds import generator
from vlgate.types import FloatArray

WORST = 2

# by headline metric: the pairs of requests, false and true, whose scores the rule of a case compares
_COMPARED: Mapping[str, tuple[tuple[int, int], ...]] = {
    "acc_r": ((1, 0),),
    "group": ((1, 0), (2, 3), (2, 0), (1, 3)),
    "set_acc": ((2, 0), (2, 1), (3, 0), (3, 1)),
}


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


def margins_of(headline: str, table: CaseTable, missed: NDArray[np.intp]) -> FloatArray:
    if not len(missed) or headline in _COMPARED:
        return margins(headline, table.scores[missed], np.empty(0)) if len(missed) else np.empty(0)
    accurate = table.case_metrics.get("acc", np.zeros(len(table)))[missed]
    return margins(headline, np.empty(0), 1.0 - np.nan_to_num(accurate))


def missed_rows(table: CaseTable) -> NDArray[np.intp]:
    return np.flatnonzero(np.fromiter((right is False for right in table.column("right")), np.bool_, len(table)))


def chosen(margin: FloatArray, most: int, seed: str, kept: Sequence[int] = ()) -> list[int]:
    """Return the places of at most ``most`` missed cases: the ``WORST`` worst ones, ``kept``, then a seeded sample.

    >>> chosen(np.array([0.1, 0.3, 0.2, 0.0]), 3, "x", kept=[3])
    [1, 2, 3]
    """
    first = np.argsort(-margin, kind="stable")[: min(WORST, most)].copy()
    must = np.setdiff1d(np.asarray(kept, dtype=np.intp), first)
    left = np.ones(len(margin), dtype=np.bool_)
    left[[*first, *must]] = False
    others = np.flatnonzero(left)
    room = max(0, most - len(first) - len(must))
    if len(others) > room:
        others = generator(seed).choice(others, size=room, replace=False)
    return [int(place) for place in (*first, *np.sort(np.concatenate([must, others])))]


Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRows:
    example: Row | None  # its first judged case
    missed: tuple[Row, ...]  # some of ``all_missed`` cases, the worst first
    broken: tuple[Row, ...]  # those of them that are newly broken, the worst first again
    unscored: tuple[Row, ...]  # some cases without a verdict
    all_missed: int
    lowest: float  # the ends of its scores
    highest: float

    @property
    def shown(self) -> list[Row]:
        return [*([self.example] if self.example else []), *self.missed, *self.unscored]


UNSCORED = 2  # the most cases of a task without a verdict that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    most: int  # of a task
    seed: int  # of the samples
    # The ids of the newly broken cases, by task, of which at most ``quota`` of a task are shown.
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)
    quota: int = 0


def task_rows(tables: Mapping[str, CaseTable], headlines: Mapping[str, str], wanted: Wanted) -> dict[str, TaskRows]:
    judged = {name: table for name, table in tables.items() if len(table)}
    return {name: _of_task(name, table, headlines.get(name, ""), wanted) for name, table in judged.items()}


def _of_task(name: str, table: CaseTable, headline: str, wanted: Wanted) -> TaskRows:
    missed = missed_rows(table)
    margin = margins_of(headline, table, missed)
    ids = wanted.broken.get(name, frozenset())
    places = np.flatnonzero([table.ids[row] in ids for row in missed]) if ids else np.empty(0, dtype=np.intp)
    broken = places[chosen(margin[places], wanted.quota, f"{wanted.seed}:broken:{name}")]
    shown = chosen(margin, wanted.most, f"{wanted.seed}:page:{name}", [int(place) for place in broken])
    states = table.column("state")
    example = _rows(table, [states.index("judged")]) if "judged" in states else [None]
    unscored = [row for row, state in enumerate(states) if state == "unscored"]
    finite = np.isfinite(table.scores)
    return TaskRows(
        example=example[0],
        missed=tuple(_rows(table, missed[shown])),
        broken=tuple(_rows(table, missed[broken])),
        unscored=tuple(_rows(table, unscored[:UNSCORED])),
        all_missed=len(missed),
        lowest=float(table.scores.min(where=finite, initial=np.inf)) if finite.any() else 0.0,
        highest=float(table.scores.max(where=finite, initial=-np.inf)) if finite.any() else 0.0,
    )


def _rows(table: CaseTable, rows: Sequence[int] | NDArray[Any]) -> list[Row]:
    return list(table.take(rows).rows.to_pylist())


BROKEN, STILL_WRONG = "newly broken", "still wrong"
_ASKED = ("images", "texts", "truths")
Rows = Mapping[tuple[str, str], Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    name: str
    rows: Rows = field(repr=False)
    tasks: Mapping[str, Any] = field(default_factory=dict, repr=False)  # of its ``metrics.json``


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    baseline: Release | None = None  # the run that this one is compared with, if its rows can be read
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)  # ids by task
    releases: tuple[Release, ...] = ()  # earlier runs, the oldest first

    def change(self, row: Row) -> str:
        if row["case"] in self.broken.get(row["task"], ()):
            return BROKEN
        before = self.before(row)
        return STILL_WRONG if _missed(row) and before is not None and _missed(before) else ""

    def before(self, row: Row) -> Row | None:
        return None if self.baseline is None else _same(self.baseline, row)

    def age(self, row: Row) -> str:
        """Say for how many releases a case has been missed, this one included; empty for a case that is not missed."""
        if not self.releases or not _missed(row):
            return ""
        rows = [_same(release, row) for release in reversed(self.releases)]
        missed = next((number for number, old in enumerate(rows) if old is None or not _missed(old)), len(rows))
        if missed == 0:
            judged = "got it right" if rows[0] and rows[0]["state"] == "judged" else "did not judge it"
            return f"missed for 1 release: {self.releases[-1].name} {judged if rows[0] else 'did not ask it'}"
        more = " or before" if missed == len(rows) else ""
        return f"missed for {missed + 1} releases: since {self.releases[-missed].name}{more}"


def release(folder: Path, name: str, option: str, wanted: Mapping[str, Sequence[str]]) -> Release:
    run = read_run(folder, f"{option} {folder}", frozenset({"tasks"}))
    tables = case_tables(run)
    rows: dict[tuple[str, str], Row] = {}
    for task in wanted.keys() & tables.keys():
        asked = frozenset(wanted[task])
        kept = [row for row, case in enumerate(tables[task].ids) if case in asked]
        rows |= {(task, row["case"]): row for row in _rows(tables[task], kept)}
    return Release(name=name, rows=rows, tasks=run.figures["tasks"])


def names(folders: Sequence[Path]) -> list[str]:
    """Return names of runs: the folder's own name if it tells it from the others, else its whole path."""
    own = [folder.name for folder in folders]
    return [name if own.count(name) == 1 and name else str(folder) for name, folder in zip(own, folders, strict=True)]


def _same(found: Release, row: Row) -> Row | None:
    other = found.rows.get((row["task"], row["case"]))
    return other if other is not None and all(other[name] == row[name] for name in _ASKED) else None


def _missed(row: Mapping[str, Any]) -> bool:
    return row["state"] == "judged" and not row["right"]

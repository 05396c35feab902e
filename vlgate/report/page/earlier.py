"""What earlier runs replied to the cases of a page: what is newly broken, and how long a case has been missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from vlgate.recorded.cases import read_cases, rows_at
from vlgate.recorded.folder import read_run
from vlgate.report.page.rows import Row

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
    """Read some rows of an earlier run.

    Args:
        folder: its results folder.
        name: its name on the page.
        option: what named the folder, for the messages.
        wanted: the ids of the cases, by task; those that it did not ask are absent from the rows.

    Raises: OptionError if the folder holds no run, or if one of its files cannot be read or is damaged.
    """
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

"""The tables of a release: in a data folder, or from the Hugging Face hub if the user asks for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from vlgate.sources.reading.hub import dataset_folder
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.records import Record
from vlgate.sources.reading.tables import KINDS, table_files
from vlgate.sources.reading.unreadable import each
from vlgate.types import Case

_INSIDE = ("", "data", "data/test", "test")
"""The folders of a release that may hold the table; ``save_to_disk`` makes one for each split."""


def release_files(options: ReadOptions, benchmark: str, hub: str, kinds: Sequence[str] = KINDS) -> list[Path]:
    """Return the files of a release; an empty list if there are none.

    Args:
        options: with the data folders, and perhaps the protocol ``<benchmark>_hub``, which fetches the release.
        benchmark: its name, which is that of its folder in a data folder.
        hub: the name of the data set on the hub.
        kinds: the patterns of the files' names.

    Raises: DataError if the release is in two places, or cannot be fetched.
    """
    fetched = (
        [dataset_folder(hub, list(kinds) + [f"**/{kind}" for kind in kinds])]
        if (f"{benchmark}_hub" in options.protocols)
        else []
    )
    whole = [*(folder / benchmark for folder in options.folders), *fetched]
    return table_files([folder / place for folder in whole for place in _INSIDE], kinds)


class WithRecord(Protocol):
    """A row of a table, or several rows that make one case."""

    @property
    def record(self) -> Record:
        """The fields, and the place that errors name."""


Item = TypeVar("Item", bound=WithRecord)


def by_kind(
    make: Callable[[Item], Case], items: Iterable[Item], kind_of: Callable[[Record], str], wanted: Collection[str]
) -> dict[str, tuple[Case, ...]]:
    """Return the cases of each wanted kind, if the rows of one table are of several kinds.

    Args:
        make: makes the case of a row; it is called for the wanted kinds only.
        items: the rows.
        kind_of: returns the kind of a row, or raises DataError.
        wanted: the kinds to keep.

    Raises: DataError if a row cannot be read, or if the id of a case is repeated in its kind.
    """
    cases: dict[str, dict[str, Case]] = {kind: {} for kind in wanted}

    def add(item: Item) -> None:
        """Add the case of a row to those of its kind."""
        kind = kind_of(item.record)
        if kind in cases:
            case = make(item)
            if cases[kind].setdefault(case.id, case) is not case:
                raise item.record.error(f"id {case.id} is repeated")

    deque(each(add, items), maxlen=0)
    return {kind: tuple(found.values()) for kind, found in cases.items()}


def other_form(options: ReadOptions, *patterns: str) -> str:
    """Return the path of a file that matches one of the patterns in a data folder; empty if none does.

    It is for the forms of a release that are not read, so that a task without cases can say so.
    """
    found = sorted(str(one) for folder in options.folders for pattern in patterns for one in folder.glob(pattern))
    return found[0] if found else ""

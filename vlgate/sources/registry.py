"""Where tables come from: one line a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from vlgate.types import Reading, Shape, Table

# By name, so that a source may live beside what it is made of, and none is imported before it is wanted.
SOURCES: Mapping[str, str] = {
    "carets": "vlgate.sources.carets",
    "scenes": "vlgate.fixtures.scenes.source",
    "valse": "vlgate.sources.valse",
    "vl-checklist": "vlgate.sources.vl_checklist",
    "winoground": "vlgate.sources.winoground",
    "bla": "vlgate.sources.bla",
    "sugarcrepe": "vlgate.sources.sugarcrepe",
    "foil-it": "vlgate.sources.foil_it",
    "scene-graphs": "vlgate.sources.generated",
    "own": "vlgate.sources.own",
}

PROTOCOLS: Mapping[str, str] = {
    "carets_default_yml": "CARETS: with the three files of choice questions that default.yml adds to ontological-inv",
    "valse_all": "VALSE: all records, not only those that at least two of three annotators found valid",
    "winoground_hub": "Winoground: from the Hugging Face hub, with your own token",
    "vlchecklist_paper": "VL-CheckList: of each file the first 1,000 items, and of an item the first text",
}
"""How a benchmark can be read otherwise than by default, by the name that ``--protocol`` takes."""


class Source(Protocol):
    """A module that makes tables: ``SHAPES`` by table id, and ``read``.

    A module whose table ids stand in the user's files has a function ``shapes(folders)`` in place of ``SHAPES``.
    """

    SHAPES: Mapping[str, Shape]

    def read(self, reading: Reading) -> Iterable[Table]:
        """Make those of its tables that are wanted and whose data are there."""


def shapes(folders: tuple[Path, ...] = ()) -> dict[str, Shape]:
    """The shape of every table that any source can make, by id; of users' own tables in these data folders too.

    Raises: DataError where a user's own table cannot be read.
    """
    return {table: shape for name in SOURCES for table, shape in _shapes(name, folders).items()}


def read_tables(reading: Reading) -> list[Table]:
    """All wanted tables whose data are there, in the order of their ids.

    Raises: DataError from a source whose data cannot be read.
    """
    wanted = [name for name in SOURCES if any(map(reading.wanted, _shapes(name, reading.folders)))]
    tables = [table for name in wanted for table in _source(name).read(reading)]
    return sorted(tables, key=lambda table: table.id)


def _shapes(name: str, folders: tuple[Path, ...]) -> Mapping[str, Shape]:
    module = _source(name)
    found: Mapping[str, Shape] = module.shapes(folders) if hasattr(module, "shapes") else module.SHAPES
    return found


def _source(name: str) -> Source:
    return cast("Source", import_module(SOURCES[name]))

"""What a data folder looks like, to propose the right one for one that holds no data."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from vlgate.sources.benchmarks.own_files import SUFFIXES
from vlgate.sources.reading.image_finder import EXTENSIONS
from vlgate.sources.registry import SOURCES

PARTS = frozenset({*SOURCES, "images", "annotations", "cases", "gqa", "vg", "vl_checklist", "foil"}) - {"own"}
"""The names of folders within a data folder, in lower case."""
_CASES = frozenset(f"cases.{end}" for end in SUFFIXES)
_MOST = 10_000  # entries of a folder that are looked at


def another_folder(folders: Sequence[Path]) -> str:
    """Propose a remedy if one of some data folders is part of one, holds one, or lacks only the right name of a file.

    >>> another_folder([Path("data/valse")])
    'data/valse looks like a part of a data folder: did you mean --data data?'

    Returns: a sentence without a full stop; empty if there is nothing to propose.
    """
    return next((hint for folder in folders if not _is_data(folder) and (hint := _hint(folder))), "")


def _hint(folder: Path) -> str:
    if folder.is_file():
        parent = folder.parent.parent if folder.parent.name == "cases" else folder.parent
        return f"{folder} is a file: did you mean --data {parent}?"
    return _above(folder) or _below(folder, _names(folder))


def _above(folder: Path) -> str:
    whole = next((number for number, parent in enumerate(folder.absolute().parents[:2]) if _is_data(parent)), None)
    if whole is None and folder.name.lower() not in PARTS:
        return ""
    parents = folder.parents if len(folder.parents) > (whole or 0) else folder.absolute().parents
    return f"{folder} looks like a part of a data folder: did you mean --data {parents[whole or 0]}?"


def _below(folder: Path, names: Sequence[str]) -> str:
    inside = next((folder / name for name in names if (folder / name).is_dir() and _is_data(folder / name)), None)
    if inside is not None:
        return f"{inside} looks like a data folder: did you mean --data {inside}?"
    cases = [name for name in names if name.rpartition(".")[2].lower() in SUFFIXES]
    if cases:
        end = cases[0].rpartition(".")[2].lower()
        rename = f"call it {folder}/cases.{end}, or put it into {folder}/cases"
        return f"{folder / cases[0]} is not read under this name: {rename}"
    if any(name.rpartition(".")[2].lower() in EXTENSIONS for name in names):
        return f"{folder} holds images, but no cases: write them to {folder}/cases.jsonl"
    return ""


def _is_data(folder: Path) -> bool:
    """Whether a folder holds a user's cases or a benchmark's folder."""
    inside = _names(folder)
    own = any(name.rpartition(".")[2] in SUFFIXES for name in _names(folder / "cases"))
    return own or any(name in _CASES or (name.lower() in SOURCES and (folder / name).is_dir()) for name in inside)


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return sorted(path.name for _, path in zip(range(_MOST), folder.iterdir(), strict=False))
    return []

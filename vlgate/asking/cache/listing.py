"""What a cache holds, by model, and how to remove it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from vlgate.asking.cache.store import NAME, connect, damaged_by, other_versions
from vlgate.errors import OptionError

_ASIDE = "replies-v*-damaged-*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The replies of one model: their number, their bytes, and the times of the first and the last (seconds)."""

    # A file that no run reads, because it is damaged or of another version, has no ``model`` and the time of its
    # change.

    model: str
    replies: int
    size: int
    oldest: int
    newest: int
    file: str = NAME


def is_cache(folder: Path) -> bool:
    return next(folder.glob("replies-v*.sqlite"), None) is not None


def listed(folder: Path, begins: str = "") -> list[Kept]:
    """What a cache holds of the models whose names begin so, the largest first."""
    if not (folder / NAME).is_file():
        return []
    asked = (
        "SELECT models.name, count(*), sum(length(value) + length(key)), min(at), max(at) "
        "FROM replies JOIN models ON models.id = replies.model GROUP BY models.id"
    )
    try:
        with closing(connect(folder / NAME)) as opened:
            rows = opened.execute(asked).fetchall()
    except sqlite3.Error as error:
        raise _unusable(folder / NAME, error) from None
    names = ("model", "replies", "size", "oldest", "newest")
    found = [Kept(**dict(zip(names, (row[0].decode(errors="replace"), *row[1:]), strict=True))) for row in rows]
    return sorted((one for one in found if one.model.startswith(begins)), key=lambda one: (-one.size, one.model))


def unread_files(folder: Path) -> list[Kept]:
    """The files that no run reads: those that were set aside as damaged, and those of other versions."""
    found = []
    for file in sorted({*other_versions(folder), *folder.glob(f"{_ASIDE}.sqlite")}):
        at = int(file.stat().st_mtime)
        size = sum(one.stat().st_size for one in folder.glob(f"{file.name}*"))
        found.append(Kept(model="", replies=0, size=size, oldest=at, newest=at, file=file.name))
    return found


def cleared(folder: Path, begins: str, before: float) -> tuple[int, int]:
    """Remove replies kept before a time, and without ``begins`` the files that no run reads; their number and bytes."""
    size = _size(folder)
    for file in [] if begins else [*other_versions(folder), *folder.glob(_ASIDE)]:
        if file.stat().st_mtime <= before:
            file.unlink()
    file = folder / NAME
    removed = 0
    try:
        if file.is_file():
            with closing(connect(file)) as opened:
                names = opened.execute("SELECT id, name FROM models").fetchall()
                chosen = [number for number, name in names if name.decode(errors="replace").startswith(begins)]
                asked = "DELETE FROM replies WHERE model = ? AND at <= ?"
                removed = sum(opened.execute(asked, (number, int(before))).rowcount for number in chosen)
                opened.execute("VACUUM")
                opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        if begins or not damaged_by(error, file) or file.stat().st_mtime > before:
            raise _unusable(file, error) from None
        for part in folder.glob(f"{NAME}*"):
            part.unlink()
    return removed, max(0, size - _size(folder))


def _unusable(file: Path, error: sqlite3.Error) -> OptionError:
    remedy = "if no run uses it, remove the file"
    if damaged_by(error, file):
        remedy = "the next run sets it aside, and vlgate cache clear removes it"
    return OptionError(f"{file} cannot be used ({error}); {remedy}")


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("replies-v*"))

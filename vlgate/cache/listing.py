"""What a cache holds, by model, and how to remove it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from vlgate.cache.store import NAME, connect, other_versions
from vlgate.errors import OptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The replies of one model: how many, their size in bytes, and when the first and the last were kept (seconds)."""

    model: str
    replies: int
    size: int
    oldest: int
    newest: int


def listed(folder: Path, begins: str = "") -> list[Kept]:
    """Return what a cache holds of the models whose names begin so, the largest first; nothing if it is not there.

    Raises: OptionError if the file cannot be read.
    """
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
        raise _unreadable(folder, error) from None
    found = [
        Kept(model=name.decode(errors="replace"), replies=n, size=size, oldest=oldest, newest=newest)
        for name, n, size, oldest, newest in rows
    ]
    return sorted((one for one in found if one.model.startswith(begins)), key=lambda one: (-one.size, one.model))


def cleared(folder: Path, begins: str, before: float) -> tuple[int, int]:
    """Remove the replies of the models whose names begin so that were kept before a time, in seconds.

    Without a beginning and up to now, files of other versions and damaged files that were set aside are removed too.

    Returns: how many replies were removed, and the bytes of the disk that are free now.
    Raises: OptionError if the file cannot be changed.
    """
    size = _size(folder)
    removed = 0
    if (folder / NAME).is_file():
        try:
            with closing(connect(folder / NAME)) as opened:
                names = opened.execute("SELECT id, name FROM models").fetchall()
                chosen = [number for number, name in names if name.decode(errors="replace").startswith(begins)]
                for number in chosen:
                    asked = "DELETE FROM replies WHERE model = ? AND at <= ?"
                    removed += opened.execute(asked, (number, int(before))).rowcount
                opened.execute("VACUUM")
                opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise _unreadable(folder, error) from None
    for file in other_versions(folder) + list(folder.glob("replies-v*-damaged-*")):
        if not begins and file.stat().st_mtime <= before:
            file.unlink()
    return removed, max(0, size - _size(folder))


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("replies-v*"))


def _unreadable(folder: Path, error: sqlite3.Error) -> OptionError:
    return OptionError(f"{folder / NAME} cannot be used ({error}); if no run uses it, remove the file")

"""A damaged file of replies: it is set aside, and what is whole of it is kept."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

_AT_ONCE = 1000


def inode(file: Path) -> int | None:
    """Return the number by which the file system knows a file; None if it is not there."""
    try:
        return file.stat().st_ino
    except OSError:
        return None


def set_aside(file: Path) -> Path | None:
    """Rename a file of replies and the files that SQLite keeps beside it.

    Returns: its new place; None if it is not there, because another process has set it aside.
    Raises: OSError if it cannot be renamed.
    """
    aside = file.with_name(f"{file.stem}-damaged-{time.time_ns()}{file.suffix}")
    try:
        file.rename(aside)
    except FileNotFoundError:
        return None
    for end in ("-wal", "-shm"):
        with suppress(OSError):
            file.with_name(file.name + end).rename(aside.with_name(aside.name + end))
    return aside


def salvaged(file: Path, unsealed: Callable[[bytes, object], bytes | None]) -> Iterator[tuple[str, dict[bytes, bytes]]]:
    """Yield the whole records of a damaged file, some of one model at a time.

    Args:
        file: the file that was set aside.
        unsealed: takes a key and a record; returns the value, or None if the record is damaged.
    """
    try:
        opened = sqlite3.connect(file, isolation_level=None)
        opened.text_factory = bytes
    except sqlite3.Error:
        return
    try:
        opened.execute("PRAGMA trusted_schema=OFF")
        last = _one(opened, "SELECT seq FROM sqlite_sequence") or _one(opened, "SELECT max(id) FROM replies") or 0
        for start in range(0, last + 1, _AT_ONCE):
            found: dict[str, dict[bytes, bytes]] = {}
            for key, model, record in _rows(opened, start, min(start + _AT_ONCE, last + 1)):
                if isinstance(key, bytes) and isinstance(model, int):
                    value = unsealed(key, record)
                    name = _name(opened, model)
                    if value is not None and name:
                        found.setdefault(name, {})[key] = value
            yield from found.items()
    except sqlite3.Error:
        return
    finally:
        opened.close()


def _rows(opened: sqlite3.Connection, start: int, stop: int) -> list[tuple[object, ...]]:
    """The records with these numbers; a range that holds a damaged page is halved until only that page is lost."""
    asked = "SELECT key, model, value FROM replies NOT INDEXED WHERE id >= ? AND id < ?"
    try:
        return opened.execute(asked, (start, stop)).fetchall()
    except sqlite3.DatabaseError:
        if stop - start <= 1:
            return []
        middle = (start + stop) // 2
        return _rows(opened, start, middle) + _rows(opened, middle, stop)


def _name(opened: sqlite3.Connection, model: int) -> str:
    try:
        row = opened.execute("SELECT name FROM models NOT INDEXED WHERE id = ?", (model,)).fetchone()
    except sqlite3.DatabaseError:
        return ""
    return row[0].decode(errors="replace") if row and isinstance(row[0], bytes) else ""


def _one(opened: sqlite3.Connection, asked: str) -> int | None:
    try:
        row = opened.execute(asked).fetchone()
    except sqlite3.DatabaseError:
        return None
    return row[0] if row and isinstance(row[0], int) and 0 <= row[0] < 2**40 else None

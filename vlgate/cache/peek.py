"""One record of a cache, read without opening the cache for a run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from vlgate.cache.store import NAME, connect, unsealed


def peek(folder: Path, key: bytes) -> bytes | None:
    """Return the value of a key; None if it is not there, or if the file cannot be read."""
    if not (folder / NAME).is_file():
        return None
    try:
        with closing(connect(folder / NAME)) as opened:
            row = opened.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
    except (sqlite3.Error, OSError):
        return None  # the run opens the file, too, and says what is wrong with it
    return None if row is None else unsealed(key, row[0])

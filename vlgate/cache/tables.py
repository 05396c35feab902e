"""The tables of a file of replies, made by whichever of several processes comes first."""

from __future__ import annotations

import sqlite3
import time

_TABLES = """
CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS replies (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, model INTEGER NOT NULL, at INTEGER NOT NULL,
    value BLOB NOT NULL
);
"""


def make_tables(opened: sqlite3.Connection, waiting: float) -> None:
    """Make the write-ahead log and the tables, if they are not there.

    SQLite does not wait for another process that makes them at the same moment, so this does, for ``waiting`` seconds.

    Raises: sqlite3.Error if the file cannot be used.
    """
    end = time.monotonic() + waiting
    while True:
        try:
            opened.execute("PRAGMA journal_mode=WAL")
            opened.executescript(_TABLES)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return

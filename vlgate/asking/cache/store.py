"""The file of the replies: SQLite in WAL mode, records are only added; a damaged file is set aside."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path

from vlgate.asking.cache.folder import DEFAULT_SIZE

# A damaged file of replies is set aside.


def inode(file: Path) -> int | None:
    """Return the number by which the file system knows a file; None if it is not there."""
    try:
        return file.stat().st_ino
    except OSError:
        return None


def set_aside(file: Path) -> Path | None:
    """Rename a file of replies and the files that SQLite keeps beside it.

    Returns: its new place; None if it is not there, because another process has set it aside.
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


# The tables of a file of replies, made by whichever of several processes comes first.

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


# The file of the replies: SQLite in WAL mode, to which records are only added.
#
# Several processes may read and write it at once, and each may be killed at any moment: a transaction is there as a
# whole or not at all. Each record carries a checksum, so that damage costs the damaged records only. Whatever is wrong
# with the file or its disk, a run goes on: it asks its model, and ``problems`` says why.

SCHEMA = 1
"""The version of the tables and of what the records hold; it is part of the file's name."""
NAME = f"replies-v{SCHEMA}.sqlite"
_KEYS_AT_ONCE = 500
_WAITING = 60.0  # seconds for other processes' transactions, each of which takes milliseconds
_CHECKED_EVERY = 4096  # records written between two looks at the size
_EVICTED = 0.1  # the share of the limit that is freed at once
_FAILURES = 3  # files that a run replaces, before it goes on without a cache
_SUM = 8  # bytes of a checksum
_DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}  # the first: a table lacks a column


def other_versions(folder: Path) -> list[Path]:
    """Return the files in which other versions of vlgate keep their replies."""
    return [file for file in folder.glob("replies-v*.sqlite") if file.name != NAME and "-damaged-" not in file.name]


def connect(file: Path) -> sqlite3.Connection:
    """Open a file of replies, and make it if it is not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # No transaction is begun by itself; a run may look up from another thread than the one that opened the file.
    opened = sqlite3.connect(file, timeout=_WAITING, isolation_level=None, check_same_thread=False)
    opened.text_factory = bytes  # a damaged record may hold text that is not UTF-8
    try:
        opened.execute("PRAGMA trusted_schema=OFF")
        opened.execute("PRAGMA cell_size_check=ON")
        opened.execute("PRAGMA synchronous=NORMAL")  # a crash of the machine may cost the last records, never the file
        opened.execute("PRAGMA cache_size=-65536")  # 64 MiB: keys are random, so each one may be in a page of its own
        make_tables(opened, _WAITING)
    except BaseException:
        opened.close()
        raise
    return opened


def sealed(key: bytes, value: bytes) -> bytes:
    """Return a value with its checksum, as the file holds it."""
    return value + blake2b(key + value, digest_size=_SUM).digest()


def unsealed(key: bytes, record: object) -> bytes | None:
    """Return the value of a record; None if it is damaged."""
    if not isinstance(record, bytes) or len(record) < _SUM:
        return None
    value = record[:-_SUM]
    return value if record.endswith(blake2b(key + value, digest_size=_SUM).digest()) else None


class Store:
    """The replies of one folder.

    ``problems`` holds a sentence for each thing that was wrong, for the user; ``evicted`` counts the replies that were
    removed to stay within the limit.
    """

    def __init__(self, folder: Path, limit: int = DEFAULT_SIZE) -> None:
        """Open the file in ``folder``; ``limit`` is the most bytes that its records may take."""
        self.file = folder / NAME
        self.limit = limit
        self.problems: list[str] = []
        self.evicted = 0
        self._failures = 0
        self._written = _CHECKED_EVERY  # so that the first write looks at the size
        self._models: dict[str, int] = {}
        self._opened: sqlite3.Connection | None = None
        self._inode = inode(self.file)
        others = sorted(file.name for file in other_versions(folder))
        if others:
            self.problems.append(f"{folder} holds {', '.join(others)} of another version of vlgate, which is not read")
        self._reopen()

    @property
    def works(self) -> bool:
        """Whether replies are kept; False after a problem with the disk."""
        return self._opened is not None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of the keys that are there; a damaged record counts as not there."""
        if self._opened is None:
            return {}
        try:
            rows = _looked_up(self._opened, keys)
        except sqlite3.DatabaseError as error:
            return self.get(keys) if self._failed(error, "read") else {}
        found = {key: value for key, record in rows if (value := unsealed(key, record)) is not None}
        damaged = [key for key, _ in rows if key not in found] if len(found) < len(rows) else []
        if damaged:
            self._remove(damaged)
        return found

    def put(self, model: str, entries: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """Add records; a key that is there already keeps its value, because another run may have used that.

        Returns: the values of keys that were there with another value.
        """
        if self._opened is None or not entries:
            return {}
        try:
            there = self._added(self._opened, model, entries)
            self._written += len(entries)
            if self._written >= _CHECKED_EVERY:
                self._written = 0
                self.evicted += shrink(self._opened, self.limit)
        except sqlite3.DatabaseError as error:
            return self.put(model, entries) if self._failed(error, "written") else {}
        return there

    def close(self) -> None:
        """Close the file."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def _reopen(self) -> None:
        try:
            try:
                self._opened = connect(self.file)
                self._inode = inode(self.file)
            except sqlite3.DatabaseError as error:
                if not damaged_by(error, self.file):
                    raise
                self._replace(error)
        except (sqlite3.Error, OSError) as error:
            self.problems.append(f"{self.file.parent} cannot be used ({_why(error)}), so the model is asked everything")

    def _added(self, opened: sqlite3.Connection, model: str, entries: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        now = int(time.time())
        opened.execute("BEGIN IMMEDIATE")
        try:
            number = self._number(opened, model)
            before = opened.total_changes
            opened.executemany(
                "INSERT OR IGNORE INTO replies (key, model, at, value) VALUES (?, ?, ?, ?)",
                [(key, number, now, sealed(key, value)) for key, value in entries.items()],
            )
            new = opened.total_changes - before
            rows = [] if new == len(entries) else _looked_up(opened, list(entries))
            opened.execute("COMMIT")
        except BaseException:
            self._models.clear()
            if opened.in_transaction:
                opened.execute("ROLLBACK")
            raise
        there = ((key, unsealed(key, record)) for key, record in rows)
        return {key: value for key, value in there if value is not None and value != entries.get(key, value)}

    def _number(self, opened: sqlite3.Connection, model: str) -> int:
        if model not in self._models:
            opened.execute("INSERT OR IGNORE INTO models (name) VALUES (?)", (model,))
            row = opened.execute("SELECT id FROM models WHERE name = ?", (model,)).fetchone()
            self._models[model] = int(row[0])
        return self._models[model]

    def _remove(self, keys: Sequence[bytes]) -> None:
        self.problems.append(f"{self.file}: {len(keys)} damaged records were removed, and their requests asked again")
        if self._opened is not None:
            try:
                self._opened.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in keys])
            except sqlite3.DatabaseError as error:
                self._failed(error, "written")

    def _failed(self, error: sqlite3.DatabaseError, what: str) -> bool:
        """Go on with a new file if this one is damaged, otherwise without one; return whether there is a file now."""
        self.close()
        self._failures += 1
        try:
            if damaged_by(error, self.file) and self._failures <= _FAILURES:
                self._replace(error)
                return True
        except (sqlite3.Error, OSError) as second:
            error = sqlite3.DatabaseError(_why(second))
        self.problems.append(
            f"{self.file} cannot be {what} ({_why(error)}); from here on the model is asked everything"
        )
        self.close()
        return False

    def _replace(self, error: sqlite3.DatabaseError) -> None:
        untouched = self._inode is None or inode(self.file) == self._inode  # by another process that saw the damage too
        aside = set_aside(self.file) if untouched else None
        self._models.clear()
        self._opened = connect(self.file)
        self._inode = inode(self.file)
        if aside is not None:
            self.problems.append(
                f"{self.file} was damaged ({_why(error)}): set aside as {aside.name}, and its requests asked again"
            )


def damaged_by(error: sqlite3.Error, file: Path) -> bool:
    """Whether an error means that the file is damaged, and not that the disk is full or another process is busy."""
    if not isinstance(error, sqlite3.OperationalError):
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # A damaged header may say that the file must not be written.
    return code in _DAMAGE or (code == sqlite3.SQLITE_READONLY and os.access(file, os.W_OK))


def shrink(opened: sqlite3.Connection, limit: int) -> int:
    """Remove the oldest records until the rest takes less than ``limit`` bytes; return how many were removed."""
    removed = 0
    while (used := _used(opened)) > limit:
        low, high, n = opened.execute("SELECT min(id), max(id), count(*) FROM replies").fetchone()
        if not n:
            return removed
        share = 1 - (1 - _EVICTED) * limit / used
        last = low + max(1, int((high - low + 1) * min(1.0, share)))
        opened.execute("BEGIN IMMEDIATE")
        removed += opened.execute("DELETE FROM replies WHERE id < ?", (last,)).rowcount
        opened.execute("COMMIT")
    return removed


def _used(opened: sqlite3.Connection) -> int:
    """The bytes of the file that hold something; the others are used again before the file grows."""
    pages, free, size = (
        int(opened.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _looked_up(opened: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, object]]:
    rows: list[tuple[bytes, object]] = []
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        some = keys[start : start + _KEYS_AT_ONCE]
        marks = ",".join("?" * len(some))
        found = opened.execute(f"SELECT key, value FROM replies WHERE key IN ({marks})", some)  # noqa: S608  # only ?
        rows += [row for row in found if type(row[0]) is bytes]  # a damaged index may lead to any record
    return rows


def _why(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__


# One record of a cache, read without opening the cache for a run.


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

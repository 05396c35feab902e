"""Replies as bytes, in memory and in a file: SQLite in WAL mode, records are only added; a damaged file is set aside.

Several processes may read and write it at once, and each may be killed at any moment: a transaction is there as a whole
or not at all. Each record carries a checksum, so that damage costs the damaged records only. Whatever is wrong with the
file or its disk, a run goes on: it asks its model, and ``problems`` says why.
"""

import os
import sqlite3
import struct
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from vlgate.asking.cache.folder import DEFAULT_SIZE
from vlgate.errors import OptionError
from vlgate.types import FloatArray


def inode(file: Path) -> int | None:
    try:
        return file.stat().st_ino
    except OSError:
        return None


def set_aside(file: Path) -> Path | None:
    """Rename a damaged file and those that SQLite keeps beside it; None if another process has done so."""
    aside = file.with_name(f"{file.stem}-damaged-{time.time_ns()}{file.suffix}")
    try:
        file.rename(aside)
    except FileNotFoundError:
        return None
    for end in ("-wal", "-shm"):
        with suppress(OSError):
            file.with_name(file.name + end).rename(aside.with_name(aside.name + end))
    return aside


_TABLES = """
CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS replies (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, model INTEGER NOT NULL, at INTEGER NOT NULL,
    value BLOB NOT NULL
);
"""

SCHEMA = 1
NAME = f"replies-v{SCHEMA}.sqlite"
_ASIDE = "replies-v*-damaged-*"
_KEYS_AT_ONCE = 500
_WAITING = 60.0  # seconds for other processes' transactions, each of which takes milliseconds
_CHECKED_EVERY = 4096  # records written between two looks at the size
_EVICTED = 0.1  # the share of the limit that is freed at once
_FAILURES = 3  # files that a run replaces, before it goes on without a cache
_SUM = 8  # bytes of a checksum
_DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}  # the first: a table lacks a column


def other_versions(folder: Path) -> list[Path]:
    return [file for file in folder.glob("replies-v*.sqlite") if file.name != NAME and "-damaged-" not in file.name]


def connect(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    # No transaction is begun by itself; a run may look up from another thread than the one that opened the file.
    opened = sqlite3.connect(file, timeout=_WAITING, isolation_level=None, check_same_thread=False)
    opened.text_factory = bytes  # a damaged record may hold text that is not UTF-8
    try:
        opened.execute("PRAGMA trusted_schema=OFF")
        opened.execute("PRAGMA cell_size_check=ON")
        opened.execute("PRAGMA synchronous=NORMAL")  # a crash of the machine may cost the last records, never the file
        opened.execute("PRAGMA cache_size=-65536")  # 64 MiB: keys are random, so each one may be in a page of its own
        # SQLite does not wait for another process that makes the tables at the same moment, so this does.
        end = time.monotonic() + _WAITING
        while True:
            try:
                opened.execute("PRAGMA journal_mode=WAL")
                opened.executescript(_TABLES)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return opened
    except BaseException:
        opened.close()
        raise


def sealed(key: bytes, value: bytes) -> bytes:
    return value + blake2b(key + value, digest_size=_SUM).digest()


def unsealed(key: bytes, record: object) -> bytes | None:
    if not isinstance(record, bytes) or len(record) < _SUM:
        return None
    value = record[:-_SUM]
    return value if record.endswith(blake2b(key + value, digest_size=_SUM).digest()) else None


class Store:
    # ``problems`` holds a sentence for each thing that was wrong, for the user; ``evicted`` counts the replies that
    # were removed to stay within the limit.

    def __init__(self, folder: Path, limit: int = DEFAULT_SIZE) -> None:
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
        try:
            try:
                self._opened = connect(self.file)
                self._inode = inode(self.file)
            except sqlite3.DatabaseError as error:
                if not damaged_by(error, self.file):
                    raise
                self._replace(error)
        except (sqlite3.Error, OSError) as error:
            self.problems.append(f"{folder} cannot be used ({_why(error)}), so the model is asked everything")

    @property
    def works(self) -> bool:
        return self._opened is not None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        if self._opened is None:
            return {}
        try:
            rows = _looked_up(self._opened, keys)
        except sqlite3.DatabaseError as error:
            return self.get(keys) if self._failed(error, "read") else {}
        found = {key: value for key, record in rows if (value := unsealed(key, record)) is not None}
        damaged = [(key,) for key, _ in rows if key not in found] if len(found) < len(rows) else []
        if damaged:
            count = f"{len(damaged)} damaged records were removed, and their requests asked again"
            self.problems.append(f"{self.file}: {count}")
            try:
                self._opened.executemany("DELETE FROM replies WHERE key = ?", damaged)
            except sqlite3.DatabaseError as error:
                self._failed(error, "written")
        return found

    def put(self, model: str, entries: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """Add records; a key that is there already keeps its value, which is returned: another run may have used it."""
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
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def _added(self, opened: sqlite3.Connection, model: str, entries: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        now = int(time.time())
        opened.execute("BEGIN IMMEDIATE")
        try:
            if model not in self._models:
                opened.execute("INSERT OR IGNORE INTO models (name) VALUES (?)", (model,))
                row = opened.execute("SELECT id FROM models WHERE name = ?", (model,)).fetchone()
                self._models[model] = int(row[0])
            number = self._models[model]
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
        why = f"{self.file} cannot be {what} ({_why(error)})"
        self.problems.append(f"{why}; from here on the model is asked everything")
        self.close()
        return False

    def _replace(self, error: sqlite3.DatabaseError) -> None:
        untouched = self._inode is None or inode(self.file) == self._inode  # by another process that saw the damage too
        aside = set_aside(self.file) if untouched else None
        self._models.clear()
        self._opened = connect(self.file)
        self._inode = inode(self.file)
        if aside is not None:
            damage = f"{self.file} was damaged ({_why(error)})"
            self.problems.append(f"{damage}: set aside as {aside.name}, and its requests asked again")


def damaged_by(error: sqlite3.Error, file: Path) -> bool:
    """Whether an error means that the file is damaged, and not that the disk is full or another process is busy."""
    if not isinstance(error, sqlite3.OperationalError):
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # A damaged header may say that the file must not be written.
    return code in _DAMAGE or (code == sqlite3.SQLITE_READONLY and os.access(file, os.W_OK))


def shrink(opened: sqlite3.Connection, limit: int) -> int:
    removed = 0
    while True:
        names = ("page_count", "freelist_count", "page_size")
        pages, free, page = (int(opened.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)
        used = (pages - free) * page  # free pages are used again before the file grows
        if used <= limit:
            return removed
        low, high, n = opened.execute("SELECT min(id), max(id), count(*) FROM replies").fetchone()
        if not n:
            return removed
        share = 1 - (1 - _EVICTED) * limit / used
        last = low + max(1, int((high - low + 1) * min(1.0, share)))
        opened.execute("BEGIN IMMEDIATE")
        removed += opened.execute("DELETE FROM replies WHERE id < ?", (last,)).rowcount
        opened.execute("COMMIT")


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


def peek(folder: Path, key: bytes) -> bytes | None:
    if not (folder / NAME).is_file():
        return None
    try:
        with closing(connect(folder / NAME)) as opened:
            row = opened.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
    except (sqlite3.Error, OSError):
        return None  # the run opens the file, too, and says what is wrong with it
    return None if row is None else unsealed(key, row[0])


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
    found = []
    for file in sorted({*other_versions(folder), *folder.glob(f"{_ASIDE}.sqlite")}):
        at = int(file.stat().st_mtime)
        size = sum(path.stat().st_size for path in folder.glob(f"{file.name}*"))
        found.append(Kept(model="", replies=0, size=size, oldest=at, newest=at, file=file.name))
    return found


def cleared(folder: Path, begins: str, before: float) -> tuple[int, int]:
    """Remove replies kept before a time, and without ``begins`` the files that no run reads; their number and bytes."""
    size = _taken(folder)
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
    return removed, max(0, size - _taken(folder))


def _unusable(file: Path, error: sqlite3.Error) -> OptionError:
    remedy = "if no run uses it, remove the file"
    if damaged_by(error, file):
        remedy = "the next run sets it aside, and vlgate cache clear removes it"
    return OptionError(f"{file} cannot be used ({error}); {remedy}")


def _taken(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("replies-v*"))


Reply = float | str | FloatArray


_MARKS = {(False, False): b".", (True, False): b"!", (False, True): b"?", (True, True): b"&"}


def packed(reply: Reply, *, cut: bool = False, neither: bool = False) -> bytes:
    """A reply as bytes, with a mark of its kind; ``cut`` and ``neither`` are those of ``vlgate.types.Prediction``.

    >>> unpacked(packed(0.25)), unpacked(packed("yes", cut=True))
    ((0.25, False), ('yes', True))
    """
    mark = _MARKS[cut, neither]
    if isinstance(reply, str):
        return b"s" + mark + reply.encode()
    if isinstance(reply, float):
        return b"n" + mark + struct.pack("<d", reply)
    with np.errstate(over="ignore"):  # a number that float32 lacks is stored as float64
        halved = reply.astype("<f4")
    # a row of a float32 network takes 4 bytes a number, any other one 8
    exact = np.array_equal(halved.astype(np.float64), reply)
    return (b"h" if exact else b"r") + mark + (halved if exact else reply.astype("<f8")).tobytes()


def unpacked(value: bytes) -> tuple[Reply, bool]:
    kind, cut, content = value[:1], value[1:2] in (b"!", b"&"), value[2:]
    if kind == b"s":
        return content.decode(), cut
    if kind == b"n":
        number: float = struct.unpack("<d", content)[0]
        return number, cut
    if kind in (b"h", b"r"):
        return np.frombuffer(content, dtype="<f4" if kind == b"h" else "<f8").astype(np.float64), cut
    raise ValueError(f"value={value[:8]!r}: not a reply")


def says_neither(value: bytes) -> bool:
    return value[1:2] in (b"?", b"&")


ROOM = 128 * 2**20  # the bytes of replies that a process keeps in memory: 55,000 rows of 512 numbers, or 600,000 scores
ROOM_BESIDE_STORE = ROOM // 4  # with a cache, which has what is forgotten
ROOM_AT_THE_END = ROOM // 32  # for the checks of the model, which ask some of a run's requests again
Key = TypeVar("Key", bound=Hashable)
_COST = 200  # bytes of a key and its place, beside the value


@dataclass(slots=True, kw_only=True)
class Memory:
    """Values by key: the last ones in memory and, with a ``store``, all of them on disk, listed under ``model``."""

    # With a store, all keys are bytes. ``replies`` counts those of the values that are replies to items, whoever asked.

    store: Store | None = None
    model: str = ""
    room: int = ROOM
    replies: int = 0
    _recent: dict[Hashable, bytes] = field(default_factory=dict)
    _held: int = 0

    def holds_any(self, keys: Iterable[Hashable]) -> bool:
        return bool(self._recent) and not self._recent.keys().isdisjoint(keys)

    def get(self, keys: Iterable[Key]) -> tuple[dict[Key, bytes], int]:
        recent = self._recent
        found: dict[Key, bytes] = {}
        others: list[Key] = []
        for key in keys:
            value = recent.pop(key, None)
            if value is None:
                others.append(key)
            else:
                found[key] = recent[key] = value  # as the last one, which is forgotten last
        if self.store is None or not others:
            return found, 0
        stored = cast("dict[Key, bytes]", self.store.get(cast("list[bytes]", others)))
        self._keep(stored)
        return found | stored, len(stored)

    def put(self, entries: Mapping[Key, bytes]) -> dict[Key, bytes]:
        """Keep values; return all of them, each as the process that was first kept it."""
        kept = dict(entries)
        if self.store is not None:
            there = self.store.put(self.model, cast("Mapping[bytes, bytes]", entries))
            kept |= cast("dict[Key, bytes]", there)
        self._keep(kept)
        return kept

    def narrow(self, room: int) -> None:
        self.room = min(self.room, room)
        self._keep({})
        self._recent = dict(self._recent)  # a dict keeps the table of its former size

    def _keep(self, entries: Mapping[Key, bytes]) -> None:
        recent = self._recent
        for key, value in entries.items():
            if key not in recent:
                self._held += len(value) + _COST
            recent[key] = value
        if self._held <= self.room:
            return
        # Forget an eighth of the room at once. To find the first key of a dict, Python passes all keys that were
        # removed before it: one by one, it took 11 of the 30 seconds of a run of 200,000 cases.
        most = self.room - self.room // 8
        for oldest in list(recent):
            if self._held <= most:
                return
            self._held -= len(recent.pop(oldest)) + _COST

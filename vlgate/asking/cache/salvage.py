"""What is whole in a damaged file of replies, read from its pages without SQLite.

SQLite refuses a file whose header is damaged, and loses what stands below a damaged page. The records themselves are in
leaf pages that can be told by their first byte, and each record carries its own checksum, so every page is looked at
alone. The format is that of https://www.sqlite.org/fileformat2.html, sections 1.6 (pages), 2.1 (records) and 4.1 (log).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

_PAGE = 4096
_LEAF = 0x0D  # the first byte of a leaf of a table
_LOCAL = _PAGE - 35  # the longest record that stands in one page
_LEAST = (_PAGE - 12) * 32 // 255 - 23
_LOG_HEAD, _FRAME_HEAD = 32, 24  # bytes before the frames of the log, and before the page of each
_WIDTHS = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # bytes of the kinds of numbers
_COLUMNS, _MODEL = 5, 2  # of the tables of replies and of models
_BROKEN = (IndexError, ValueError, OverflowError, struct.error)
NAMELESS = "replies of an unknown model"


def salvaged(file: Path, unsealed: Callable[[bytes, object], bytes | None]) -> Iterator[tuple[str, dict[bytes, bytes]]]:
    """Yield the whole records of a file and of its log, those of one page and model at a time.

    Args:
        file: the file that was set aside; its log is beside it.
        unsealed: takes a key and a record; returns the value, or None if the record is damaged.
    """
    names = dict(_names(file))
    for found in _records(_all_pages(file), file, unsealed):
        yield from _named(found, names).items()


def logged(file: Path, unsealed: Callable[[bytes, object], bytes | None]) -> Iterator[tuple[object, bytes, bytes]]:
    """Yield the number of the model, the key and the value of each whole record in the log of a file.

    SQLite drops everything in a log that stands behind a damaged byte, and does not say so.
    """
    for found in _records(_log_pages(file), file, unsealed):
        yield from found


def _records(
    pages: Iterable[bytes], file: Path, unsealed: Callable[[bytes, object], bytes | None]
) -> Iterator[list[tuple[object, bytes, bytes]]]:
    """The number of the model, the key and the value of each record, page by page."""
    for page in pages:
        found: list[tuple[object, bytes, bytes]] = []
        for row in _rows(page, file):
            key, model, record = (row[1], row[2], row[4]) if len(row) == _COLUMNS else (None, None, None)
            if isinstance(key, bytes) and (value := unsealed(key, record)) is not None:
                found.append((model, key, value))
        yield found


def _named(found: Iterable[tuple[object, bytes, bytes]], names: Mapping[int, str]) -> dict[str, dict[bytes, bytes]]:
    by_name: dict[str, dict[bytes, bytes]] = {}
    for model, key, value in found:
        name = names.get(model, NAMELESS) if isinstance(model, int) else NAMELESS
        by_name.setdefault(name, {})[key] = value
    return by_name


def _names(file: Path) -> Iterator[tuple[int, str]]:
    for page in _all_pages(file):
        for number, row in zip(_numbers(page), _rows(page, file, whole=True), strict=False):
            if len(row) == _MODEL and row[0] is None and isinstance(row[1], str):
                yield number, row[1]


def _all_pages(file: Path) -> Iterator[bytes]:
    """The leaf pages of the file, then those of its log."""
    yield from _leaves(file, 0, 0)
    yield from _log_pages(file)


def _log_pages(file: Path) -> Iterator[bytes]:
    yield from _leaves(file.with_name(f"{file.name}-wal"), _LOG_HEAD, _FRAME_HEAD)


def _leaves(file: Path, head: int, skipped: int) -> Iterator[bytes]:
    """The leaf pages of a file without its first ``head`` bytes, nor the ``skipped`` bytes before each page."""
    if not file.is_file():
        return
    with file.open("rb") as stream:
        stream.seek(head)
        while len(page := stream.read(skipped + _PAGE)[skipped:]) == _PAGE:
            if page[0] == _LEAF:
                yield page


def _rows(page: bytes, file: Path, *, whole: bool = False) -> Iterator[tuple[object, ...]]:
    """The rows of a leaf page; with ``whole`` an empty row stands for one that cannot be read."""
    for start in _cells(page):
        try:
            length, place = _varint(page, start)
            _, place = _varint(page, place)
            yield _row(_payload(page, place, length, file))
        except _BROKEN:
            if whole:
                yield ()


def _numbers(page: bytes) -> Iterator[int]:
    for start in _cells(page):
        try:
            yield _varint(page, _varint(page, start)[1])[0]
        except _BROKEN:
            yield -1


def _cells(page: bytes) -> Iterator[int]:
    count = int.from_bytes(page[3:5], "big")
    for place in range(8, min(8 + 2 * count, _PAGE - 1), 2):
        yield int.from_bytes(page[place : place + 2], "big")


def _payload(page: bytes, place: int, length: int, file: Path) -> bytes:
    if length <= _LOCAL:
        return page[place : place + length]
    if length > 2**26:
        raise ValueError(length)
    local = _LEAST + (length - _LEAST) % (_PAGE - 4)
    local = local if local <= _LOCAL else _LEAST
    parts, left = [page[place : place + local]], length - local
    following = int.from_bytes(page[place + local : place + local + 4], "big")
    with file.open("rb") as stream:
        while left > 0 and following:
            stream.seek((following - 1) * _PAGE)
            more = stream.read(_PAGE)
            following = int.from_bytes(more[:4], "big")
            parts.append(more[4 : 4 + left])
            left -= len(parts[-1]) or left
    return b"".join(parts)


def _row(payload: bytes) -> tuple[object, ...]:
    length, place = _varint(payload, 0)
    kinds = []
    while place < length:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    if len(kinds) not in (_COLUMNS, _MODEL):
        return ()
    found: list[object] = []
    for kind in kinds:
        width = _WIDTHS[kind] if kind < len(_WIDTHS) else (kind - 12) // 2
        content = payload[place : place + width]
        place += width
        found.append(_value(kind, content))
    return tuple(found)


def _value(kind: int, content: bytes) -> object:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind < len(_WIDTHS):
        return int.from_bytes(content, "big", signed=True)
    return content if kind % 2 == 0 else content.decode(errors="replace")


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and the place behind it."""
    number = 0
    for width in range(8):
        byte = content[place + width]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + width + 1
    return number << 8 | content[place + 8], place + 9

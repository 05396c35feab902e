r"""Reads a file of scene graphs one graph at a time, however large the file is, with ``ijson``.

This module adds the place of a syntax error, a repeated key in an object, and an escape that is half of a surrogate
pair, which ``ijson`` does not report (its C parser, as of 3.6, reads ``"\ud800"`` as ``"?"``).
"""

import re
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import ijson

from vlgate.errors import DataError, did_you_mean

MOST_BYTES = 8 * 2**20  # of the JSON of one graph, so that a file without graphs is not read into memory as a whole
MOST_DEPTH = 32  # levels of nesting that are allowed; the formats need seven
CHUNK = 2**18  # bytes that are read from a file at a time

Layout = Literal["keyed", "listed", "own", "line", "beside"]

AGAIN = "download or write the file again"

_MARK = b"\xef\xbb\xbf"
_OWN = frozenset({"graphs", "words"})
_LINE = frozenset({"image", "width", "height", "objects", "location"})
OWN_KEYS = tuple(sorted(_OWN | _LINE))  # those that may come first in a user's own file

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_OPENING = frozenset({"start_map", "start_array"})


@dataclass(frozen=True, slots=True)
class Member:
    # The graph's place in the file: ``keyed`` under its id in the outermost object, ``listed`` in the outermost list,
    # ``own`` in the list ``graphs``, ``line`` on a line of its own; ``beside`` is a value that is not a graph.
    layout: Layout
    key: str  # the id, or the position from 1
    value: Any  # a raw graph, or a value beside the graphs in a user's own file
    repeated: tuple[str, ...] = ()  # the repeated keys of objects in the value; the first occurrence counts


def members(file: Path) -> Generator[Member, None, None]:
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):  # reading a pipe would block for ever
            raise DataError(file, None, "is not a regular file", "put a file in its place")
        with file.open("rb") as handle, closing(_Pieces(file, handle)) as pieces:
            yield from _members(_Events(pieces), pieces)
    except FileNotFoundError:
        raise DataError(file, None, "there is no such file", "check the path, or download the file") from None
    except IsADirectoryError:
        remedy = "name a file in it; for Visual Genome's release in several files, name objects.json"
        raise DataError(file, None, "is a folder, expected a file of scene graphs", remedy) from None
    except OSError as error:
        raise DataError(file, None, f"cannot be read ({error.strerror})", "make it a readable file") from None


class _Pieces:
    """Gives ``ijson`` the file's bytes, in pieces that end after a ``}``, so that no piece ends within an escape."""

    def __init__(self, file: Path, handle: BinaryIO) -> None:
        self.file = file
        self.start = 0  # where the last piece begins in the file
        self.piece = b""
        self._handle = handle
        self._held = b""
        self._since = 0

    def close(self) -> None:
        self.piece = self._held = b""

    def graph_ended(self) -> None:
        self._since = 0

    def read(self, size: int) -> bytes:
        if size == 0:  # ijson calls read(0) to find out whether it gets bytes or text
            return b""
        self.start += len(self.piece)
        self.piece = self._next()
        self._since += len(self.piece)
        if self._since > MOST_BYTES + CHUNK:
            raise self._too_long()
        if b"\\ud" in self.piece or b"\\uD" in self.piece:
            for escape in _ESCAPE.finditer(self.piece):
                if escape["half"]:
                    place = place_of(self.file, self.start + escape.start())
                    problem = f"{place} holds half of a surrogate pair: \\{escape['half'].decode()}"
                    raise DataError(self.file, None, problem, "write the character itself, or both halves")
        return self.piece

    def _next(self) -> bytes:
        block, self._held = self._held, b""
        while fresh := self._handle.read(CHUNK):
            if self.start == 0 and not block and fresh.startswith(_MARK):
                self.start, fresh = len(_MARK), fresh[len(_MARK) :]
            block += fresh
            if end := block.rfind(b"}") + 1:
                block, self._held = block[:end], block[end:]
                return block
            if len(block) > MOST_BYTES:
                raise self._too_long()
        return block

    def _too_long(self) -> DataError:
        problem = f"no graph ends within {MOST_BYTES // 2**20} MiB, the limit for one graph"
        return DataError(self.file, None, problem, "check that this is a file of scene graphs, or split the graph")


class _Events(Iterator[tuple[str, Any]]):
    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces
        self._parsed = ijson.basic_parse(pieces, buf_size=CHUNK, use_float=True, multiple_values=True)

    def __next__(self) -> tuple[str, Any]:
        try:
            event: tuple[str, Any] = next(self._parsed)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise _no_json(self._pieces, error) from None
        return event

    def value(self, event: str, value: Any) -> tuple[Any, tuple[str, ...]]:
        if event not in _OPENING:
            return value, ()
        return self.rest({} if event == "start_map" else [], None)

    def rest(self, top: Any, key: Any) -> tuple[Any, tuple[str, ...]]:  # noqa: C901 - the one loop over all events
        """Return the rest of an open list or object ``top``; ``key`` is the last key that was read in it."""
        root = top
        repeated: list[str] = []
        stack: list[tuple[Any, Any]] = []
        try:
            for event, value in self._parsed:  # not self, which costs a call per event: 100 MB are 14 million events
                if event == "map_key":
                    if value in top:
                        repeated.append(value)
                        value = None  # noqa: PLW2901 - not a JSON key: its value is dropped at the object's end
                    key = value
                    continue
                if event == "end_map" or event == "end_array":  # noqa: PLR1714 - for speed, too
                    if repeated and type(top) is dict:
                        top.pop(None, None)
                    if not stack:
                        return root, tuple(repeated)
                    top, key = stack.pop()
                    continue
                made: Any = {} if event == "start_map" else [] if event == "start_array" else value
                if type(top) is dict:
                    top[key] = made
                else:
                    top.append(made)
                if event in _OPENING:
                    stack.append((top, key))
                    if len(stack) > MOST_DEPTH:
                        raise DataError(self._pieces.file, None, f"is nested more than {MOST_DEPTH} levels deep", AGAIN)
                    top = made
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise _no_json(self._pieces, error) from None
        raise AssertionError("the parser refuses a file that ends here")


def _members(events: _Events, pieces: _Pieces) -> Iterator[Member]:
    layout: Layout | None = None
    for position, (event, value) in enumerate(events, 1):
        if layout not in {None, "line"}:
            raise DataError(pieces.file, None, "holds a second value after the first one", AGAIN)
        first = next(events) if event == "start_map" else (event, value)
        layout = _layout(pieces.file, event, first, layout)
        if layout == "listed":
            yield from _listed(events, pieces, layout)
        elif layout == "line":
            graph, repeated = events.rest({}, first[1])
            pieces.graph_ended()
            yield Member(layout, str(position), graph, repeated)
        elif first[0] == "map_key":
            yield from _keyed(events, pieces, layout, first[1])


def _layout(file: Path, event: str, first: tuple[str, Any], before: Layout | None) -> Layout:
    if event == "start_array" and before is None:
        return "listed"
    if event != "start_map" or (before == "line" and first[1] not in _LINE):
        problem = "has no known format of scene graphs: GQA's {image id: graph}, Visual Genome's list of graphs, a "
        problem += 'user\'s own {"graphs": [...]}, or one such graph per line'
        raise DataError(file, None, problem, "see vlgate.sources.graphs.formats for your own graphs")
    return "own" if first[1] in _OWN else "line" if first[1] in _LINE else "keyed"


def _listed(events: _Events, pieces: _Pieces, layout: Layout) -> Iterator[Member]:
    for position, (event, start) in enumerate(events, 1):
        if event == "end_array":
            return
        value, repeated = events.value(event, start)
        pieces.graph_ended()
        yield Member(layout, str(position), value, repeated)


def _keyed(events: _Events, pieces: _Pieces, layout: Layout, key: str) -> Iterator[Member]:
    seen = set()
    event = "map_key"
    while event == "map_key":
        opening, start = next(events)
        if layout == "keyed" and opening != "start_map" and (hint := did_you_mean(key, OWN_KEYS)):
            raise DataError(pieces.file, "(the whole file)", f"has the unknown field {key!r}; {hint}", "rename it")
        if layout == "own" and key in seen:
            raise DataError(pieces.file, None, f"repeats the key {key!r}", AGAIN)
        if layout == "own":  # in GQA's form the keys are ids, which the caller compares
            seen.add(key)
        if layout == "own" and key == "graphs" and opening == "start_array":
            yield from _listed(events, pieces, layout)
        else:
            value, repeated = events.value(opening, start)
            pieces.graph_ended()
            yield Member("beside" if layout == "own" else layout, key, value, repeated)
        event, key = next(events)


def _no_json(pieces: _Pieces, error: Exception) -> DataError:
    """Return the error for the byte at which the parser stopped; this slow second pass runs for a broken file only."""
    file = pieces.file
    with file.open("rb") as handle:
        again = _Pieces(file, handle)
        parser = ijson.basic_parse_coro(_Nowhere(), use_float=True, multiple_values=True)
        blank = True
        while again.read(1) and again.start < pieces.start:
            parser.send(again.piece)
            again.graph_ended()
            blank = blank and not again.piece.strip()
        stop = None
        for offset in range(len(again.piece)):
            try:
                parser.send(again.piece[offset : offset + 1])
            except (ijson.JSONError, UnicodeDecodeError):
                stop = offset
                break
    if stop is None:
        place = place_of(file, again.start + len(again.piece))
        return DataError(
            file,
            None,
            "is empty" if blank and not again.piece.strip() else f"is cut off: it ends at {place} within a value",
            AGAIN,
        )
    if isinstance(error, UnicodeDecodeError) or "UTF8" in str(error):
        return DataError(file, None, f"{place_of(file, again.start + stop)} is not UTF-8", AGAIN)
    shown = again.piece[stop : stop + 30].partition(b"\n")[0].decode(errors="replace")
    said = re.sub(r"\A(b['\"])?(?:parse|lexical) error: |(?:\\n|\n).*", "", str(error), flags=re.DOTALL)
    problem = f"is not JSON: {said.rstrip('.')} at {place_of(file, again.start + stop)}, which reads {shown!r}"
    return DataError(file, None, problem, AGAIN)


class _Nowhere:
    def send(self, _: object) -> None:
        """Ignore an event."""


def place_of(file: Path, offset: int) -> str:
    """Return the line and column of a byte, both counted from 1; the column counts bytes."""
    line = column = 0
    with file.open("rb") as handle:
        while offset > 0 and (block := handle.read(min(offset, CHUNK))):
            offset -= len(block)
            line += block.count(b"\n")
            column = len(block) - block.rfind(b"\n") - 1 if b"\n" in block else column + len(block)
    return f"line {line + 1}, column {column + 1}"

r"""A file of scene graphs, one graph after the other, however large the file is.

The parser is ``ijson``: GQA's ``train_sceneGraphs.json`` is several hundred MB, and as one Python object several GB.
What ``ijson`` does not say is said here: where the JSON ends to be JSON, which key an object has twice, and that an
escape is half of a surrogate pair (its C parser, as of 3.6, reads ``"\ud800"`` as ``"?"``).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import ijson

from vlgate.errors import DataError

MOST_BYTES = 8 * 2**20
"""The longest JSON of one graph: a file without graphs must not be read into memory as a whole."""

MOST_DEPTH = 32
"""The deepest nesting; the formats need seven levels."""

Layout = Literal["keyed", "listed", "own", "line", "beside"]

AGAIN = "download or write the file again"

_CHUNK = 2**18
_MARK = b"\xef\xbb\xbf"
_OWN = frozenset({"graphs", "words"})
_LINE = frozenset({"image", "width", "height", "objects", "location"})
OWN_KEYS = tuple(sorted(_OWN | _LINE))
"""The keys, any of which comes first in a user's own file."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_OPENING = frozenset({"start_map", "start_array"})


@dataclass(frozen=True, slots=True)
class Member:
    """One graph as it stands in the file, or what stands beside the graphs in a user's own file.

    ``layout`` is how the file holds it: ``keyed`` under its id in the outermost object, ``listed`` in the outermost
    list, ``own`` in the list ``graphs``, ``line`` by itself. ``key`` is its id or its position, from 1, ``repeated``
    names the keys that an object in it has a second time; the first one counts.
    """

    layout: Layout
    key: str
    value: Any
    repeated: tuple[str, ...] = ()


def members(file: Path) -> Generator[Member, None, None]:
    """Yield what a file holds, in its order; no more than one graph and one piece of the file is in memory.

    Raises: DataError, which names the line and column where it can, for a file that is missing, a folder, unreadable,
    empty, cut off or otherwise no JSON (NaN is none), nested deeper than ``MOST_DEPTH``, with half of a surrogate pair,
    or without an end of a graph within ``MOST_BYTES``.
    """
    try:
        with file.open("rb") as handle, closing(_Pieces(file, handle)) as pieces:
            yield from _members(_Events(pieces), pieces)
    except FileNotFoundError:
        raise DataError(file, None, "there is no such file", "check the path, or download the file") from None
    except IsADirectoryError:
        remedy = "give a file in it: of Visual Genome's release in several files objects.json"
        raise DataError(file, None, "is a folder where a file of scene graphs was expected", remedy) from None
    except OSError as error:
        raise DataError(file, None, f"cannot be read ({error.strerror})", "make it a readable file") from None


class _Pieces:
    """The file's bytes for ``ijson``, in pieces that end behind a ``}``, so that none ends within an escape."""

    def __init__(self, file: Path, handle: BinaryIO) -> None:
        self.file = file
        self.start = 0  # where the last piece begins in the file
        self.piece = b""
        self._handle = handle
        self._held = b""
        self._since = 0

    def close(self) -> None:
        """Let go of what was read."""
        self.piece = self._held = b""

    def graph_ended(self) -> None:
        """Begin to count a graph's bytes anew."""
        self._since = 0

    def read(self, size: int) -> bytes:
        """Give the parser its next bytes."""
        if size == 0:  # ijson asks what type of string comes
            return b""
        self.start += len(self.piece)
        self.piece = self._next()
        self._since += len(self.piece)
        if self._since > MOST_BYTES + _CHUNK:
            raise self._too_long()
        if b"\\ud" in self.piece or b"\\uD" in self.piece:
            self._refuse_halves()
        return self.piece

    def _next(self) -> bytes:
        block, self._held = self._held, b""
        while fresh := self._handle.read(_CHUNK):
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
        problem = f"no graph ends within {MOST_BYTES // 2**20} MiB, the most that one graph may have"
        return DataError(self.file, None, problem, "check that this is a file of scene graphs, or split the graph")

    def _refuse_halves(self) -> None:
        for escape in _ESCAPE.finditer(self.piece):
            if escape["half"]:
                place = place_of(self.file, self.start + escape.start())
                problem = f"{place} holds half of a surrogate pair: \\{escape['half'].decode()}"
                raise DataError(self.file, None, problem, "write the character itself, or both halves")


class _Events(Iterator[tuple[str, Any]]):
    """The parser's events; its errors are told with their place in the file."""

    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces
        self._parsed = ijson.basic_parse(pieces, buf_size=_CHUNK, use_float=True, multiple_values=True)

    def __next__(self) -> tuple[str, Any]:
        try:
            event: tuple[str, Any] = next(self._parsed)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise _no_json(self._pieces, error) from None
        return event

    def value(self, event: str, value: Any) -> tuple[Any, tuple[str, ...]]:
        """Return the value that begins with an event, and the keys that an object in it has twice."""
        if event not in _OPENING:
            return value, ()
        return self.rest({} if event == "start_map" else [], None)

    def rest(self, top: Any, key: Any) -> tuple[Any, tuple[str, ...]]:  # noqa: C901 - the one loop over all events
        """Return a list or object that is open already; ``key`` is the last key that was read in it."""
        root = top
        repeated: list[str] = []
        stack: list[tuple[Any, Any]] = []
        try:
            for event, value in self._parsed:  # not over self: 100 MB are 14 million events
                if event == "map_key":
                    if value in top:
                        repeated.append(value)
                        value = None  # noqa: PLW2901 - no key of JSON: what comes is dropped at the object's end
                    key = value
                    continue
                if event == "end_map" or event == "end_array":  # noqa: PLR1714 - likewise
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
    """Yield the members of each outermost value; more than one there may be only where each is a graph by itself."""
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
        problem = "is none of the formats of scene graphs: GQA's {image id: graph}, Visual Genome's list of graphs, a "
        problem += 'user\'s own {"graphs": [...]} or one such graph a line'
        raise DataError(file, None, problem, "see vlgate.sources.scene_graphs.own for the last")
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
        if layout == "own" and key in seen:
            raise DataError(pieces.file, None, f"has the key {key!r} a second time", AGAIN)
        if layout == "own":  # in GQA's form the ids are the caller's to compare
            seen.add(key)
        if layout == "own" and key == "graphs" and opening == "start_array":
            yield from _listed(events, pieces, layout)
        else:
            value, repeated = events.value(opening, start)
            pieces.graph_ended()
            yield Member("beside" if layout == "own" else layout, key, value, repeated)
        event, key = next(events)


def _no_json(pieces: _Pieces, error: Exception) -> DataError:
    """Find the byte that the parser stopped at; a slow second look that only a broken file gets."""
    file = pieces.file
    with file.open("rb") as handle:
        again = _Pieces(file, handle)
        parser = ijson.basic_parse_coro(_Nowhere(), use_float=True, multiple_values=True)
        blank = True
        while again.read(1) and again.start < pieces.start:
            parser.send(again.piece)
            again.graph_ended()
            blank = blank and not again.piece.strip()
        stop = next((i for i in range(len(again.piece)) if not _accepts(parser, again.piece[i : i + 1])), None)
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
    problem = f"is no JSON: {said.rstrip('.')} at {place_of(file, again.start + stop)}, which reads {shown!r}"
    return DataError(file, None, problem, AGAIN)


class _Nowhere:
    def send(self, _: object) -> None:
        """Pass over an event."""


def _accepts(parser: Any, byte: bytes) -> bool:
    try:
        parser.send(byte)
    except (ijson.JSONError, UnicodeDecodeError):
        return False
    return True


def place_of(file: Path, offset: int) -> str:
    """Return the line and column, both from 1, of a byte; the column counts bytes."""
    line = column = 0
    with file.open("rb") as handle:
        while offset > 0 and (block := handle.read(min(offset, _CHUNK))):
            offset -= len(block)
            line += block.count(b"\n")
            column = len(block) - block.rfind(b"\n") - 1 if b"\n" in block else column + len(block)
    return f"line {line + 1}, column {column + 1}"

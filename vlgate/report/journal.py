"""``journal.jsonl``: the replies of each test, appended while a run goes on, so that a run that dies keeps them.

The first line names the model. Each further line holds one test: its node id, the id of its batch, and its rows. Each
line begins with a checksum of the rest of it, so that a damaged line costs itself only. The file is removed when the
figures of the whole run are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from zlib import crc32

from vlgate.errors import DataError, printable
from vlgate.judging.verdicts import judge
from vlgate.run.rows import Rows, read_rows, unpack
from vlgate.types import Batch, Verdict

SCHEMA = 2
_REPLIES = ("scores", "answers", "accepted", "problems")  # left out of a line if all of them are None
_FLAGS = ("skipped", "cut", "neither")  # left out of a line if none of them is true
_BEGIN = re.compile(
    rb'(?={"crc":")'
)  # never inside a record: JSON puts a backslash before a quotation mark in a string
_REMEDY = "judge it with the same options and data as the run that wrote it, or run again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Journalled:
    """What a journal holds: the verdicts of the cases that have rows, by task id in the task's order.

    ``damaged`` has the numbers of the lines that are left out, because they are not what a run wrote.
    """

    verdicts: Mapping[str, list[Verdict]]
    damaged: tuple[int, ...]


class Journal:
    """The journal of one run; the file is made with the first rows."""

    def __init__(self, file: Path, model: str) -> None:
        """Write to ``file``; ``model`` is what ``--model`` names."""
        self._file = file
        self._model = model
        self._stream: IO[bytes] | None = None
        self.problem = ""

    def add(self, nodeid: str, batch: str, rows: Rows) -> None:
        """Append the rows of one test, and hand them to the operating system, which keeps them if this process dies.

        If that fails, as on a full disk, ``problem`` says why, and nothing more is appended.
        """
        if self.problem:
            return
        try:
            if self._stream is None:
                self._stream = self._file.open("wb")
                self._put({"journal": SCHEMA, "model": self._model})
            self._put({"test": nodeid, "batch": batch, "rows": _short(rows)})
        except OSError as error:
            self.problem = printable(f"{self._file} could not be written ({error.strerror})")

    def close(self, *, remove: bool) -> None:
        """Close the file, and remove it if the figures of the whole run are written."""
        if self._stream is not None:
            with suppress(OSError):  # what the file could not take is lost; ``problem`` says so already
                self._stream.close()
            self._stream = None
        if remove:
            try:
                self._file.unlink(missing_ok=True)
            except OSError as error:
                self.problem = printable(f"{self._file} could not be removed ({error.strerror})")

    def _put(self, content: Mapping[str, object]) -> None:
        if self._stream is not None:
            self._stream.write(_line(json.dumps(content, separators=(",", ":")).encode("ascii")))
            self._stream.flush()


def read_journal(file: Path, batches: Mapping[str, Batch]) -> Journalled:
    """Judge the replies in a journal.

    A last line that is cut off is left out, because the process died while it wrote it. If a test reported twice, its
    last rows count.

    Args:
        file: the journal.
        batches: the batches of the plan of the same run, by id.

    Returns: the verdicts, and the lines that are damaged.
    Raises: DataError if the file cannot be read, has no whole line, or is of another plan or version.
    """
    judged: dict[str, Sequence[Verdict]] = {}
    contents = [(number, _content(record)) for number, record in _records(file)]
    if all(content is None for _, content in contents):
        raise DataError(file, "on line 1", f"expected a journal of version {SCHEMA}", _REMEDY)
    for number, content in contents:
        if content is None:
            continue
        if content.get("journal", SCHEMA) != SCHEMA:
            raise DataError(file, f"on line {number}", f"expected a journal of version {SCHEMA}", _REMEDY)
        if "journal" in content:
            continue
        name = str(content.get("batch"))
        if name not in batches:
            raise DataError(file, f"on line {number}", f"the plan has no batch {name!r}", _REMEDY)
        try:
            judged[name] = judge(batches[name], unpack(read_rows(content.get("rows"), batches[name]), batches[name]))
        except ValueError as error:
            raise DataError(file, f"on line {number}", str(error), _REMEDY) from None
    damaged = tuple(number for number, content in contents if content is None)
    return Journalled(verdicts=_by_task(judged, batches), damaged=damaged)


def _by_task(judged: Mapping[str, Sequence[Verdict]], batches: Mapping[str, Batch]) -> dict[str, list[Verdict]]:
    found: dict[str, dict[int, Verdict]] = {}
    for name, verdicts in judged.items():
        batch = batches[name]
        found.setdefault(batch.task.id, {}).update(zip(batch.positions, verdicts, strict=True))
    return {task: [by_place[place] for place in sorted(by_place)] for task, by_place in found.items()}


def _line(content: bytes) -> bytes:
    """A line with the JSON object of ``content``, and its checksum as the first field."""
    return b'{"crc":"%08x",%s\n' % (crc32(content), content[1:])


def _records(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield what is in the whole lines of a file, with their numbers: a record each, more if a line end is damaged."""
    if file.exists() and not file.is_file():  # reading a pipe would block for ever
        raise DataError(file, None, "is not a regular file", "name the journal of a run")
    try:
        *lines, _ = file.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(file, None, f"cannot be read ({error.strerror})", "name the journal of a run") from None
    for number, line in enumerate(lines, 1):
        yield from ((number, record) for record in _BEGIN.split(line) if record)


def _content(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line without its checksum; None if the line is damaged."""
    content = b"{" + line[len(_line(b"{")) - 1 :]
    if line + b"\n" != _line(content):
        return None
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _short(rows: Rows) -> dict[str, object]:
    columns: dict[str, Any] = dict(rows)
    for name in _REPLIES:
        if columns[name].count(None) == len(columns[name]):
            del columns[name]
    for name in _FLAGS:
        if not any(columns[name]):
            del columns[name]
    return columns

"""``journal.jsonl``: the replies of each test, appended while a run goes on, so that a run that dies keeps them.

The first line names the model. Each further line holds one test: its node id, the id of its batch, and its rows. The
file is removed when the figures of the whole run are written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from vlgate.errors import DataError, printable
from vlgate.judging.verdicts import judge
from vlgate.run.rows import Rows, distinct, unpack
from vlgate.types import Batch, Verdict

SCHEMA = 1
_REPLIES = ("scores", "answers", "accepted", "problems")  # left out of a line if all of them are None
_FLAGS = ("skipped", "cut")  # left out of a line if none of them is true
_REMEDY = "judge it with the same options and data as the run that wrote it, or run again"


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
            self._stream.write(json.dumps(content, separators=(",", ":")).encode("ascii") + b"\n")
            self._stream.flush()


def read_journal(file: Path, batches: Mapping[str, Batch]) -> dict[str, list[Verdict]]:
    """Judge the replies in a journal.

    A last line that is cut off is left out, because the process died while it wrote it. If a test reported twice, its
    last rows count.

    Args:
        file: the journal.
        batches: the batches of the plan of the same run, by id.

    Returns: the verdicts of the cases that have rows, by task id, in the task's order.
    Raises: DataError if the file cannot be read, is not a journal, or is of another plan.
    """
    rows: dict[str, Rows] = {}
    for number, line in enumerate(_whole_lines(file), 1):
        content = _object(file, number, line)
        if number == 1:
            if content.get("journal") != SCHEMA:
                raise DataError(file, "on line 1", f"expected a journal of version {SCHEMA}", _REMEDY)
            continue
        name = str(content.get("batch"))
        if name not in batches:
            raise DataError(file, f"on line {number}", f"the plan has no batch {name!r}", _REMEDY)
        rows[name] = _long(content.get("rows"), batches[name], f"on line {number}", file)
    found: dict[str, dict[int, Verdict]] = {}
    for name, some in rows.items():
        batch = batches[name]
        verdicts = judge(batch, unpack(some, batch))
        found.setdefault(batch.task.id, {}).update(zip(batch.positions, verdicts, strict=True))
    return {task: [by_place[place] for place in sorted(by_place)] for task, by_place in found.items()}


def _whole_lines(file: Path) -> list[bytes]:
    if file.exists() and not file.is_file():  # reading a pipe would block for ever
        raise DataError(file, None, "is not a regular file", "name the journal of a run")
    try:
        *lines, _ = file.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(file, None, f"cannot be read ({error.strerror})", "name the journal of a run") from None
    return lines


def _object(file: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise DataError(file, f"on line {number}", "expected a JSON object", _REMEDY)
    return content


def _short(rows: Rows) -> dict[str, object]:
    columns: dict[str, Any] = dict(rows)
    for name in _REPLIES:
        if columns[name].count(None) == len(columns[name]):
            del columns[name]
    for name in _FLAGS:
        if not any(columns[name]):
            del columns[name]
    return columns


def _long(short: Any, batch: Batch, place: str, file: Path) -> Rows:
    """The rows of a line with the columns that were left out."""
    n = len(list(distinct(batch)))
    defaults: dict[str, Any] = {**{name: [None] * n for name in _REPLIES}, **{name: [False] * n for name in _FLAGS}}
    columns = {**defaults, **short} if isinstance(short, dict) else {}
    if any(not isinstance(columns.get(name), list) or len(columns[name]) != n for name in defaults):
        raise DataError(file, place, f"expected replies to the {n} requests of the batch", _REMEDY)
    names = {"judged": 0, "missed": 0, **columns}
    return cast("Rows", {name: names[name] for name in Rows.__annotations__})

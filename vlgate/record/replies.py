"""The replies of a batch as plain values: as workers send them, and as journal.jsonl keeps them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sys import float_info
from typing import IO, Any, TypedDict, TypeVar, cast
from zlib import crc32

from vlgate.errors import DataError, printable
from vlgate.judging.judged import Replies, Verdicts, numbers, plain, replies_of
from vlgate.judging.verdicts import judge
from vlgate.record.folder import DEFAULTS
from vlgate.types import Batch, Prediction, Request, Verdict

# The replies of a batch as plain values, in which a worker sends them to the main process.
#
# The distinct requests of a batch have the same order in every process, so the replies need no keys.

UNASKED = "the run ended before this case was asked"
"""Why there is no reply to a request that never reached the model."""

Value = TypeVar("Value")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "scores": (int, float),
    "answers": (str,),
    "accepted": (bool,),
    "problems": (str,),
    "skipped": (bool,),
    "cut": (bool,),
    "neither": (bool,),
}


class Rows(TypedDict):
    """The replies to a batch's distinct requests, one list entry per request, and the counts of its cases.

    ``plan`` is the digest of the plan of the process that asked; empty if no other process judges the replies.
    """

    scores: list[float | None]
    answers: list[str | None]
    accepted: list[bool | None]
    problems: list[str | None]
    skipped: list[bool]
    cut: list[bool]
    neither: list[bool]
    judged: int
    missed: int
    plan: str


def pack(verdicts: Sequence[Verdict], plan: str = "") -> Rows:
    """Turn the replies of a batch's verdicts into plain values, with the digest of the plan."""
    if isinstance(verdicts, Verdicts):
        replies, judged = verdicts.replies.once(), verdicts.judged.right.tolist()
    else:
        replies = replies_of([reply for one in verdicts for reply in one.predictions]).once()
        judged = [one.right for one in verdicts if one.state == "judged"]
    n = len(replies)
    return Rows(
        scores=plain(replies.scores),
        answers=list(replies.answers or [None] * n),
        accepted=[None if yes is None else yes == 1.0 for yes in plain(replies.accepted)],
        problems=_column(n, {place: why for place, (why, _) in replies.problems.items()}, None),
        skipped=_column(n, {place: skipped for place, (_, skipped) in replies.problems.items()}, False),
        cut=_column(n, dict.fromkeys(replies.cut, True), False),
        neither=_column(n, dict.fromkeys(replies.neither, True), False),
        judged=len(judged),
        missed=judged.count(False),
        plan=plan,
    )


def read_rows(columns: object, batch: Batch) -> Rows:
    """Return the rows that a file has of a batch, with the columns that were left out of it.

    Args:
        columns: what the file has in the place of the columns.
        batch: the batch.

    Raises: ValueError if a column does not hold a usable value for each distinct request of the batch.
    """
    n = len(list(distinct(batch)))
    given: Mapping[str, Any] = columns if isinstance(columns, dict) else {"scores": columns}
    found: dict[str, Any] = {"judged": 0, "missed": 0, "plan": ""}
    for name, types in _TYPES.items():
        default = DEFAULTS[name]
        values = found[name] = given.get(name, [default] * n)
        right = isinstance(values, list) and len(values) == n
        if not right or not all(_usable(value, types, none=default is None) for value in values):
            raise ValueError(f"expected {n} {name} for the {n} requests of the batch")
    return cast("Rows", found)


def _usable(value: object, types: tuple[type, ...], *, none: bool) -> bool:
    if value is None:
        return none
    if isinstance(value, bool) != (bool in types) or not isinstance(value, types):
        return False
    return not isinstance(value, int | float) or abs(value) <= float_info.max


def unpack(rows: Rows, batch: Batch) -> Replies:
    """Turn plain values back into the replies of a batch.

    Raises: ValueError if the number of replies is not the number of the batch's distinct requests.
    """
    requests = list(distinct(batch))
    flags = (rows["skipped"], rows["cut"], rows["neither"])
    sizes = {len(column) for column in (rows["scores"], rows["answers"], rows["accepted"], rows["problems"], *flags)}
    if sizes != {len(requests)}:
        said = ", ".join(map(str, sorted(sizes)))
        raise ValueError(f"columns of {said} replies: expected {len(requests)}, one per distinct request of the batch")
    problems = zip(rows["problems"], rows["skipped"], strict=True)
    return Replies(
        requests=requests,
        scores=numbers(rows["scores"]),
        accepted=numbers(rows["accepted"]),
        answers=rows["answers"] if rows["answers"].count(None) < len(requests) else (),
        problems={place: (why, skipped) for place, (why, skipped) in enumerate(problems) if why is not None},
        cut=frozenset(place for place, cut in enumerate(rows["cut"]) if cut),
        neither=frozenset(place for place, neither in enumerate(rows["neither"]) if neither),
    )


def unreplied(batch: Batch, why: str) -> dict[Request, Prediction]:
    """Return predictions for a batch that was never scored; ``why`` says why there are no replies."""
    return {request: Prediction(request=request, problem=why) for request in distinct(batch)}


def distinct(batch: Batch) -> Iterable[Request]:
    """Return the distinct requests of a batch, in the order of first appearance."""
    return dict.fromkeys(request for case in batch.cases for request in case.requests)


def _column(n: int, known: Mapping[int, Value], other: Value) -> list[Value]:
    """A list of n values, of which few are known."""
    found = [other] * n
    for place, value in known.items():
        found[place] = value
    return found


# ``journal.jsonl``: the replies of each test, appended while a run goes on, so that a run that dies keeps them.
#
# The first line names the model. Each further line holds one test: its node id, the id of its batch, and its rows.
# Each line begins with a checksum of the rest of it, so that a damaged line costs itself only. The file is removed
# when the figures of the whole run are written.

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

"""The files of one part of a run (``--shard I/N``), which ``vlgate merge`` joins: ``part.json`` and ``part.jsonl``.

``part.json`` says what the part was asked, of which model, and how it ended. It is the last file of a part, and holds
the SHA-256 of ``part.jsonl`` and of its own content, so that a part that was cut or edited is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import OptionError
from vlgate.recorded.folder import ENVIRONMENT, refuse_other_schema
from vlgate.recorded.form import fitted, schema_of

PART, REPLIES = "part.json", "part.jsonl"
SCHEMA = 1
"""The version of the format of both files."""
DEFAULTS: Mapping[str, bool | None] = MappingProxyType(
    dict.fromkeys(("scores", "answers", "accepted", "problems"), None)
    | dict.fromkeys(("skipped", "cut", "neither"), False)
)
"""The columns of a line of replies; one whose values are all the default is left out."""
_AGAIN = "run this part again"
_TEXTS = ("vlgate", "why", "replies", "seal")
_FORM: Mapping[str, Any] = {
    "type": "object",
    "required": [*_TEXTS, "complete", "number", "of", "status", "workers", "digests", "model", "environment"],
    "properties": {
        **{name: {"type": "string"} for name in _TEXTS},
        "complete": {"type": "boolean"},
        **{name: {"type": "integer"} for name in ("number", "of", "status", "workers")},
        "digests": {
            "type": "object",
            "required": ["plan", "images", "thresholds", "must_hold"],
            "additionalProperties": {"type": ["string", "null"]},
        },
        "model": {"type": "object", "required": ["name", "weights", "fingerprint", "checks"]},
        "environment": {"type": "object"},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPart:
    """A part of a run, as its folder tells it.

    ``named`` is how the user named the folder; messages begin with it. ``content`` is that of ``part.json``, and
    ``replies`` the bytes of ``part.jsonl``.
    """

    folder: Path
    named: str
    content: Mapping[str, Any] = field(repr=False)
    replies: bytes = field(repr=False)

    @property
    def number(self) -> int:
        """The number of the part, from 1."""
        return int(self.content["number"])

    @property
    def of(self) -> int:
        """The number of parts of the run."""
        return int(self.content["of"])

    @property
    def again(self) -> str:
        """What to do if the part cannot be used."""
        return f"{_AGAIN}, with --shard={self.number}/{self.of}"

    def wrong(self, problem: str, remedy: str = "") -> OptionError:
        """Return an error that names the folder, the problem and the remedy."""
        return OptionError(f"{self.named}: {problem}; {remedy or self.again}")


def seal(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the content of ``part.json`` without its own ``seal``."""
    rest = {name: value for name, value in content.items() if name != "seal"}
    return f"sha256:{sha256(json.dumps(rest, sort_keys=True, separators=(',', ':')).encode()).hexdigest()}"


def sha(content: bytes) -> str:
    """Return the SHA-256 of bytes, with the name of the algorithm before it."""
    return f"sha256:{sha256(content).hexdigest()}"


def read_part(folder: Path) -> RecordedPart:
    """Read a part.

    Raises: OptionError if a file is missing, cannot be read or was changed; the message names the folder and the
        remedy.
    """
    named = str(folder)
    content = _content(folder, named)
    refuse_other_schema(content, SCHEMA, PART, named)
    try:
        fitted(content, _FORM, _FORM)
        fitted(content["environment"], (form := schema_of(ENVIRONMENT)), form, "environment")
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{named}: {PART} is damaged: {error}; {_AGAIN}") from None
    if seal(content) != content["seal"]:
        raise OptionError(f"{named}: {PART} was changed after the part ended; {_AGAIN}")
    replies = _bytes(folder / REPLIES, named)
    part = RecordedPart(folder=folder, named=named, content=content, replies=replies)
    if sha(replies) != content["replies"]:
        raise part.wrong(f"{REPLIES} was changed after the part ended, or is of another part")
    return part


def lines_of(part: RecordedPart) -> Iterator[tuple[str, tuple[int, ...], Mapping[str, Any]]]:
    """Yield the task, the positions of the cases, and the columns of the replies of each line of ``part.jsonl``.

    Raises: OptionError if a line has another form.
    """
    for number, line in enumerate(part.replies.splitlines(), 1):
        try:
            content = json.loads(line)
            task, cases, rows = content["task"], tuple(map(int, content["cases"])), dict(content["rows"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise part.wrong(f"{REPLIES}, line {number}: expected the replies of a batch") from None
        yield task, cases, rows


def _content(folder: Path, named: str) -> dict[str, Any]:
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise OptionError(f"{named}: {what}; name the results folder of a run with --shard")
    if not (folder / PART).exists():
        raise OptionError(f"{named}: holds no {PART}, {_why_none(folder)}")
    try:
        content = json.loads(_bytes(folder / PART, named))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise OptionError(f"{named}: {PART} is not a JSON object; {_AGAIN}")
    return content


def _why_none(folder: Path) -> str:
    """Why a folder has no ``part.json``, as far as the other files of a run tell, and what to do."""
    figures = next((file for name in ("verdict.json", "metrics.json") if (file := folder / name).is_file()), None)
    if figures is None:
        return "nor any figures of a run that ended; name the results folder of a part that ended"
    try:
        shard = json.loads(figures.read_bytes())["run"].get("shard")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return f"and {figures.name} is damaged; {_AGAIN}"
    if shard is None:
        return "because the run had no --shard; name the results folder of a part"
    return f"although the run was --shard={shard}; copy the whole folder, or {_AGAIN}"


def _bytes(file: Path, named: str) -> bytes:
    if not file.is_file():  # reading a pipe would block for ever
        raise OptionError(f"{named}: holds no {file.name}; copy the whole folder, or {_AGAIN}")
    try:
        return file.read_bytes()
    except OSError as error:
        raise OptionError(f"{named}: {file.name} cannot be read ({error.strerror}); copy it again") from None

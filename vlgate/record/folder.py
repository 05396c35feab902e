"""The folder of a finished run, or of one part of it (--shard I/N): its files, checked before they are used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from vlgate.errors import OptionError
from vlgate.record.schema import fitted, schema_of
from vlgate.record.whole_file import LOCK

if TYPE_CHECKING:
    from vlgate.record.cases import CaseTable

SCHEMA = 2
METRICS, CASES, ENVIRONMENT = "metrics.json", "cases.parquet", "environment.json"
VERDICT, ANALYSES, CONTROLS = "verdict.json", "analyses.json", "controls.json"
BLESSED = "blessed.json"  # of a kept baseline, not of every run that is compared with
AGAIN = "run it again with this version"
SHRUNK = "shrunk.jsonl"
NAME_ANOTHER = "name the results folder of a run that ended"
OF_ONE_RUN = "name a folder whose files are of one run"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    folder: Path
    named: str
    figures: Mapping[str, Any] = field(repr=False)
    environment: Mapping[str, Any] = field(repr=False)
    tables: Mapping[str, CaseTable] | None = field(default=None, repr=False)  # by task, of a run that ends now

    @property
    def model(self) -> str:
        return titled(self.figures["model"]["name"], self.figures["model"]["weights"])

    @property
    def incomplete(self) -> str:
        return "" if self.figures["complete"] else str(self.figures.get("why") or "it did not come to its end")

    @property
    def options(self) -> Mapping[str, Any]:
        options: Mapping[str, Any] = self.environment.get("options", {})
        return options

    @property
    def version(self) -> str:
        return str(self.environment.get("packages", {}).get("vlgate", ""))

    def wrong(self, problem: str, remedy: str = AGAIN) -> OptionError:
        return OptionError(f"{self.named}: {problem}; {remedy}")


def titled(name: str, weights: str) -> str:
    return f"{name}:{weights}" if weights else name


def read_run(folder: Path, named: str, sections: frozenset[str] | None = None) -> RecordedRun:
    figures = content_of(folder / METRICS, named)
    refuse_other_schema(figures, SCHEMA, METRICS, named)
    schema = schema_of(METRICS)
    wanted = {*(sections or schema["properties"]), "schema", "complete", "why"}
    required = [key for key in schema["required"] if key in wanted]
    parts = {key: value for key, value in figures.items() if key in wanted}
    parts = held_to(parts, {**schema, "required": required}, METRICS, named)
    environment = content_of(folder / ENVIRONMENT, named) if (folder / ENVIRONMENT).exists() else {}
    if environment:
        environment = held_to(environment, schema_of(ENVIRONMENT), ENVIRONMENT, named)
    return RecordedRun(folder=folder, named=named, figures=parts, environment=environment)


def refuse_other_schema(content: Mapping[str, Any], expected: int, file: str, named: str) -> None:
    given = content.get("schema")
    if type(given) is not int or given != expected:
        newer = type(given) is int and given > expected
        remedy = "a newer version of vlgate wrote it: install that version" if newer else AGAIN
        raise OptionError(f"{named}: {file} has schema {repr(given)[:40]}, expected {expected}; {remedy}")


def held_to(content: Mapping[str, Any], schema: Mapping[str, Any], file: str, named: str) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = fitted(content, schema, schema)
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{named}: {file} is damaged: {error}; {AGAIN}") from None
    return kept


def refuse_incomplete(run: RecordedRun) -> None:
    if run.incomplete:
        raise run.wrong(f"the run is incomplete ({run.incomplete})", "name one that came to its end")


def content_of(file: Path, named: str) -> dict[str, Any]:
    try:
        refuse_pipe(file, named)
        content = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise OptionError(f"{named}: {_without(file)}; {NAME_ANOTHER}") from None
    except OSError as error:
        raise OptionError(f"{named}: {file.name} cannot be read ({error.strerror}); name another folder") from None
    except (ValueError, RecursionError):
        raise OptionError(f"{named}: {file.name} is not JSON; {NAME_ANOTHER}") from None
    if not isinstance(content, dict):
        raise OptionError(f"{named}: {file.name} is not a JSON object; {NAME_ANOTHER}")
    return content


def refuse_pipe(file: Path, named: str) -> None:
    if file.exists() and not file.is_file():
        raise OptionError(f"{named}: {file.name} is not a regular file; name another folder")


def _without(file: Path) -> str:
    if not file.parent.is_dir():
        return "is a file, not a folder" if file.parent.exists() else "does not exist"
    if (file.parent / LOCK).exists():  # the file of a process that was killed
        return f"holds no {file.name}, because the run did not end"
    searched = f", because the run only searched for smallest changes, which are in {SHRUNK}"
    return f"holds no {file.name}{searched if (file.parent / SHRUNK).exists() else ''}"


# The files of one part of a run (``--shard I/N``), which ``vlgate merge`` joins: ``part.json`` and ``part.jsonl``.
#
# ``part.json`` is the last file of a part, and holds the SHA-256 of ``part.jsonl`` and of its own content, so that a
# part that was cut or edited is noticed.

PART, REPLIES = "part.json", "part.jsonl"
PART_SCHEMA = 1
DEFAULTS: Mapping[str, bool | None] = MappingProxyType(
    dict.fromkeys(("scores", "answers", "accepted", "problems"), None)
    | dict.fromkeys(("skipped", "cut", "neither"), False)
)  # the columns of a line of replies; one whose values are all the default is left out
_AGAIN = "run this part again"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPart:
    folder: Path
    named: str
    content: Mapping[str, Any] = field(repr=False)
    replies: bytes = field(repr=False)

    @property
    def number(self) -> int:
        return int(self.content["number"])

    @property
    def of(self) -> int:
        return int(self.content["of"])

    @property
    def shard(self) -> str:
        return f"--shard={self.number}/{self.of}"

    def wrong(self, problem: str, remedy: str = "") -> OptionError:
        return OptionError(f"{self.named}: {problem}; {remedy or f'{_AGAIN}, with {self.shard}'}")


def seal(content: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "seal"}
    return sha(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())


def sha(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def read_part(folder: Path) -> RecordedPart:
    named = str(folder)
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
    refuse_other_schema(content, PART_SCHEMA, PART, named)
    try:
        fitted(content, (form := schema_of(PART)), form)
        fitted(content["environment"], (form := schema_of(ENVIRONMENT)), form, "environment")
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{named}: {PART} is damaged: {error}; {_AGAIN}") from None
    if seal(content) != content["seal"]:
        raise OptionError(f"{named}: {PART} was changed after the part ended; {_AGAIN}")
    part = RecordedPart(folder=folder, named=named, content=content, replies=_bytes(folder / REPLIES, named))
    if sha(part.replies) != content["replies"]:
        raise part.wrong(f"{REPLIES} was changed after the part ended, or is of another part")
    return part


def lines_of(part: RecordedPart) -> Iterator[tuple[str, tuple[int, ...], Mapping[str, Any]]]:
    for number, line in enumerate(part.replies.splitlines(), 1):
        try:
            content = json.loads(line)
            task, cases, rows = content["task"], tuple(map(int, content["cases"])), dict(content["rows"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise part.wrong(f"{REPLIES}, line {number}: expected the replies of a batch") from None
        yield task, cases, rows


def _why_none(folder: Path) -> str:
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

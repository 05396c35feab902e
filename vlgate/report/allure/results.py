"""One result of an Allure report, and the files in which Allure reads it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path
from typing import Literal
from uuid import NAMESPACE_URL, uuid5

Status = Literal["passed", "failed", "broken", "skipped"]
Layer = Literal["run", "gate", "task", "case"]

_LABELS = (("epic", "parentSuite"), ("feature", "suite"), ("story", "subSuite"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When and where something was asked, in milliseconds since 1970; ``trace`` says how the test failed, if it did."""

    start: int
    stop: int
    worker: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    name: str
    kind: str
    ending: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    id: str  # the same in every run, whatever was measured, so that Allure finds the result's history
    name: str = ""  # the id, if it is empty
    layer: Layer  # what it is about
    path: tuple[str, ...]  # its folders in the report
    status: Status
    at: Moment
    message: str = ""
    page: str = ""  # HTML
    severity: str = "normal"
    parameters: Mapping[str, str] = field(default_factory=dict)  # whose values are not part of the history
    tags: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


# The names of the files differ from run to run, because ``allure run`` reads new names only; of two results with the
# same id Allure shows the later one.
def write_result(folder: Path, result: Result) -> None:
    attachments = enumerate(result.attachments)
    attached = [write_attachment(folder, f"{result.id} {number}", one, result.at) for number, one in attachments]
    labels = [(name, part) for pair, part in zip(_LABELS, result.path, strict=False) for name in pair]
    labels += [("severity", result.severity), ("layer", result.layer), ("framework", "pytest"), ("language", "python")]
    labels += [("thread", result.at.worker)] if result.at.worker else []
    labels += [("tag", tag) for tag in result.tags]
    details = {"message": result.message, "trace": "" if result.at.trace == result.message else result.at.trace}
    optional = {
        "statusDetails": {name: text for name, text in details.items() if text},
        "descriptionHtml": result.page,
        "parameters": [{"name": k, "value": v, "excluded": True} for k, v in result.parameters.items()],
        "attachments": attached,
    }
    key = md5(result.id.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    content = {
        "uuid": _unique(result.id, result.at),
        "historyId": key,
        "testCaseId": key,
        "fullName": result.id,
        "name": result.name or result.id,
        "titlePath": list(result.path),
        "status": result.status,
        "stage": "finished",
        "start": result.at.start,
        "stop": result.at.stop,
        "labels": [{"name": name, "value": value} for name, value in labels],
        **{name: value for name, value in optional.items() if value},
    }
    data = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    write_file(folder / f"{_unique(result.id, result.at)}-result.json", data)


def write_attachment(folder: Path, key: str, attachment: Attachment, at: Moment) -> dict[str, object]:
    name = f"{_unique(key, at)}-attachment.{attachment.ending}"
    write_file(folder / name, attachment.data)
    return {"name": attachment.name, "source": name, "type": attachment.kind}


def write_file(file: Path, data: bytes) -> None:
    """Write a file that appears whole; unlike the figures of a run it need not survive a power failure."""
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(data)
    part.replace(file)


def _unique(key: str, at: Moment) -> str:
    return str(uuid5(NAMESPACE_URL, f"{key} {at.start}"))

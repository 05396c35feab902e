"""What Allure shows of a run as a whole: its model and machine, the names of categories, pages, and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vlgate.errors import printable
from vlgate.metrics.names import HEADLINE
from vlgate.recorded.folder import titled
from vlgate.report.allure.pages import stops
from vlgate.report.allure.results import Attachment, Moment, write_attachment, write_file
from vlgate.report.environment import environment_content
from vlgate.report.summary import headline
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.run.results import RunResult

CATEGORIES = (
    (
        "The run does not pass",
        "failed",
        r"^(gates do not pass|a test that|pytest ended|incomplete|broken).*; .*",
    ),
    ("Gates that fail", "failed", r"^fail: .*"),
    ("Gates that are inconclusive", "failed", r"^inconclusive: .*"),
    ("No gate was judged", "skipped", r"^no gate was judged; .*"),
    ("Missed: the model was wrong", "failed", r"^missed: .*"),
    ("Broken by a small change: the model was right without it", "failed", r"^broken by .*"),
    ("Not scored: the model gave no reply", "broken", r".*"),
    ("Known limits that hold", "skipped", r"^cannot: .*"),
    ("Gates that were not run", "skipped", r"^not run: .*"),
)
"""The name, status and messages of each category: ``categories.json`` for Allure 2, ``allurerc.mjs`` for Allure 3."""
CONFIG = "allurerc.mjs"
_OURS = "vlgate"


def write_overview(folder: Path, run: RunResult, model: ModelCard, options: Options, at: Moment) -> None:
    """Write the files that describe a run as a whole; those of an earlier run in the folder are replaced.

    An ``executor.json`` of continuous integration is kept.
    """
    title = f"{titled(model.name, model.weights)}: {headline(run, model)}"
    environment = environment_content(options, 1, model.cache)
    write_file(folder / "environment.properties", properties(model, environment).encode("latin-1", "backslashreplace"))
    categories = [_category(*one) for one in CATEGORIES]
    _write_json(folder / "categories.json", categories)
    _write_json(_new(folder, "perf", at), figures(run, at))
    write_file(folder / CONFIG, config(categories).encode())
    if _ours(folder / "executor.json"):
        _write_json(folder / "executor.json", _executor(title, model, environment))


def write_globals(folder: Path, run: RunResult, model: ModelCard, pages: tuple[Attachment, ...], at: Moment) -> None:
    """Write what Allure 3 shows beside all results: what stops the run from passing, and its pages."""
    shown = [{**write_attachment(folder, f"global {one.name}", one, at), "timestamp": at.stop} for one in pages]
    errors = [{"message": line, "timestamp": at.stop} for line in stops(run, model)]
    _write_json(_new(folder, "globals", at), {"attachments": shown, "errors": errors})


def properties(model: ModelCard, environment: dict[str, Any]) -> str:
    """Return ``environment.properties``: the model and where it ran, but no figure, which differs from run to run.

    Args:
        model: the model.
        environment: the content of ``environment.json``.
    """
    options = environment["options"]
    facts = {
        "model": titled(model.name, model.weights),
        "fingerprint": model.fingerprint,
        "device": model.device,
        "dtype": options["dtype"],
        "seed": options["seed"],
        "ties": options["ties"],
        "cases per task": options["limit"] or "all",
        "python": str(environment["python"]).split(" ", maxsplit=1)[0],
        **environment["packages"],
        "platform": environment["platform"],
    }
    # The format is Java's: a backslash before what would end a key or begin an escape.
    lines = (f"{name.replace(' ', '_')} = {printable(str(value))}" for name, value in facts.items() if value != "")
    return "".join(f"{line}\n" for line in lines).replace("\\", "\\\\")


def config(categories: list[dict[str, object]]) -> str:
    """Return ``allurerc.mjs``, which a user may copy: it needs no other file."""
    empty, text = "const categories = [];", Path(__file__).with_name(CONFIG).read_text(encoding="utf-8")
    return text.replace(empty, f"const categories = {json.dumps(categories, indent=1)};")


def figures(run: RunResult, at: Moment) -> list[dict[str, object]]:
    """Return the headline metric of each task as Allure 3 reads metrics, which it shows over runs."""
    found = []
    for result in run.results:
        name = HEADLINE[result.task.shape]
        if name in result.metrics:
            found.append(
                {
                    "id": f"{result.task.id}:{name}",
                    "key": f"{result.task.id}:{name}",
                    "title": f"{result.task.id} {name}",
                    "value": result.metrics[name].value,
                    "unit": "",
                    "better": "higher",
                    "group": result.task.capability,
                    "groupTitle": result.task.capability,
                    "start": at.start,
                    "stop": at.stop,
                }
            )
    return found


def _category(name: str, status: str, message: str) -> dict[str, object]:
    return {"name": name, "matchedStatuses": [status], "messageRegex": message}


def _executor(title: str, model: ModelCard, environment: dict[str, Any]) -> dict[str, str]:
    device = f" on {model.device}" if model.device else ""
    version = environment["packages"].get("vlgate", "")
    return {
        "name": f"vlgate {version}".strip(),
        "type": _OURS,
        "reportName": title,
        "buildName": f"{titled(model.name, model.weights)} {model.fingerprint[:12]}{device}",
    }


def _new(folder: Path, kind: str, at: Moment) -> Path:
    """A file with the name of this run, in place of those of earlier runs: Allure would show all of them."""
    for earlier in folder.glob(f"vlgate-*-{kind}.json"):
        earlier.unlink()
    return folder / f"vlgate-{at.start}-{kind}.json"


def _ours(file: Path) -> bool:
    """Whether an ``executor.json`` may be written: there is none, or it is that of an earlier run."""
    if not file.exists():
        return True
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("type") == _OURS


def _write_json(file: Path, value: object) -> None:
    write_file(file, json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace"))

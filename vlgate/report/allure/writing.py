"""Write the Allure report of a run: its gates, its overview and its cases."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from time import time
from typing import Any

from vlgate.errors import printable
from vlgate.gates.records import Decision, Outcome
from vlgate.metrics.shapes import SHAPES
from vlgate.record.folder import titled
from vlgate.record.json_files import environment_content
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult
from vlgate.record.verdict import Word, outcome_of
from vlgate.report.abilities import abilities
from vlgate.report.allure.cases import case_results
from vlgate.report.allure.pages import stops, table, text
from vlgate.report.allure.results import Attachment, Moment, Result, Status, write_attachment, write_file, write_result
from vlgate.report.page.page import PAGE
from vlgate.report.rows import HEADINGS, rows, unit_line
from vlgate.report.summary import headline

# the folder of the gates in a report; it begins with a bracket, because Allure 2 sorts folders by name
GATES = "(gates) thresholds.toml"
STATUS: dict[Outcome, Status] = {"pass": "passed", "cannot": "skipped", "not run": "skipped"}
STATUS |= {"fail": "failed", "inconclusive": "failed"}
_ENDED: dict[Word, Status] = {"pass": "passed", "not gated": "skipped"}
_MOST_PAGES = 3  # the most gates that do not pass and have a copy of the page: it may be 15 MB
_KEPT = ("value", "interval", "n", "threshold", "chance", "blind")


# It passes if the run does, so a report without it, or in which it did not pass, is that of a run that may not ship.
def run_result(run: RunResult, model: ModelCard, at: Moment, attached: tuple[Attachment, ...]) -> Result:
    return Result(
        id="vlgate: the run",
        name=f"results of {titled(model.name, model.weights)}",
        layer="run",
        path=(GATES, "all gates"),
        status=_ENDED.get(outcome_of(run, model).verdict, "failed"),
        at=at,
        message=f"{headline(run, model)}; {unit_line(run)}",
        page=table(run, model),
        severity="blocker",
        attachments=attached,
    )


def gate_results(run: RunResult, at: Moment, attached: tuple[Attachment, ...]) -> Iterator[Result]:
    """Yield the result of each gate; the first ones that do not pass have the page of the run as an attachment."""
    words = {ability.task: f"{ability.word}: {ability.figures}. {ability.question}" for ability in abilities(run)}
    pages = 0
    for decision in run.decisions:
        gate, stopping = decision.gate, STATUS[decision.outcome] == "failed"
        pages += stopping
        lines = [f"{decision.outcome}: {decision.why}", gate.why, words.get(gate.task, "")]
        yield Result(
            id=f"thresholds.toml::{gate.id}",
            layer="gate",
            path=(GATES, decision.outcome, gate.task),
            status=STATUS[decision.outcome],
            at=at,
            message=lines[0],
            page="".join(f"<p>{text(line)}</p>" for line in lines if line),
            severity="blocker",
            parameters=judged(run, decision),
            attachments=attached if stopping and pages <= _MOST_PAGES else (),
        )


def judged(run: RunResult, decision: Decision) -> dict[str, str]:
    """Return what a gate judged, by name: the cells of its row in the table; empty if there was nothing to judge."""
    gate = decision.gate
    cells = next((dict(zip(HEADINGS, row.cells, strict=True)) for row in rows(run) if row.gate == gate.id), {})
    confidence = {"interval": f"interval ({100 * gate.confidence:g} %)"}
    return {confidence.get(name, name): cells[name] for name in _KEPT if name in cells}


# the name, status and messages of each category: ``categories.json`` for Allure 2, ``allurerc.mjs`` for Allure 3
CATEGORIES = (
    ("The run does not pass", "failed", r"^(gates do not pass|a test that|pytest ended|incomplete|broken).*; .*"),
    ("Gates that fail", "failed", r"^fail: .*"),
    ("Gates that are inconclusive", "failed", r"^inconclusive: .*"),
    ("No gate was judged", "skipped", r"^no gate was judged; .*"),
    ("Missed: the model was wrong", "failed", r"^missed: .*"),
    ("Broken by a small change: the model was right without it", "failed", r"^broken by .*"),
    ("Not scored: the model gave no reply", "broken", r".*"),
    ("Known limits that hold", "skipped", r"^cannot: .*"),
    ("Gates that were not run", "skipped", r"^not run: .*"),
)
CONFIG = "allurerc.mjs"
_OURS = "vlgate"


def write_overview(folder: Path, run: RunResult, model: ModelCard, options: Options, at: Moment) -> None:
    name = titled(model.name, model.weights)
    environment = environment_content(options, 1, model.cache)
    write_file(folder / "environment.properties", properties(model, environment).encode("latin-1", "backslashreplace"))
    keys = ("name", "matchedStatuses", "messageRegex")
    categories = [dict(zip(keys, (kind, [status], regex), strict=True)) for kind, status, regex in CATEGORIES]
    _write_json(folder / "categories.json", categories)
    _write_json(_new(folder, "perf", at), figures(run, at))
    # A user may copy ``allurerc.mjs``: it needs no other file.
    empty, written = "const categories = [];", Path(__file__).with_name(CONFIG).read_text(encoding="utf-8")
    config = written.replace(empty, f"const categories = {json.dumps(categories, indent=1)};")
    write_file(folder / CONFIG, config.encode())
    if _ours(folder / "executor.json"):  # one of continuous integration is kept
        build = f"{name} {model.fingerprint[:12]}{f' on {model.device}' if model.device else ''}"
        ours = {"name": f"vlgate {environment['packages'].get('vlgate', '')}".strip(), "type": _OURS}
        report = {"reportName": f"{name}: {headline(run, model)}", "buildName": build}
        _write_json(folder / "executor.json", {**ours, **report})


def write_globals(folder: Path, run: RunResult, model: ModelCard, pages: tuple[Attachment, ...], at: Moment) -> None:
    shown = [{**write_attachment(folder, f"global {page.name}", page, at), "timestamp": at.stop} for page in pages]
    errors = [{"message": line, "timestamp": at.stop} for line in stops(run, model)]
    _write_json(_new(folder, "globals", at), {"attachments": shown, "errors": errors})


def properties(model: ModelCard, environment: dict[str, Any]) -> str:
    """Return ``environment.properties``: the model and where it ran, but no figure, which differs from run to run."""
    options = environment["options"]
    facts = {
        "model": titled(model.name, model.weights),
        "fingerprint": model.fingerprint,
        "device": model.device,
        **{name: options[name] for name in ("dtype", "seed", "ties")},
        "cases per task": options["limit"] or "all",
        "python": str(environment["python"]).split(" ", maxsplit=1)[0],
        **environment["packages"],
        "platform": environment["platform"],
    }
    # The format is Java's: a backslash before what would end a key or begin an escape.
    lines = (f"{name.replace(' ', '_')} = {printable(str(value))}" for name, value in facts.items() if value != "")
    return "".join(f"{line}\n" for line in lines).replace("\\", "\\\\")


def figures(run: RunResult, at: Moment) -> list[dict[str, object]]:
    metrics: list[dict[str, object]] = []
    for result in run.results:
        task, name = result.task, SHAPES[result.task.shape].headline
        if name in result.metrics:
            named = {**dict.fromkeys(("id", "key"), f"{task.id}:{name}"), "title": f"{task.id} {name}"}
            figure = {"value": result.metrics[name].value, "unit": "", "better": "higher"}
            group = dict.fromkeys(("group", "groupTitle"), task.capability)
            metrics.append({**named, **figure, **group, "start": at.start, "stop": at.stop})
    return metrics


def _new(folder: Path, kind: str, at: Moment) -> Path:
    # A file with the name of this run, in place of those of earlier runs: Allure would show all of them
    for earlier in folder.glob(f"vlgate-*-{kind}.json"):
        earlier.unlink()
    return folder / f"vlgate-{at.start}-{kind}.json"


def _ours(file: Path) -> bool:
    if not file.exists():
        return True
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("type") == _OURS


def _write_json(file: Path, value: object) -> None:
    write_file(file, json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace"))


def write_report(
    folder: Path, run: RunResult, model: ModelCard, options: Options, moments: Mapping[tuple[str, str], Moment]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    start = min((moment.start for moment in moments.values()), default=int(time() * 1000))
    at = Moment(start=start, stop=max((moment.stop for moment in moments.values()), default=start))
    first = Moment(start=start, stop=start)  # before any case, because Allure 3 sorts by time
    file, page = options.results / PAGE, []
    if file.is_file():  # it may not have been written
        page = [Attachment(name=file.name, kind="text/html", ending="html", data=file.read_bytes())]
    write_result(folder, run_result(run, model, first, tuple(page)))
    for result in chain(gate_results(run, first, tuple(page)), case_results(run, moments, start)):
        write_result(folder, result)
    title = text(titled(model.name, model.weights))
    shown = f'<!doctype html><meta charset="utf-8"><title>{title}</title>{table(run, model)}'
    overview = Attachment(name="results.html", kind="text/html", ending="html", data=shown.encode("utf-8", "replace"))
    write_globals(folder, run, model, (overview, *page), at)
    write_overview(folder, run, model, options, at)

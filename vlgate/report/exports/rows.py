"""The rows of a finished run, what every export says of it, and its lines: CSV, JSON lines, YAML for the Hub."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import StringIO
from typing import Any

from vlgate.errors import OptionError
from vlgate.gates.decide import first_word_doubt
from vlgate.record.cases import LISTS, CaseTable, case_tables, fact_names, read_cases, tags_of
from vlgate.record.folder import METRICS, RecordedRun
from vlgate.report.page.sections import headline_of
from vlgate.report.page.template import one_line
from vlgate.types import TIED, UNREADABLE, undrawn

_AT_A_TIME = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    run: RecordedRun
    table: Any = field(repr=False)
    tasks: Mapping[str, CaseTable] = field(repr=False)
    organization: str = "unknown"  # who evaluated the model
    relationship: str = "other"
    source: str = ""  # where its results can be read
    datasets: Mapping[str, str] = field(default_factory=dict)  # names on the Hugging Face Hub by benchmark

    @property
    def time(self) -> datetime:
        try:
            return datetime.fromisoformat(str(self.run.environment.get("time")))
        except ValueError:
            return datetime.fromtimestamp(int((self.run.folder / METRICS).stat().st_mtime), UTC)

    @property
    def model_id(self) -> str:
        weights = str(self.run.figures["model"]["weights"])
        return weights if re.fullmatch(r"[\w.-]+/[\w.-]+", weights) else self.run.model

    def rows(self, task: str = "") -> Iterator[dict[str, Any]]:
        # ``facts`` holds those that the case has, in place of their columns; ``unread``: an answer could not be read.
        names = fact_names(self.table)
        table = self.tasks[task].rows if task else self.table
        tags = iter(tags_of(self.run, table))
        for batch in table.to_batches(_AT_A_TIME):
            for row in batch.to_pylist():
                facts = {name: value for name in names if (value := row.pop(name)) is not None}
                yield {**row, "tags": next(tags), "facts": facts, "unread": facts.get("read", 1.0) < 1}


def exported(run: RecordedRun, **settings: Any) -> Exported:
    table = read_cases(run)
    return Exported(run=run, table=table, tasks=case_tables(run, table), **settings)


def replies(row: Mapping[str, Any]) -> list[str]:
    judged = row["state"] == "judged"
    return [
        answer if answer is not None else repr(score) if score is not None else TIED if judged else ""
        for answer, score in zip(row["answers"], row["scores"], strict=True)
    ]


# with one of these at its beginning a cell may be a formula to a spreadsheet, or has an apostrophe already
_QUOTED = ("=", "+", "-", "@", "\t", "\r", "'")


# Lists and tags are cells of JSON. Control characters in texts are escapes; ``json_lines`` has the texts as they are.
def csv_lines(run: Exported) -> Iterator[str]:
    facts = fact_names(run.table)
    yield _row(["task", "case", "state", "right", "unread", *map(_text, facts), *LISTS, "tags", "origin", "why"])
    for row in run.rows():
        right = "" if row["right"] is None else str(row["right"]).lower()
        cells = [_text(row["task"]), _text(row["case"]), row["state"], right, str(row["unread"]).lower()]
        cells += [row["facts"].get(name, "") for name in facts]
        cells += [one_line(json.dumps(row[name], ensure_ascii=False)) for name in (*LISTS, "tags")]
        yield _row([*cells, _text(row["origin"]), _text(row["why"])])


def json_lines(run: Exported) -> Iterator[str]:
    for row in run.rows():
        yield json.dumps(row) + "\n"


def _row(cells: list[Any]) -> str:
    stream = StringIO()
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()


def _text(text: str | None) -> str:
    return cell(one_line(text or ""))


def cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula: behind an apostrophe; ``text_of_cell`` reads it.

    >>> cell("=1+1"), cell("a cup"), text_of_cell(cell("=1+1")), text_of_cell(cell("'tis"))
    ("'=1+1", 'a cup', '=1+1', "'tis")
    """
    return f"'{text}" if text.startswith(_QUOTED) else text


def text_of_cell(found: str) -> str:
    return found[1:] if found.startswith("'") and found[1:].startswith(_QUOTED) else found


# The format of ``.eval_results/*.yaml`` in a model's repository on the Hugging Face Hub (docs/hub/eval-results).

DATASETS = {"winoground": "facebook/winoground"}  # the datasets of benchmarks that their authors released on the Hub


def entries(run: Exported) -> tuple[list[dict[str, object]], list[str]]:
    """Return an entry for the headline metric of each task, and a sentence for each benchmark that has none."""
    known = {**DATASETS, **run.datasets}
    found: list[dict[str, object]] = []
    left_out: dict[str, None] = {}
    for name, task in run.run.figures["tasks"].items():
        benchmark, _, part = name.partition("/")
        metric = headline_of(task)
        if benchmark not in known:
            left_out[f"the tasks of {benchmark} are left out: name their dataset with --dataset {benchmark}=ID"] = None
        elif task.get("ask") == "together":
            why = "its cases were asked with all their images in one prompt, which is another task than the dataset's"
            left_out[f"{name} is left out: {why}"] = None
        elif not metric:
            left_out[f"{name} is left out: none of its {task['cases']:,} cases was judged"] = None
        else:
            entry: dict[str, object] = {"dataset": {"id": known[benchmark], "task_id": part}}
            entry |= {"value": task["metrics"][metric]["value"], "date": run.time.isoformat()}
            entry |= {"source": {"url": run.source, "name": "vlgate"}} if run.source else {}
            found.append({**entry, "notes": _notes(run, task, metric)})
    if not found:
        raise OptionError(f"{run.run.named}: nothing to export: {next(iter(left_out), 'the run has no tasks')}")
    return found, list(left_out)


def beside_the_cases(task: Mapping[str, Any]) -> dict[str, int]:
    """Return the cases of a task that the run did not draw, or that a dispute left out or corrected, if any are."""
    disputes = task.get("disputed", {})
    counts = {"disputed": disputes.get("left_out", 0), "corrected": disputes.get("corrected", 0)}
    return {name: count for name, count in {"undrawn": undrawn(task["left_out"]), **counts}.items() if count}


def whole(task: Mapping[str, Any]) -> int:
    counts = {**beside_the_cases(task), "corrected": 0}  # these are among the cases
    return int(task["cases"] + task["deselected"] + sum(counts.values()))


def _notes(run: Exported, task: Mapping[str, Any], metric: str) -> str:
    figure, cases = task["metrics"][metric], whole(task)
    interval = f"95 % interval {figure['low']:.3f} to {figure['high']:.3f}"
    notes = f"vlgate {run.run.version or 'unknown'}: {metric}, {interval}, {task['judged']} of {cases} cases judged, "
    notes += f"{task['unscored']} unscored, {task['skipped']} skipped, {task['unread']} unread"
    notes += "".join(f", {count} {name}" for name, count in beside_the_cases(task).items())
    notes += f", {lost} records that cannot be read" if (lost := task["left_out"].get(UNREADABLE)) else ""
    neither = task.get("neither", {"replies": 0, "of": 0})
    notes += ", most first words neither yes nor no" if first_word_doubt(neither["replies"], neither["of"]) else ""
    return notes + (f"; incomplete: {run.run.incomplete}" if run.run.incomplete else "")


def yaml_lines(found: list[dict[str, object]]) -> Iterator[str]:
    """Yield the lines of a YAML file, whose texts are quoted as in JSON, which YAML reads alike."""
    for entry in found:
        for number, (key, value) in enumerate(entry.items()):
            begin = "- " if number == 0 else "  "
            inner = value if isinstance(value, dict) else {}
            yield f"{begin}{key}:\n" if inner else f"{begin}{key}: {json.dumps(value)}\n"
            yield from (f"    {name}: {json.dumps(one)}\n" for name, one in inner.items())

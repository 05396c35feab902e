"""The page of the files that a run leaves."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from reference.markdown import code, description, inline, table
from vlgate.judging.verdicts import judge
from vlgate.metrics.names import NAMES
from vlgate.probes.shrink.record import Shrunk
from vlgate.record import json_files, parquet
from vlgate.record.options import Options
from vlgate.record.results import RunResult, task_metrics
from vlgate.record.results_folder import FOLDER
from vlgate.record.results_folder import NAMES as NAMES_OF_FILES
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Batch, Prediction, Request, Task

INTRODUCTION = """\
# Result files

A run writes its files into the folder of `--results`. A folder that holds an earlier run's files is refused
unless `--overwrite` is given, which removes those files as the run starts.
`metrics.json` and then `verdict.json` are written last: if they say that the run is complete, all files are there.
"""
FILES = {
    "metrics.json": "the figures and decisions, for programs",
    "verdict.json": "the [verdict](../verdict.md), ready to be signed; its word is `not gated` if no gate was judged",
    "report.html": "the page for people: one file that works offline, with figures, gates and missed cases with images",
    "cases.parquet": "one row per case: what was asked, what was replied, the verdict and its reason",
    "predictions.parquet": "one row per distinct request; `--model=replay:FILE` reads it",
    "summary.md": "the figures, decisions and remarks as Markdown, for people",
    "environment.json": "time, machine, versions of packages, and options, to run it again",
    "analyses.json": "the [analyses](../analyses.md) of the papers, if the run has at least 100 cases of a benchmark",
    "badge.json": "whether the model may be released, for the endpoint of shields.io",
    "controls.json": "with `--controls`: what each [control](../controls/index.md) measured, case by case",
    f"{FOLDER}/": "with `--explain`: maps of missed cases, and `index.json`; see [Why it missed](../explanations.md)",
    "shrunk.jsonl": "with `-m shrink`: one line per smallest change that breaks a case",
    "shrunk.html": "with `-m shrink` alone: the page of these cases; in other runs they are in `report.html`",
    "shrunk/": "with `-m shrink`: the images of these cases, before and after the change, as PNG",
    "part.json": "with `--shard`: what the part was asked, and how it ended, for `vlgate merge`; written last",
    "part.jsonl": "with `--shard`: the replies to each batch of cases, for `vlgate merge`",
}
"""What each file of a run holds."""
CASES = {
    "task": "the id of the task",
    "case": "the id of the case within its task",
    "state": "`judged`, `unscored` (a reply is missing) or `skipped` (left out on purpose)",
    "right": "whether the case as a whole is right; null if it is not judged",
    "images": "the key of each request's image; null for a request without one",
    "texts": "each request's text or question",
    "truths": "`true` or `false` for a text, the right answer for a question",
    "scores": "each reply's match score or perplexity",
    "answers": "each reply's answer",
    "tags": "the slices that the case belongs to: a JSON object of tags and values",
    "origin": "the file and the record that the case was read from",
    "why": "a sentence that gives the reason of the verdict",
}
"""The columns of ``cases.parquet`` that are not facts."""
PREDICTIONS = {
    "image": "the key of the image",
    "text": "the text of a match, or of a text whose perplexity is asked",
    "score": "the match score",
    "match": "the model's own yes or no for the pair",
    "question": "the question",
    "answer": "the answer; `<tied>` if the best choices score exactly the same",
    "perplexity": "the perplexity of the text",
    "problem": "why there is no reply",
}


def page() -> str:
    """The files, then the fields or columns of each."""
    listed = table(("file", "content"), [(code(name), FILES[name]) for name in (*NAMES_OF_FILES, f"{FOLDER}/")])
    cases, predictions = _columns()
    return "\n".join(
        [INTRODUCTION, listed, "", *_metrics(), *_verdict(), *_cases(cases), *_predictions(predictions), *_shrunk()]
    )


def _metrics() -> Iterator[str]:
    yield "## metrics.json\n"
    yield "`vlgate/record/metrics.schema.json` in the package is its JSON Schema. `<...>` stands for a name.\n"
    yield from _described("metrics.schema.json")


def _verdict() -> Iterator[str]:
    yield "## verdict.json\n"
    yield "`vlgate/record/verdict.schema.json` in the package is its JSON Schema. Figures are texts.\n"
    yield from _described("verdict.schema.json")


def _described(name: str) -> Iterator[str]:
    """The table of the fields of a file with this schema."""
    schema = json.loads((Path(json_files.__file__).parent / name).read_text(encoding="utf-8"))
    yield table(("field", "type", "meaning"), list(_fields(schema, schema, "")))
    yield ""


def _fields(schema: Mapping[str, Any], root: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    """The fields of an object of the schema, each with those below it."""
    required = schema.get("required", ())
    for name, given in schema.get("properties", {}).items():
        yield from _field({**_resolved(given, root)}, root, f"{path}{name}", optional=name not in required)


def _field(
    schema: Mapping[str, Any], root: Mapping[str, Any], path: str, *, optional: bool
) -> Iterator[tuple[str, str, str]]:
    kind = _kind(schema) + (", optional" if optional else "")
    yield code(path), kind, inline(schema.get("description", ""))
    yield from _fields(schema, root, f"{path}.")
    inner = schema.get("additionalProperties")
    if isinstance(inner, dict):
        inner = _resolved(inner, root)
        if "properties" in inner or "additionalProperties" in inner:
            yield from _inside(inner, root, f"{path}.{_PLACEHOLDERS[path.rpartition('.')[2]]}")
    if "items" in schema:
        yield from _fields(_resolved(schema["items"], root), root, f"{path}[].")


def _inside(schema: Mapping[str, Any], root: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    yield from _fields(schema, root, f"{path}.")
    inner = schema.get("additionalProperties")
    if isinstance(inner, dict):
        yield from _fields(_resolved(inner, root), root, f"{path}.<metric>.")


_PLACEHOLDERS = {
    "unasked": "<task>",
    "tasks": "<task>",
    "metrics": "<metric>",
    "slices": "<slice>",
    "responses": "<questions>",
    "flaws": "<flaw>",
    "probes": "<probe>",
    "averages": "<average>",
    "gaps": "<gap>",
    "differences": "<metric>",
    "controls": "<control>",
    "left_out": "<reason>",
    "beside": "<name>",
    "figures": "<figure>",
}


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with what it refers to; its own description wins."""
    if "$ref" not in schema:
        return dict(schema)
    return {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}


def _kind(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join(code(json.dumps(value)) for value in schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    ends = f" from {schema['minimum']:g} to {schema['maximum']:g}" if "maximum" in schema else ""
    return " or ".join(kind + (ends if kind == "number" else "") for kind in kinds)


def _cases(columns: Mapping[str, str]) -> Iterator[str]:
    facts = sorted({fact for names in NAMES.values() for fact in names} | {"tied"})
    about = {**CASES, **{name: "a fact of the verdict" for name in columns if name in facts}}
    yield "## cases.parquet\n"
    yield (
        "The lists have one entry per request of the case. A fact is what the case contributes to the "
        "[metric](metrics.md) of its name, from 0 to 1; `tied` is 1 if scores that should differ are equal. A fact is "
        "null if the case does not have it. The table shows the facts of the embedded scenes.\n"
    )
    yield table(
        ("column", "type", "content"), [(code(name), code(kind), about[name]) for name, kind in columns.items()]
    )
    yield ""


def _predictions(columns: Mapping[str, str]) -> Iterator[str]:
    yield "## predictions.parquet\n"
    yield "The columns are those that `--model=replay:FILE` reads; one that does not apply to a request is null.\n"
    rows = [(code(name), code(kind), PREDICTIONS[name]) for name, kind in columns.items()]
    yield table(("column", "type", "content"), rows)
    yield ""


def _shrunk() -> Iterator[str]:
    yield "## shrunk.jsonl\n"
    yield "One line per case that a search broke.\n"
    yield f"{description(Shrunk)}\n"
    yield table(("field", "type"), [(code(field.name), code(field.type)) for field in fields(Shrunk)])
    yield ""


def _columns() -> tuple[dict[str, str], dict[str, str]]:
    """The names and types of the columns that a run of the embedded scenes writes."""
    from pyarrow.parquet import read_schema

    with tempfile.TemporaryDirectory() as place:
        options = Options(folder=Path(place), thresholds=Path(place), results=Path(place), limit=1)
        tasks = make_plan(options).tasks
        result = RunResult(
            results=tuple(task_metrics(task, judge(_batch(task), _replies(task)), ()) for task in tasks), decisions=()
        )
        cases, predictions = Path(place, "cases.parquet"), Path(place, "predictions.parquet")
        parquet.write_cases(cases, result)
        parquet.write_predictions(predictions, result)
        written = [read_schema(file) for file in (cases, predictions)]
    first, second = ({field.name: _type(field.type) for field in schema} for schema in written)
    return first, second


def _type(kind: object) -> str:
    return str(kind).replace("list<element: ", "list<").replace("list<item: ", "list<")


def _batch(task: Task) -> Batch:
    return Batch(task=task, positions=tuple(range(len(task.cases))))


def _replies(task: Task) -> dict[Request, Prediction]:
    return {
        request: Prediction(request=request, answer="yes")
        if isinstance(request, Ask)
        else Prediction(request=request, score=0.5, accepted=True)
        for case in task.cases
        for request in case.requests
    }

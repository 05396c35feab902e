"""The files of a set of question pairs, in our own shape or another one, and the report on it."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vlgate.errors import UnknownNameError
from vlgate.health.probes import probe
from vlgate.images.files import missing_image
from vlgate.metrics.stats import wilson
from vlgate.models.reference.blind import Blind
from vlgate.perturb.questions import Made, QuestionPair, Test
from vlgate.sources.scene_graphs.carets_files import ENDINGS
from vlgate.sources.scene_graphs.question_files import write_questions
from vlgate.types import Ask, Case, Task

FORMS: Mapping[str, str] = {
    "cases": "cases/questions.jsonl",
    "release": "carets/data/questions",
    "carets": "carets/data/questions",
    "jsonl": "questions.jsonl",
    "gqa": "questions.json",
}
"""The formats, each with its file in the folder of the set; ``release`` and ``carets`` are the same, a folder."""

PERTURBED = "pair of an image and its perturbed form, which this format cannot express"

Json = dict[str, Any]


def files_of(pairs: Sequence[QuestionPair], form: str) -> tuple[dict[str, str], int, Counter[str]]:
    """Return the content of the files by their paths, the number of questions in them, and what was left out.

    ``cases`` has a line for each pair, with the task ``made/<test>``; the other formats are those of
    ``write_questions``.

    Raises: UnknownNameError for another format.
    """
    if form not in FORMS:
        raise UnknownNameError("format of questions", form, FORMS)
    left_out: Counter[str] = Counter()
    if form == "jsonl":
        written = pairs
    else:
        written = [pair for pair in pairs if not pair.perturbation]
        left_out[PERTURBED] += len(pairs) - len(written)
    if form == "cases":
        lines = "".join(f"{json.dumps(_case(pair), ensure_ascii=False)}\n" for pair in written)
        return {FORMS[form]: lines}, 2 * len(written), +left_out
    with tempfile.TemporaryDirectory() as place:
        made = Path(place, "made")
        count = write_questions(written, made, "carets" if form == "release" else form)
        if made.is_dir():
            texts = {f"{FORMS[form]}/{one.name}": one.read_text(encoding="utf-8") for one in sorted(made.iterdir())}
        else:
            texts = {FORMS[form]: made.read_text(encoding="utf-8")}
    return texts, count, +left_out


def can_hold(form: str, tests: Sequence[Test]) -> bool:
    """Return whether a format has a form for some of the tests: CARETS releases no file of perturbed images."""
    return form not in {"carets", "release"} or any(test in ENDINGS for test in tests)


def _case(pair: QuestionPair) -> Json:
    choices = list(dict.fromkeys((*pair.choices[0], *pair.choices[1])))
    return {
        "task": f"made/{pair.test}",
        "id": f"{pair.test}/{pair.id}",
        "image": pair.graph.id,
        "question": pair.questions[0],
        "answer": pair.answers[0],
        "perturbed": pair.questions[1],
        "perturbed_answer": pair.answers[1],
        "kind": "invariance" if pair.answers[0] == pair.answers[1] else "directional",
        **({"choices": choices} if choices else {}),
        **({"tags": dict(pair.tags)} if pair.tags else {}),
    }


def report_of(made: Mapping[Test, Made], left_out: Mapping[str, int], graphs: int, made_by: Mapping[str, Any]) -> Json:
    """Return the content of ``bias.json``: of each test, what rules and a classifier answer without the image."""
    return {
        "schema": 1,
        "kind": "questions",
        "shape": "questions",
        "graphs": graphs,
        "left_out": dict(sorted(left_out.items())),
        "tests": {test: _test(test, one) for test, one in made.items()},
        "made_by": dict(made_by),
    }


def _test(test: Test, made: Made) -> Json:
    pairs = [pair for pair in made.pairs if not pair.perturbation]
    task = Task(
        id=f"made/{test}",
        capability="invariance" if test.endswith("-inv") else "directional",
        shape="questions",
        cases=tuple(_as_case(pair) for pair in made.pairs),
    )
    probes = [{"name": one.name, "value": one.value, "n": one.n, "note": one.note} for one in probe(task)]
    return {
        "pairs": len(made.pairs),
        "images": len({pair.graph.id for pair in made.pairs}),
        "missing": dict(made.wanting),
        "blind": _blind(task) if pairs else None,
        "probes": probes,
    }


def _blind(task: Task) -> Json:
    """Return the share of questions that the text-only baseline answers, learnt from other images."""
    model = Blind()
    model.prepare([task])
    asked = [(r, str(t)) for case in task.cases for r, t in zip(case.requests, case.truths, strict=True)]
    answers = model.answer([request for request, _ in asked if isinstance(request, Ask)])
    value = sum(answer == truth for answer, (_, truth) in zip(answers, asked, strict=True)) / len(asked)
    low, high = wilson(value, len(asked))
    return {"value": value, "low": low, "high": high, "n": len(asked)}


def _as_case(pair: QuestionPair) -> Case:
    image = missing_image(pair.graph.id, ())  # only texts are read
    asked = zip(pair.questions, pair.choices, strict=True)
    requests = tuple(Ask(image=image, question=text, choices=choices) for text, choices in asked)
    return Case(id=pair.id, requests=requests, truths=pair.answers)


def as_page(report: Json) -> str:
    """Return the content of ``bias.md``."""
    lines = ["# questions", "", "## What text alone gives away", "", "| test | rule | right | questions |"]
    lines.append("|---|---|---|---|")
    for test, one in report["tests"].items():
        lines += [f"| {test} | {rule} | {_shown(value)} | {n:,} |" for rule, value, n in _rules(one)]
    lines += ["", "## What was left out", "", "| what | number |", "|---|---|"]
    lines += [f"| {reason} | {number:,} |" for reason, number in report["left_out"].items()]
    for test, one in report["tests"].items():
        lines += [f"| {test}: too few graphs for kind {kind} | {number:,} |" for kind, number in one["missing"].items()]
    lines += ["", "## How it was made", "", "| option | value |", "|---|---|"]
    lines += [f"| {name} | {_text(value)} |" for name, value in report["made_by"].items()]
    return "\n".join([*lines, ""])


def _rules(one: Json) -> Iterator[tuple[str, float | None, int]]:
    if one["blind"] is not None:
        yield "blind baseline, cross-validated", one["blind"]["value"], one["blind"]["n"]
    for rule in one["probes"]:
        yield rule["name"], rule["value"], rule["n"]


def _shown(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def _text(value: Any) -> str:
    return ", ".join(f"{name} {one}" for name, one in value.items()) if isinstance(value, Mapping) else str(value)

"""Makes pairs of questions from scene graphs, for your own tests or for training, with their files and report."""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any, Literal

from vlgate import __version__
from vlgate.audit.blind_baseline import probe
from vlgate.errors import OptionError, UnknownNameError, escaped
from vlgate.images.files import missing_image
from vlgate.making.inputs.reading import distinct_graphs, refuse_others
from vlgate.making.kinds.kind import kind_of
from vlgate.making.sets.folder import BIAS, PAGE, digests, opened
from vlgate.making.sets.report import GATED, how_made, share
from vlgate.making.sets.text_alone import BLIND, above, probe_rows, row, warning
from vlgate.making.word_tables import extended
from vlgate.perturb.questions import BEYOND, TESTS, Corpus, Generator, Made, QuestionPair, Test
from vlgate.sources.graphs.files import vocabulary_of
from vlgate.sources.graphs.question_files import ENDINGS, images_in, write_questions
from vlgate.types import Ask, Case, Task

FORMS: Mapping[str, str] = {
    "cases": "cases/questions.jsonl",
    "release": "carets/data/questions",
    "carets": "carets/data/questions",
    "jsonl": "questions.jsonl",
    "gqa": "questions.json",
}
"""The formats, each with its file in the folder of the set; ``release`` and ``carets`` are the same, a folder."""

Json = dict[str, Any]


def files_of(pairs: Sequence[QuestionPair], form: str) -> tuple[dict[str, str], int]:
    if form == "cases":
        lines = "".join(f"{json.dumps(_case(pair), ensure_ascii=False)}\n" for pair in pairs)
        return {FORMS[form]: lines}, 2 * len(pairs)
    with tempfile.TemporaryDirectory() as place:
        made = Path(place, "made")
        count = write_questions(pairs, made, "carets" if form == "release" else form)
        if made.is_dir():
            texts = {f"{FORMS[form]}/{path.name}": path.read_text(encoding="utf-8") for path in sorted(made.iterdir())}
        else:
            texts = {FORMS[form]: made.read_text(encoding="utf-8")}
    return texts, count


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


def report_of(
    made: Mapping[Test, Made], left_out: Mapping[str, int], graphs: tuple[int, int], made_by: Mapping[str, Any]
) -> Json:
    fewest, short = min(len(one.pairs) for one in made.values()), any(one.wanting for one in made.values())
    # what graphs lack for a test says nothing of how many more have it
    enough = (graphs[1] if fewest >= GATED else None) if short or not fewest else ceil(GATED * graphs[1] / fewest)
    return {
        "schema": 1,
        "kind": "questions",
        "shape": "questions",
        "graphs": graphs[0],
        "gate": {"cases": GATED, "inputs": enough, "given": graphs[1]},
        "left_out": dict(sorted(left_out.items())),
        "tests": {test: _test_report(test, one) for test, one in made.items()},
        "made_by": dict(made_by),
    }


def _test_report(test: Test, made: Made) -> Json:
    cases = []
    for pair in made.pairs:
        image = missing_image(pair.graph.id, ())  # only texts are read
        asked = zip(pair.questions, pair.choices, strict=True)
        requests = tuple(Ask(image=image, question=text, choices=choices) for text, choices in asked)
        cases.append(Case(id=pair.id, requests=requests, truths=pair.answers))
    task = Task(
        id=f"made/{test}",
        capability="invariance" if test.endswith("-inv") else "directional",
        shape="questions",
        cases=tuple(cases),
    )
    worth = len({(pair.graph.id, *pair.questions) for pair in made.pairs})  # of one image, with many perturbations
    rows = probe_rows(probe(task), worth)
    blind = _blind(task, rows[0]["chance"], worth) if any(not pair.perturbation for pair in made.pairs) else None
    return {
        "pairs": len(made.pairs),
        "images": len({pair.graph.id for pair in made.pairs}),
        "missing": dict(made.wanting),
        "blind": blind,
        "probes": rows,
        "warning": warning(above(rows if blind is None else [blind, *rows], worth), "", _REMEDY),
    }


_REMEDY = "compare a model with these figures instead of chance"


def _blind(task: Task, chance: float, worth: int) -> Json:
    from vlgate.models.reference.blind import Blind  # imports the table of all models

    model = Blind()
    model.prepare([task])
    asked = [(r, str(t)) for case in task.cases for r, t in zip(case.requests, case.truths, strict=True)]
    answers = model.answer([request for request, _ in asked if isinstance(request, Ask)])
    value = sum(answer == truth for answer, (_, truth) in zip(answers, asked, strict=True)) / len(asked)
    return row(BLIND, value, len(asked), worth, chance=chance)


def as_page(report: Json) -> str:
    lines = ["# questions", "", "## What text alone gives away", "", "| test | rule | right | chance | questions |"]
    lines.append("|---|---|---|---|---|")
    for test, one in report["tests"].items():
        rules = [rule for rule in (one["blind"], *one["probes"]) if rule is not None]
        cells = (f"{share(rule['value'])} | {share(rule['chance'])} | {rule['n']:,}" for rule in rules)
        lines += [f"| {test} | {rule['name']} | {cell} |" for rule, cell in zip(rules, cells, strict=True)]
    lines += [line for text in _warnings(report) for line in ("", f"Beware: {text}.")]
    lines += ["", "## What was left out", "", "| what | number |", "|---|---|"]
    lines += [f"| {reason} | {number:,} |" for reason, number in report["left_out"].items()]
    for test, one in report["tests"].items():
        lines += [f"| {test}: too few graphs for kind {kind} | {number:,} |" for kind, number in one["missing"].items()]
    return "\n".join([*lines, "", *how_made(report["made_by"]), ""])


def _warnings(report: Json) -> list[str]:
    return [f"{test}: {one['warning']}" for test, one in report["tests"].items() if one["warning"]]


# Make pairs of questions from scene graphs, for your own tests or for training.
# The generator is the one that makes the tasks of a run (CARETS, section 4). For training data (the paper's Table 5),
# give another seed, and leave out the images of the test with --without.

QUESTIONS = kind_of("questions")
SHOWN = 5  # how many unknown names are listed


def run(given: argparse.Namespace) -> int:
    """Make the pairs and write them; counts of what was made and left out are printed on stderr."""
    if given.format not in FORMS:
        raise UnknownNameError("format of questions", given.format, FORMS)
    asked, size = [_test(name) for name in dict.fromkeys(given.tests.split(","))], _size(given)
    tests = [test for test in asked if given.format == "jsonl" or test in ENDINGS]
    form = f"--format {given.format} has no form for perturbed images"
    if not tests:
        raise OptionError(f"--tests {given.tests}: {form}; take --format jsonl, or add one of {', '.join(ENDINGS)}")
    names = ("format", "tests", "size", "limit", "seed", "shares", "faults", "wordnet")
    sources = {part: digests(getattr(given, part)) for part in ("files", "without")}
    refuse_others(given.files, QUESTIONS.takes)
    made_by = {"vlgate": __version__, "kind": "questions", **{name: getattr(given, name) for name in names}, **sources}
    with opened(given.out, made_by, overwrite=given.overwrite) as folder:
        left_out: Counter[str] = Counter()
        generator = _generator(given, left_out)
        made = {test: generator.make(test, size=size, seed=given.seed) for test in tests}
        left_out += generator.corpus.left_out
        for line in _account(made, generator.corpus, left_out):
            _say(line)
        used = len({pair.graph.id for one in made.values() for pair in one.pairs})
        _say(f"{used:,} graphs gave pairs; the others give none that a test still needs")
        if len(tests) < len(asked):
            _say(f"not made: {', '.join(test for test in asked if test not in tests)}; {form}, take jsonl")
        files, written = files_of([pair for one in made.values() for pair in one.pairs], given.format)
        if not written:
            graphs = " ".join(map(str, given.files))
            raise OptionError(f"--from {graphs}: give no question for {given.tests}; give more graphs")
        numbers = used, len(generator.corpus.views)
        report = report_of(made, left_out, numbers, made_by) | {"files": sorted(files)}
        content = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
        folder.finish(files, {PAGE: as_page(report), BIAS: content}, overwrite=given.overwrite)
    for text in _warnings(report):
        _say(f"beware: {text}")
    gate, inputs = report["gate"], report["gate"]["inputs"]
    need = f"more than these {gate['given']:,} graphs" if inputs is None else f"at most {inputs:,} graphs such as these"
    _say(f"{written:,} questions in {given.out}; a gate of {GATED} cases of each test needs {need}")
    return 0


def _generator(given: argparse.Namespace, left_out: Counter[str]) -> Generator:
    without = frozenset(chain.from_iterable(images_in(file) for file in given.without))
    faults: Literal["fail", "leave out"] = "fail" if given.faults == "fail" else "leave out"
    graphs = list(distinct_graphs(given.files, faults, left_out, Counter(), without))
    ontology = vocabulary_of(given.files)
    if given.wordnet is not None:
        ontology = extended(ontology, graphs, given.wordnet)
    try:
        return Generator(Corpus(graphs, ontology), given.shares)
    except ValueError as error:
        listed = ", ".join(f"{number:,} x {reason}" for reason, number in sorted(left_out.items()))
        reasons = f"; left out: {listed}" if left_out else ""
        raise OptionError(f"--from {' '.join(map(str, given.files))}: {error}{reasons}") from None


def _test(name: str) -> Test:
    found = next((test for test in (*TESTS, *BEYOND) if test == name), None)
    if found is None:
        raise UnknownNameError("test in --tests", name, (*TESTS, *BEYOND))
    return found


def _size(given: argparse.Namespace) -> int | None:
    if given.limit is not None:
        if given.limit < 1:
            raise OptionError(f"--limit {given.limit}: expected a whole number above 0")
        if given.size != "paper":
            raise OptionError(f"--size {given.size}: --limit {given.limit} says the same; leave one of them out")
        return int(given.limit)
    text = given.size
    if text == "paper":
        return None
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise OptionError(f"--size {text}: expected a whole number above 0, or paper")
    return int(text)


def _account(made: Mapping[Test, Made], corpus: Corpus, left_out: Mapping[str, int]) -> Iterator[str]:
    yield f"{len(corpus.views):,} graphs"
    for reason, number in sorted(left_out.items()):
        yield f"left out: {number:,} x {reason}"
    if corpus.unknown:
        names = ", ".join(f"{name} ({number})" for name, number in corpus.unknown.most_common(SHOWN))
        yield f"unknown names: {len(corpus.unknown):,}, most often {names}; see --wordnet"
    for test, one in made.items():
        missing = ", ".join(f"{kind} {number:,}" for kind, number in one.wanting.items())
        yield f"{test}: {len(one.pairs):,} pairs" + (f"; missing, for lack of graphs: {missing}" if missing else "")


def _say(line: str) -> None:
    print(escaped(line), file=sys.stderr)  # noqa: T201  # what a command is for

"""metrics.json and verdict.json: their schemas, real runs, their bytes, and the ladder of verdicts."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from builders import json_table, tabled, write_lines
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.report.page.page_runs import DIGESTS, decided
from vlgate import types
from vlgate.asking.checks.check import Check, CheckOutcome
from vlgate.gates import records
from vlgate.record.digests import rows_digest
from vlgate.record.json_files import canonical, environment_content, write_verdict
from vlgate.record.model_card import CacheUse
from vlgate.record.options import Options
from vlgate.record.parquet import write_cases
from vlgate.record.replies import UNASKED
from vlgate.record.schema import fitted, schema_of
from vlgate.record.verdict import outcome_of
from vlgate.report.folder import write_figures

METRICS = schema_of("metrics.json")
VALIDATOR = Draft202012Validator(METRICS)
TRUE_TEXTS = """
class Model:
    decision_threshold = -15.0
    def match(self, pairs):
        return [-float(len(pair.text)) for pair in pairs]

def build():
    return Model()
"""


@pytest.fixture
def real_run(pytester, monkeypatch):
    """Run the suite in a folder of its own; returns metrics.json."""
    monkeypatch.delenv("VLGATE_DATA", raising=False)

    def running(*arguments):
        pytester.runpytest_subprocess("--pyargs", "tests_vl", "--results=out", "-q", *arguments)
        return json.loads((pytester.path / "out" / "metrics.json").read_text(encoding="utf-8"))

    return running


@pytest.fixture
def valse(pytester):
    """A data folder with six records of VALSE, and replies to all of them but one."""
    folder = pytester.path / "data" / "valse"
    folder.mkdir(parents=True)
    records = {}
    for number in range(6):
        texts = {"caption": f"There are {number} dogs.", "foil": f"There are no {number} dogs."}
        origin = {"dataset": "visual7w", "original_split": "test", "linguistic_phenomena": "existence"}
        kind = "zero_to_something" if number % 2 else "something_to_zero"
        classes = {"classes": 0, "classes_foil": [1], "provenance_of_foils": kind}
        votes = {"caption": 3, "foil": 0, "other": 0}
        records[f"record_{number}"] = {"image_file": f"v7w_{number}.jpg", **texts, **origin, **classes, "mturk": votes}
    (folder / "existence.json").write_text(json.dumps(records))
    rows = [
        {"image": record["image_file"], "text": record[kind], "score": score, "match": score > 0.5}
        for record in list(records.values())[:5]
        for kind, score in (("caption", 0.75), ("foil", 0.25))
    ]
    write_lines(pytester.path / "replies.jsonl", rows)
    (pytester.path / "thresholds.toml").write_text('schema = 1\n[gate."*/*".acc_r]\nmin = 0.5\nwhy = "a coin"\n')
    return "--data=data"


@pytest.fixture(scope="module")
def example():
    """The smallest metrics.json."""
    model = {"name": "m", "weights": "", "fingerprint": "", "adapters": {}, "notes": [], "checks": []}
    run = {"seed": 0, "limit": None, "ties": "strict", "missing_images": "fail", "suite": [], "thresholds": "t.toml"}
    names = ("cases", "judged", "unscored", "skipped", "deselected", "images", "tied", "unread", "cut")
    counts = dict.fromkeys(names, 1)
    metric = {"value": 0.5, "low": 0.25, "high": 0.75, "n": 1}
    task = {"capability": "foil", **counts, "left_out": {}, "note": "", "slices": {}}
    threshold = {"min": 0.5, "max": None, "basis": "lower", "confidence": 0.95}
    decision = {"kind": "gate", "decision": "pass", "why": "", "reason": ""}
    return {
        "schema": 2,
        "complete": True,
        "model": model,
        "run": {**run, "protocols": []},
        "tasks": {"a/b": {**task, "metrics": {"acc_r": {**metric, "deff": 1.5}}}},
        "averages": {"valse:acc_r": {"value": 0.5, "tasks": 1, "of": 11}},
        "gaps": {"vl-checklist/object/size:large-small": {"value": -0.25, "tasks": 1}},
        "gates": [{"gate": "a/b:acc_r", **metric, **threshold, **decision}],
    }


@pytest.mark.slow
def test_a_run_of_the_embedded_scenes_fits(real_run):
    written = real_run("--limit=3")
    VALIDATOR.validate(written)
    assert len(written["tasks"]) > 10
    assert all("blind" in metric for task in written["tasks"].values() for metric in task["metrics"].values())
    assert any("responses" in task for task in written["tasks"].values())
    assert all("flaws" in task for task in written["tasks"].values())


@pytest.mark.slow
def test_a_run_with_variants_slices_averages_and_an_unscored_case_fits(real_run, valse):
    written = real_run(valse, "--model=replay:replies.jsonl", "--protocol=valse_paper_ties", "--health=off", "--seed=7")
    VALIDATOR.validate(written)
    task = written["tasks"]["valse/existence"]
    assert "acc_r@valse_paper_ties" in task["metrics"]
    assert (task["unscored"], len(task["slices"]), "flaws" in task) == (1, 3, False)
    assert written["averages"]["valse:acc_r"]["of"] == 11
    assert [gate["decision"] for gate in written["gates"]] == ["inconclusive"]


@pytest.mark.slow
def test_a_run_with_deselected_and_skipped_cases_fits(real_run, valse, pytester):
    (pytester.path / "mine.py").write_text(TRUE_TEXTS)
    chosen = "existence:record_1 or existence:record_2"
    written = real_run(valse, "--model=mine:build", "--missing-images=skip", "-k", chosen)
    VALIDATOR.validate(written)
    task = written["tasks"]["valse/existence"]
    assert task["deselected"] == 4
    assert task["skipped"] + task["judged"] == 2


def objects_of(value, path=()):
    """All objects within a JSON value, by their paths."""
    if isinstance(value, dict):
        yield path, value
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from objects_of(inner, (*path, key))


FIXED = [(), ("model",), ("run",), ("tasks", "a/b"), ("tasks", "a/b", "metrics", "acc_r"), ("gates", 0)]


def changed(example, path, change):
    copy = json.loads(json.dumps(example))
    change(dict(objects_of(copy))[path])
    return copy


@pytest.mark.parametrize("path", FIXED, ids=lambda path: "/".join(map(str, path)) or "top")
def test_a_new_a_missing_and_a_renamed_key_are_refused(example, path):
    VALIDATOR.validate(example)
    for key in dict(objects_of(example))[path]:
        assert not VALIDATOR.is_valid(changed(example, path, lambda found, key=key: found.pop(key)))
        renamed = changed(example, path, lambda found, key=key: found.update({f"{key}_": found.pop(key)}))
        assert not VALIDATOR.is_valid(renamed)
    assert not VALIDATOR.is_valid(changed(example, path, lambda found: found.update(new=1)))


@tabled
def test_a_value_that_does_not_fit_is_refused(example, path, key, value):
    assert not VALIDATOR.is_valid(changed(example, path, lambda found: found.update({key: value})))


@pytest.mark.parametrize(
    ("definition", "key", "literal"),
    [
        ("task", "capability", types.Capability),
        ("run", "ties", types.Ties),
        ("gate", "decision", records.Outcome),
        ("check", "outcome", CheckOutcome),
    ],
)
def test_the_schema_names_the_values_of_the_types(definition, key, literal):
    assert METRICS["$defs"][definition]["properties"][key]["enum"] == list(get_args(literal))


@pytest.mark.parametrize("name", ["metrics", "verdict", "environment", "controls"])
def test_each_schema_of_a_file_of_a_run_is_one(name):
    Draft202012Validator.check_schema(schema_of(f"{name}.json"))


def test_the_environment_of_a_run_fits_and_its_schema_has_every_option(tmp_path):
    options = Options(folder=tmp_path, thresholds=None, results=tmp_path)
    content = environment_content(options, 1, CacheUse())
    schema = schema_of("environment.json")
    Draft202012Validator(schema).validate(content)
    assert list(schema["$defs"]["options"]["properties"]) == list(content["options"])


VALUES = [None, True, 0, -1, 2, 0.5, 2.5, 10**30, "", "x", "3/4", [], ["x"], ["x", "x"], [1], {}, {"a": 1}, {"a": {}}]


def reads(content):
    try:
        fitted(content, METRICS, METRICS)
    except ValueError:
        return False
    return True


def test_the_reader_refuses_what_the_schema_refuses_except_for_unknown_keys(example):
    """Integers that JSON Schema takes besides, such as 2.0 and one of 100 bits, are refused, too."""
    open_schema = json.loads(
        json.dumps(METRICS).replace('"additionalProperties": false', '"additionalProperties": true')
    )
    validator = Draft202012Validator(open_schema)
    refused = 0
    for path, found in objects_of(example):
        for key, value in itertools.product(found, VALUES):
            broken = changed(example, path, lambda inner, key=key, value=value: inner.update({key: value}))
            fits = validator.is_valid(broken) and value != 10**30
            assert reads(broken) == fits, (path, key, value)
            refused += not fits
    assert refused > 500


VERDICT = Draft202012Validator(schema_of("verdict.json"))


@pytest.fixture
def verdict_of(tmp_path, card, options):
    def write(run, model=card):
        file = tmp_path / "verdict.json"
        write_verdict(file, run, model, options)
        content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        if content is not None:
            VERDICT.validate(content)
        return content

    return write


ROWS = json_table(Path(__file__).with_name("test_release.tsv"), "the_worst_comes_first")
LADDER = [
    *((decided(*outcomes, tests=tests), word.lower()) for outcomes, tests, word, _ in ROWS),
    (decided("pass", "fail", incomplete="stopped"), "incomplete"),
    (decided("pass", "fail", incomplete="stopped", crashed=True), "broken"),
    (decided("pass", crashed=True), "broken"),
    (decided("pass", tests=2, incomplete="Ctrl-C"), "incomplete"),
]


@pytest.mark.parametrize(("run", "expected"), LADDER, ids=map(str, range(len(LADDER))))
def test_the_first_word_of_the_ladder_that_applies_is_the_verdict(verdict_of, run, expected):
    found = verdict_of(run)
    assert found["verdict"] == expected
    assert (found["status"] == 0) == (expected == "pass")


def test_without_a_judged_task_an_earlier_file_is_removed(verdict_of):
    assert verdict_of(decided("pass")) is not None
    assert verdict_of(decided("pass", digests=None)) is None


def test_a_failed_check_of_the_model_is_broken(card):
    failed = replace(card, checks=(Check(name="polarity", outcome="failed", why="it raised"),))
    assert outcome_of(decided("pass"), failed).verdict == "broken"
    suspect = replace(card, checks=(Check(name="polarity", outcome="suspect", why="upside down"),))
    assert outcome_of(decided("pass"), suspect).verdict == "pass"


def test_a_case_that_could_not_be_scored_is_broken_and_one_that_was_never_asked_is_not(run, passing, card):
    assert outcome_of(run, card).verdict == "broken"  # its image is cut off
    assert outcome_of(passing, card).verdict == "pass"
    result = run.results[0]
    asked = list(result.verdicts)
    [lost] = [row for row, verdict in enumerate(asked) if verdict.state == "unscored"]
    replies = tuple(replace(reply, problem=UNASKED) for reply in asked[lost].predictions)
    asked[lost] = replace(asked[lost], predictions=replies)
    unasked = replace(run, results=(replace(result, verdicts=asked), *run.results[1:]), incomplete="stopped")
    assert outcome_of(unasked, card).verdict == "incomplete"


def test_the_status_of_another_failed_test_is_kept(verdict_of):
    found = verdict_of(decided("pass", tests=1))
    assert (found["verdict"], found["status"], found["tests"]) == ("fail", 1, 1)
    assert verdict_of(decided("pass", incomplete="Ctrl-C", tests=2))["status"] == 2
    found = verdict_of(decided("fail"))
    assert (found["status"], found["tests"]) == (1, 0)


def test_the_figures_are_texts_and_the_bytes_those_of_canonical_json(verdict_of, passing, tmp_path):
    found = verdict_of(replace(passing, digests=DIGESTS))
    (decision,) = found["decisions"]
    figures = [decision[key] for key in ("value", "min", "confidence", "n")]
    assert figures == ["0.882353", "0.600000", "0.950000", 34]
    assert found["cases"] == {"cases": 34, "judged": 34, "unscored": 0, "skipped": 0, "deselected": 0}
    assert (tmp_path / "verdict.json").read_bytes() == f"{slow(found)}\n".encode()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
contents = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab_é", max_size=3), inner, max_size=3),
    max_leaves=8,
)


def slow(value):
    """RFC 8785 without numbers with a fraction, letter by letter."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{slow(key)}:{slow(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(slow, value)) + "]"
    if isinstance(value, str):
        short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        return '"' + "".join(short.get(c, f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in value) + '"'
    return "null" if value is None else str(value).lower()


@given(contents)
def test_the_form_is_that_of_rfc_8785(content):
    assert canonical(content) == slow(content)


@pytest.mark.parametrize("content", [0.5, {"a": [1, 1.0]}, [float("nan")]])
def test_floats_are_refused(content):
    with pytest.raises(TypeError, match="expected no floats"):
        canonical(content)


def test_the_program_of_the_docs_computes_the_digest_of_the_rows_from_the_files(
    tmp_path, run, pytestconfig, monkeypatch, capsys
):
    page = (pytestconfig.rootpath / "docs" / "verdict.md").read_text(encoding="utf-8")
    (tmp_path / "results").mkdir()
    write_cases(tmp_path / "results" / "cases.parquet", run)
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], {})
    printed = capsys.readouterr().out.strip()
    assert printed == rows_digest((result.task.id, result.verdicts) for result in run.results)


def test_another_fact_answer_or_state_is_another_digest(run):
    def digest(change):
        changed = [[change(index, verdict) for index, verdict in enumerate(result.verdicts)] for result in run.results]
        return rows_digest(zip((result.task.id for result in run.results), changed, strict=True))

    same = digest(lambda _, one: one)
    for to in ({"facts": {"acc_r": 0.5}}, {"state": "skipped"}, {"predictions": ()}):
        assert digest(lambda place, one, to=to: one if place else replace(one, **to)) != same
    assert digest(lambda _, one: replace(one, why="in other words")) == same


@pytest.mark.parametrize("name", ["metrics.json", "summary.md"])
def test_a_file_that_cannot_be_written_makes_the_run_incomplete(tmp_path, passing, card, options, name):
    (tmp_path / name).mkdir()
    problems = write_figures(replace(passing, digests=DIGESTS), card, replace(options, results=tmp_path), 1)
    assert any(name in problem for problem in problems)
    assert json.loads((tmp_path / "verdict.json").read_text())["verdict"] == "incomplete"
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "incomplete"


@tabled
def test_what_does_not_fit_the_schema_is_refused(verdict_of, change):
    content = verdict_of(decided("pass"))
    for key in VERDICT.schema["required"]:
        assert not VERDICT.is_valid({name: value for name, value in content.items() if name != key})
    assert not VERDICT.is_valid({**content, **change})

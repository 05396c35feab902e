"""metrics.json of real runs, held against its JSON Schema."""

import itertools
import json
from typing import get_args

import pytest
from builders import write_lines
from jsonschema import Draft202012Validator

from vlgate import types
from vlgate.asking.checks.check import CheckOutcome
from vlgate.gates import records
from vlgate.record.json_files import environment_content
from vlgate.record.model_card import CacheUse
from vlgate.record.options import Options
from vlgate.record.schema import fitted, schema_of

SCHEMA = schema_of("metrics.json")
VALIDATOR = Draft202012Validator(SCHEMA)
TRUE_TEXTS = """
class Model:
    decision_threshold = -15.0
    def match(self, pairs):
        return [-float(len(pair.text)) for pair in pairs]

def build():
    return Model()
"""


@pytest.fixture
def run(pytester, monkeypatch):
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
def test_a_run_of_the_embedded_scenes_fits(run):
    written = run("--limit=3")
    VALIDATOR.validate(written)
    assert len(written["tasks"]) > 10
    assert all("blind" in metric for task in written["tasks"].values() for metric in task["metrics"].values())
    assert any("responses" in task for task in written["tasks"].values())
    assert all("flaws" in task for task in written["tasks"].values())


@pytest.mark.slow
def test_a_run_with_variants_slices_averages_and_an_unscored_case_fits(run, valse):
    written = run(valse, "--model=replay:replies.jsonl", "--protocol=valse_paper_ties", "--health=off", "--seed=7")
    VALIDATOR.validate(written)
    task = written["tasks"]["valse/existence"]
    assert "acc_r@valse_paper_ties" in task["metrics"]
    assert (task["unscored"], len(task["slices"]), "flaws" in task) == (1, 3, False)
    assert written["averages"]["valse:acc_r"]["of"] == 11
    assert [gate["decision"] for gate in written["gates"]] == ["inconclusive"]


@pytest.mark.slow
def test_a_run_with_deselected_and_skipped_cases_fits(run, valse, pytester):
    (pytester.path / "mine.py").write_text(TRUE_TEXTS)
    chosen = "existence:record_1 or existence:record_2"
    written = run(valse, "--model=mine:build", "--missing-images=skip", "-k", chosen)
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


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ((), "schema", 1),
        (("tasks", "a/b"), "cases", 1.5),
        (("tasks", "a/b"), "capability", "foils"),
        (("tasks", "a/b", "metrics", "acc_r"), "value", 66.9),
        (("tasks", "a/b", "metrics", "acc_r"), "deff", 0.5),
        (("tasks", "a/b", "metrics", "acc_r"), "blind", 0.5),
        (("tasks", "a/b", "metrics"), "acc r", {"value": 0.5, "low": 0.5, "high": 0.5, "n": 1, "deff": 1.0}),
        (("gates", 0), "decision", "passed"),
        (("averages",), "valse:acc", 0.5),
    ],
)
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
    assert SCHEMA["$defs"][definition]["properties"][key]["enum"] == list(get_args(literal))


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
        fitted(content, SCHEMA, SCHEMA)
    except ValueError:
        return False
    return True


def test_the_reader_refuses_what_the_schema_refuses_except_for_unknown_keys(example):
    """Integers that JSON Schema takes besides, such as 2.0 and one of 100 bits, are refused, too."""
    open_schema = json.loads(
        json.dumps(SCHEMA).replace('"additionalProperties": false', '"additionalProperties": true')
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

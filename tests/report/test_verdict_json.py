"""verdict.json: its ladder, its bytes, its schema, and its digests."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vlgate.asking.checks.check import Check
from vlgate.gates.records import Decision, Gate
from vlgate.record.digests import Digests, rows_digest
from vlgate.record.json_files import canonical, write_verdict
from vlgate.record.parquet import write_cases
from vlgate.record.replies import UNASKED
from vlgate.record.results import RunResult
from vlgate.record.schema import schema_of
from vlgate.record.verdict import outcome_of
from vlgate.report.folder import write_figures

VALIDATOR = Draft202012Validator(schema_of("verdict.json"))
FILE, ROWS = f"sha256:{'0' * 64}", f"sha256:{'2' * 64}"
DIGESTS = Digests(thresholds=FILE, must_hold=None, plan=f"blake2b:{'1' * 32}", rows=ROWS)


def decided(*outcomes):
    gates = [Gate(task="a/b", metric=f"m{number}", min=0.5) for number in range(len(outcomes))]
    made = tuple(Decision(gate=gate, outcome=outcome, why="") for gate, outcome in zip(gates, outcomes, strict=True))
    return RunResult(results=(), decisions=made, digests=DIGESTS)


@pytest.fixture
def written(tmp_path, card, options):
    def write(run, model=card):
        file = tmp_path / "verdict.json"
        write_verdict(file, run, model, options)
        content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        if content is not None:
            VALIDATOR.validate(content)
        return content

    return write


LADDER = [
    (decided("pass"), "pass"),
    (decided("pass", "cannot", "not run"), "pass"),
    (decided("pass", "inconclusive"), "inconclusive"),
    (decided("pass", "inconclusive", "fail"), "fail"),
    (replace(decided("pass", "fail"), incomplete="stopped"), "incomplete"),
    (replace(decided("pass", "fail"), incomplete="stopped", crashed=True), "broken"),
    (replace(decided("pass"), crashed=True), "broken"),
    (decided("cannot", "not run"), "not gated"),
    (decided(), "not gated"),
    (replace(decided("pass"), tests=1), "fail"),
    (replace(decided("inconclusive"), tests=1), "fail"),
    (replace(decided("not run"), tests=3), "fail"),
    (replace(decided("pass"), tests=2, incomplete="Ctrl-C"), "incomplete"),
]


@pytest.mark.parametrize(("run", "expected"), LADDER, ids=[str(index) for index in range(len(LADDER))])
def test_the_first_word_of_the_ladder_that_applies_is_the_verdict(written, run, expected):
    found = written(run)
    assert found["verdict"] == expected
    assert (found["status"] == 0) == (expected == "pass")


def test_without_a_judged_task_an_earlier_file_is_removed(written):
    assert written(decided("pass")) is not None
    assert written(replace(decided("pass"), digests=None)) is None


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


def test_the_status_of_another_failed_test_is_kept(written):
    found = written(replace(decided("pass"), tests=1))
    assert (found["verdict"], found["status"], found["tests"]) == ("fail", 1, 1)
    assert written(replace(decided("pass"), incomplete="Ctrl-C", tests=2))["status"] == 2
    found = written(decided("fail"))
    assert (found["status"], found["tests"]) == (1, 0)


def test_the_figures_are_texts_and_the_bytes_those_of_canonical_json(written, passing, tmp_path):
    found = written(replace(passing, digests=DIGESTS))
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


@pytest.mark.parametrize(
    "change",
    [
        {"new": 1},
        {"status": 0, "verdict": "fail"},
        {"status": 1},
        {"verdict": "passed"},
        {"digests": {}},
        {"schema": 2},
    ],
)
def test_what_does_not_fit_the_schema_is_refused(written, change):
    content = written(decided("pass"))
    for key in VALIDATOR.schema["required"]:
        assert not VALIDATOR.is_valid({name: value for name, value in content.items() if name != key})
    assert not VALIDATOR.is_valid({**content, **change})

"""verdict.json of real runs."""

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

METRICS = Draft202012Validator(json.loads(files("vlgate.record").joinpath("metrics.schema.json").read_text("utf-8")))
GATES = '[gate."valse/*".acc_r]\nmin = {}\n'


@pytest.fixture
def data(place):
    place.valse(n=40)
    place.thresholds(GATES.format(0.5))
    return place


def verdict(place, folder="out"):
    return json.loads((place.path / folder / "verdict.json").read_text())


def test_one_process_and_two_write_the_same_bytes(data, right):
    assert data.run(right, "--results=one").ret == 0
    assert data.run(right, "--results=two", "-n", "2").ret == 0
    first, second = ((data.path / folder / "verdict.json").read_bytes() for folder in ("one", "two"))
    assert first == second
    found = verdict(data, "one")
    assert (found["verdict"], found["status"], found["gates"]["pass"]) == ("pass", 0, 1)
    assert str(data.path) not in first.decode()


def test_other_thresholds_are_another_digest_and_the_same_rows(data, right):
    data.run(right)
    before = verdict(data)
    data.thresholds(GATES.format(0.99))
    assert data.run(right).ret == 1
    after = verdict(data)
    assert (after["verdict"], after["status"]) == ("inconclusive", 1)
    same = {name for name, value in before["digests"].items() if value == after["digests"][name]}
    assert same == {"must_hold", "plan", "rows"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def match(self, pairs):\n    return [float(len(pair.text)) for pair in pairs]", "fail"),
        ("def match(self, pairs):\n    raise ValueError('no')", "broken"),
        ("def match(self, pairs):\n    raise KeyboardInterrupt", "incomplete"),
    ],
)
def test_what_does_not_pass_says_so_and_has_no_status_of_0(data, body, expected):
    status = data.run(data.model(body), subprocess=expected == "incomplete").ret
    found = verdict(data)
    assert (found["verdict"], found["status"]) == (expected, int(status))
    assert status != 0


def test_a_run_without_a_judged_gate_says_so_and_has_no_status_of_0(data, right):
    data.run(right)
    data.thresholds("")
    assert data.run(right).ret == 0
    said = json.loads((data.path / "out" / "verdict.json").read_text())
    assert (said["verdict"], said["status"]) == ("not gated", 1)


WRONG = """
def match(self, pairs):
    return [float(('no ' not in pair.text) == bool(int(pair.text.split()[-2]) % 4)) for pair in pairs]
"""
TWO = '[gate."valse/*".acc_r]\nmin = 0.88\n[limit."valse/*".acc_r]\nmax = 0.99\n'


@pytest.mark.parametrize(
    ("correction", "outcome"), [("none", "fail"), ("holm", "inconclusive"), ("bh", "inconclusive")]
)
def test_a_fail_that_two_gates_explain_is_inconclusive_on_request(data, correction, outcome):
    data.thresholds(f'[defaults]\nfail_correction = "{correction}"\n{TWO}')
    result = data.run(data.model(WRONG))
    assert result.ret == 1
    found = data.metrics()
    METRICS.validate(found)
    (gate,) = (one for one in found["gates"] if one["kind"] == "gate")
    assert (gate["decision"], round(gate["p"], 4)) == (outcome, 0.0175)
    assert (found["error_rates"]["gates"], found["error_rates"]["correction"]) == (2, correction)
    assert verdict(data)["verdict"] == outcome
    result.stdout.fnmatch_lines(["false alarms: a model exactly on the thresholds of all 2 gates sees at least one *"])
    assert "## Error rates of the gates" in (data.path / "out" / "summary.md").read_text()

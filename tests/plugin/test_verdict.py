"""verdict.json of real runs, and the decisions of vlgate judge about them."""

import json
import shutil

import pytest

from vlgate.cli import main

GATES = '[gate."valse/*".acc_r]\nmin = {}\n'


@pytest.mark.slow
def test_one_process_and_two_write_the_same_bytes(data, right):
    assert data.run(right, "--results=one").ret == 0
    assert data.run(right, "--results=two", "-n", "2").ret == 0
    first, second = ((data.path / folder / "verdict.json").read_bytes() for folder in ("one", "two"))
    assert first == second
    found = data.verdict("one")
    assert (found["verdict"], found["status"], found["gates"]["pass"]) == ("pass", 0, 1)
    assert str(data.path) not in first.decode()


def test_other_thresholds_are_another_digest_and_the_same_rows(data, right):
    data.run(right)
    before = data.verdict()
    data.thresholds(GATES.format(0.99))
    assert data.run(right).ret == 1
    after = data.verdict()
    assert (after["verdict"], after["status"]) == ("inconclusive", 1)
    same = {name for name, value in before["digests"].items() if value == after["digests"][name]}
    assert same == {"must_hold", "plan", "rows"}


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
    result = data.run(data.model(WRONG), ret=1)
    found = data.metrics()
    (gate,) = (one for one in found["gates"] if one["kind"] == "gate")
    assert (gate["decision"], round(gate["p"], 4)) == (outcome, 0.0175)
    assert (found["error_rates"]["gates"], found["error_rates"]["correction"]) == (2, correction)
    assert data.verdict()["verdict"] == outcome
    result.stdout.fnmatch_lines(["false alarms: a model exactly on the thresholds of all 2 gates sees at least one *"])
    assert "## Error rates of the gates" in (data.path / "out" / "summary.md").read_text()


def test_the_decisions_and_the_status_of_a_run_are_those_of_the_command(place, capsys):
    place.valse()
    place.valse(file="plurals.json")
    place.thresholds('[gate."valse/existence".acc_r]\nmin = 0.8\n[gate."valse/plurality".acc_r]\nmin = 0.1\n')
    live = place.run("-k=existence", model="oracle")
    shutil.copytree("out", "first")
    capsys.readouterr()
    assert main(["judge", "first", "--thresholds=thresholds.toml", "--json"]) == live.ret == 1
    found = json.loads(capsys.readouterr().out)["gates"]
    assert found == place.metrics()["gates"]
    outcomes = {one["gate"]: one["decision"] for one in found}
    assert outcomes == {"valse/existence:acc_r": "pass", "valse/plurality:acc_r": "inconclusive"}

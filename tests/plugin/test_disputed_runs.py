"""Runs with ``--disputes``: what they count, which files say so, and that they are other runs."""

import json
from pathlib import Path

import pytest

from vlgate.record.folder import read_run
from vlgate.record.judging_again import judge_again

SAID = "; with 2 disputed cases left out; with 1 disputed case corrected"


def write(place, *lines, name="disputes.jsonl"):
    lines = [{"task": "valse/existence", "evidence": "the photo shows it", **line} for line in lines]
    (place.path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.slow
def test_disputes_are_applied_and_counted_everywhere(place, right):
    place.ready('[defaults]\nmax_disputed = 0.1\n[gate."valse/*".acc_r]\nmin = 0.5\n', n=40)
    assert place.run(right).ret == 0
    before = place.verdict()
    assert not any("disput" in gate["why"] for gate in place.metrics()["gates"])
    write(place, {"case": "record_3", "claim": "wrong"}, {"case": "record_4", "claim": "ambiguous"})
    write(place, {"case": "record_5", "claim": "swapped"}, name="more.jsonl")
    result = place.run(right, "--disputes=disputes.jsonl", "--disputes=more.jsonl")
    result.stdout.fnmatch_lines(
        ["*corrected because of a dispute: 1 case in valse/existence*", "*left out as disputed (wrong): 1 case in *"]
    )
    found = place.metrics()
    task, [gate] = found["tasks"]["valse/existence"], found["gates"]
    assert (task["cases"], task["disputed"]) == (38, {"left_out": 2, "corrected": 1})
    assert task["left_out"] == {"left out as disputed (wrong)": 1, "left out as disputed (ambiguous)": 1}
    assert task["metrics"]["acc_r"]["value"] == 37 / 38  # the model that was right about record_5 is wrong now
    assert gate["why"].endswith(SAID)
    assert [Path(file).name for file in found["run"]["disputes"]] == ["disputes.jsonl", "more.jsonl"]
    out = place.path / "out"
    assert "2 disputed" in (out / "report.html").read_text()
    assert "1 corrected because of a dispute" in (out / "summary.md").read_text()
    after = json.loads((out / "verdict.json").read_text())
    assert after["digests"]["plan"] != before["digests"]["plan"]
    again = judge_again(read_run(out, "out"), place.path / "thresholds.toml", require_gates=False)
    assert [decision.why for decision in again.decisions] == [gate["why"]]


def test_an_unknown_case_refuses_the_run(place, right):
    place.valse(40)
    write(place, {"case": "record_33", "claim": "wrong"}, {"case": "rekord_7", "claim": "wrong"})
    result = place.run(right, "--disputes=disputes.jsonl", ret=4)
    result.stderr.fnmatch_lines(
        ["*disputes.jsonl, record on line 2: valse/existence has no case 'rekord_7'; did you mean 'record_7'? (*"]
    )


def many(n, claim, first=0):
    return [{"case": f"record_{number}", "claim": claim} for number in range(first, first + n)]


@pytest.mark.parametrize(
    ("lines", "key", "said"),
    [
        (many(17, "ambiguous"), "", "17 of 40 cases are disputed, more than max_disputed = 0.05"),
        (many(40, "swapped"), "", "40 of 40 cases are disputed"),
        (many(3, "broken"), "", "3 of 40 cases are disputed"),
        ([*many(2, "wrong"), *many(1, "swapped", 2)], "", "3 of 40 cases are disputed"),
        (many(1, "wrong"), "max_disputed = 0", "1 of 40 cases are disputed, more than max_disputed = 0"),
        (many(2, "ambiguous"), "", ""),
        (many(9, "ambiguous"), "max_disputed = 0.3", ""),
    ],
    ids=str,
)
def test_more_disputes_than_allowed_make_a_gate_inconclusive(place, right, lines, key, said):
    place.ready(f'[gate."valse/*".acc_r]\nmin = 0.5\nmin_cases = 20\n{key}\n', n=40)
    write(place, *lines)
    swapped = all(line["claim"] == "swapped" for line in lines)
    model = place.matching("float(len(pair.text))", name="other")
    place.run(model if swapped else right, "--disputes=disputes.jsonl", "--health=off", ret=1 if said else 0)
    assert said in place.metrics()["gates"][0]["why"]
    again = judge_again(read_run(place.path / "out", "out"), place.path / "thresholds.toml", require_gates=False)
    assert said in again.decisions[0].why


@pytest.mark.slow
def test_with_workers_and_of_a_sample_the_share_is_that_of_the_whole_task(place, right):
    place.ready('[gate."valse/*".acc_r]\nmin = 0.5\nmin_cases = 20\n', n=80)
    write(place, *many(4, "ambiguous"))
    disputed = (right, "--disputes=disputes.jsonl", "--limit=40", "--health=off")
    assert place.run(*disputed).ret == 0
    write(place, *many(5, "ambiguous"))
    assert place.run(*disputed, "-n", "2").ret == 1
    assert place.metrics()["gates"][0]["why"].startswith("5 of 80 cases are disputed")


@pytest.mark.slow
def test_a_gate_on_a_comparison_is_inconclusive_too(place, right):
    place.ready('[gate."valse/*".acc_r]\nmax_broken = 2\n', n=40)
    write(place, *many(9, "ambiguous"))
    disputed = (right, "--disputes=disputes.jsonl", "--health=off")
    place.run(*disputed, "--results=before")
    assert place.run(*disputed, "--baseline=before").ret == 1
    assert "9 of 40 cases are disputed" in place.metrics()["gates"][0]["why"]
    again = judge_again(read_run(place.path / "out", "out"), place.path / "thresholds.toml", require_gates=False)
    assert again.decisions[0].outcome == "inconclusive"

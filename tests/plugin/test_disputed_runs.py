"""Runs with ``--disputes``: what they count, which files say so, and that they are other runs."""

import json
from pathlib import Path

from vlgate.recorded.folder import read_run
from vlgate.run.judging_again import judge_again

SAID = "; with 2 disputed cases left out; with 1 disputed case corrected"


def write(place, *lines, name="disputes.jsonl"):
    lines = [{"task": "valse/existence", "evidence": "the photo shows it", **line} for line in lines]
    (place.path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_disputes_are_applied_and_counted_everywhere(place, right):
    place.valse(40)
    place.thresholds()
    assert place.run(right).ret == 0
    before = json.loads((place.path / "out" / "verdict.json").read_text())
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
    assert [one.why for one in again.decisions] == [gate["why"]]


def test_an_unknown_case_refuses_the_run(place, right):
    place.valse(40)
    write(place, {"case": "record_33", "claim": "wrong"}, {"case": "rekord_7", "claim": "wrong"})
    result = place.run(right, "--disputes=disputes.jsonl")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*disputes.jsonl, record on line 2: valse/existence has no case 'rekord_7'; did you mean 'record_7'? (*"]
    )

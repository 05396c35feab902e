"""Gates on thresholds of perception: read from thresholds.toml, judged by the unfavourable end of the interval."""

from pathlib import Path

import numpy as np
import pytest

from vlgate.gates.acuity import AcuityGate, decide_acuity
from vlgate.gates.thresholds import checked_thresholds, read_thresholds, thresholds_errors
from vlgate.metrics.perception import FACULTIES, Acuity

FILE = Path("thresholds.toml")


def read(**acuity):
    return checked_thresholds(FILE, {"schema": 1, "acuity": acuity}, {}).acuity


def found(faculty, level, low, high, word="threshold"):
    """A chart with a threshold at a level, and an interval from the hard to the easy side."""
    place, *ends = (float(FACULTIES[faculty].place_of(np.array(one, float))) for one in (level, low, high))
    n = len(FACULTIES[faculty].levels())
    ends = {"place": place, "low": ends[0], "high": ends[1], "best": 0.9, "best_low": 0.8, "best_high": 1.0}
    return Acuity(faculty=faculty, word=word, asked=(1,) * n, right=(1,) * n, ties=0, unscored=0, **ends)


def test_gates_are_read_in_order():
    gates = read(noun={"max": 20, "why": "thumbnails"}, count={"min": 5})
    assert [(gate.faculty, gate.key, gate.bound, gate.why) for gate in gates] == [
        ("noun", "max", 20.0, "thumbnails"),
        ("count", "min", 5.0, ""),
    ]


def test_a_thresholds_file_of_runs_may_have_them_and_every_error_of_them_is_found(tmp_path):
    file = tmp_path / "thresholds.toml"
    file.write_text("schema = 1\n[acuity.noun]\nmax = 20\n")
    assert read_thresholds(file, {}).acuity == (AcuityGate(faculty="noun", bound=20.0),)
    file.write_text("schema = 1\n[acuity.noun]\nmin = 20\n[acuity.blurr]\nmin = 3\n")
    assert len(thresholds_errors(file, {})) == 2


@pytest.mark.parametrize(("gate", "chart", "outcome"), [
    (("noun", 20), found("noun", 12, 10, 15), "pass"), (("noun", 20), found("noun", 18, 15, 21), "inconclusive"),
    (("noun", 20), found("noun", 30, 25, 40), "fail"), (("count", 5), found("count", 8, 9, 6), "pass"),
    (("count", 5), found("count", 6, 8, 4), "inconclusive"), (("count", 5), found("count", 3, 4, 2), "fail"),
    (("noun", 4), found("noun", 2, 1, 3, "beyond the range"), "pass"),
    (("noun", 4), found("noun", 3, 1, 6, "beyond the range"), "inconclusive"),
    (("noun", 128), found("noun", 200, 150, 250, "out of reach"), "fail"),
    (("noun", 128), found("noun", 12, 10, 15, "at chance"), "fail"),
    (("noun", 128), found("noun", 12, 10, 15, "below chance"), "fail"),
    (("noun", 128), found("noun", 12, 10, 15, "no fit"), "inconclusive"),
    (("noun", 128), found("noun", 12, 10, 15, "unscored"), "inconclusive"), (("noun", 20), None, "not run"),
])  # fmt: skip
def test_the_unfavourable_end_decides(gate, chart, outcome):
    decision = decide_acuity(AcuityGate(faculty=gate[0], bound=gate[1]), chart)
    assert decision.outcome == outcome
    assert decision.why

"""The estimate of a run's time."""

import pytest

from vlgate.asking.pace import Pace
from vlgate.plugin import progress
from vlgate.plugin.progress import Estimate

SLOW = "import time; time.sleep(0.001 * len(pairs))"


@pytest.mark.parametrize(
    ("seconds", "took", "line", "correction"),
    [
        (0.5, 5.0, "", ""),
        (10.0, 100.0, "vlgate: about 1.7 min to ask 1,000 cases (10 per second, measured on 100); *", ""),
        (10.0, 160.0, "vlgate: about 1.7 min *", "vlgate: the estimate before the run was 1.7 min; it took 2.7 min"),
        (10.0, 50.0, "vlgate: about 1.7 min *", "vlgate: the estimate before the run was 1.7 min; it took 50 s"),
        (1.0, 90.0, "", "vlgate: the estimate before the run was 10 s; it took 1.5 min"),
    ],
)
def test_a_long_run_is_announced_and_a_wrong_estimate_is_corrected(monkeypatch, seconds, took, line, correction):
    clock = iter([0.0, took])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    one = Estimate(Pace(cases=100, seconds=seconds), cases=1000, workers=1)
    start = line.rstrip("*")
    assert one.line().startswith(start)
    assert bool(one.line()) == bool(line)
    assert one.correction() == correction


@pytest.mark.parametrize(
    "how", [["--items=pair"], ["--items=batch"], pytest.param(["--items=pair", "-n2"], marks=pytest.mark.slow)]
)
def test_it_is_measured_on_the_model_before_the_first_test(place, monkeypatch, how):
    monkeypatch.setattr(progress, "LONG", 0.0)  # every run is a long one
    place.valse(200, images=False)
    place.image("vg/100.jpg")
    result = place.run(place.matching(first=SLOW), "--missing-images=skip", "--health=off", "-q", *how)
    places = [number for number, line in enumerate(result.outlines) if line.startswith("vlgate: about ")]
    assert len(places) == 1
    assert " to ask 200 cases (" in result.outlines[places[0]]
    assert "measured on 4)" in result.outlines[places[0]]
    letters = [line for line in result.outlines[: places[0]] if line and not line.startswith("bringing")]
    assert "-n2" in how or not letters  # other workers may be faster than the one that measures


def test_a_short_run_is_not_measured(place, monkeypatch):
    monkeypatch.setattr(progress, "LONG", 0.0)
    place.valse(40)
    result = place.run(place.matching(first=SLOW), "-q")
    result.stdout.no_fnmatch_line("vlgate: about *")

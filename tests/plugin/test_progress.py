"""The progress of a long run, and the estimate of its time."""

from io import StringIO

import pytest

from vlgate.asking.predictor import Pace
from vlgate.plugin import progress
from vlgate.plugin.progress import Estimate, Progress


class Writer:
    def __init__(self):
        self._file = StringIO()
        self.width_of_current_line = 0


class Reporter:
    def __init__(self):
        self._tw = Writer()
        self.lines = []

    def write_line(self, line):
        self.lines.append(line)


def test_the_line_has_the_count_the_rate_and_the_time_left():
    count = Progress(Reporter(), 100_000, bar=False)
    count.done = 12_400
    assert count.line(4.0) == "vlgate: 12,400 of 100,000 cases, 3,100 per second, 28 s left"


def test_a_log_gets_a_line_now_and_then_and_none_at_the_end(monkeypatch):
    clock = iter([0.0, 5.0, 16.0, 17.0, 40.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    reporter = Reporter()
    count = Progress(reporter, 400, bar=False)
    for _ in range(4):
        count.advance(100)
    assert reporter.lines == ["vlgate: 200 of 400 cases, 12 per second, 16 s left"]


def test_a_line_does_not_follow_letters_of_pytest(monkeypatch):
    clock = iter([0.0, 20.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    reporter = Reporter()
    reporter._tw.width_of_current_line = 30
    Progress(reporter, 400, bar=False).advance(100)
    assert reporter.lines[0] == ""


def test_a_terminal_gets_a_bar_that_is_removed_at_the_end():
    reporter = Reporter()
    count = Progress(reporter, 400, bar=True)
    count.advance(100)
    assert count.draws
    count.close()
    drawn = reporter._tw._file.getvalue()
    assert "100/400" in drawn
    assert reporter.lines == []


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
    estimate = Estimate(Pace(cases=100, seconds=seconds), cases=1000, workers=1)
    start = line.rstrip("*")
    assert estimate.line().startswith(start)
    assert bool(estimate.line()) == bool(line)
    assert estimate.correction() == correction


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

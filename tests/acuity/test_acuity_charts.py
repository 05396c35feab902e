"""Charts of observers whose thresholds are known: each defect shows on its own chart, and on no other."""

import pytest

from benchmarks.limits import LIMITS
from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import OptionError
from vlgate.fixtures.reader.defects import DEFECTS
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.reader.reading import Reading
from vlgate.studies.acuity.charts import ChartRun, change, lines, page, read_release, sheet, text_of
from vlgate.studies.acuity.staircase import charts, chosen, cost, seconds_per_call
from vlgate.types import Prediction

READING = Reading()
KNOWN = {
    "noun": 24,
    "count": 7,
    "left-right": 80,
    "size": 1.3,
    "contrast": 0.1,
    "blur": 4,
    "clutter": 6.5,
    "text-length": 30,
    "distractors": 5.5,
}


class Counted:
    """A predictor that counts its calls and their requests."""

    def __init__(self, model):
        self.inner = ModelPredictor(model=model, name="m", caller=Caller(name="m", size=4096), seed=0)
        self.requests = []

    def predict(self, requests):
        given = list(requests)
        self.requests.append(len(given))
        return self.inner.predict(given)


def drawn(model, *names, trials=120):
    found = tuple(charts(Counted(model), chosen(names), trials))
    return ChartRun(model="m", fingerprint="f", seed=0, charts=found)


@pytest.fixture(scope="module")
def intact():
    return drawn(Reader(reading=READING))


@pytest.mark.slow
def test_a_model_that_is_always_right_has_no_threshold(intact):
    assert {chart.word for chart in intact.charts} == {"beyond the range"}
    assert {(chart.level, chart.interval) for chart in intact.charts} == {(None, (None, None))}
    assert max(chart.trials for chart in intact.charts) == 60


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_shows_on_its_own_chart_at_its_level_and_on_no_other(name, intact):
    found = drawn(LIMITS[name].build(READING))
    worse = [chart.faculty for chart in found.charts if change(chart, intact.chart(chart.faculty)) == "worse"]
    assert worse == [name]
    one = found.chart(name)
    assert one.word == "threshold"
    if name in KNOWN:
        low, high = one.interval
        assert low * 0.9 < KNOWN[name] < high * 1.1


@pytest.mark.parametrize(
    ("name", "chart", "word"),
    [
        ("colour-blind", "colour", "at chance"),
        ("left-right", "left-right", "below chance"),
        ("large-only", "noun", "threshold"),
    ],
)
def test_a_defect_shows_on_its_own_chart_and_on_no_other(name, chart, word, intact):
    found = drawn(DEFECTS[name].build(READING))
    worse = [one.faculty for one in found.charts if change(one, intact.chart(one.faculty)) == "worse"]
    assert (worse, found.chart(chart).word) == ([chart], word)


def test_all_charts_are_asked_together_within_the_cost():
    model = Counted(LIMITS["noun"].build(READING))
    price = cost(("noun", "count"), 400)
    assert seconds_per_call(model, ("noun", "count"), 0) > 0
    found = list(charts(model, ("noun", "count"), price.trials))
    assert sum(model.requests) <= price.calls <= 400
    assert sum(one.calls for one in found) + 32 == sum(model.requests)
    assert model.requests[2] == 80  # a round of both charts, two requests a trial
    with pytest.raises(OptionError, match="at least 272 calls"):
        cost(("noun", "count"), 271)


def test_equal_replies_give_equal_charts():
    assert drawn(DEFECTS["large-only"].build(READING), "noun") == drawn(DEFECTS["large-only"].build(READING), "noun")


class Silent:
    """A predictor without any reply."""

    def predict(self, requests):
        return {request: Prediction(request=request, problem="no reply") for request in requests}


def test_trials_without_a_reply_are_counted_and_give_no_threshold():
    [one] = charts(Silent(), ("noun",), 60)
    assert (one.word, one.unscored, one.trials, one.level) == ("unscored", 60, 0, None)


def test_a_file_is_read_back_and_a_damaged_one_is_named(intact, tmp_path):
    (tmp_path / "acuity.json").write_text(text_of(intact))
    assert read_release(tmp_path) == intact
    assert read_release(tmp_path / "acuity.json") == intact
    (tmp_path / "acuity.json").write_text('{"model": "m"}')
    with pytest.raises(OptionError, match="is not a file of vlgate acuity"):
        read_release(tmp_path)
    with pytest.raises(OptionError, match="cannot be read"):
        read_release(tmp_path / "none")


def test_a_release_that_is_worse_says_so_and_a_name_with_markup_is_escaped(intact):
    now = drawn(DEFECTS["large-only"].build(READING), "noun")
    [_, row, *_] = lines(now, intact, ())
    assert row.endswith("beyond the range  worse")
    hostile = ChartRun(model="<script>", fingerprint="f", seed=0, charts=now.charts)
    assert "<script>" not in page(hostile, None) + sheet([chart.about for chart in now.charts], [hostile])

"""Trials are true and false as they say; charts of observers whose thresholds are known show each defect once."""

import numpy as np
import pytest
from builders import model as fake
from builders import predictor

from benchmarks.limits import LIMITS
from vlgate.cli import chosen
from vlgate.errors import NoReplyError, OptionError, UnknownNameError
from vlgate.fixtures.reader.defects import DEFECTS
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.reader.reading import Reading
from vlgate.fixtures.reader.seeing import view_of
from vlgate.fixtures.scenes.shapes import COLOURS
from vlgate.metrics.perception import FACULTIES
from vlgate.studies.acuity.charts import ChartRun, change, lines, page, read_release, sheet, text_of
from vlgate.studies.acuity.staircase import charts, cost, seconds_per_call
from vlgate.studies.acuity.trials import before, distance, lab, pairs, trial, weight_of
from vlgate.types import recipe_of

READING = Reading()


def some(name, number=4):
    """Trials at every third level, with the level."""
    for place, level in list(enumerate(FACULTIES[name].levels().tolist()))[::3]:
        for index in range(number):
            yield level, trial(name, level, place, f"0/{name}/{place}/{index}")


@pytest.mark.parametrize("name", FACULTIES)
def test_the_intact_reader_is_right_at_every_level(name):
    for level, one in some(name):
        true, false = Reader(reading=READING).match(one.requests)
        assert (true, false) == (1.0, 0.0), f"{level}: {one.true} / {one.false}"


@pytest.mark.parametrize("name", FACULTIES)
def test_the_same_seed_gives_the_same_bytes_and_another_one_another_scene(name):
    level = float(FACULTIES[name].levels()[-1])
    first, again, other = (trial(name, level, 0, seed) for seed in ("3/a", "3/a", "4/a"))
    assert (first.true, first.false) == (again.true, again.false)
    assert first.image.load().tobytes() == again.image.load().tobytes()
    assert recipe_of(first.image) == recipe_of(again.image) != recipe_of(other.image)


def things(one):
    return list(view_of(one.image).scene.objects.values())


def test_what_a_level_is_can_be_measured_in_the_scene():
    for level, one in some("noun"):
        box = things(one)[0].box
        assert min(box.w, box.h) == pytest.approx(level, abs=0.51)
    for name, more in (("count", 0), ("distractors", 1), ("clutter", 1)):
        assert all(len(things(one)) == level + more for level, one in some(name))
    assert all(len({thing.name for thing in things(one)}) == 1 for _, one in some("distractors"))
    for _, one in some("clutter"):
        first, *others = (thing.box for thing in things(one))
        assert all(b.x < first.x + first.w and first.x < b.x + b.w and b.y < first.y + first.h for b in others)
    for level, one in some("left-right"):
        boxes = [thing.box for thing in things(one)]
        assert abs(boxes[0].x + boxes[0].w / 2 - boxes[1].x - boxes[1].w / 2) == pytest.approx(level, abs=2)
    for level, one in some("size"):
        small, large = sorted(thing.box.w * thing.box.h for thing in things(one))
        assert (large / small) ** 0.5 == pytest.approx(level, rel=0.03)
    for level, one in some("text-length"):
        both = zip(one.true.split(), one.false.split(), strict=True)
        different = [index for index, (a, b) in enumerate(both) if a != b and not {a, b} & {"a", "an"}]
        assert different[0] == level
    for name in ("blur", "contrast"):
        assert all(view_of(one.image).strengths == {name: level} for level, one in some(name))


def test_a_mixed_colour_is_as_far_from_its_mirror_image_as_the_level_says():
    level = 20.0
    one = trial("colour", level, 0, "0/mixed")
    graph = one.image.load.image.load.graph["objects"]["0"]
    shown = np.asarray(one.image.load())[graph["y"] : graph["y"] + graph["h"], graph["x"] : graph["x"] + graph["w"]]
    true = graph["attributes"][0]
    false = one.image.load.other.load.graph["objects"]["0"]["attributes"][0]
    weight = weight_of(true, false, level)
    assert distance(true, false, weight) == pytest.approx(level, abs=0.2)  # the way of OpenCV to CIELAB is not smooth
    assert distance(true, false, 0.5) == pytest.approx(0)
    own, mirror = (lab(mixed(true, false, share)) for share in (weight, 1 - weight))
    painted = np.unique(shown.reshape(-1, 3), axis=0).astype(float)
    assert min(np.linalg.norm(lab(color) - own) for color in painted) < 1.5
    assert np.linalg.norm(own - mirror) == pytest.approx(level, abs=0.2)
    assert len(pairs()) >= 10
    assert all(distance(*pair, 0.0) >= FACULTIES["colour"].easy for pair in pairs())


def mixed(true, false, weight):
    return (1 - weight) * np.array(COLOURS[true], float) + weight * np.array(COLOURS[false], float)


def test_true_sentences_have_the_words_that_are_asked_for():
    things = [("red", "cup"), ("orange", "star")]
    for words in (0, 4, 5, 6, 8, 9, 50):
        assert len(before(np.random.default_rng(words), things, words).split()) == words
    with pytest.raises(ValueError, match="words=7"):
        before(np.random.default_rng(0), things, 7)


def test_faculties_are_chosen_by_name_in_their_usual_order():
    assert chosen(["blur,noun"], FACULTIES, "faculty") == ["noun", "blur"]
    assert chosen([], FACULTIES, "faculty") == list(FACULTIES)
    with pytest.raises(UnknownNameError, match="did you mean 'colour'"):
        chosen(["color"], FACULTIES, "faculty")


KNOWN = {"noun": 24, "count": 7, "left-right": 80, "size": 1.3, "contrast": 0.1, "blur": 4, "clutter": 6.5}
KNOWN |= {"text-length": 30, "distractors": 5.5}


class Counted:
    """A predictor that counts its calls and their requests."""

    def __init__(self, model):
        self.inner = predictor(model, 4096, seed=0)
        self.requests = []

    def predict(self, requests):
        given = list(requests)
        self.requests.append(len(given))
        return self.inner.predict(given)


def drawn(model, *names, trials=120):
    found = tuple(charts(Counted(model), chosen(names, FACULTIES, "faculty"), trials))
    return ChartRun(model="m", fingerprint="f", seed=0, charts=found)


def worse(found, intact):
    return [one.faculty for one in found.charts if change(one, intact.chart(one.faculty)) == "worse"]


@pytest.fixture(scope="module")
def intact():
    return drawn(Reader(reading=READING))


@pytest.mark.slow
def test_a_model_that_is_always_right_has_no_threshold(intact):
    assert {chart.word for chart in intact.charts} == {"beyond the range"}
    assert {(chart.level, chart.interval) for chart in intact.charts} == {(None, (None, None))}
    assert max(chart.trials for chart in intact.charts) == 60


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_shows_on_its_own_chart_at_its_level_and_on_no_other(name, intact):
    found = drawn(LIMITS[name].build(READING))
    assert (worse(found, intact), found.chart(name).word) == ([name], "threshold")
    if name in KNOWN:
        low, high = found.chart(name).interval
        assert low * 0.9 < KNOWN[name] < high * 1.1


CHARTS = [("colour-blind", "colour", "at chance"), ("left-right", "left-right", "below chance")]


@pytest.mark.parametrize(("name", "chart", "word"), [*CHARTS, ("large-only", "noun", "threshold")])
def test_a_defect_shows_on_its_own_chart_and_on_no_other(name, chart, word, intact):
    found = drawn(DEFECTS[name].build(READING))
    assert (worse(found, intact), found.chart(chart).word) == ([chart], word)


def test_all_charts_are_asked_together_within_the_cost():
    model = Counted(LIMITS["noun"].build(READING))
    calls, trials = cost(("noun", "count"), 400)
    assert seconds_per_call(model, ("noun", "count"), 0) > 0
    found = list(charts(model, ("noun", "count"), trials))
    assert sum(model.requests) <= calls <= 400
    assert sum(one.calls for one in found) + 32 == sum(model.requests)
    assert model.requests[2] == 80  # a round of both charts, two requests a trial
    with pytest.raises(OptionError, match="at least 272 calls"):
        cost(("noun", "count"), 271)


def test_trials_without_a_reply_are_counted_and_give_no_threshold():
    def match(pairs):
        raise NoReplyError(range(len(pairs)), "no reply")

    [one] = charts(predictor(fake(match=match)), ("noun",), 60)
    assert (one.word, one.unscored, one.trials, one.level) == ("unscored", 60, 0, None)


def test_a_file_is_read_back_and_a_damaged_one_is_named(intact, tmp_path):
    (tmp_path / "acuity.json").write_text(text_of(intact))
    assert read_release(tmp_path) == intact
    assert read_release(tmp_path / "acuity.json") == intact
    (tmp_path / "acuity.json").write_text('{"model": "m"}')
    with pytest.raises(OptionError, match="is not a file of vlgate analyse acuity"):
        read_release(tmp_path)
    with pytest.raises(OptionError, match="cannot be read"):
        read_release(tmp_path / "none")


def test_a_release_that_is_worse_says_so_and_a_name_with_markup_is_escaped(intact):
    now = drawn(DEFECTS["large-only"].build(READING), "noun")
    assert now == drawn(DEFECTS["large-only"].build(READING), "noun")
    [_, row, *_] = lines(now, intact)
    assert row.endswith("beyond the range  worse")
    hostile = ChartRun(model="<script>", fingerprint="f", seed=0, charts=now.charts)
    assert "<script>" not in page(hostile, None) + sheet([chart.about for chart in now.charts], [hostile])

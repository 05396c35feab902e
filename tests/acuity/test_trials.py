"""The trials of the charts: true and false as they say, at their level, and the same for the same seed."""

import numpy as np
import pytest

from vlgate.errors import UnknownNameError
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.reader.seeing import view_of
from vlgate.metrics.perception import FACULTIES
from vlgate.studies.acuity.staircase import chosen
from vlgate.studies.acuity.trials import before, distance, lab, pairs, trial, weight_of
from vlgate.types import recipe_of


@pytest.fixture(scope="module")
def reader():
    return Reader()


def some(name, number=4):
    """Trials at every third level, with the level."""
    for place, level in list(enumerate(FACULTIES[name].levels().tolist()))[::3]:
        for index in range(number):
            yield level, trial(name, level, place, f"0/{name}/{place}/{index}")


@pytest.mark.parametrize("name", FACULTIES)
def test_the_intact_reader_is_right_at_every_level(name, reader):
    for level, one in some(name):
        true, false = reader.match(one.requests)
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
    for level, one in some("count"):
        assert len(things(one)) == level
    for level, one in some("distractors"):
        assert len(things(one)) == level + 1
        assert len({thing.name for thing in things(one)}) == 1
    for level, one in some("clutter"):
        first, *others = (thing.box for thing in things(one))
        touch = [b.x < first.x + first.w and first.x < b.x + b.w and b.y < first.y + first.h for b in others]
        assert len(others) == level
        assert all(touch)
    for level, one in some("left-right"):
        boxes = [thing.box for thing in things(one)]
        assert abs(boxes[0].x + boxes[0].w / 2 - boxes[1].x - boxes[1].w / 2) == pytest.approx(level, abs=2)
    for level, one in some("size"):
        small, large = sorted(thing.box.w * thing.box.h for thing in things(one))
        assert (large / small) ** 0.5 == pytest.approx(level, rel=0.03)
    for level, one in some("text-length"):
        words, other = one.true.split(), one.false.split()
        same = next(
            index
            for index, (a, b) in enumerate(zip(words, other, strict=True))
            if a not in {b, "a", "an"} and b not in {"a", "an"}
        )
        assert same == level
    for level, one in some("blur"):
        assert view_of(one.image).strengths == {"blur": level}
    for level, one in some("contrast"):
        assert view_of(one.image).strengths == {"contrast": level}


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
    mirror, own = (lab(color) for color in _shades(true, false, weight))
    painted = np.unique(shown.reshape(-1, 3), axis=0).astype(float)
    assert min(np.linalg.norm(lab(color) - own) for color in painted) < 1.5
    assert np.linalg.norm(own - mirror) == pytest.approx(level, abs=0.2)


def _shades(true, false, weight):
    from vlgate.fixtures.scenes.shapes import COLOURS

    one, other = (np.array(COLOURS[name], float) for name in (true, false))
    return weight * one + (1 - weight) * other, (1 - weight) * one + weight * other


def test_pairs_of_colours_reach_the_easy_end():
    assert len(pairs()) >= 10
    assert all(distance(*pair, 0.0) >= FACULTIES["colour"].easy for pair in pairs())


def test_true_sentences_have_the_words_that_are_asked_for():
    things = [("red", "cup"), ("orange", "star")]
    for words in (0, 4, 5, 6, 8, 9, 50):
        assert len(before(np.random.default_rng(words), things, words).split()) == words
    with pytest.raises(ValueError, match="words=7"):
        before(np.random.default_rng(0), things, 7)


def test_faculties_are_chosen_by_name_in_their_usual_order():
    assert chosen(["blur", "noun"]) == ("noun", "blur")
    assert chosen([]) == tuple(FACULTIES)
    with pytest.raises(UnknownNameError, match="did you mean 'colour'"):
        chosen(["color"])

"""Which objects decide, whether an explanation points at them, and the segments and maps that it is made of."""

import numpy as np
import pytest
from builders import pair_case
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.fixtures.reader.reading import Reading
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.probes.explaining.deciding import deciding, deciding_exchange, deciding_words, hits
from vlgate.probes.explaining.rates import beside, hit, measured
from vlgate.probes.explaining.record import Explanation, Finding, Part
from vlgate.probes.explaining.regions import MOST_SEGMENTS, heat, segments
from vlgate.types import Ask, Attended, Case, LazyImage, Match

PLACES = {"cup": (20, "red"), "dog": (100, "brown"), "ball": (170, "blue")}


def scene(key, *things):
    """A drawn image of things, each with its left edge and colour."""
    objects = {
        str(number): {"name": name, "x": left, "y": 80, "w": 40, "h": 40, "attributes": [colour], "relations": []}
        for number, (name, (left, colour)) in enumerate(things)
    }
    return LazyImage(key=key, load=Drawing(graph={"width": 224, "height": 224, "objects": objects}))


IMAGE = scene("scene", *PLACES.items())


def deciders(*texts, image=IMAGE):
    """The numbers of the things that decide."""
    asked = [Ask(image=image, question=t) if t.endswith("?") else Match(image=image, text=t) for t in texts]
    return numbers(deciding(Case(id="1", requests=tuple(asked), truths=(True,) * len(asked)), image, Reading()))


def numbers(found):
    return None if found is None else [index for index, decide in enumerate(found.decides) if decide]


TWINS = scene("twins", *PLACES.items(), ("cup", (60, "red")))
PHOTO = LazyImage(key="photo.jpg", load=lambda: None)


@pytest.mark.parametrize(
    ("texts", "image", "expected"),
    [
        (("There is a cup.", "There is no cup."), IMAGE, [0]),
        (("There is a dog to the left of a ball.", "There is a dog to the right of a ball."), IMAGE, [1, 2]),
        (("There is a blue ball.", "There is a green ball."), IMAGE, [2]),
        (("Is there a dog?",), IMAGE, [1]),
        (("There are no cats.", "There are some cats."), IMAGE, None),
        (("Colourless green ideas sleep.",), IMAGE, None),
        (("There is a cup.",), TWINS, None),
        (("There is a cup.",), PHOTO, None),  # it has no graph to decide by
    ],
)
def test_the_things_without_which_a_text_would_say_something_else_decide(texts, image, expected):
    assert deciders(*texts, image=image) == expected


def coloured(key, cup, dog):
    return scene(key, ("cup", (20, cup)), ("dog", (120, dog)))


@pytest.mark.parametrize(
    ("other", "text", "expected"),
    [
        (("blue", "brown"), "There is a red cup.", [0]),
        (("blue", "brown"), "There is a cup.", None),
        (("red", "blue"), "There is a red cup and a brown dog.", [1]),
        (("red", "brown"), "There is a red cup.", None),
    ],
)
def test_an_exchange_decides_where_the_other_image_makes_the_text_say_something_else(other, text, expected):
    images = coloured("one", "red", "brown"), coloured("other", *other)
    case = Case(id="1", requests=tuple(Match(image=image, text=text) for image in images), truths=(True, False))
    assert numbers(deciding_exchange(case, *images, Reading())) == expected


@pytest.mark.parametrize(
    ("new", "expected"), [("There is a dog.", False), ("There is a cat.", True), ("Colourless ideas.", None)]
)
def test_words_decide_if_the_new_text_says_something_else(new, expected):
    case = pair_case(1, "There is a cup.", "There is no cup.", IMAGE)
    assert deciding_words(case, {"There is a cup.": new}, Reading()) is expected


LEFT, RIGHT = (0.0, 0.0, 0.4, 1.0), (0.6, 0.0, 1.0, 1.0)


@pytest.mark.parametrize(("effects", "expected"), [([1.0, 0.1], True), ([0.1, 1.0], False), ([0.0, -1.0], False)])
def test_a_hit_is_the_largest_effect_on_the_thing_that_decides(effects, expected):
    found = hit([LEFT, RIGHT], np.array(effects), [LEFT, RIGHT], [True, False])
    assert (found.touches, found.points, found.leads) == (expected,) * 3
    assert (found.chance_touches, found.chance_points, found.chance_leads) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(("effects", "found"), [([0.1, 0.9, 0.2], True), ([0.9, 0.1, 0.2], False)])
def test_the_part_and_the_map_of_the_true_text_are_compared_with_the_thing_that_decides(effects, found):
    case = pair_case(1, "There is a dog.", "There is a cat.", IMAGE)
    boxes = tuple((left / 224, 80 / 224, (left + 40) / 224, 120 / 224) for left, _ in PLACES.values())
    parts = tuple(Part(effect=effect, box=box, image=0) for effect, box in zip(effects, boxes, strict=True))
    maps = {"There is a cat.": (1.0, 0.0, 0.0), "There is a dog.": (0.0, 1.0, 0.0)}
    explanation = Explanation(
        task="t", case="1", right=True, images=("scene",), texts=(), margin=1.0, graded=True, unseen="",
        attended=tuple(Attended(method="seen", image=0, text=t, boxes=boxes, weights=w) for t, w in maps.items()),
        findings=(Finding(method="hide boxes", parts=parts),), requests=0, says="",
    )  # fmt: skip
    got = dict(hits(explanation, case, "pair", Reading()))
    assert (got["hide boxes"].touches, got["hide boxes"].points, got["hide boxes"].leads) == (found,) * 3
    assert got["seen"].points
    assert got["seen"].chance_points == pytest.approx(1 / 3)


def test_the_deciding_thing_leads_in_at_least_80_percent_by_an_intervention_of_each_model():
    rates = {(one.model, one.method): one for one in measured()}
    for model in ("tiny-clip", "tiny-lxmert"):
        rate = rates[model, "hide segments: the true text"]
        assert rate.leads >= 0.8
        assert rate.low > rate.chance_leads + 0.2
        assert rate.n >= 100


def test_each_rate_stands_beside_its_own_method():
    [one] = beside("hide windows")
    assert one.says.startswith("tiny-clip on the drawn scenes: the deciding object leads in ")
    assert beside("no such method") == ()


GREEN, RED, BLUE = (90, 180, 60), (230, 20, 20), (20, 20, 220)


def share(one, other):
    """The shared area of two boxes as a share of what either covers."""
    across = max(0, min(one[2], other[2]) - max(one[0], other[0]))
    both = across * max(0, min(one[3], other[3]) - max(one[1], other[1]))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return both / (sum(areas) - both)


@settings(max_examples=20, deadline=None)
@given(left=st.integers(10, 60), top=st.integers(10, 40), scale=st.integers(1, 3))
def test_a_thing_and_its_part_of_another_colour_are_both_segments_wherever_they_are(left, top, scale):
    pixels = np.full((120, 160, 3), GREEN, np.uint8)
    pixels[top : top + 50, left : left + 40] = RED
    pixels[top + 10 : top + 30, left + 10 : left + 30] = BLUE
    found = segments(pixels.repeat(scale, axis=0).repeat(scale, axis=1))
    whole = (left / 160, top / 120, (left + 40) / 160, (top + 50) / 120)
    part = ((left + 10) / 160, (top + 10) / 120, (left + 30) / 160, (top + 30) / 120)
    for box in (whole, part):
        assert max(share(box, one) for one in found) > 0.8


def test_an_image_of_one_colour_has_no_segments_and_no_image_has_too_many():
    assert segments(np.full((40, 60, 3), GREEN, np.uint8)) == ()
    assert segments(np.full((1, 1, 3), GREEN, np.uint8)) == ()
    chance = np.random.default_rng(0)
    blocks = chance.integers(0, 256, (14, 14, 3)).astype(np.uint8).repeat(12, axis=0).repeat(12, axis=1)
    found = segments(blocks)
    assert len(found) == MOST_SEGMENTS
    assert found == segments(blocks)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in found]
    assert areas == sorted(areas, reverse=True)


def slow_heat(boxes, effects, side):
    """The mean effect of the smallest boxes at each pixel, one pixel at a time; the boxes end at pixels."""
    found = np.zeros((side, side))
    for y in range(side):
        for x in range(side):
            over = [
                (round((box[2] - box[0]) * (box[3] - box[1]), 6), effect)
                for box, effect in zip(boxes, effects, strict=True)
                if box[0] * side <= x < box[2] * side and box[1] * side <= y < box[3] * side
            ]
            least = [effect for size, effect in over if size == min(size for size, _ in over)]
            found[y, x] = np.mean(least) if least else 0.0
    return found


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_map_has_the_effect_of_the_smallest_part_at_each_point(data):
    edge = st.integers(0, 7)
    boxes, effects = [], []
    for _ in range(data.draw(st.integers(0, 6))):
        left, top = data.draw(edge), data.draw(edge)
        right, bottom = data.draw(st.integers(left + 1, 8)), data.draw(st.integers(top + 1, 8))
        boxes.append((left / 8, top / 8, right / 8, bottom / 8))
        effects.append(data.draw(st.floats(-1, 1)))
    assert heat(boxes, np.array(effects), side=8) == pytest.approx(slow_heat(boxes, effects, 8))

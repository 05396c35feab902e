"""The segments of an image, and the map that parts of different sizes make."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.probes.explaining.regions import MOST_SEGMENTS, heat, segments

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

"""Boxes clipped, grown, moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.images.boxes import around, at_least, mirror_box, on_image, pixels_of, rescale
from vlgate.perturb.scene_graph import Box

SIDES = st.integers(1, 300)
NUMBERS = st.floats(-400, 400)
LENGTHS = st.floats(1e-3, 500)
BOXES = st.builds(Box, x=NUMBERS, y=NUMBERS, w=LENGTHS, h=LENGTHS)


def overlap(box, width, height):
    across = min(box.x + box.w, width) - max(box.x, 0)
    down = min(box.y + box.h, height) - max(box.y, 0)
    return across > 1e-6 and down > 1e-6


@given(st.lists(BOXES, min_size=1, max_size=4), SIDES, SIDES)
def test_clipped_boxes_lie_on_the_image(boxes, width, height):
    there = [box for box in boxes if overlap(box, width, height)]
    if not there:
        with pytest.raises(ValueError, match=f"boxes=.*{width} x {height}"):
            on_image(boxes, width, height)
        return
    clipped = on_image(boxes, width, height)
    assert len(clipped) == len(there)
    for one, whole in zip(clipped, there, strict=True):
        assert (one.x, one.y) == (max(whole.x, 0), max(whole.y, 0))
        assert one.x + one.w == pytest.approx(min(whole.x + whole.w, width))
        assert one.y + one.h == pytest.approx(min(whole.y + whole.h, height))


@given(BOXES, SIDES, SIDES, st.floats(1, 64))
def test_grown_boxes(box, width, height, smallest):
    if not overlap(box, width, height):
        return
    (box,) = on_image([box], width, height)
    grown = at_least(box, width, height, smallest=smallest)
    assert grown.x >= 0
    assert grown.y >= 0
    assert grown.x + grown.w <= width + 1e-9
    assert grown.y + grown.h <= height + 1e-9
    assert grown.w == pytest.approx(min(max(box.w, smallest), width))
    assert grown.h == pytest.approx(min(max(box.h, smallest), height))
    assert grown.x <= box.x + 1e-9
    assert grown.x + grown.w >= box.x + box.w - 1e-9
    centre = grown.x + grown.w / 2
    if grown.x > 1e-9 and grown.x + grown.w < width - 1e-9:
        assert centre == pytest.approx(box.x + box.w / 2)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(32, 40), st.integers(32, 40))
def test_a_large_box_stays(x, y, w, h):
    box = Box(x=x, y=y, w=w, h=h)
    assert at_least(box, 100, 100) == box


@given(BOXES, SIDES, SIDES)
def test_pixels_are_those_that_the_box_touches(box, width, height):
    if not overlap(box, width, height):
        return
    (box,) = on_image([box], width, height)
    rows, columns = pixels_of(box, width, height)
    for span, start, length, whole in ((columns, box.x, box.w, width), (rows, box.y, box.h, height)):
        assert 0 <= span.start < span.stop <= whole
        assert span.start <= start + 1e-5 < span.start + 1 + 2e-5
        assert span.stop >= start + length - 1e-5


def test_rounding_errors_touch_no_further_pixel():
    assert pixels_of(Box(x=2.9999999, y=3.0000001, w=4.0000001, h=4), 20, 20) == (slice(3, 7), slice(3, 7))


@given(BOXES, SIDES, SIDES, SIDES, SIDES)
def test_rescaling_there_and_back(box, width, height, other_width, other_height):
    (there,) = rescale([box], (width, height), (other_width, other_height))
    (back,) = rescale([there], (other_width, other_height), (width, height))
    assert (back.x, back.y, back.w, back.h) == pytest.approx((box.x, box.y, box.w, box.h))


@given(st.integers(0, 50), st.integers(1, 50))
def test_mirrored_twice(x, w):
    box = Box(x=x, y=3, w=w, h=4)
    assert mirror_box(mirror_box(box, 100), 100) == box
    assert mirror_box(box, 100).x == 100 - x - w


def test_around_all():
    assert around([Box(x=5, y=5, w=1, h=1), Box(x=0, y=7, w=2, h=9)]) == Box(x=0, y=5, w=6, h=11)

"""Changes of any strength."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vlgate.perturb.images.corruptions import compress, crop_margin, scale_brightness, scale_contrast, turn

IMAGES = hnp.arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 12), st.just(3)))
LEVELS = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)


@given(IMAGES)
def test_a_neutral_strength_changes_nothing_and_gives_a_new_array(image):
    for change in (
        crop_margin(image, 0),
        scale_brightness(image, 1),
        scale_contrast(image, 1),
        turn(image, 0),
    ):
        assert change is not image
        assert (change == image).all()


@given(IMAGES, st.floats(0, 0.3))
def test_a_margin_is_taken_from_all_four_sides(image, share):
    height, width = image.shape[:2]
    rows, columns = int(share * height), int(share * width)
    cropped = crop_margin(image, share)
    assert cropped.size > 0
    assert (cropped == image[rows : height - rows, columns : width - columns]).all()


@given(st.floats(0, 4), st.floats(0, 4))
def test_a_larger_factor_is_brighter_and_nothing_wraps_around(low, high):
    low, high = sorted((low, high))
    assert (scale_brightness(LEVELS, low) <= scale_brightness(LEVELS, high)).all()
    assert (np.diff(scale_brightness(LEVELS, high).astype(int), axis=1) >= 0).all()


def test_contrast_pulls_to_each_channels_mean():
    image = np.array([[[0, 10, 255], [100, 30, 255]]], np.uint8)
    assert scale_contrast(image, 0).tolist() == [[[50, 20, 255]] * 2]
    assert scale_contrast(image, 3).tolist() == [[[0, 0, 255], [200, 50, 255]]]


def test_a_lower_quality_is_further_from_the_image():
    noise = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    errors = [np.abs(compress(noise, quality).astype(int) - noise).mean() for quality in (95, 50, 10)]
    assert errors == sorted(errors)
    assert errors[0] > 0


def test_a_turn_is_anticlockwise_and_fills_with_the_mean():
    image = np.full((41, 41, 3), 100, np.uint8)
    image[18:23, 36:] = 255  # on the right
    turned = turn(image, 30.0)
    assert turned.shape == image.shape
    assert turned[:20, 30:].max() > 200  # now higher up
    assert turned[21:].max() < 200
    assert abs(int(turned[0, 0, 0]) - image.mean()) < 1


@pytest.mark.parametrize(
    ("change", "strength"),
    [
        (crop_margin, -0.1),
        (crop_margin, 0.31),
        (crop_margin, float("nan")),
        (scale_brightness, -1),
        (scale_brightness, float("nan")),
        (scale_contrast, float("inf")),
        (compress, 0),
        (compress, 96),
        (turn, float("nan")),
    ],
)
def test_what_is_no_strength_is_named(change, strength):
    with pytest.raises(ValueError, match=f"={strength!r}:"):
        change(np.zeros((4, 4, 3), np.uint8), strength)
    with pytest.raises(ValueError, match="uint8"):
        change(np.zeros((4, 4)), 1 if change is not crop_margin else 0)

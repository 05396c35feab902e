"""Changes of any strength, benign ones, and images that are changed when they are loaded."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from vlgate.errors import UnknownNameError
from vlgate.perturb.images import blur_background, channel_mean, gaussian_blur, mask_background
from vlgate.perturb.images.benign import pad, rescale, shift
from vlgate.perturb.images.boxes import on_image
from vlgate.perturb.images.boxes import rescale as rescale_boxes
from vlgate.perturb.images.corruptions import compress, crop_margin, scale_brightness, scale_contrast, turn
from vlgate.perturb.images.graded import graded, mixed, mixture
from vlgate.perturb.scene_graph import Box
from vlgate.types import LazyImage

IMAGES = hnp.arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 12), st.just(3)))
LEVELS = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)


@given(IMAGES)
def test_a_neutral_strength_changes_nothing_and_gives_a_new_array(image):
    for change in (crop_margin(image, 0), scale_brightness(image, 1), scale_contrast(image, 1), turn(image, 0)):
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


NOISE = np.random.default_rng(0).integers(0, 256, (12, 17, 3)).astype(np.uint8)
STEPS = st.integers(-4, 4)


@given(right=STEPS, down=STEPS)
def test_a_shift_moves_the_inner_part_and_repeats_the_edge(right, down):
    moved = shift(NOISE, right, down)
    assert np.array_equal(moved[4:-4, 4:-4], NOISE[4 - down : 8 - down, 4 - right : 13 - right])
    edge = 0 if right > 0 else -1
    if right:
        assert np.array_equal(moved[:, edge], shift(NOISE, 0, down)[:, edge])


def test_padding_surrounds_the_image_with_its_edge():
    padded = pad(NOISE, 3)
    assert np.array_equal(padded[3:-3, 3:-3], NOISE)
    assert np.array_equal(padded[0, 3:-3], NOISE[0])


@given(factor=st.sampled_from([0.98, 0.99, 1.01, 1.02]), side=st.integers(2, 60))
def test_rescaling_always_changes_the_size_by_two_percent_or_a_pixel(factor, side):
    height, width = rescale(np.zeros((side, 2 * side, 3), np.uint8), factor).shape[:2]
    assert (height, width) != (side, 2 * side)
    assert abs(width - 2 * side) <= max(1, 0.02 * 2 * side + 0.5)
    assert (width > 2 * side) == (factor > 1) or width == 2 * side


PIXELS = np.random.default_rng(0).integers(0, 256, (12, 16, 3)).astype(np.uint8)
OTHER = np.random.default_rng(1).integers(0, 256, (12, 16, 3)).astype(np.uint8)


def image(pixels):
    return LazyImage(key="7.jpg", load=lambda: Image.fromarray(pixels))


@pytest.mark.parametrize(
    ("name", "strength", "function"), [("blur", 1.5, gaussian_blur), ("contrast", 0.3, scale_contrast)]
)
def test_the_change_is_that_of_the_function(name, strength, function):
    found = graded(image(PIXELS), name, strength)
    assert found.key == f"7.jpg#{name}={strength:g}"
    assert (np.asarray(found.load()) == function(PIXELS, strength)).all()
    assert graded(image(PIXELS), name, strength) == found != graded(image(PIXELS), name, strength + 1e-9)


def test_a_mixture_has_a_share_of_each_image():
    found = np.asarray(mixture(image(PIXELS), image(OTHER), 0.25).load())
    assert np.abs(found - (0.75 * PIXELS + 0.25 * OTHER)).max() <= 0.5
    assert (mixed(PIXELS, OTHER, 0) == PIXELS).all()


BOX = Box(x=3, y=4, w=5, h=5)
STRENGTHS = [
    (crop_margin, -0.1),
    (crop_margin, 0.31),
    (crop_margin, math.nan),
    (scale_brightness, -1),
    (turn, math.nan),
]
STRENGTHS += [(scale_brightness, math.nan), (scale_contrast, math.inf), (compress, 0), (compress, 96)]
STRENGTHS += [(gaussian_blur, 0), (gaussian_blur, -1.0), (gaussian_blur, math.nan), (gaussian_blur, math.inf)]


@pytest.mark.parametrize(("change", "strength"), STRENGTHS)
def test_what_is_no_strength_is_named(change, strength):
    with pytest.raises(ValueError, match=f"={strength!r}:"):
        change(NOISE, strength)
    with pytest.raises(ValueError, match="uint8"):
        change(np.zeros((4, 4)), 0 if change is crop_margin else 1)


@pytest.mark.parametrize("fill", [(1, 2), (1, 2, 256), (-1, 0, 0), (math.nan, 0, 0), 5])
def test_no_colour(fill):
    with pytest.raises(ValueError, match="fill="):
        mask_background(NOISE, [BOX], fill)


@pytest.mark.parametrize(
    "wrong", [{"w": 0}, {"h": 0}, {"w": -1}, {"x": math.nan}, {"y": math.inf}, {"w": math.inf}, {"h": math.nan}]
)
def test_a_box_that_is_none_is_refused_beside_good_ones(wrong):
    bad = Box(**{"x": 0, "y": 0, "w": 5, "h": 5, **wrong})
    with pytest.raises(ValueError, match=r"^box=Box\("):
        on_image([Box(x=0, y=0, w=9, h=9), bad], 20, 20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shift(NOISE, 5, 0), "expected"),
        (lambda: pad(NOISE, 0), "expected"),
        (lambda: rescale(NOISE, 1.0), "expected"),
        (lambda: rescale(NOISE, 1.1), "expected"),
        (lambda: blur_background(NOISE, [BOX], 0), "sigma="),
        (lambda: channel_mean([]), "images="),
        (lambda: on_image([], 100, 50), r"boxes=.*100 x 50"),
        (lambda: on_image([Box(x=100, y=0, w=5, h=5)], 100, 50), r"boxes=.*100 x 50"),
        (lambda: on_image([Box(x=0, y=-9, w=5, h=9)], 100, 50), r"boxes=.*100 x 50"),
        (lambda: rescale_boxes([], (0, 5), (5, 5)), "size="),
        (lambda: rescale_boxes([], (5, -1), (5, 5)), "size="),
        (lambda: mixed(PIXELS, OTHER, 1.5), "expected 0 to 1"),
        (lambda: mixed(PIXELS, OTHER[:6], 0.5), "one shape"),
        (lambda: graded(image(PIXELS), "blurr", 1), "did you mean 'blur'"),
    ],
)
def test_what_cannot_be_done_is_an_error(call, message):
    with pytest.raises((ValueError, UnknownNameError), match=message):
        call()

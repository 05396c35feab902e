"""Foreground and background against plain numpy."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vlgate.perturb.images import blur_background, channel_mean, crop_to, gaussian_blur, mask_background, occlude
from vlgate.perturb.images.background import soft_mask
from vlgate.perturb.scene_graph import Box

FILL = (10, 200, 90)


def mirrored(length, reach):
    """The pixels from -reach to length + reach, mirrored at both ends, the edge pixel included."""
    period = [*range(length), *reversed(range(length))]
    return [period[at % len(period)] for at in range(-reach, length + reach)]


def plain_blur(image, sigma, reach=4):
    """The Gaussian in float64, tap by tap."""
    radius = math.ceil(reach * sigma)
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    taps /= taps.sum()
    blurred = np.asarray(image, np.float64)
    for axis in (0, 1):
        length = blurred.shape[axis]
        longer = np.take(blurred, mirrored(length, radius), axis=axis)
        pieces = [np.take(longer, range(at, at + length), axis=axis) * tap for at, tap in enumerate(taps)]
        blurred = sum(pieces)
    return blurred


def plain_mask(boxes, sigma, width, height, fine=4):
    """The enlarged boxes drawn on a grid four times as fine, blurred there, and averaged over each pixel."""
    mask = np.zeros((height * fine, width * fine))
    for box in boxes:
        top, bottom = (round(fine * at) for at in (box.y - sigma, box.y + box.h + sigma))
        left, right = (round(fine * at) for at in (box.x - sigma, box.x + box.w + sigma))
        mask[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = 1
    blurred = plain_blur(mask, sigma * fine, reach=3)
    middle = [fine // 2 - 1, fine // 2]  # the centre of a pixel lies between the two in the middle
    return blurred.reshape(height, fine, width, fine)[:, middle][:, :, :, middle].mean(axis=(1, 3))


def overlaps(box, width, height):
    across = min(box.x + box.w, width) - max(box.x, 0)
    down = min(box.y + box.h, height) - max(box.y, 0)
    return across > 1e-6 and down > 1e-6


def inside(box, width, height):
    """Whether a pixel is touched, by looking at each."""
    touched = np.zeros((height, width), bool)
    for y in range(height):
        for x in range(width):
            across = min(box.x + box.w, x + 1) - max(box.x, x)
            down = min(box.y + box.h, y + 1) - max(box.y, y)
            touched[y, x] = across > 1e-6 and down > 1e-6
    return touched


@pytest.mark.parametrize("sigma", [0.4, 1.0, 2.4, 2.5, 3.0, 6.0, 9.0, 25.0])
@pytest.mark.parametrize("shape", [(60, 81, 3), (61, 80, 3), (7, 5, 3), (1, 1, 3), (2, 90, 3)])
def test_the_blur_is_a_gaussian(sigma, shape):
    random = np.random.default_rng(0)
    for image in (
        random.integers(0, 256, shape, dtype=np.uint8),
        255 * random.integers(0, 2, shape, dtype=np.uint8),
        np.where(np.arange(shape[1])[:, None] < shape[1] // 3, 255, np.zeros(shape)).astype(np.uint8),
    ):
        exact = np.rint(plain_blur(image, sigma))
        assert np.abs(gaussian_blur(image, sigma) - exact).max() <= 1


@pytest.mark.parametrize("value", [0, 1, 127, 255])
@pytest.mark.parametrize("sigma", [1.0, 3.0, 9.0])
def test_a_plain_image_stays(value, sigma):
    image = np.full((30, 41, 3), value, np.uint8)
    assert (gaussian_blur(image, sigma) == value).all()
    assert (blur_background(image, [Box(x=3, y=4, w=10, h=10)], sigma) == value).all()


MASKED = [
    [Box(x=20, y=15, w=12, h=9)],
    [Box(x=0, y=0, w=12, h=40)],
    [Box(x=10, y=5, w=20, h=10), Box(x=25, y=8, w=9, h=20)],
    [Box(x=10, y=5, w=8, h=10), Box(x=10, y=16, w=8, h=10), Box(x=40.5, y=0.25, w=9.5, h=40)],
    [Box(x=0, y=0, w=50, h=40)],
]


@pytest.mark.parametrize("boxes", MASKED)
@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_the_weights_are_those_of_a_blurred_mask(boxes, sigma):
    enlarged = [Box(x=box.x - sigma, y=box.y - sigma, w=box.w + 2 * sigma, h=box.h + 2 * sigma) for box in boxes]
    clipped = [
        Box(x=max(0, b.x), y=max(0, b.y), w=min(50, b.x + b.w) - max(0, b.x), h=min(40, b.y + b.h) - max(0, b.y))
        for b in enlarged
    ]
    weights = soft_mask(clipped, sigma, 50, 40).weights(slice(0, 40), slice(0, 50))
    assert np.abs(weights - plain_mask(boxes, sigma, 50, 40)).max() < 0.004  # half the step from pixel to pixel


@pytest.mark.parametrize("boxes", MASKED)
@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_blurred_background_mixes_the_image_and_its_blur(boxes, sigma):
    image = np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    weights = plain_mask(boxes, sigma, 50, 40)[..., None]
    expected = weights * image + (1 - weights) * plain_blur(image, sigma)
    assert np.abs(blur_background(image, boxes, sigma) - expected).max() <= 2.5  # 1.5 of the blur, 1 of the weights


BOXES = st.builds(Box, x=st.floats(-20, 150), y=st.floats(-20, 110), w=st.floats(0.01, 120), h=st.floats(0.01, 120))


@settings(max_examples=40)
@given(st.lists(BOXES, min_size=1, max_size=3), st.sampled_from((3.0, 6.0, 9.0)))
def test_the_border_reaches_two_sigma_in_and_four_out(photograph, boxes, sigma):
    height, width = photograph.shape[:2]
    boxes = [box for box in boxes if overlaps(box, width, height)]
    assume(boxes)
    result, blurred = blur_background(photograph, boxes, sigma), gaussian_blur(photograph, sigma)
    assert result.shape == photograph.shape
    assert result.dtype == np.uint8
    y, x = np.mgrid[:height, :width] + 0.5
    far = np.ones((height, width), bool)
    for box in boxes:
        right, bottom = box.x + box.w, box.y + box.h
        margins = [
            (x - box.x, box.x > 0),
            (right - x, right < width),
            (y - box.y, box.y > 0),
            (bottom - y, bottom < height),
        ]
        # A side beyond the image's edge has no border.
        deep = np.logical_and.reduce([distance >= 2 * sigma + 1e-3 for distance, real in margins if real] or [x > 0])
        here = (x > box.x) & (x < right) & (y > box.y) & (y < bottom)
        assert (result[deep & here] == photograph[deep & here]).all()
        far &= np.minimum.reduce([distance for distance, _ in margins]) < -4 * sigma - 1e-3
    assert (result[far] == blurred[far]).all()


def test_the_edge_and_the_corner_of_a_box():
    """The image counts 0.84 at an edge of a box and 0.71 at a corner."""
    weights = soft_mask([Box(x=100 - 5, y=100 - 5, w=110, h=110)], 5.0, 300, 300).weights(slice(0, 300), slice(0, 300))
    assert weights[150, 99:101].mean() == pytest.approx(0.84, abs=0.005)
    assert weights[99:101, 99:101].mean() == pytest.approx(0.71, abs=0.005)


@given(st.lists(BOXES, min_size=1, max_size=3))
@settings(max_examples=25)
def test_mask_and_occlusion_are_each_others_complement(boxes):
    image = np.random.default_rng(2).integers(0, 256, (23, 31, 3), dtype=np.uint8)
    touched = np.logical_or.reduce([inside(box, 31, 23) for box in boxes])
    if not touched.any():
        for work in (mask_background, occlude):
            with pytest.raises(ValueError, match="boxes="):
                work(image, boxes, FILL)
        return
    colour = np.array(FILL, np.uint8)
    assert (mask_background(image, boxes, FILL) == np.where(touched[..., None], image, colour)).all()
    assert (occlude(image, boxes, FILL) == np.where(touched[..., None], colour, image)).all()


def test_what_was_occluded_cannot_be_told_any_more():
    boxes = [Box(x=3.2, y=4.9, w=10, h=7.7), Box(x=-5, y=15, w=9, h=90)]
    one, other = np.random.default_rng(3).integers(0, 256, (2, 40, 40, 3), dtype=np.uint8)
    seen = ~inside(boxes[0], 40, 40) & ~inside(boxes[1], 40, 40)
    other[seen] = one[seen]
    assert (one != other).any()
    assert (occlude(one, boxes, FILL) == occlude(other, boxes, FILL)).all()


@given(st.lists(st.tuples(st.integers(0, 80), st.integers(0, 60), st.integers(1, 60), st.integers(1, 60)), min_size=1))
@settings(max_examples=50)
def test_the_crop_is_the_smallest_rectangle(corners):
    image = np.random.default_rng(4).integers(0, 256, (90, 110, 3), dtype=np.uint8)
    boxes = [Box(x=x, y=y, w=w, h=h) for x, y, w, h in corners]
    spans = [[], []]
    for x, y, w, h in corners:
        for span, start, length, whole in ((spans[0], y, h, 90), (spans[1], x, w, 110)):
            stop = min(start + length, whole)
            missing = max(0, 32 - (stop - start))
            first = min(max(0, start - missing / 2), whole - (stop - start) - missing)
            span += [math.floor(first), math.ceil(first + stop - start + missing)]
    expected = image[min(spans[0]) : max(spans[0]), min(spans[1]) : max(spans[1])]
    assert (crop_to(image, boxes) == expected).all()


@pytest.mark.parametrize("shape", [(10, 12, 3), (1, 1, 3), (20, 400, 3)])
def test_an_image_smaller_than_the_smallest_crop(shape):
    height, width = shape[:2]
    cropped = crop_to(np.zeros(shape, np.uint8), [Box(x=0, y=0, w=1, h=1)])
    assert cropped.shape == (min(height, 32), min(width, 32), 3)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=5), st.integers(0, 99))
def test_the_mean_weighs_pixels(sizes, seed):
    random = np.random.default_rng(seed)
    images = [random.integers(0, 256, (*size, 3), dtype=np.uint8) for size in sizes]
    mean = channel_mean(iter(images))
    assert mean.dtype == np.float64
    assert mean == pytest.approx(np.concatenate([image.reshape(-1, 3) for image in images]).mean(axis=0))
    assert (channel_mean(reversed(images)) == mean).all()

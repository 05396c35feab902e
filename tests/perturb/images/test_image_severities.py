"""Every perturbation by name: shapes, bytes, severities."""

import colorsys
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.perturb.images import (
    PERTURBATIONS,
    brightness,
    contrast,
    defocus_blur,
    flip,
    gaussian_noise,
    greyscale,
    jpeg,
    mirror_box,
    motion_blur,
    occlude,
    perturbation,
    pixelate,
    rotate,
    shot_noise,
)
from vlgate.perturb.images.blur import disk, trail
from vlgate.perturb.question_tests import VISUAL
from vlgate.perturb.scene_graph import Box

BOXES = (Box(x=20.5, y=30, w=50, h=40), Box(x=100, y=60, w=30, h=70))
GRADED = (brightness, contrast, defocus_blur, gaussian_noise, jpeg, motion_blur, pixelate, rotate, shot_noise)
FAMILIES = {one.family for one in PERTURBATIONS.values() if one.name.endswith("-1")}
PHOTOGRAPHS = Path(__file__).parents[4] / "shared/data/images/coco"


def distance(one, other):
    return np.abs(one.astype(float) - other).mean()


def test_the_names():
    assert set(PERTURBATIONS) == {
        *("blur3", "blur6", "blur9", "mask", "crop", "occlude", "flip", "greyscale", "blurred-away"),
        *(f"{family}-{severity}" for family in FAMILIES for severity in range(1, 6)),
    }
    assert {function.__name__.replace("_", "-") for function in GRADED} == FAMILIES
    assert VISUAL == ("blur3", "blur6", "blur9", "mask", "crop")
    assert all(name == one.name for name, one in PERTURBATIONS.items())


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(ValueError, match=r"name='blur7'.*'blur\d'"):
        perturbation("blur7")
    with pytest.raises(ValueError, match="'blur3', "):
        perturbation("xyzzy")


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_an_image_in_an_image_out(photograph, name):
    before = photograph.copy()
    result = PERTURBATIONS[name](photograph, BOXES)
    assert result.dtype == np.uint8
    assert result.shape == (photograph.shape if name != "crop" else (90, 111, 3))  # the narrow box is grown

    assert (photograph == before).all()
    assert not np.shares_memory(result, photograph)
    assert result.flags.writeable
    assert result.flags.c_contiguous
    if name != "crop":
        assert distance(result, photograph) > 0.5
    assert (PERTURBATIONS[name](photograph, BOXES) == result).all()


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_what_is_not_used_changes_nothing(photograph, name):
    one = PERTURBATIONS[name]
    plain = one(photograph, BOXES, seed=1, fill=(0, 0, 0))
    for argument, other in (("seed", 2), ("fill", (9, 9, 9))):
        same = np.array_equal(one(photograph, BOXES, **{"seed": 1, "fill": (0, 0, 0), argument: other}), plain)
        if argument not in one.uses:
            assert same
        elif one.family != "rotate":  # two seeds may turn the same way
            assert not same
    if "boxes" in one.uses:
        with pytest.raises(ValueError, match="boxes="):
            one(photograph)
    else:
        assert (one(photograph, (), seed=1, fill=(0, 0, 0)) == plain).all()


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_small_images(name):
    for shape in ((1, 1, 3), (1, 50, 3), (3, 2, 3), (33, 34, 3)):
        image = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
        result = PERTURBATIONS[name](image, [Box(x=0, y=0, w=1, h=1)])
        assert result.shape == (shape if name != "crop" else (min(32, shape[0]), min(32, shape[1]), 3))


@pytest.mark.parametrize("name", [name for name in PERTURBATIONS if name[-1] not in "2345"])
def test_no_image(name):
    for shape, kind in (((4, 4), np.uint8), ((4, 4, 4), np.uint8), ((4, 4, 3), float), ((0, 4, 3), np.uint8)):
        with pytest.raises(ValueError, match=r"image=shape .*uint8"):
            PERTURBATIONS[name](np.zeros(shape, kind), BOXES)


@pytest.mark.parametrize("function", GRADED)
@pytest.mark.parametrize("severity", [0, 6, -1, 2.5])
def test_no_severity(photograph, function, severity):
    with pytest.raises(ValueError, match="severity="):
        function(photograph, severity)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_higher_severity_changes_more(photograph, family):
    from PIL import Image

    images = [photograph]
    for file in sorted(PHOTOGRAPHS.glob("*.jpg"))[:2]:  # none without ../shared/data
        with Image.open(file) as image:
            images.append(np.asarray(image.convert("RGB").reduce(2)))
    for image in images:
        distances = [distance(PERTURBATIONS[f"{family}-{severity}"](image), image) for severity in range(1, 6)]
        assert distances == sorted(set(distances))


@pytest.mark.parametrize("function", [gaussian_noise, shot_noise, motion_blur, rotate])
def test_the_seed_decides(photograph, function):
    results = {function(photograph, 3, seed=seed).tobytes() for seed in range(8)}
    assert len(results) == (2 if function is rotate else 8)
    assert function(photograph, 3, seed=5).tobytes() in results


def test_the_seed_decides_in_another_process():
    work = (
        "import numpy as np, hashlib\n"
        "from vlgate.perturb.images import gaussian_noise\n"
        "print(hashlib.sha256(gaussian_noise(np.full((9, 9, 3), 100, np.uint8), 2, seed=7)).hexdigest())"
    )
    runs = [subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout


def test_noise_has_its_deviation():
    grey = np.full((200, 200, 3), 128, np.uint8)
    assert (gaussian_noise(grey, 1).astype(float) - 128).std() == pytest.approx(0.08 * 255, rel=0.02)
    assert (shot_noise(grey, 1).astype(float)).std() == pytest.approx(255 * np.sqrt(128 / 255 / 60), rel=0.02)
    assert shot_noise(grey, 1).mean() == pytest.approx(128, abs=0.5)


@pytest.mark.parametrize("severity", range(1, 6))
def test_brightness_is_the_value_of_hsv(severity):
    image = np.random.default_rng(5).integers(0, 256, (8, 9, 3), dtype=np.uint8)
    image[0, 0] = 0
    bright = brightness(image, severity)
    for pixel, result in zip(image.reshape(-1, 3), bright.reshape(-1, 3), strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*(pixel / 255))
        expected = colorsys.hsv_to_rgb(hue, saturation, min(1, value + severity / 10))
        assert np.abs(result - 255 * np.array(expected)).max() <= 0.51


@pytest.mark.parametrize(("severity", "left"), [(1, 0.4), (2, 0.3), (3, 0.25), (4, 0.2), (5, 0.15)])
def test_contrast_keeps_the_mean(photograph, severity, left):
    means = photograph.mean(axis=(0, 1))
    assert np.abs(contrast(photograph, severity) - ((photograph - means) * left + means)).max() <= 0.51


def test_greyscale_is_that_of_pillow(photograph):
    from PIL import Image

    grey = greyscale(photograph)
    assert (grey == grey[..., :1]).all()
    assert np.abs(grey[..., 0] - np.asarray(Image.fromarray(photograph).convert("L"), int)).max() <= 1
    assert (greyscale(grey) == grey).all()


def test_a_flip_undoes_itself_and_moves_boxes(photograph):
    flipped = flip(photograph)
    assert (flipped == photograph[:, ::-1]).all()
    assert (flip(flipped) == photograph).all()
    moved = [mirror_box(box, photograph.shape[1]) for box in BOXES]
    assert (occlude(flipped, moved, (0, 0, 0)) == flip(occlude(photograph, BOXES, (0, 0, 0)))).all()


def test_rotation_turns_around_the_centre(photograph):
    height, width = 81, 101
    dot = np.zeros((height, width, 3), np.uint8)
    dot[40, 80:83] = 255
    turned = rotate(dot, 5, fill=(0, 0, 0))
    y, x = np.argwhere(turned[..., 0] > 100).mean(axis=0) - (40, 50)
    assert np.hypot(x, y) == pytest.approx(31, abs=0.7)
    assert abs(np.degrees(np.arctan2(y, x))) == pytest.approx(30, abs=1)
    upside_down = rotate(photograph[::-1, ::-1], 5)[::-1, ::-1]  # equal only if it turns around the centre
    assert distance(upside_down, rotate(photograph, 5)) < 0.5
    corner = rotate(photograph, 5)[0, 0]
    assert np.abs(corner - photograph.mean(axis=(0, 1))).max() <= 0.51


@settings(max_examples=25)
@given(st.floats(2, 12))
def test_a_disk_is_round(radius):
    weights = disk(radius)
    assert weights.sum() == pytest.approx(1, abs=1e-5)
    assert (weights == weights.T).all()
    assert (weights == weights[::-1]).all()
    assert np.count_nonzero(weights) == pytest.approx(np.pi * (radius + 0.5) ** 2, rel=0.4)


@settings(max_examples=25)
@given(st.floats(2, 60), st.floats(1, 30), st.floats(-0.8, 0.8))
def test_a_trail_leads_away_from_the_centre(length, sigma, angle):
    weights = trail(length, sigma, angle)
    assert weights.sum() == pytest.approx(1, abs=1e-5)
    reach = len(weights) // 2
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    across, down = (weights * x).sum(), (weights * y).sum()
    assert np.arctan2(down, across) == pytest.approx(angle, abs=1e-3)
    assert 0 < np.hypot(across, down) <= min(length / 2, sigma) + 0.5


@pytest.mark.parametrize("function", [defocus_blur, motion_blur, pixelate])
def test_a_severity_looks_the_same_in_a_larger_file(photograph, function):
    large = np.repeat(np.repeat(photograph, 4, axis=0), 4, axis=1)
    middle = np.repeat(np.repeat(photograph, 2, axis=0), 2, axis=1)
    from_large = function(large, 5).reshape(240, 2, 322, 2, 3).mean(axis=(1, 3))
    assert distance(function(middle, 5), from_large) < 2


def test_nothing_heavy_is_imported():
    work = "import sys; import vlgate.perturb.images;print(sorted({'PIL', 'cv2', 'torch'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"

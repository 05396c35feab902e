"""Images perturbed when they are asked for."""

import pickle

import builders
import numpy as np
import pytest
from PIL import Image

from vlgate.perturb.images import PERTURBATIONS, blur_background, crop_to, flip, mask_background, mirror_box, perturbed
from vlgate.perturb.scene_graph import Box
from vlgate.types import LazyImage

BOX = Box(x=10, y=20, w=40, h=30)
PIXELS = np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)


def load():
    return Image.fromarray(PIXELS)


@pytest.fixture
def image():
    return LazyImage(key="2357834", load=load, where="data/2357834.jpg")


def test_nothing_is_decoded_before_it_is_asked_for():
    lazy = perturbed(builders.image("a.jpg"), "blur6", [BOX], size=(90, 60))
    assert lazy.key == "a.jpg#blur6"
    with pytest.raises(pytest.fail.Exception, match="was decoded"):
        lazy.load()


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_it_is_what_the_function_makes(image, name):
    made = perturbed(image, name, [BOX], fill=(1, 2, 3))
    assert made.key == f"2357834#{name}"
    assert made.load().mode == "RGB"
    if "seed" not in PERTURBATIONS[name].uses:
        assert (np.asarray(made.load()) == PERTURBATIONS[name](PIXELS, [BOX], fill=(1, 2, 3))).all()
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert hash(again) == hash(made)
    assert (np.asarray(again.load()) == np.asarray(made.load())).all()


def test_perturbations_follow_each_other(image):
    flipped = perturbed(image, "flip")
    both = perturbed(flipped, "blur6", [mirror_box(BOX, 90)])
    assert both.key == "2357834#flip+blur6"
    assert (np.asarray(both.load()) == blur_background(flip(PIXELS), [mirror_box(BOX, 90)], 6.0)).all()
    assert perturbed(both, "greyscale").key == "2357834#flip+blur6+greyscale"


def test_boxes_are_scaled_to_the_file(image):
    annotated = perturbed(image, "crop", [Box(x=20, y=20, w=80, h=30)], size=(180, 60))
    assert (np.asarray(annotated.load()) == crop_to(PIXELS, [BOX])).all()


@pytest.mark.parametrize(
    "other", [{"boxes": [Box(x=10, y=20, w=40, h=31)]}, {"boxes": [BOX, BOX]}, {"size": (180, 60)}, {"fill": (0, 0, 0)}]
)
def test_another_image_is_unequal(image, other):
    plain = {"boxes": [BOX], "size": (90, 60)}
    one, two = perturbed(image, "mask", **plain), perturbed(image, "mask", **{**plain, **other})
    assert one.key == two.key
    assert one != two
    assert one == perturbed(image, "mask", **plain)


def test_the_same_image_is_equal_whatever_is_not_used(image):
    assert perturbed(image, "flip", [BOX], size=(9, 9), seed=3, fill=(0, 0, 0)) == perturbed(image, "flip")
    assert perturbed(image, "blur6", [BOX], seed=3, fill=(0, 0, 0)) == perturbed(image, "blur6", [BOX])
    assert perturbed(image, "jpeg-2") != image


def test_each_image_and_seed_has_its_own_noise(image):
    twin = LazyImage(key="other", load=image.load, where=image.where)
    noisy = [perturbed(one, "gaussian-noise-1", seed=seed) for one in (image, twin) for seed in (0, 1)]
    assert len({one.load().tobytes() for one in noisy}) == 4
    assert len({one.where for one in noisy}) == 4
    assert noisy[0].load().tobytes() == perturbed(image, "gaussian-noise-1").load().tobytes()


@pytest.mark.parametrize(
    ("name", "boxes", "more", "message"),
    [
        ("blur33", [BOX], {}, "'blur3'"),
        ("blur3", [], {}, r"boxes=\(\): 'blur3'"),
        ("blur3", [BOX], {"size": (8, 8)}, r"boxes=.*8 x 8"),
        ("blur3", [Box(x=0, y=0, w=0, h=1)], {}, r"^box=Box\("),
        ("mask", [BOX], {"fill": (0, 0, 300)}, "fill="),
    ],
)
def test_what_cannot_be_is_said_at_once(image, name, boxes, more, message):
    with pytest.raises(ValueError, match=message):
        perturbed(image, name, boxes, **more)


def test_without_a_size_it_is_said_when_the_image_is_asked_for(image):
    lazy = perturbed(image, "mask", [Box(x=500, y=0, w=5, h=5)])
    with pytest.raises(ValueError, match=r"boxes=.*90 x 60"):
        lazy.load()


def test_masks_take_the_colour(image):
    made = perturbed(image, "mask", [BOX], fill=np.array([1.4, 2.6, 3.0]))
    assert (np.asarray(made.load()) == mask_background(PIXELS, [BOX], (1, 3, 3))).all()

"""Images that are changed by any strength when they are loaded."""

import numpy as np
import pytest
from PIL import Image

from vlgate.errors import UnknownNameError
from vlgate.perturb.images import gaussian_blur
from vlgate.perturb.images.corruptions import scale_contrast
from vlgate.perturb.images.graded import graded, mixed, mixture
from vlgate.types import LazyImage

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 16, 3)).astype(np.uint8)
OTHER = np.random.default_rng(1).integers(0, 256, (12, 16, 3)).astype(np.uint8)


def image(pixels, key="7.jpg"):
    return LazyImage(key=key, load=lambda: Image.fromarray(pixels))


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


def test_what_cannot_be_done_is_an_error():
    with pytest.raises(UnknownNameError, match="did you mean 'blur'"):
        graded(image(PIXELS), "blurr", 1)
    with pytest.raises(ValueError, match="expected 0 to 1"):
        mixed(PIXELS, OTHER, 1.5)
    with pytest.raises(ValueError, match="one shape"):
        mixed(PIXELS, OTHER[:6], 0.5)

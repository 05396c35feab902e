"""Re-encodings decode to the same pixels, and JPEG to nearly the same."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from vlgate.images.decoding import decode_stream
from vlgate.perturb.images.benign import (
    LOSSLESS,
    as_cmyk,
    as_jpeg,
    as_palette,
    as_progressive,
    as_transparent,
    as_turned,
)

SIDES = st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(3))
IMAGES = arrays.arrays(np.uint8, SIDES, elements=st.sampled_from([0, 1, 127, 254, 255]))


def decoded(content):
    return np.asarray(decode_stream(BytesIO(content), "memory", "key"))


@pytest.mark.parametrize("name", LOSSLESS)
@given(image=IMAGES)
def test_a_lossless_file_decodes_to_the_same_pixels(name, image):
    assert np.array_equal(decoded(LOSSLESS[name](image)), image)


def test_the_files_are_what_they_say():
    image = np.full((4, 6, 3), 255, np.uint8)
    turned = Image.open(BytesIO(as_turned(image)))
    assert (turned.size, turned.getexif()[0x0112]) == ((4, 6), 6)
    assert Image.open(BytesIO(as_palette(image))).mode == "P"
    assert Image.open(BytesIO(as_cmyk(image))).mode == "CMYK"
    hidden = Image.open(BytesIO(as_transparent(image, (1, 2, 3))))
    assert hidden.getpixel((0, 0)) == (1, 2, 3, 0)
    assert Image.open(BytesIO(as_progressive(image))).info["progressive"]


def test_a_palette_holds_256_colours():
    many = np.zeros((257, 1, 3), np.uint8)
    many[:, 0, 0], many[:, 0, 1] = np.arange(257) % 256, np.arange(257) // 256
    assert as_palette(many[:256]) is not None
    assert as_palette(many) is None


def test_a_progressive_jpeg_decodes_as_the_baseline_one():
    smooth = np.linspace(0, 255, 64 * 64 * 3).reshape(64, 64, 3).astype(np.uint8)
    assert np.array_equal(decoded(as_progressive(smooth)), decoded(as_jpeg(smooth)))
    assert as_progressive(smooth) != as_jpeg(smooth)
    assert np.abs(decoded(as_jpeg(smooth)).astype(int) - smooth).mean() < 2

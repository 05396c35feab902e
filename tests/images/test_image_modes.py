"""Image files of all modes and formats, which become upright RGB images."""

from io import BytesIO

import numpy as np
import pytest
from encoded_images import PHOTO, encoded, rotated
from PIL import Image, ImageOps

from vlgate.errors import ImageError

GREY = np.array([[0, 255, 256, 32_767], [32_768, 65_407, 65_408, 65_535]], dtype=np.uint16)


@pytest.mark.parametrize("form", ["PNG", "BMP", "GIF", "TIFF", "JPEG", "WEBP"])
def test_one_pixel(form, decoded):
    image = decoded(encoded(Image.new("RGB", (1, 1), "white"), form))
    assert (image.mode, image.size, image.getpixel((0, 0))) == ("RGB", (1, 1), (255, 255, 255))


@pytest.mark.parametrize("mode", ["1", "L", "RGB", "CMYK", "YCbCr", "LAB"])
def test_modes_are_converted_as_pil_does(mode, decoded):
    image = PHOTO.convert("RGB").convert(mode) if mode != "LAB" else Image.new("LAB", (3, 3))
    content = encoded(image, "TIFF")
    expected = Image.open(BytesIO(content)).convert("RGB")
    result = decoded(content)
    assert (result.mode, result.tobytes()) == ("RGB", expected.tobytes())


@pytest.mark.parametrize("mode", ["LA", "RGBA"])
@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_alpha_is_shown_on_white(mode, form, decoded):
    image = Image.merge("RGBA", (*Image.new("RGB", (3, 1)).split(), Image.new("L", (3, 1))))
    image.putalpha(Image.frombytes("L", (3, 1), bytes([0, 51, 255])))
    options = {"lossless": True, "exact": True} if form == "WEBP" else {}
    result = decoded(encoded(image.convert(mode), form, **options))
    assert [result.getpixel((x, 0)) for x in range(3)] == [(255,) * 3, (204,) * 3, (0,) * 3]


@pytest.mark.parametrize(
    ("mode", "content", "transparency"),
    [("P", b"\0\1", 0), ("P", b"\0\1", b"\x00\xff"), ("RGB", b"\1\2\3\xc8\xc8\xc8", (1, 2, 3)), ("L", b"\7\xc8", 7)],
)
def test_a_transparent_colour_is_shown_on_white(mode, content, transparency, decoded):
    image = Image.frombytes(mode, (2, 1), content)
    if mode == "P":
        image.putpalette([10, 20, 30, 200, 200, 200])
    result = decoded(encoded(image, "PNG", transparency=transparency))
    assert [result.getpixel((x, 0)) for x in range(2)] == [(255,) * 3, (200,) * 3]


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_16_bit_grey_is_scaled_not_clipped_big_endian_or_not(form, decoded):
    result = np.asarray(decoded(encoded(Image.fromarray(GREY), form)))
    expected = np.rint(GREY / 65_535 * 255).astype(np.uint8)
    assert (result == expected[..., None]).all()
    assert Image.open(BytesIO(encoded(Image.frombytes("I;16B", (1, 1), b"\x80\x00"), "TIFF"))).mode == "I;16B"
    assert decoded(encoded(Image.frombytes("I;16B", (1, 1), b"\x80\x00"), "TIFF")).getpixel((0, 0)) == (128,) * 3


@pytest.mark.parametrize("mode", ["I", "F"])
def test_32_bit_grey_is_an_error(mode, decoded):
    with pytest.raises(ImageError, match=r"a\.jpg is 32-bit grey"):
        decoded(encoded(Image.new(mode, (2, 2), 7), "TIFF"))


@pytest.mark.parametrize(("form", "options"), [("GIF", {}), ("PNG", {}), ("WEBP", {"lossless": True}), ("TIFF", {})])
def test_the_first_frame_is_taken(form, options, decoded):
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "lime", "blue")]
    result = decoded(encoded(frames[0], form, save_all=True, append_images=frames[1:], **options))
    assert result.getcolors() == [(16, (255, 0, 0))]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(10))
def test_exif_is_applied_once(form, orientation, decoded):
    content = encoded(PHOTO, form, exif=rotated(orientation))
    with Image.open(BytesIO(content)) as image:
        expected = ImageOps.exif_transpose(image).convert("RGB")
    result = decoded(content)
    assert (result.size, result.tobytes()) == (expected.size, expected.tobytes())
    assert ImageOps.exif_transpose(result).tobytes() == result.tobytes()
    assert result.info == {}


def test_broken_exif_does_not_matter_and_adobe_inverted_cmyk_is_not_a_negative(decoded):
    content = encoded(PHOTO, "JPEG", exif=rotated(6))
    start = content.index(b"Exif\0\0") + 6
    broken = content[:start] + b"XX" + content[start + 2 :]
    assert decoded(broken).tobytes() == decoded(encoded(PHOTO, "JPEG")).tobytes()
    image = decoded(encoded(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=95))
    red, green, blue = image.getpixel((8, 8))
    assert red > 240
    assert max(green, blue) < 15

"""Decoding a picture: an upright 8-bit RGB image, or an error that names the file and the remedy."""

from __future__ import annotations

import os
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from vlgate.errors import PictureError

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")
"""What is read; JPEG includes MPO. PIL knows more, among them one that runs a program (EPS)."""

MAX_PIXELS = 89_478_485
"""The largest picture that is read, in pixels: 256 MiB as RGB, where PIL, too, begins to suspect an attack."""

REPLACE = "replace the file, or download it again"

# What PIL's decoders raise on a broken file, by its own documentation and by cutting and altering files.
_BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    EOFError,
    RuntimeError,
    struct.error,
    zlib.error,
    Warning,
)
_SHRINK = f"make it smaller: at most {MAX_PIXELS:,} pixels are read"
# The filters of warnings belong to the whole process, so only one thread at a time may set them aside.
_FILTERS = threading.Lock()


def decode_stream(stream: BinaryIO, where: object, key: str) -> Image:
    """Decode the picture in a stream that can seek; ``where`` is named in errors.

    - Transparent pixels are shown on white; of an animation or several pages the first is taken.
    - The orientation that EXIF gives is applied; the result carries no EXIF, so nobody can apply it again.
    - 16-bit grey is scaled to 8 bit (v / 257, rounded); 32-bit grey has no defined white and is an error.
    - CMYK, also as Adobe inverts it, is converted without a colour profile, as are all others.
    - The format is read in the file, whatever its name ends with: JPEG, MPO, PNG, GIF, WebP, BMP or TIFF.

    Returns: a PIL image in mode RGB, upright, of at least 1 x 1 pixels.
    Raises: PictureError where it is no picture, cut off or broken, or claims more than ``MAX_PIXELS`` (known before
    memory is taken).
    """
    try:
        image = _open(stream, where, key)
        image.load()
        if image.format in {"JPEG", "MPO"} and not _has_end(stream):
            raise PictureError(key, f"{where} is cut off: it has no end marker", REPLACE)
        return _upright(_rgb(image), image)
    except _BROKEN as error:
        raise PictureError(key, f"{where} cannot be decoded, it is cut off or broken ({error})", REPLACE) from None
    except MemoryError:
        raise PictureError(key, f"{where} needs more memory than there is", _SHRINK) from None


def _open(stream: BinaryIO, where: object, key: str) -> ImageFile:
    """Read the header only; PIL takes the memory for the pixels when they are loaded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with _warnings_set_aside():
            image = Image.open(stream, formats=FORMATS)
    except UnidentifiedImageError:
        stream.seek(0)
        known = ", ".join(FORMATS)
        problem = f"{where} is no whole picture in a format that is read ({known}): it begins with {stream.read(16)!r}"
        raise PictureError(key, problem, REPLACE) from None
    except Image.DecompressionBombError as error:
        raise PictureError(key, f"{where} is too large ({error})", _SHRINK) from None
    _check_header(image, where, key)
    return image


def _check_header(image: ImageFile, where: object, key: str) -> None:
    width, height = image.size
    if width * height > MAX_PIXELS:  # PIL only warns up to twice as many
        raise PictureError(key, f"{where} is too large ({width:,} x {height:,} pixels)", _SHRINK)
    if image.mode == "F" or (image.mode == "I" and image.format != "PNG"):  # PIL below 11 opens 16-bit PNG as I
        problem = f"{where} is 32-bit grey (mode {image.mode}), which has no defined white"
        raise PictureError(key, problem, "convert it to 8 or 16 bit")


def _has_end(stream: BinaryIO) -> bool:
    """Whether a JPEG's scans are followed by the marker that ends them.

    An interrupted download may leave a file of the right length with zeros at its end. They are valid codes: half of
    all such files decode without an error, to grey.
    """
    stream.seek(-2, os.SEEK_END)
    if stream.read() == b"\xff\xd9":
        return True
    stream.seek(0)
    content = stream.read()
    position = 2  # from segment to segment, as a thumbnail in one of them has scans and an end of its own
    while content[position : position + 1] == b"\xff" and content[position + 1 : position + 2] != b"\xda":
        position += 2 + int.from_bytes(content[position + 2 : position + 4], "big")
    return content.find(b"\xff\xd9", position) >= 0


@contextmanager
def _warnings_set_aside() -> Iterator[None]:
    """Ignore PIL's remarks on metadata, which is not needed, and on the size, which is checked here."""
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _upright(rgb: Image, image: Image) -> Image:
    """Turn ``rgb`` as the EXIF of ``image`` says; EXIF that cannot be read says nothing, as in browsers.

    Not ``ImageOps.exif_transpose``, which also writes the EXIF anew and fails where it holds other errors.
    """
    from PIL.ExifTags import Base
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    try:
        with _warnings_set_aside():
            orientation = image.getexif().get(Base.Orientation)
    except _BROKEN:
        return rgb
    if not isinstance(orientation, int) or orientation not in turns:
        return rgb
    return rgb.transpose(turns[orientation])


def _rgb(image: Image) -> Image:
    """Return a plain RGB image without metadata."""
    if image.mode.startswith("I"):
        rgb = _from_16_bit(image)
    elif image.has_transparency_data:
        rgb = _on_white(image)
    else:
        rgb = image.convert("RGB")
    rgb.info.clear()
    return rgb


def _from_16_bit(image: Image) -> Image:
    from PIL.Image import fromarray

    values = np.asarray(image).astype(np.uint32)
    return fromarray(((values + 128) // 257).astype(np.uint8)).convert("RGB")


def _on_white(image: Image) -> Image:
    from PIL.Image import alpha_composite, new

    layer = image.convert("RGBA")
    return alpha_composite(new("RGBA", layer.size, "white"), layer).convert("RGB")

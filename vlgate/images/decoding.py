"""Decoding an image to an upright 8-bit RGB image, with errors that name the file and the remedy."""

from __future__ import annotations

import os
import re
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from vlgate.errors import ImageError

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "HEIF")
"""The formats that are read; JPEG includes MPO. PIL reads more formats, one of which runs a program (EPS).

AVIF needs Pillow 11.3, HEIF (HEIC) the package pillow-heif.
"""

MAX_PIXELS = 89_478_485
"""The largest image that is read, in pixels: 256 MiB as RGB. PIL warns of an attack from this size on."""

REPLACE = "replace the file, or download it again"

_CONVERT = "convert it to PNG or JPEG"
_SVG = rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?(?:<!DOCTYPE svg[^>]*>\s*)?<svg"
_OTHERS = (
    (rb"....ftypavi[fs]", "an AVIF image", f"{_CONVERT}, or pip install 'pillow>=11.3'"),
    (rb"....ftyp(?:he[iv][cmsx]|mif1|msf1)", "a HEIC image", f"{_CONVERT}, or pip install pillow-heif"),
    (rb"\xff\x0a|\0\0\0\x0cJXL ", "a JPEG XL image", _CONVERT),
    (rb"\0\0\0\x0cjP  |\xff\x4f\xff\x51", "a JPEG 2000 image", _CONVERT),
    (rb"%PDF-", "a PDF document", _CONVERT),
    (rb"8BPS", "a Photoshop image", _CONVERT),
    (rb"%!PS|\xc5\xd0\xd3\xc6", "a PostScript image", _CONVERT),
    (_SVG, "an SVG drawing", _CONVERT),
    (rb"\s*<(?:!doctype html|html|head)", "a web page", "download the image that it shows"),
    (rb"version https://git-lfs", "a pointer of Git LFS", "fetch the file with git lfs pull"),
)  # how files begin that are put in the place of images, what they are, and a remedy
_ENDS = {"JPEG": b"\xff\xd9", "MPO": b"\xff\xd9", "PNG": b"IEND\xaeB`\x82"}
_BEGIN = 512  # bytes by which the kind of another file is told

# The errors of PIL's decoders on a broken file, from its documentation and from tests with cut and altered files.
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
# The warning filters belong to the whole process, so only one thread at a time may add one.
_FILTERS = threading.Lock()
_FROM_PIL = r"PIL\.(?#vlgate)"  # the comment makes the filter unlike any of a user's


def decode_stream(stream: BinaryIO, where: object, key: str) -> Image:
    """Decode the image in a seekable stream; errors name it ``where``.

    - Transparent pixels become white; the first frame of an animation, or the first page of several, is taken.
    - The EXIF orientation is applied; the result has no EXIF, so that the orientation is not applied twice.
    - 16-bit grey is scaled to 8 bit (v / 257, rounded); 32-bit grey has no defined white and is an error.
    - CMYK, also as Adobe inverts it, is converted without a colour profile, as all other modes are.
    - The format is detected from the content, not from the name: JPEG, MPO, PNG, GIF, WebP, BMP, TIFF, AVIF or HEIC.

    Returns: a PIL image in mode RGB, upright, of at least 1 x 1 pixels.
    """
    try:
        image = _open(stream, where, key)
        image.load()
        if image.format in {"JPEG", "MPO"} and not _has_end(stream):
            raise ImageError(key, f"{where} is cut off: it has no end marker", REPLACE)
        return _upright(_rgb(image), image)
    except _BROKEN as error:
        raise ImageError(key, f"{where} cannot be decoded because it is cut off or broken ({error})", REPLACE) from None
    except MemoryError:
        raise ImageError(key, f"{where} needs more memory than is available", _SHRINK) from None


def check_stream(stream: BinaryIO, where: object, key: str) -> None:
    """Raise as ``decode_stream`` does; of a JPEG or PNG with its usual end, only the header and the end are read."""
    end = _ENDS.get(str(_open(stream, where, key).format), b"")
    stream.seek(-len(end), os.SEEK_END)
    if not end or stream.read() != end:
        stream.seek(0)
        decode_stream(stream, where, key)


def _open(stream: BinaryIO, where: object, key: str) -> ImageFile:
    """Read the header only; PIL allocates the memory for the pixels when they are loaded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with _warnings_set_aside():
            image = Image.open(stream, formats=formats())
    except UnidentifiedImageError:
        stream.seek(0)
        begin = stream.read(_BEGIN)
        kind, remedy = "", REPLACE
        for pattern, other, its_remedy in _OTHERS:
            readable = ("AVIF" in other and "AVIF" in formats()) or ("HEIC" in other and "HEIF" in formats())
            if not readable and re.match(pattern, begin, re.DOTALL | re.IGNORECASE):
                kind, remedy = f", but {other}", its_remedy
                break
        known = f"a known format ({', '.join(formats())})"
        problem = f"{where} is not a complete image in {known}{kind}; it begins with {begin[:16]!r}"
        raise ImageError(key, problem, remedy) from None
    except Image.DecompressionBombError as error:
        raise ImageError(key, f"{where} is too large ({error})", _SHRINK) from None
    width, height = image.size
    if width * height > MAX_PIXELS:  # PIL warns from here on, and raises an error only from twice as many pixels
        raise ImageError(key, f"{where} is too large ({width:,} x {height:,} pixels)", _SHRINK)
    if image.mode == "F" or (image.mode == "I" and image.format != "PNG"):  # PIL below 11 opens 16-bit PNG as I
        problem = f"{where} is 32-bit grey (mode {image.mode}), which has no defined white"
        raise ImageError(key, problem, "convert it to 8 or 16 bit")
    return image


@cache
def formats() -> tuple[str, ...]:
    from PIL import Image

    Image.init()
    known = set(Image.OPEN) - {"AVIF", "HEIF"}
    with suppress(ImportError):
        from PIL import AvifImagePlugin

        known |= {"AVIF"} if AvifImagePlugin.SUPPORTED else set()
    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()
        known |= {"HEIF"}
    return tuple(name for name in FORMATS if name in known)


def _has_end(stream: BinaryIO) -> bool:
    """Return whether a JPEG's scans are followed by the marker that ends them.

    An interrupted download may leave a file of the right length with zeros at its end. Zeros are valid codes, so half
    of such files decode without an error, with grey in place of the missing part.
    """
    stream.seek(-2, os.SEEK_END)
    if stream.read() == b"\xff\xd9":
        return True
    stream.seek(0)
    content = stream.read()
    position = 2  # jump from segment to segment, because a thumbnail in one of them has its own scans and end marker
    while content[position : position + 1] == b"\xff" and content[position + 1 : position + 2] != b"\xda":
        position += 2 + int.from_bytes(content[position + 2 : position + 4], "big")
    return content.find(b"\xff\xd9", position) >= 0


@contextmanager
def _warnings_set_aside() -> Iterator[None]:
    """Ignore PIL's warnings about metadata, which is not needed, and about the size, which is checked here.

    ``warnings.catch_warnings`` would put back all filters as they were, and undo what another thread does to them in
    the meantime: images are decoded while a model works. So one filter is added, and only that one is taken away.
    """
    with _FILTERS:
        warnings.filterwarnings("ignore", module=_FROM_PIL)
        try:
            yield
        finally:
            filters: list[Any] = warnings.filters  # type: ignore[assignment]  # it is a list
            for added in [filter_ for filter_ in filters if getattr(filter_[3], "pattern", "") == _FROM_PIL]:
                with suppress(ValueError):  # another thread has just put back the filters that it found
                    filters.remove(added)


def _upright(rgb: Image, image: Image) -> Image:
    """Turn ``rgb`` as the EXIF of ``image`` says; unreadable EXIF is ignored, as in browsers.

    ``ImageOps.exif_transpose`` would also rewrite the EXIF, and fails if it has other errors.
    """
    from PIL.ExifTags import Base
    from PIL.Image import Transpose

    flips = (Transpose.FLIP_LEFT_RIGHT, Transpose.ROTATE_180, Transpose.FLIP_TOP_BOTTOM, Transpose.TRANSPOSE)
    turns = dict(enumerate((*flips, Transpose.ROTATE_270, Transpose.TRANSVERSE, Transpose.ROTATE_90), 2))
    try:
        with _warnings_set_aside():
            orientation = image.getexif().get(Base.Orientation)
    except _BROKEN:
        return rgb
    if not isinstance(orientation, int) or orientation not in turns:
        return rgb
    return rgb.transpose(turns[orientation])


def _rgb(image: Image) -> Image:
    if image.mode.startswith("I"):
        from PIL.Image import fromarray

        values = np.asarray(image).astype(np.uint32)
        rgb = fromarray(((values + 128) // 257).astype(np.uint8)).convert("RGB")
    elif image.has_transparency_data:
        from PIL.Image import alpha_composite, new

        layer = image.convert("RGBA")
        rgb = alpha_composite(new("RGBA", layer.size, "white"), layer).convert("RGB")
    else:
        rgb = image.convert("RGB")
    rgb.info.clear()
    return rgb

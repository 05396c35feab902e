"""The same picture in other files: bytes that decode to the same pixels, and JPEG, which does not.

``vlgate.images`` decodes each of the lossless files to exactly the pixels that were given. A model that opens files
itself may not: it may ignore the EXIF orientation, put transparent pixels on black, or show a palette's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.pixels import Pixels, checked

if TYPE_CHECKING:
    from PIL.Image import Image

QUALITY = 95
"""The quality of JPEG, of 95 at most."""
_MOST_COLOURS = 256
_ORIENTATION = 0x0112  # the EXIF tag
_TURNED_LEFT = 6  # the value for stored pixels that must be turned clockwise by 90 degrees


def as_png(image: ArrayLike) -> bytes:
    """Return a PNG without any metadata of an image of shape (h, w, 3), uint8.

    Raises: ValueError if the image is not 8-bit RGB, as all functions of this module.

    >>> as_png(np.zeros((1, 1, 3), np.uint8))[1:4]
    b'PNG'
    """
    return _saved(_picture(checked(image)), "PNG", compress_level=1)  # twice as fast as the default


def as_turned(image: ArrayLike) -> bytes:
    """Return a PNG whose stored pixels are turned to the left, with the EXIF orientation 6 that turns them back."""
    from PIL import Image

    exif = Image.Exif()
    exif[_ORIENTATION] = _TURNED_LEFT
    return _saved(_picture(np.rot90(checked(image))), "PNG", exif=exif.tobytes())


def as_palette(image: ArrayLike) -> bytes | None:
    """Return a PNG with a palette; None if the image has more than 256 colours, for which a palette changes it."""
    pixels = checked(image)
    values = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    colours, numbers = np.unique(values, return_inverse=True)
    if len(colours) > _MOST_COLOURS:
        return None
    from PIL import Image

    picture = Image.fromarray(numbers.reshape(pixels.shape[:2]).astype(np.uint8), "P")
    picture.putpalette(np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1).astype(np.uint8).tobytes())
    return _saved(picture, "PNG")


def as_transparent(image: ArrayLike, hidden: tuple[int, int, int] = (0, 0, 0)) -> bytes:
    """Return a PNG in which every white pixel is transparent over the colour ``hidden``; the others are opaque."""
    from PIL import Image

    pixels = checked(image)
    white = (pixels == 255).all(axis=2)
    layers = np.dstack([np.where(white[..., None], np.array(hidden, np.uint8), pixels), np.where(white, 0, 255)])
    return _saved(Image.fromarray(layers.astype(np.uint8), "RGBA"), "PNG")


def as_cmyk(image: ArrayLike) -> bytes:
    """Return a TIFF in CMYK without black and without a profile, each ink 255 minus a channel: nothing is lost."""
    return _saved(_picture(checked(image)).convert("CMYK"), "TIFF", compression="tiff_lzw")


def as_jpeg(image: ArrayLike) -> bytes:
    """Return a JPEG of quality 95 with a colour sample per 2 x 2 pixels; the pixels change a little."""
    return _saved(_picture(checked(image)), "JPEG", quality=QUALITY, subsampling="4:2:0")


def as_progressive(image: ArrayLike) -> bytes:
    """Return the JPEG of ``as_jpeg`` in progressive scans, which decodes to the same pixels as that one."""
    return _saved(_picture(checked(image)), "JPEG", quality=QUALITY, subsampling="4:2:0", progressive=True)


Encoding = Callable[[ArrayLike], bytes | None]
LOSSLESS: Mapping[str, Encoding] = MappingProxyType(
    {"png": as_png, "exif": as_turned, "palette": as_palette, "alpha": as_transparent, "cmyk": as_cmyk}
)
"""The files that decode to the same pixels, by name."""


def _picture(pixels: Pixels) -> Image:
    from PIL import Image

    return Image.fromarray(np.ascontiguousarray(pixels))


def _saved(picture: Image, name: str, **options: Any) -> bytes:
    stream = BytesIO()
    picture.save(stream, name, **options)
    return stream.getvalue()

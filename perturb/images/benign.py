"""Changes of an image that nobody sees: a shift or border of a few pixels, another size, another file format."""

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


MOST_PIXELS = 4
MOST_SCALE = 0.02


def shift(image: ArrayLike, right: int, down: int) -> Pixels:
    """Move an image by -4 to 4 whole pixels within its frame; the edge that comes into view repeats the image's own.

    >>> shift(np.arange(9, dtype=np.uint8).reshape(1, 3, 3), 1, 0)[0, :, 0].tolist()
    [0, 0, 3]
    """
    for name, number in (("right", right), ("down", down)):
        if abs(number) > MOST_PIXELS:
            raise ValueError(f"{name}={number!r}: expected -{MOST_PIXELS} to {MOST_PIXELS} pixels")
    pixels = checked(image)
    height, width = pixels.shape[:2]
    rows = np.clip(np.arange(height) - down, 0, height - 1)
    columns = np.clip(np.arange(width) - right, 0, width - 1)
    return pixels[rows[:, None], columns]


def pad(image: ArrayLike, border: int) -> Pixels:
    if not 1 <= border <= MOST_PIXELS:
        raise ValueError(f"border={border!r}: expected 1 to {MOST_PIXELS} pixels")
    return np.pad(checked(image), ((border, border), (border, border), (0, 0)), mode="edge")


def rescale(image: ArrayLike, factor: float) -> Pixels:
    """Resize by a factor within 2 % of 1, with Lanczos's filter.

    A side that rounds to itself stays, but for the longer one, which changes by one pixel: at least one side changes.
    """
    if factor == 1 or not 1 - MOST_SCALE <= factor <= 1 + MOST_SCALE:
        raise ValueError(f"factor={factor!r}: expected {1 - MOST_SCALE} to {1 + MOST_SCALE}, and not 1")
    pixels = checked(image)
    from PIL import Image

    sides = np.array(pixels.shape[:2])
    wanted = np.maximum(1, np.rint(sides * factor).astype(int))
    if (wanted == sides).all():
        longer = int(np.argmax(sides))
        wanted[longer] = max(1, sides[longer] + (1 if factor > 1 else -1))
    size = (int(wanted[1]), int(wanted[0]))
    return np.array(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS))


# The same picture in other files: bytes that decode to the same pixels, and JPEG, which does not.
# ``vlgate.images`` decodes each of the lossless files to exactly the pixels that were given. A model that opens files
# itself may not: it may ignore the EXIF orientation, put transparent pixels on black, or show a palette's numbers.

QUALITY = 95
"""The quality of JPEG, of 95 at most."""
_MOST_COLOURS = 256
_ORIENTATION = 0x0112  # the EXIF tag
_TURNED_LEFT = 6  # the value for stored pixels that must be turned clockwise by 90 degrees


def as_png(image: ArrayLike) -> bytes:
    return _saved(_picture(checked(image)), "PNG", compress_level=1)  # twice as fast as the default


def as_turned(image: ArrayLike) -> bytes:
    """A PNG whose stored pixels are turned to the left, with the EXIF orientation 6 that turns them back."""
    from PIL import Image

    exif = Image.Exif()
    exif[_ORIENTATION] = _TURNED_LEFT
    return _saved(_picture(np.rot90(checked(image))), "PNG", exif=exif.tobytes())


def as_palette(image: ArrayLike) -> bytes | None:
    """A PNG with a palette; None if the image has more than 256 colours, for which a palette changes it."""
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
    """A PNG in which every white pixel is transparent over the colour ``hidden``; the others are opaque."""
    from PIL import Image

    pixels = checked(image)
    white = (pixels == 255).all(axis=2)
    layers = np.dstack([np.where(white[..., None], np.array(hidden, np.uint8), pixels), np.where(white, 0, 255)])
    return _saved(Image.fromarray(layers.astype(np.uint8), "RGBA"), "PNG")


def as_cmyk(image: ArrayLike) -> bytes:
    """A TIFF in CMYK without black and without a profile, each ink 255 minus a channel: nothing is lost."""
    return _saved(_picture(checked(image)).convert("CMYK"), "TIFF", compression="tiff_lzw")


def as_jpeg(image: ArrayLike) -> bytes:
    return _saved(_picture(checked(image)), "JPEG", quality=QUALITY, subsampling="4:2:0")


def as_progressive(image: ArrayLike) -> bytes:
    return _saved(_picture(checked(image)), "JPEG", quality=QUALITY, subsampling="4:2:0", progressive=True)


Encoding = Callable[[ArrayLike], bytes | None]
LOSSLESS: Mapping[str, Encoding] = MappingProxyType(
    {"png": as_png, "exif": as_turned, "palette": as_palette, "alpha": as_transparent, "cmyk": as_cmyk}
)


def _picture(pixels: Pixels) -> Image:
    from PIL import Image

    return Image.fromarray(np.ascontiguousarray(pixels))


def _saved(picture: Image, name: str, **options: Any) -> bytes:
    stream = BytesIO()
    picture.save(stream, name, **options)
    return stream.getvalue()

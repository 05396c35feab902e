"""Noise, brightness, contrast, compression, mirroring, turning and cropping, by severity or of any strength."""

import math
from io import BytesIO

import numpy as np
from numpy.typing import ArrayLike

from vlgate.perturb.images.pixels import Pixels, as_colour, at, checked, scale_of
from vlgate.seeds import generator


def gaussian_noise(image: ArrayLike, severity: int, seed: int = 0) -> Pixels:
    """Add independent Gaussian noise to each value (ImageNet-C's ``gaussian_noise``).

    Its standard deviation is 0.08, 0.12, 0.18, 0.26 or 0.38 of white. With the same seed, a higher severity amplifies
    the same noise, so each value moves further.

    Returns: a new array of shape (h, w, 3), uint8; the same bytes for the same seed.
    Raises: ValueError if the severity is not 1 to 5, or the image is not 8-bit RGB.

    >>> gaussian_noise(np.full((1, 2, 3), 128, np.uint8), 1).shape
    (1, 2, 3)
    """
    deviation = at(severity, (0.08, 0.12, 0.18, 0.26, 0.38))
    pixels = checked(image)
    noise = generator(f"gaussian-noise/{seed}", n_bytes=16).standard_normal(pixels.shape, dtype=np.float32)
    noise *= np.float32(255 * deviation)
    noise += pixels
    return _to_bytes(noise)


def shot_noise(image: ArrayLike, severity: int, seed: int = 0) -> Pixels:
    """Draw each value from a Poisson distribution of photons around itself (ImageNet-C's ``shot_noise``).

    White is 60, 25, 12, 5 or 3 photons.

    Returns: a new array of shape (h, w, 3), uint8; the same bytes for the same seed.
    Raises: ValueError as ``gaussian_noise``.

    >>> shot_noise(np.zeros((1, 1, 3), np.uint8), 5).tolist()
    [[[0, 0, 0]]]
    """
    photons = at(severity, (60.0, 25.0, 12.0, 5.0, 3.0))
    pixels = checked(image)
    counted = generator(f"shot-noise/{seed}", n_bytes=16).poisson(pixels * (photons / 255))
    return _to_bytes(counted.astype(np.float32) * np.float32(255 / photons))


def _to_bytes(values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Pixels:
    return np.rint(np.clip(values, 0, 255, out=values), out=values).astype(np.uint8)


LUMA = (4899, 9617, 1868)
"""ITU-R BT.601's weights of red, green and blue, times 2 ** 14."""


def brightness(image: ArrayLike, severity: int) -> Pixels:
    """Add 0.1, 0.2, 0.3, 0.4 or 0.5 of white to each pixel's value in HSV, hue and saturation kept (ImageNet-C).

    The value is the largest of red, green and blue, so the three grow by the same factor.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if the severity is not 1 to 5, or the image is not 8-bit RGB.

    >>> brightness(np.array([[[0, 0, 0], [0, 34, 102]]], np.uint8), 2).tolist()
    [[[51, 51, 51], [0, 51, 153]]]
    """
    added = 255 * at(severity, (0.1, 0.2, 0.3, 0.4, 0.5))
    pixels = checked(image)
    value = pixels.max(axis=2)
    levels = np.arange(256, dtype=np.float32)
    factors = np.minimum(levels + np.float32(added), 255) / np.maximum(levels, 1)
    brighter = pixels * factors[value][..., None]
    brighter[value == 0] = added  # black has no hue: it becomes grey
    return np.asarray(np.rint(brighter), dtype=np.uint8)


def contrast(image: ArrayLike, severity: int) -> Pixels:
    """Leave 0.4, 0.3, 0.25, 0.2 or 0.15 of each value's distance to its channel's mean in the image.

    Severities 1, 2 and 4 are severities 1, 2 and 3 of ImageNet-C's ``contrast``. Its severities 4 and 5 leave 0.1 and
    0.05, at which some photographs cannot be read.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``brightness``.

    >>> contrast(np.array([[[0, 0, 0], [100, 200, 0]]], np.uint8), 4).tolist()
    [[[40, 80, 0], [60, 120, 0]]]
    """
    return _contrasted(image, at(severity, (0.4, 0.3, 0.25, 0.2, 0.15)))


def greyscale(image: ArrayLike) -> Pixels:
    """Replace each pixel by its luma (ITU-R BT.601): (4899 r + 9617 g + 1868 b) / 2 ** 14, rounded.

    Returns: a new array of shape (h, w, 3), uint8, with three equal channels.
    Raises: ValueError if the image is not 8-bit RGB.

    >>> greyscale(np.array([[[255, 0, 0]]], np.uint8)).tolist()
    [[[76, 76, 76]]]
    """
    luma = (checked(image).astype(np.int32) @ np.array(LUMA, np.int32) + (1 << 13)) >> 14
    return np.repeat(luma.astype(np.uint8)[..., None], 3, axis=2)


def jpeg(image: ArrayLike, severity: int) -> Pixels:
    """Compress as JPEG of quality 25, 18, 15, 10 or 7, with Pillow's defaults (ImageNet-C's ``jpeg_compression``).

    The same version of Pillow gives the same bytes.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if the severity is not 1 to 5, or the image is not 8-bit RGB.

    >>> jpeg(np.full((8, 8, 3), 128, np.uint8), 5)[0, 0].tolist()
    [128, 128, 128]
    """
    return compress(image, at(severity, (25, 18, 15, 10, 7)))


def pixelate(image: ArrayLike, severity: int) -> Pixels:
    """Reduce to 0.6, 0.5, 0.4, 0.3 or 0.25 of the width and height and back, by the mean of areas (ImageNet-C).

    These shares hold if the shorter side is 224 pixels or less. Larger images are reduced to as many pixels as an image
    of that size: 134 to 56 on the shorter side.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``jpeg``.

    >>> pixelate(np.array([[[0] * 3, [100] * 3]], np.uint8), 2).tolist()
    [[[50, 50, 50], [50, 50, 50]]]
    """
    pixels = checked(image)
    share = at(severity, (0.6, 0.5, 0.4, 0.3, 0.25)) / scale_of(pixels.shape)
    from PIL.Image import Resampling, fromarray

    height, width = pixels.shape[:2]
    small = fromarray(pixels).resize((max(1, int(width * share)), max(1, int(height * share))), Resampling.BOX)
    return np.array(small.resize((width, height), Resampling.BOX))


# Mirror or turn an image; ``mirror_box`` moves its boxes, and ``flip_words`` exchanges left and right in a text.


def flip(image: ArrayLike) -> Pixels:
    """Mirror the image left to right, so that text in it cannot be read any more (see ``flip_words``).

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if the image is not 8-bit RGB.

    >>> flip(np.array([[[1, 1, 1], [2, 2, 2]]], np.uint8))[..., 0].tolist()
    [[2, 1]]
    """
    return checked(image)[:, ::-1].copy()


def rotate(image: ArrayLike, severity: int, seed: int = 0, fill: ArrayLike | None = None) -> Pixels:
    """Turn the image around its centre by 5, 10, 15, 20 or 30 degrees, within its frame; the seed draws the direction.

    The corners that come into view get ``fill``, by default the image's own mean colour: mirrored borders would show
    objects twice and change a count. The corners of the image itself leave the frame.

    Returns: a new array of shape (h, w, 3), uint8; the same bytes for the same seed.
    Raises: ValueError if the severity is not 1 to 5, the image is not 8-bit RGB, or ``fill`` is not a colour.

    >>> rotate(np.full((4, 4, 3), 9, np.uint8), 5).tolist()[0][0]
    [9, 9, 9]
    """
    degrees = at(severity, (5.0, 10.0, 15.0, 20.0, 30.0)) * generator(f"rotate/{seed}", n_bytes=16).choice((-1, 1))
    return _turned(checked(image), float(degrees), fill)


# Crop, brightness, contrast, compression and rotation of any strength.
# A benchmark uses a few fixed severities (``pixels.SEVERITIES``). A search for the weakest change that matters needs
# every strength in between. Each function returns the image unchanged at its neutral strength, except ``compress``,
# which has none.

LARGEST_MARGIN = 0.3


def crop_margin(image: ArrayLike, share: float) -> Pixels:
    """Crop a ``share``, 0 to 0.3, of each side, rounded down to whole pixels."""
    if not 0 <= share <= LARGEST_MARGIN:
        raise ValueError(f"share={share!r}: expected 0 to {LARGEST_MARGIN}, a part of the width and of the height")
    pixels = checked(image)
    height, width = pixels.shape[:2]
    rows, columns = int(share * height), int(share * width)
    return pixels[rows : height - rows, columns : width - columns].copy()


def scale_brightness(image: ArrayLike, factor: float) -> Pixels:
    _check_factor(factor)
    levels = np.clip(np.rint(np.arange(256) * factor), 0, 255).astype(np.uint8)
    return np.asarray(levels[checked(image)], dtype=np.uint8)


def scale_contrast(image: ArrayLike, factor: float) -> Pixels:
    _check_factor(factor)
    return _contrasted(image, factor)


def _contrasted(image: ArrayLike, factor: float) -> Pixels:
    pixels = checked(image)
    means = pixels.sum(axis=(0, 1), dtype=np.int64) / (pixels.shape[0] * pixels.shape[1])
    changed = np.empty_like(pixels)
    for channel, mean in enumerate(means):
        levels = np.clip(np.rint((np.arange(256) - mean) * factor + mean), 0, 255).astype(np.uint8)
        changed[..., channel] = levels[pixels[..., channel]]
    return changed


def compress(image: ArrayLike, quality: int) -> Pixels:
    if not 1 <= quality <= 95:
        raise ValueError(f"quality={quality!r}: expected 1 to 95, the qualities that Pillow recommends")
    pixels = checked(image)
    from PIL import Image

    stream = BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=int(quality))
    return np.array(Image.open(stream).convert("RGB"))


def turn(image: ArrayLike, degrees: float) -> Pixels:
    """Turn the image around its centre, anticlockwise, within its frame; its corners leave the frame."""
    if not math.isfinite(degrees):
        raise ValueError(f"degrees={degrees!r}: expected a finite angle")
    return _turned(checked(image), float(degrees), None)


def _turned(pixels: Pixels, degrees: float, fill: ArrayLike | None) -> Pixels:
    import cv2

    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0)
    border = tuple(map(float, as_colour(pixels.mean(axis=(0, 1)) if fill is None else fill)))
    turned = cv2.warpAffine(pixels, matrix, (width, height), borderMode=cv2.BORDER_CONSTANT, borderValue=border)
    return np.asarray(turned, dtype=np.uint8)


def _check_factor(factor: float) -> None:
    if not (math.isfinite(factor) and factor >= 0):
        raise ValueError(f"factor={factor!r}: expected a finite number, 0 or above; 1 changes nothing")

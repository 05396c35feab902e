"""Hide the background of an image, or its foreground: blur, mask, crop and occlude."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vlgate.perturb.images.blur import gaussian_blur
from vlgate.perturb.images.boxes import around, at_least, enlarge, on_image, pixels_of
from vlgate.perturb.images.pixels import Pixels, checked, plain
from vlgate.perturb.scene_graph import Box

# The blurred mask of some boxes, computed without drawing and blurring a mask.
# The blur of a rectangle is the outer product of two profiles, and boxes that overlap cut each other into rectangles.
# So the blur of several boxes together is a product of three small matrices. It is exact for fractions of pixels.
# ``blur_background`` with a mask that is drawn and blurred by ``cv2.GaussianBlur`` takes 2.1 times as long, or 1.3 to
# 2.0 times if only the surroundings of the boxes are blurred (one to five boxes, sigmas of 3, 6 and 9, 640 x 480
# pixels).

REACH = 3.0
"""How far the Gaussian of the border reaches, in sigmas; beyond it the weights are exactly 0 and 1."""

FloatMatrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftMask:
    """The factors of the weights: ``down`` (i, h), ``cells`` (i, j), ``across`` (j, w), float32.

    ``cells`` is 1 for each cell between two edges down and two edges across that a box covers. ``down`` and ``across``
    are the profiles of the intervals between edges.
    """

    down: FloatMatrix
    cells: FloatMatrix
    across: FloatMatrix

    def weights(self, rows: slice, columns: slice) -> FloatMatrix:
        return np.clip(self.down[:, rows].T @ self.cells @ self.across[:, columns], 0, 1)


def soft_mask(boxes: Sequence[Box], sigma: float, width: int, height: int) -> SoftMask:
    """Return the mask of ``boxes``, 1 in any of them and 0 elsewhere, blurred by a Gaussian of ``sigma`` pixels.

    Beyond its edges the image of ``width`` x ``height`` pixels is mirrored, as in ``gaussian_blur``: a box has no
    border on a side that meets the edge of the image.
    """
    edges_x = sorted({edge for box in boxes for edge in (box.x, box.x + box.w)})
    edges_y = sorted({edge for box in boxes for edge in (box.y, box.y + box.h)})
    cells = np.zeros((len(edges_y) - 1, len(edges_x) - 1), np.float32)
    for box in boxes:
        rows = slice(edges_y.index(box.y), edges_y.index(box.y + box.h))
        cells[rows, edges_x.index(box.x) : edges_x.index(box.x + box.w)] = 1
    return SoftMask(down=_profiles(edges_y, sigma, height), cells=cells, across=_profiles(edges_x, sigma, width))


def _profiles(edges: Sequence[float], sigma: float, length: int) -> FloatMatrix:
    """Return how much of each blurred pixel lies between two neighbouring edges, of shape (edges - 1, length)."""
    folds = math.ceil(REACH * sigma / (2 * length))
    shifts = [2 * fold * length for fold in range(-folds, folds + 1)]  # the mirrors at both ends
    beyond = np.zeros((len(edges), length))
    for row, edge in zip(beyond, edges, strict=True):
        for shift in shifts:
            _add_rise(row, shift + edge, sigma, 1)
            _add_rise(row, shift - edge, sigma, -1)
    return (beyond[:-1] - beyond[1:]).astype(np.float32)


def _add_rise(row: NDArray[np.float64], edge: float, sigma: float, sign: int) -> None:
    first = max(0, math.floor(edge - REACH * sigma))
    last = min(max(0, math.ceil(edge + REACH * sigma)), len(row))
    if first < last:
        row[first:last] += sign * np.interp((np.arange(first, last) + 0.5 - edge) / sigma, *_step())
    row[last:] += sign


@cache
def _step() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a blurred step from 0 to 1, in sigmas: the Gaussian's integral, cut at ``REACH``."""
    places = np.linspace(-REACH, REACH, 1201)
    values = np.array([math.erf(place / math.sqrt(2)) for place in places]) / math.erf(REACH / math.sqrt(2))
    return places, (1 + values) / 2


# Hide the background of an image, or its foreground: blur, mask, crop and occlude.
# The first three are the visual perturbations of CARETS (section 4.2 d, appendix A.2). The boxes of the question's
# objects are the foreground. All other pixels are the background, which cannot change the answer.


def blur_background(image: ArrayLike, boxes: Sequence[Box], sigma: float) -> Pixels:
    """Blur everything except the boxes with a Gaussian of ``sigma`` pixels; CARETS uses 3, 6 and 9.

    The soft masking is that of Yang et al. 2021, "A study of face obfuscation in ImageNet" (appendix, and
    ``experiments/blurring.py`` of its release), with foreground and background exchanged. As there, each box is
    enlarged by one sigma on every side, the mask of the boxes is blurred with the sigma of the image's blur,
    and the image and the blurred image are mixed by that mask.
    Two things differ. There, sigma is a tenth of the longer side of the largest box (called "diagonal" in the code);
    here it is an argument, as in CARETS. There, Pillow approximates both Gaussians by box filters and rounds the mask
    to 8 bits; here the mask is exact.

    The border of a box reaches from 2 sigma inside it to 4 sigma outside it. Pixels further inside keep their bytes;
    those further outside are the bytes of ``gaussian_blur``. The image itself has a weight of 0.84 at an edge of the
    box and of 0.71 at a corner. A box has no border on a side that meets the edge of the image.

    Args:
        image: shape (h, w, 3), uint8, RGB.
        boxes: the foreground, at least one, in pixels; clipped to the image.
        sigma: standard deviation in pixels, above 0.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError if no box overlaps the image, or an argument is not of the kind above.

    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[::2] = 255  # stripes
    >>> blurred = blur_background(image, [Box(x=0, y=0, w=20, h=40)], 3.0)
    >>> blurred[20:22, [5, 50], 0].tolist()
    [[255, 128], [0, 128]]
    """
    pixels = checked(image)
    import cv2

    height, width = pixels.shape[:2]
    enlarged = tuple(enlarge(box, sigma) for box in on_image(boxes, width, height))
    blurred = gaussian_blur(pixels, sigma)
    mask = soft_mask(on_image(enlarged, width, height), sigma, width, height)
    places = [pixels_of(enlarge(box, REACH * sigma), width, height) for box in enlarged]
    # All are mixed before the first is written, so that two that overlap write the same bytes.
    weights = [mask.weights(*place) for place in places]
    mixed = [cv2.blendLinear(pixels[at], blurred[at], own, 1 - own) for at, own in zip(places, weights, strict=True)]
    for place, part in zip(places, mixed, strict=True):
        blurred[place] = part
    return blurred


def mask_background(image: ArrayLike, boxes: Sequence[Box], fill: ArrayLike) -> Pixels:
    """Paint everything except the boxes with one colour; CARETS uses the channel means of GQA's training images.

    Every pixel that a box touches keeps its bytes. ``fill`` is red, green and blue in 0..255, rounded to whole levels;
    ``channel_mean`` returns the mean colour of a set of images.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``blur_background``.

    >>> image = np.full((2, 3, 3), 9, np.uint8)
    >>> mask_background(image, [Box(x=1, y=0, w=1, h=1)], (0, 0, 0))[..., 0].tolist()
    [[0, 9, 0], [0, 0, 0]]
    """
    pixels = checked(image)
    height, width = pixels.shape[:2]
    masked = plain(pixels.shape, fill)
    for box in on_image(boxes, width, height):
        rows, columns = pixels_of(box, width, height)
        masked[rows, columns] = pixels[rows, columns]
    return masked


def crop_to(image: ArrayLike, boxes: Sequence[Box]) -> Pixels:
    """Crop the image to the smallest rectangle around all boxes.

    Boxes below 32 x 32 pixels are enlarged first (``at_least``); every pixel that a box touches is kept.

    Returns: a new array of shape (h', w', 3), uint8.
    Raises: ValueError as ``blur_background``.

    >>> crop_to(np.zeros((100, 200, 3), np.uint8), [Box(x=10, y=10, w=5, h=50)]).shape
    (50, 32, 3)
    """
    pixels = checked(image)
    height, width = pixels.shape[:2]
    rows, columns = cropped(boxes, width, height)
    return pixels[rows, columns].copy()


def cropped(boxes: Sequence[Box], width: int, height: int) -> tuple[slice, slice]:
    """Return the rows and columns that ``crop_to`` keeps of an image of ``width`` x ``height`` pixels.

    Raises: ValueError as ``crop_to``.

    >>> cropped([Box(x=10, y=10, w=40, h=50)], 200, 100)
    (slice(10, 60, None), slice(10, 50, None))
    """
    kept = [at_least(box, width, height) for box in on_image(boxes, width, height)]
    return pixels_of(around(kept), width, height)


def occlude(image: ArrayLike, boxes: Sequence[Box], fill: ArrayLike) -> Pixels:
    """Cover the boxes with one colour, so that their content cannot be seen and a true "yes" may become "no".

    Every pixel that a box touches is painted; the rest keeps its bytes.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``blur_background``.

    >>> image = np.full((2, 3, 3), 9, np.uint8)
    >>> occlude(image, [Box(x=0.5, y=0, w=1, h=1)], (0, 0, 0))[..., 0].tolist()
    [[0, 0, 9], [9, 9, 9]]
    """
    pixels = checked(image)
    height, width = pixels.shape[:2]
    cover = plain((1, 1), fill)
    covered = pixels.copy()
    for box in on_image(boxes, width, height):
        covered[pixels_of(box, width, height)] = cover
    return covered


def channel_mean(images: Iterable[ArrayLike]) -> NDArray[np.float64]:
    """Return the mean red, green and blue over all pixels of all images, one image in memory at a time.

    Returns: float64 of shape (3,), in 0..255. The sums are whole numbers, so the order of the images does not matter.
    Raises: ValueError if there is no image.

    >>> channel_mean([np.zeros((1, 1, 3), np.uint8), np.full((1, 3, 3), 8, np.uint8)]).tolist()
    [6.0, 6.0, 6.0]
    """
    total, count = np.zeros(3, np.int64), 0
    for image in images:
        pixels = checked(image)
        total += pixels.sum(axis=(0, 1), dtype=np.int64)
        count += pixels.shape[0] * pixels.shape[1]
    if not count:
        raise ValueError("images=(): expected at least one image to take the mean of")
    return total / count

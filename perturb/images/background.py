"""What a question is not about made unrecognisable, or what it is about: blurred, masked, cropped away, covered.

The five visual perturbations of CARETS (section 4.2 d, appendix A.2): the boxes of the question's objects are the
foreground and all other pixels the background, which cannot change the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vlgate.perturb.images.boxes import around, at_least, enlarge, on_picture, pixels_of
from vlgate.perturb.images.gaussian import gaussian_blur
from vlgate.perturb.images.pixels import Pixels, checked, plain
from vlgate.perturb.images.soft_mask import REACH, FloatMatrix, soft_mask
from vlgate.perturb.scene_graph import Box


def blur_background(image: ArrayLike, boxes: Sequence[Box], sigma: float) -> Pixels:
    """Blur all but the boxes with a Gaussian of ``sigma`` pixels; CARETS takes 3, 6 and 9.

    The soft masking is that of Yang et al. 2021, "A study of face obfuscation in ImageNet" (appendix, and
    ``experiments/blurring.py`` of its release), with foreground and background exchanged. As there, each box is
    enlarged by one sigma on every side, the mask of the boxes is blurred with the sigma of the picture's blur,
    and the picture and the blurred picture are mixed by that mask.
    What differs: there sigma is a tenth of the longer side of the largest box ("diagonal" in the code, though it is the
    longer side), here it is given, as CARETS has it; there Pillow approximates both Gaussians by box filters and rounds
    the mask to 8 bits, here the mask is exact.

    The border of a box reaches from 2 sigma inside it to 4 sigma outside it: pixels further inside keep their bytes,
    and those further outside are the bytes of ``gaussian_blur``. At an edge of the box the picture itself still counts
    0.84, at a corner 0.71. Where a box meets the picture's edge there is no border.

    Args:
        image: shape (h, w, 3), uint8, RGB.
        boxes: the foreground, at least one, in pixels; clipped to the picture.
        sigma: standard deviation in pixels, above 0.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError where no box overlaps the picture, or an argument is not as above.

    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[::2] = 255  # stripes
    >>> blurred = blur_background(image, [Box(x=0, y=0, w=20, h=40)], 3.0)
    >>> blurred[20:22, [5, 50], 0].tolist()
    [[255, 128], [0, 128]]
    """
    picture = checked(image)
    height, width = picture.shape[:2]
    enlarged = tuple(enlarge(box, sigma) for box in on_picture(boxes, width, height))
    blurred = gaussian_blur(picture, sigma)
    mask = soft_mask(on_picture(enlarged, width, height), sigma, width, height)
    places = [pixels_of(enlarge(box, REACH * sigma), width, height) for box in enlarged]
    # All are mixed before the first is written: where two overlap, the same bytes are written twice.
    for place, mixed in [(place, _mix(picture[place], blurred[place], mask.weights(*place))) for place in places]:
        blurred[place] = mixed
    return blurred


def mask_background(image: ArrayLike, boxes: Sequence[Box], fill: ArrayLike) -> Pixels:
    """Paint all but the boxes with one colour; CARETS takes the channel means of GQA's training pictures.

    Every pixel that a box touches keeps its bytes. ``fill`` is red, green and blue in 0..255, rounded to whole levels;
    ``channel_mean`` gives that of a set of pictures.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``blur_background``.

    >>> image = np.full((2, 3, 3), 9, np.uint8)
    >>> mask_background(image, [Box(x=1, y=0, w=1, h=1)], (0, 0, 0))[..., 0].tolist()
    [[0, 9, 0], [0, 0, 0]]
    """
    picture = checked(image)
    height, width = picture.shape[:2]
    masked = plain(picture.shape, fill)
    for box in on_picture(boxes, width, height):
        rows, columns = pixels_of(box, width, height)
        masked[rows, columns] = picture[rows, columns]
    return masked


def crop_to(image: ArrayLike, boxes: Sequence[Box]) -> Pixels:
    """Cut the picture down to the smallest rectangle around all boxes.

    Boxes below 32 x 32 pixels are grown to it first (``at_least``); every pixel that a box touches is kept.

    Returns: a new array of shape (h', w', 3), uint8.
    Raises: ValueError as ``blur_background``.

    >>> crop_to(np.zeros((100, 200, 3), np.uint8), [Box(x=10, y=10, w=5, h=50)]).shape
    (50, 32, 3)
    """
    picture = checked(image)
    height, width = picture.shape[:2]
    rows, columns = cropped(boxes, width, height)
    return picture[rows, columns].copy()


def cropped(boxes: Sequence[Box], width: int, height: int) -> tuple[slice, slice]:
    """Return the rows and columns that ``crop_to`` keeps of a picture of ``width`` x ``height`` pixels.

    Raises: ValueError as ``crop_to``.

    >>> cropped([Box(x=10, y=10, w=40, h=50)], 200, 100)
    (slice(10, 60, None), slice(10, 50, None))
    """
    kept = [at_least(box, width, height) for box in on_picture(boxes, width, height)]
    return pixels_of(around(kept), width, height)


def occlude(image: ArrayLike, boxes: Sequence[Box], fill: ArrayLike) -> Pixels:
    """Cover the boxes with one colour: what was in them is not to be seen any more, so a true "yes" may become "no".

    Every pixel that a box touches is painted; the rest keeps its bytes.

    Returns: a new array of shape (h, w, 3), uint8.
    Raises: ValueError as ``blur_background``.

    >>> image = np.full((2, 3, 3), 9, np.uint8)
    >>> occlude(image, [Box(x=0.5, y=0, w=1, h=1)], (0, 0, 0))[..., 0].tolist()
    [[0, 0, 9], [9, 9, 9]]
    """
    picture = checked(image)
    height, width = picture.shape[:2]
    cover = plain((1, 1), fill)
    covered = picture.copy()
    for box in on_picture(boxes, width, height):
        covered[pixels_of(box, width, height)] = cover
    return covered


def channel_mean(images: Iterable[ArrayLike]) -> NDArray[np.float64]:
    """Return the mean red, green and blue over all pixels of all pictures, one picture in memory at a time.

    Returns: float64 of shape (3,), in 0..255. The sums are whole numbers, so the order of the pictures does not matter.
    Raises: ValueError where there is no picture.

    >>> channel_mean([np.zeros((1, 1, 3), np.uint8), np.full((1, 3, 3), 8, np.uint8)]).tolist()
    [6.0, 6.0, 6.0]
    """
    total, pixels = np.zeros(3, np.int64), 0
    for image in images:
        picture = checked(image)
        total += picture.sum(axis=(0, 1), dtype=np.int64)
        pixels += picture.shape[0] * picture.shape[1]
    if not pixels:
        raise ValueError("images=(): expected at least one picture to take the mean of")
    return total / pixels


def _mix(picture: Pixels, blurred: Pixels, weights: FloatMatrix) -> Pixels:
    import cv2

    return np.asarray(cv2.blendLinear(picture, blurred, weights, 1 - weights), dtype=np.uint8)

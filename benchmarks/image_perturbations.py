"""Time the five visual perturbations of an image of 640 x 480 pixels on one core, against Pillow and OpenCV.

An image counts once all five are made: three blurs, the mask and the crop. Two boxes are the foreground. The version
with Pillow is the obvious one: the mask drawn and blurred, ``Image.composite``, ``paste`` and ``crop``, from and to the
same arrays. The version with OpenCV does the same for the blurs with ``cv2.GaussianBlur``, in 32 bit, since in 8 bit it
is off by up to 1.7 levels. The versions take turns; the best of several rounds counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from run_all import Row

from vlgate.perturb.images import IMAGENET_MEAN, PERTURBATIONS, Pixels, gaussian_blur
from vlgate.perturb.images.boxes import enlarge, pixels_of
from vlgate.perturb.question_tests import VISUAL
from vlgate.perturb.scene_graph import Box
from vlgate.types import FloatArray

WIDTH, HEIGHT = 640, 480
BOXES = (Box(x=60.5, y=120, w=180, h=210), Box(x=330, y=200, w=90, h=140))
ROUNDS, TIMES = 7, 10


def main() -> None:
    """Time all versions and print the figures."""
    cv2.setNumThreads(1)
    image = photograph()
    ours: dict[str, list[float]] = {name: [] for name in VISUAL}
    pillow: dict[str, list[float]] = {name: [] for name in VISUAL}
    opencv: dict[str, list[float]] = {name: [] for name in VISUAL if name.startswith("blur")}
    for _ in range(ROUNDS):
        for name in VISUAL:
            ours[name].append(seconds(partial(PERTURBATIONS[name], image, BOXES), TIMES))
            pillow[name].append(seconds(partial(by_pillow, name, image, BOXES), 1))
            if name in opencv:
                opencv[name].append(seconds(partial(by_opencv, name, image, BOXES), TIMES))
    print_figures({name: min(ours[name]) for name in VISUAL}, {name: min(pillow[name]) for name in VISUAL})
    plain, blurs = sum(map(min, opencv.values())), sum(min(ours[name]) for name in opencv)
    print(Row(what="the three blurs: throughput against cv2.GaussianBlur", ratio=plain / blurs, bar=1.5))
    print(f"image_perturbations: the three blurs: {plain / blurs:.1f} x those by cv2.GaussianBlur, bar 1.5")


def photograph() -> Pixels:
    """An image with the statistics of a photograph: noise at every scale."""
    random = np.random.default_rng(0)
    layers = [
        cv2.resize(random.integers(0, 256, (max(2, HEIGHT >> n), max(2, WIDTH >> n), 3), np.uint8), (WIDTH, HEIGHT))
        for n in range(1, 8)
    ]
    return np.asarray(np.mean(layers, axis=0), dtype=np.uint8)


def seconds(work: Callable[[], object], times: int) -> float:
    """The mean time of one of ``times`` calls."""
    start = perf_counter()
    for _ in range(times):
        work()
    return (perf_counter() - start) / times


def by_pillow(name: str, image: Pixels, boxes: Sequence[Box]) -> Pixels:
    """The obvious version with Pillow."""
    photo = Image.fromarray(image)
    corners = [(round(box.x), round(box.y), round(box.x + box.w), round(box.y + box.h)) for box in boxes]
    if name == "crop":
        left, top = min(corner[0] for corner in corners), min(corner[1] for corner in corners)
        right, bottom = max(corner[2] for corner in corners), max(corner[3] for corner in corners)
        return np.array(photo.crop((left, top, right, bottom)))
    if name == "mask":
        masked = Image.new("RGB", photo.size, tuple(map(round, IMAGENET_MEAN)))
        for corner in corners:
            masked.paste(photo.crop(corner), corner)
        return np.array(masked)
    sigma = float(name.removeprefix("blur"))
    mask = Image.new("L", photo.size, 0)
    for left, top, right, bottom in corners:
        enlarged = (left - sigma, top - sigma, right + sigma, bottom + sigma)
        ImageDraw.Draw(mask).rectangle(enlarged, fill=255)
    blur = ImageFilter.GaussianBlur(sigma)
    return np.array(Image.composite(photo, photo.filter(blur), mask.filter(blur)))


def by_opencv(name: str, image: Pixels, boxes: Sequence[Box]) -> Pixels:
    """The obvious version of a blur with OpenCV, with whole pixels; the two images are mixed around the boxes only."""
    sigma = float(name.removeprefix("blur"))
    size = (2 * math.ceil(3 * sigma) + 1,) * 2
    mask = np.zeros(image.shape[:2], np.float32)
    places = [pixels_of(enlarge(box, 4 * sigma), WIDTH, HEIGHT) for box in boxes]
    for box in boxes:
        mask[pixels_of(enlarge(box, sigma), WIDTH, HEIGHT)] = 1
    mask = np.asarray(cv2.GaussianBlur(mask, size, sigma, borderType=cv2.BORDER_REFLECT), dtype=np.float32)
    smooth = cv2.GaussianBlur(image.astype(np.float32), size, sigma, borderType=cv2.BORDER_REFLECT)
    blurred = np.asarray(cv2.convertScaleAbs(smooth), dtype=np.uint8)
    for place, mixed in [(at, cv2.blendLinear(image[at], blurred[at], mask[at], 1 - mask[at])) for at in places]:
        blurred[place] = mixed
    return blurred


def print_figures(ours: dict[str, float], pillow: dict[str, float]) -> None:
    """Print the figures of each perturbation and of all five, and how far the blur is from the exact Gaussian."""
    for name in VISUAL:
        mine, other = 1000 * ours[name], 1000 * pillow[name]
        print(f"image_perturbations: {name}: {mine:.2f} ms, Pillow {other:.2f} ms ({other / mine:.1f} x)")
    five, other = sum(ours.values()), sum(pillow.values())
    print(f"image_perturbations: {1 / five:,.0f} images per second, each perturbed by all five, bar 150")
    print(f"image_perturbations: {5 / five:,.0f} perturbed images per second, counted one by one")
    print(Row(what="all five perturbations of images: throughput against Pillow", ratio=other / five, bar=3))
    print(f"image_perturbations: {other / five:.1f} x Pillow's {1 / other:,.1f} images per second, bar 3")
    worst = max(
        float(np.abs(gaussian_blur(p, s) - exact(p, s)).max()) for p in (photograph(),) for s in (3.0, 6.0, 9.0)
    )
    print(f"image_perturbations: the blurs are within {worst:.2f} levels of the exact Gaussian, bar 2")


def exact(image: Pixels, sigma: float) -> FloatArray:
    """The Gaussian in 64 bit, up to 5 sigma away."""
    across = np.arange(-round(5 * sigma), round(5 * sigma) + 1)
    kernel = np.exp(-0.5 * (across / sigma) ** 2)
    kernel /= kernel.sum()
    return np.asarray(cv2.sepFilter2D(image, cv2.CV_64F, kernel, kernel, borderType=cv2.BORDER_REFLECT))


if __name__ == "__main__":
    main()

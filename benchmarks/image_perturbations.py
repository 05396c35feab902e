"""The five visual perturbations of a picture of 640 x 480 pixels on one core: pictures a second, and Pillow's.

One picture counts once all five are made of it: three blurs, the mask and the crop. Two boxes are the foreground.
Pillow's is what one writes first: the mask drawn and blurred, ``Image.composite``, ``paste`` and ``crop``, from and to
the same arrays. The best of several rounds counts, ours and Pillow's by turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from vlgate.perturb.images import IMAGENET_MEAN, PERTURBATIONS, VISUAL, Pixels, gaussian_blur
from vlgate.perturb.scene_graph import Box
from vlgate.types import FloatArray

WIDTH, HEIGHT = 640, 480
BOXES = (Box(x=60.5, y=120, w=180, h=210), Box(x=330, y=200, w=90, h=140))
ROUNDS, TIMES = 7, 10


def main() -> None:
    """Time ours and Pillow's, print."""
    cv2.setNumThreads(1)
    picture = photograph()
    ours: dict[str, list[float]] = {name: [] for name in VISUAL}
    pillow: dict[str, list[float]] = {name: [] for name in VISUAL}
    for _ in range(ROUNDS):
        for name in VISUAL:
            ours[name].append(seconds(partial(PERTURBATIONS[name], picture, BOXES), TIMES))
            pillow[name].append(seconds(partial(by_pillow, name, picture, BOXES), 1))
    print_figures({name: min(ours[name]) for name in VISUAL}, {name: min(pillow[name]) for name in VISUAL})


def photograph() -> Pixels:
    """A picture with the statistics of a photograph: noise at every scale."""
    random = np.random.default_rng(0)
    layers = [
        cv2.resize(random.integers(0, 256, (max(2, HEIGHT >> n), max(2, WIDTH >> n), 3), np.uint8), (WIDTH, HEIGHT))
        for n in range(1, 8)
    ]
    return np.asarray(np.mean(layers, axis=0), dtype=np.uint8)


def seconds(work: Callable[[], object], times: int) -> float:
    """The time of one of ``times`` calls, on average."""
    start = perf_counter()
    for _ in range(times):
        work()
    return (perf_counter() - start) / times


def by_pillow(name: str, picture: Pixels, boxes: Sequence[Box]) -> Pixels:
    """The obvious version."""
    image = Image.fromarray(picture)
    corners = [(round(box.x), round(box.y), round(box.x + box.w), round(box.y + box.h)) for box in boxes]
    if name == "crop":
        left, top = min(corner[0] for corner in corners), min(corner[1] for corner in corners)
        right, bottom = max(corner[2] for corner in corners), max(corner[3] for corner in corners)
        return np.array(image.crop((left, top, right, bottom)))
    if name == "mask":
        masked = Image.new("RGB", image.size, tuple(map(round, IMAGENET_MEAN)))
        for corner in corners:
            masked.paste(image.crop(corner), corner)
        return np.array(masked)
    sigma = float(name.removeprefix("blur"))
    mask = Image.new("L", image.size, 0)
    for left, top, right, bottom in corners:
        enlarged = (left - sigma, top - sigma, right + sigma, bottom + sigma)
        ImageDraw.Draw(mask).rectangle(enlarged, fill=255)
    blur = ImageFilter.GaussianBlur(sigma)
    return np.array(Image.composite(image, image.filter(blur), mask.filter(blur)))


def print_figures(ours: dict[str, float], pillow: dict[str, float]) -> None:
    """Print, by perturbation and for all five, and how the blur compares with the full resolution."""
    for name in VISUAL:
        mine, other = 1000 * ours[name], 1000 * pillow[name]
        print(f"image_perturbations: {name}: {mine:.2f} ms, Pillow {other:.2f} ms ({other / mine:.1f} x)")
    five, other = sum(ours.values()), sum(pillow.values())
    print(f"image_perturbations: {1 / five:,.0f} pictures a second, each perturbed by all five, bar 150")
    print(f"image_perturbations: {5 / five:,.0f} perturbed pictures a second, counted one by one")
    print(f"image_perturbations: {other / five:.1f} x Pillow's {1 / other:,.1f} pictures a second, bar 3")
    worst = max(
        float(np.abs(gaussian_blur(p, s) - exact(p, s)).max()) for p in (photograph(),) for s in (3.0, 6.0, 9.0)
    )
    print(f"image_perturbations: the blurs are within {worst:.2f} levels of the exact Gaussian, bar 2")


def exact(picture: Pixels, sigma: float) -> FloatArray:
    """The Gaussian in 64 bit, up to 5 sigma."""
    across = np.arange(-round(5 * sigma), round(5 * sigma) + 1)
    kernel = np.exp(-0.5 * (across / sigma) ** 2)
    kernel /= kernel.sum()
    return np.asarray(cv2.sepFilter2D(picture, cv2.CV_64F, kernel, kernel, borderType=cv2.BORDER_REFLECT))


if __name__ == "__main__":
    main()

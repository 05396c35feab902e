"""Perturbations of a whole batch of tensors, on any device.

torch is imported inside the functions: whoever perturbs arrays needs none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vlgate.perturb.images.background import cropped
from vlgate.perturb.images.boxes import enlarge, on_picture, pixels_of
from vlgate.perturb.images.gaussian import gaussian_kernel
from vlgate.perturb.images.pixels import IMAGENET_MEAN, as_colour
from vlgate.perturb.images.registry import perturbation
from vlgate.perturb.images.severity import SEVERITIES, at
from vlgate.perturb.images.soft_mask import soft_mask
from vlgate.perturb.images.tone import ADDED, LEFT, LUMA
from vlgate.perturb.scene_graph import Box

if TYPE_CHECKING:
    from torch import Tensor

Boxes = Sequence[Sequence[Box]]

BATCHED = (
    *("blur3", "blur6", "blur9", "mask", "crop", "occlude", "flip", "greyscale"),
    *(f"{family}-{severity}" for family in ("brightness", "contrast") for severity in SEVERITIES),
)
"""The perturbations that ``apply_batch`` knows: those without randomness, files or large kernels."""


def apply_batch(
    name: str,
    images: Tensor,
    boxes: Boxes = (),
    *,
    fill: ArrayLike = IMAGENET_MEAN,
    size: tuple[int, int] | None = None,
) -> Tensor:
    """Perturb n pictures of the same size at once, where their tensor lies.

    The blurs are those of the arrays within 1 level of 255 in 99.9 % of the values and within 2 levels in all. The
    other perturbations are equal to the byte, but for "crop", whose crops have different sizes: each is resized to
    ``size`` (bilinear, antialiased, within 1 level of what Pillow's ``resize`` makes of ``crop_to``).

    Args:
        name: one of ``BATCHED``.
        images: shape (n, 3, h, w), uint8, RGB; it is not changed.
        boxes: for each picture its boxes, at least one, in pixels; for the perturbations that use them.
        fill: the colour of "mask" and "occlude", 0..255.
        size: (h', w') of the crops, by default (h, w).

    Returns: a new tensor of shape (n, 3, h, w), or (n, 3, h', w') for "crop", uint8, on the device of ``images``.
    Raises: ValueError where an argument is not as above, or a picture's boxes are all beside it.

    >>> import torch
    >>> apply_batch("flip", torch.arange(6, dtype=torch.uint8).reshape(1, 3, 1, 2)).flatten().tolist()
    [1, 0, 3, 2, 5, 4]
    """
    _check(name, images)
    family, _, severity = name.partition("-")
    if "boxes" not in perturbation(name).uses:
        return _PLAIN[family](images, int(severity or 0))
    if len(boxes) != len(images):
        raise ValueError(f"boxes: expected the boxes of {len(images)} pictures, found those of {len(boxes)}")
    height, width = images.shape[2:]
    size = size or (height, width)
    if not len(images):
        return images.new_empty((0, 3, *(size if name == "crop" else (height, width))))
    kept = [on_picture(those, width, height) for those in boxes]
    if name == "crop":
        return _crop(images, kept, size)
    if name in {"mask", "occlude"}:
        return _paint(images, kept, as_colour(fill), inside=name == "occlude")
    return _blur(images, kept, float(name.removeprefix("blur")))


def _check(name: str, images: Tensor) -> None:
    import torch

    if name not in BATCHED:
        perturbation(name)  # an unknown name gets the nearest
        raise ValueError(f"name={name!r} is not done in batches: expected one of {', '.join(BATCHED)}")
    if images.dtype != torch.uint8 or images.ndim != 4 or images.shape[1] != 3 or 0 in images.shape[2:]:
        raise ValueError(f"images={tuple(images.shape)} of {images.dtype}: expected shape (n, 3, h, w) of torch.uint8")


def _blur(images: Tensor, boxes: Boxes, sigma: float) -> Tensor:
    import torch

    height, width = images.shape[2:]
    down, across = (torch.from_numpy(_blur_matrix(sigma, n)).to(images.device) for n in (height, width))
    weights = torch.stack([_weights(those, sigma, images) for those in boxes])[:, None]
    original = images.float()
    blurred = (down @ original @ across.T).round_().clamp_(0, 255)
    return blurred.lerp_(original, weights).round_().to(torch.uint8)


def _weights(boxes: Sequence[Box], sigma: float, images: Tensor) -> Tensor:
    """Return the weights of one picture, of shape (h, w): three small factors travel, the product is made there."""
    import torch

    height, width = images.shape[2:]
    mask = soft_mask(on_picture([enlarge(box, sigma) for box in boxes], width, height), sigma, width, height)
    down, cells, across = (torch.from_numpy(part).to(images.device) for part in (mask.down, mask.cells, mask.across))
    return (down.T @ cells @ across).clamp_(0, 1)


def _blur_matrix(sigma: float, length: int) -> NDArray[np.float32]:
    """Return the blur along one side as a matrix of shape (length, length), the mirrored borders folded in."""
    kernel = gaussian_kernel(sigma, reach=4.0)
    places = np.arange(length)[:, None] + np.arange(len(kernel)) - len(kernel) // 2
    mirrored = np.abs(places % (2 * length) - length + 0.5)  # distance from the mirror at the far end
    matrix = np.zeros((length, length), np.float32)
    np.add.at(matrix, (np.arange(length)[:, None], (length - 0.5 - mirrored).astype(int)), kernel)
    return matrix


def _paint(images: Tensor, boxes: Boxes, colour: NDArray[np.uint8], *, inside: bool) -> Tensor:
    import torch

    height, width = images.shape[2:]
    foreground = torch.zeros((len(images), 1, height, width), dtype=torch.bool)
    for number, those in enumerate(boxes):
        for box in those:
            foreground[(number, 0, *pixels_of(box, width, height))] = True
    painted = (foreground if inside else ~foreground).to(images.device)
    return torch.where(painted, torch.from_numpy(colour).to(images.device)[:, None, None], images)


def _crop(images: Tensor, boxes: Boxes, size: tuple[int, int]) -> Tensor:
    import torch
    from torch.nn.functional import interpolate

    height, width = images.shape[2:]
    crops = []
    for image, those in zip(images, boxes, strict=True):
        rows, columns = cropped(those, width, height)
        crop = image[None, :, rows, columns].float()
        crops.append(interpolate(crop, size, mode="bilinear", antialias=True))
    return torch.cat(crops).round_().clamp_(0, 255).to(torch.uint8)


def _flip(images: Tensor, _: int) -> Tensor:
    return images.flip(3)


def _greyscale(images: Tensor, _: int) -> Tensor:
    import torch

    red, green, blue = (weight * images[:, channel].int() for channel, weight in enumerate(LUMA))
    luma = (red + green + blue + (1 << 13)) >> 14
    return luma.to(torch.uint8)[:, None].repeat(1, 3, 1, 1)


def _brightness(images: Tensor, severity: int) -> Tensor:
    import torch

    added = 255 * at(severity, ADDED)
    value = images.amax(dim=1, keepdim=True)
    levels = torch.arange(256, dtype=torch.float32, device=images.device)
    factors = (levels + added).clamp_(max=255) / levels.clamp(min=1)
    brighter = images * factors[value.long()]
    return torch.where(value == 0, added, brighter).round_().to(torch.uint8)


def _contrast(images: Tensor, severity: int) -> Tensor:
    import torch

    left = at(severity, LEFT)
    pixels = math.prod(images.shape[2:])
    means = images.long().sum(dim=(2, 3)).cpu().numpy() / pixels  # float64, as for arrays, also where a device has none
    levels = np.rint((np.arange(256) - means[..., None]) * left + means[..., None]).astype(np.uint8)
    tables = torch.from_numpy(levels).to(images.device)
    return tables.gather(2, images.flatten(2).long()).reshape(images.shape)


_PLAIN: Mapping[str, Callable[[Tensor, int], Tensor]] = {
    "flip": _flip,
    "greyscale": _greyscale,
    "brightness": _brightness,
    "contrast": _contrast,
}

"""Prepares images for a detector: resized, in the order blue, green, red, minus the mean, and padded to one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vlgate.models.frcnn.config import Config

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

_SHORTEST = 16
"""The shortest side: below it the feature map would be empty. An image of 1 : 63 is stretched to it."""


def resized_size(size: tuple[int, int], config: Config) -> tuple[int, int]:
    """Return the height and width to which an image of the given height and width is resized.

    >>> resized_size((480, 640), Config()), resized_size((300, 900), Config())
    ((600, 800), (333, 1000))
    """
    scale = config.short / min(size)
    height, width = (config.short, scale * size[1]) if size[0] < size[1] else (scale * size[0], config.short)
    if max(height, width) > config.long:
        scale = config.long / max(height, width)
        height, width = height * scale, width * scale
    return max(_SHORTEST, int(height + 0.5)), max(_SHORTEST, int(width + 0.5))


def pixels_of(image: Image, config: Config, device: str) -> Tensor:
    """Return an image's blue, green and red minus the mean, resized bilinearly without antialiasing.

    The order is that of the network's training in Caffe, and so that of the published features.

    Args:
        image: in mode RGB.
        config: the detector's configuration.
        device: the device of the result.

    Returns: float32 of shape (3, height, width).
    """
    import torch
    from torch.nn.functional import interpolate

    rgb = torch.from_numpy(np.array(image)).to(device)
    bgr = rgb.flip(-1).permute(2, 0, 1).float()
    size = resized_size((image.height, image.width), config)
    smooth = interpolate(bgr[None], size, mode="bilinear", align_corners=False)[0]
    mean, std = (smooth.new_tensor(values)[:, None, None] for values in (config.mean, config.std))
    return (smooth - mean) / std


def padded(images: Sequence[Tensor]) -> tuple[Tensor, list[tuple[int, int]]]:
    """Join images into a batch, with zeros at the right and at the bottom.

    Returns: the batch, of shape (n, 3, height, width), and n pairs of height and width without the padding.
    """
    sizes = [(one.shape[1], one.shape[2]) for one in images]
    height, width = max(size[0] for size in sizes), max(size[1] for size in sizes)
    batch = images[0].new_zeros((len(images), 3, height, width))
    for row, one in zip(batch, images, strict=True):
        row[:, : one.shape[1], : one.shape[2]] = one
    return batch, sizes

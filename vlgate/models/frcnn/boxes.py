"""Operations on boxes: arrays of shape (n, 4), with x1, y1, x2, y2 in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

_LARGEST = math.log(1000 / 16)
"""The most that a box grows, as a logarithm: from 16 pixels to 1,000."""


def moved(boxes: Tensor, deltas: Tensor, weights: Sequence[float]) -> Tensor:
    """Move and scale boxes, each by its own deltas (Girshick et al., CVPR 2014, appendix C).

    Args:
        boxes: shape (n, 4).
        deltas: shape (n, 4): the centre's shift in widths and heights, and the logarithms of the two scales.
        weights: the four divisors of the deltas.

    Returns: boxes of shape (n, 4).
    """
    import torch

    corner, size = boxes[:, :2], boxes[:, 2:] - boxes[:, :2]
    steps = deltas / deltas.new_tensor(weights)
    centre = corner + 0.5 * size + steps[:, :2] * size
    half = 0.5 * size * steps[:, 2:].clamp(max=_LARGEST).exp()
    return torch.cat((centre - half, centre + half), dim=1)


def clipped(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """Clip boxes to an image of the given height and width."""
    height, width = size
    limits = boxes.new_tensor((width, height, width, height))
    return boxes.clamp(min=0).minimum(limits)

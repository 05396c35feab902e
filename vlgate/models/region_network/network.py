"""A small convolutional network that looks at boxes of an image, one crop each, and says what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.models.region_network.proposals import Boxes, Pixels
from vlgate.models.region_network.settings import Settings

if TYPE_CHECKING:
    import torch

MARGIN = 0.08
"""The border that a crop shows around its box, as a share of the box's sides."""
PLACES = 4
"""Numbers that the network gets beside a crop: the box's sides as shares of the image, and in units of 300 pixels."""


def build_network(settings: Settings) -> Any:
    """Build the network with random weights.

    Returns: a module with the parts ``body`` and ``features``, which ``features_of`` applies, and the heads ``objects``
    and ``attributes``, which give a logit for each object, "nothing" last, and for each attribute.
    """
    from torch import nn

    layers: list[nn.Module] = []
    before = 3
    for width, stride in zip(settings.channels, settings.strides, strict=True):
        layers += [nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        before = width
    side = settings.crop // int(np.prod(settings.strides))
    return nn.ModuleDict(
        {
            "body": nn.Sequential(*layers, nn.Flatten()),
            "features": nn.Sequential(
                nn.Linear(before * side * side + PLACES, settings.width), nn.LayerNorm(settings.width)
            ),
            "objects": nn.Linear(settings.width, len(settings.objects) + 1),
            "attributes": nn.Linear(settings.width, len(settings.attributes)),
        }
    )


def features_of(network: Any, crops: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Compute the features of n boxes.

    Args:
        network: a network of ``build_network``.
        crops: crops of shape (n, 3, side, side), in 0..1.
        places: shape (n, ``PLACES``), as ``crops_of`` gives them.

    Returns: features of shape (n, width).
    """
    import torch

    seen = network["body"]((crops - 0.5) * 2)
    features: torch.Tensor = network["features"](torch.cat([seen, places], dim=1))
    return features


def crops_of(pixels: Pixels, boxes: Boxes, side: int) -> tuple[Pixels, Boxes]:
    """Cut boxes with a margin out of an image of shape (h, w, 3), and resize each to a square.

    Returns: crops of shape (n, side, side, 3), uint8, and the places of shape (n, ``PLACES``).
    """
    import cv2

    height, width = pixels.shape[:2]
    crops = np.empty((len(boxes), side, side, 3), np.uint8)
    for place, (left, top, right, bottom) in enumerate(boxes):
        right_of, below = MARGIN * (right - left), MARGIN * (bottom - top)
        columns = slice(max(0, int(left - right_of)), min(width, int(np.ceil(right + right_of))))
        rows = slice(max(0, int(top - below)), min(height, int(np.ceil(bottom + below))))
        crops[place] = cv2.resize(pixels[rows, columns], (side, side), interpolation=cv2.INTER_AREA)
    sides = boxes[:, 2:] - boxes[:, :2]
    places = np.concatenate([sides / np.array([width, height], np.float32), sides / 300], axis=1)
    return crops, places.astype(np.float32)

"""Runs the whole detector, from images to regions, in float32."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.models.frcnn.backbone import feature_map
from vlgate.models.frcnn.config import Config
from vlgate.models.frcnn.heads import Found, kept, predicted
from vlgate.models.frcnn.pixels import padded, pixels_of, resized_size
from vlgate.models.frcnn.proposals import proposals
from vlgate.models.regions.regions import Regions

if TYPE_CHECKING:
    from PIL.Image import Image

AT_ONCE = 8
"""How many images go through the network together by default."""


def detect(
    network: Any, config: Config, images: Sequence[Image], device: str, at_once: int = AT_ONCE
) -> list[Regions | None]:
    """Find the regions of images of any sizes; an image has the same regions in a batch as alone.

    Args:
        network: a ``network.network`` on the device.
        config: the detector's configuration.
        images: in mode RGB.
        device: the device of the network.
        at_once: how many images go through the network together.

    Returns: the regions of each image; None if the detector finds too few.
    """
    import torch

    # Images of similar shape go together, so that there is little padding.
    order = sorted(
        range(len(images)), key=lambda place: resized_size((images[place].height, images[place].width), config)
    )
    found: dict[int, Regions | None] = {}
    with torch.inference_mode(), _full_precision():
        for start in range(0, len(order), at_once):
            some = order[start : start + at_once]
            found |= zip(some, _detected(network, config, [images[place] for place in some], device), strict=True)
    return [found[place] for place in range(len(images))]


def _detected(network: Any, config: Config, images: Sequence[Image], device: str) -> list[Regions | None]:
    batch, sizes = padded([pixels_of(image, config, device) for image in images])
    features, places = feature_map(network.backbone, batch, sizes, caffe=config.caffe_maxpool)
    boxes = proposals(network.proposal_generator, config, features, places, sizes)
    said = predicted(network.roi_heads, config, features, boxes)
    every = zip(said, boxes, sizes, strict=True)
    return [_regions(kept(config, *one), one[2]) for one in every]


def _regions(found: Found | None, size: tuple[int, int]) -> Regions | None:
    if found is None:
        return None
    height, width = size
    fractions = found.boxes / found.boxes.new_tensor((width, height, width, height))
    return Regions(
        features=np.ascontiguousarray(found.features.cpu().numpy(), dtype=np.float32),
        boxes=np.ascontiguousarray(fractions.cpu().numpy(), dtype=np.float32),
        objects=found.objects.cpu().numpy().astype(np.int64),
        object_scores=found.object_scores.cpu().numpy().astype(np.float32),
        attributes=found.attributes.cpu().numpy().astype(np.int64),
        attribute_scores=found.attribute_scores.cpu().numpy().astype(np.float32),
    )


@contextmanager
def _full_precision() -> Iterator[None]:
    """Keep a GPU's convolutions from rounding to 10 bits (TF32): small differences decide which boxes are kept."""
    from torch.backends import cudnn

    # Pass the other settings on: flags() switches off those it is not given, cuDNN itself included.
    with cudnn.flags(
        enabled=cudnn.enabled, benchmark=cudnn.benchmark, deterministic=cudnn.deterministic, allow_tf32=False
    ):
        yield

"""Trains the region network on the names and attributes of things, as the Visual Genome detector was trained."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from train.captions import NOUNS, attribute_groups
from train.drawing import drawn
from train.half import halved
from train.scenes import Scene
from vlgate.fixtures.scenes.graph import Graph
from vlgate.fixtures.scenes.shapes import ALL_COLOURS
from vlgate.models.regions.region_network import (
    Boxes,
    Pixels,
    Settings,
    build_network,
    crops_of,
    features_of,
    overlaps,
    propose,
)

if TYPE_CHECKING:
    from PIL.Image import Image

FITS = 0.6
"""The least overlap of a box with a thing that it is taught to name."""
MISSES = 0.4
"""A box with less overlap than this with any thing is taught as "nothing"."""
EMPTY = 10  # boxes of an image that are taught as nothing
BATCH = 512
RATE = 2e-3
ATTRIBUTES = 5.0  # the weight of the loss of attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """The boxes of one image that are taught: crops (n, side, side, 3), places, objects (n,), attributes (n, a)."""

    crops: Pixels
    places: Boxes
    objects: NDArray[np.int64]
    attributes: NDArray[np.bool_]


def settings_for() -> Settings:
    """The settings of the network, with the words of the drawn world."""
    attributes = {word for name in NOUNS for group in attribute_groups(name) for word in group} | {*ALL_COLOURS}
    return Settings(
        crop=32,
        channels=(32, 64, 128, 192),
        strides=(2, 2, 2, 2),
        width=128,
        count=16,
        overlap=0.7,
        sure=0.2,
        objects=tuple(sorted(NOUNS)),
        attributes=tuple(sorted(attributes)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Teach:
    """Labels the proposed boxes of an image by the things of its graph; used in training only."""

    settings: Settings

    def __call__(self, image: Image, graph: Graph) -> Taught:
        """Label the boxes; the boxes of the things themselves are added, as in Faster R-CNN."""
        pixels = np.asarray(image)
        things = list(graph["objects"].values())
        true = np.array([(t["x"], t["y"], t["x"] + t["w"], t["y"] + t["h"]) for t in things], np.float32)
        boxes = np.concatenate([propose(pixels), true])
        shares = overlaps(boxes, true)
        best, which = shares.max(axis=1), shares.argmax(axis=1)
        objects = np.array([self.settings.objects.index(things[n]["name"]) for n in which], np.int64)
        objects[best < FITS] = len(self.settings.objects)
        attributes = np.array([[word in things[n]["attributes"] for word in self.settings.attributes] for n in which])
        empty = np.flatnonzero(best < MISSES)[:EMPTY]
        taken = np.concatenate([np.flatnonzero(best >= FITS), empty])
        crops, places = crops_of(pixels, boxes[taken], self.settings.crop)
        return Taught(crops=crops, places=places, objects=objects[taken], attributes=attributes[taken])


def train_regions(
    scenes: Sequence[Scene], settings: Settings, *, epochs: int, seed: int, workers: int, log: Callable[[str], None]
) -> Any:
    """Draw the scenes and train a network on their boxes.

    Returns: the network in evaluation mode.
    """
    import torch

    began = time.monotonic()
    taught = list(drawn(scenes, Teach(settings=settings), workers))
    crops, places, objects, attributes = (
        torch.from_numpy(np.concatenate([getattr(one, name) for one in taught]))
        for name in ("crops", "places", "objects", "attributes")
    )
    log(f"regions: {len(scenes)} scenes, {len(crops)} boxes, drawn in {time.monotonic() - began:.0f} s")
    torch.manual_seed(seed)
    network = build_network(settings).to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01)
    steps = epochs * (len(crops) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=max(steps, 2))
    nothing = len(settings.objects)
    for epoch in range(epochs):
        total = 0.0
        order = torch.randperm(len(crops))
        for start in range(0, len(crops) - BATCH + 1, BATCH):
            some = order[start : start + BATCH]
            with halved():
                features = features_of(network, _seen(crops[some]), places[some])
                named, described = network["objects"](features), network["attributes"](features)
            real = objects[some] != nothing
            loss = torch.nn.functional.cross_entropy(named.float(), objects[some])
            loss = loss + ATTRIBUTES * torch.nn.functional.binary_cross_entropy_with_logits(
                described[real].float(), attributes[some][real].float()
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            total += loss.item()
        log(f"regions: epoch {epoch}, loss {total * BATCH / len(crops):.3f}, {time.monotonic() - began:.0f} s")
    return network.eval()


def _seen(crops: Any) -> Any:
    """Turn crops of shape (n, side, side, 3), uint8, into the network's input, lighter or darker, with noise."""
    import torch

    seen = crops.permute(0, 3, 1, 2).float() / 255
    gain = 1 + 0.1 * torch.randn(len(seen), 1, 1, 1)
    noise = 0.03 * torch.rand(len(seen), 1, 1, 1)
    return (seen * gain + noise * torch.randn_like(seen)).clamp(0, 1)

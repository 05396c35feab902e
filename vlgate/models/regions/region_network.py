"""Region features of a small network of crops: its settings, its layers, and its run over the boxes of images."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.inputs import prepared
from vlgate.models.checkpoints.load_errors import damaged, one_line
from vlgate.models.regions.region_boxes import Boxes, Pixels, overlaps, propose
from vlgate.models.regions.regions import Regions, RegionSource
from vlgate.types import LazyImage

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


SETTINGS = "region_network.json"
WEIGHTS = "region_network.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a region network is made of."""

    crop: int  # the side of a crop in pixels
    channels: tuple[int, ...]  # of the convolutions
    strides: tuple[int, ...]
    width: int  # numbers per box
    count: int  # the most boxes of an image that are kept
    overlap: float  # the share that two kept boxes may have in common
    sure: float  # the least probability that a kept box holds anything
    objects: tuple[str, ...]  # words that the network was trained to name
    attributes: tuple[str, ...]


def read_settings(folder: Path) -> Settings:
    file = folder / SETTINGS
    try:
        given: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
        return Settings(**given)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        wanted = ", ".join(field.name for field in fields(Settings))
        raise ModelLoadError(
            f"{file} cannot be read as the settings of a region network ({error}); expected {wanted}"
        ) from error


def write_settings(settings: Settings, folder: Path) -> None:
    (folder / SETTINGS).write_text(json.dumps(asdict(settings), indent=1) + "\n", encoding="utf-8")


MARGIN = 0.08
"""The border that a crop shows around its box, as a share of the box's sides."""
PLACES = 4
"""Numbers that the network gets beside a crop: the box's sides as shares of the image, and in units of 300 pixels."""


def build_network(settings: Settings) -> Any:
    """Build the network with random weights; the last of the logits of ``objects`` is that of "nothing"."""
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
    """Compute the features of n boxes from their crops, shape (n, 3, side, side) in 0..1, and ``crops_of``'s places."""
    import torch

    seen = network["body"]((crops - 0.5) * 2)
    features: torch.Tensor = network["features"](torch.cat([seen, places], dim=1))
    return features


def crops_of(pixels: Pixels, boxes: Boxes, side: int) -> tuple[Pixels, Boxes]:
    """Cut out boxes with a margin as squares, shape (n, side, side, 3), with their places, shape (n, ``PLACES``)."""
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


AT_ONCE = 16
"""Images whose crops go through the network together."""
VERSION = "1"
"""Changes with the way that boxes are proposed and chosen, on which the features depend."""


def _look(network: Any, settings: Settings, device: str, images: Sequence[LazyImage]) -> list[Regions]:
    def cut(image: Image) -> tuple[Boxes, Pixels, Boxes]:
        pixels = np.asarray(image)
        boxes = propose(pixels)
        height, width = pixels.shape[:2]
        scale = np.array([width, height, width, height], np.float32)
        return (boxes / scale, *crops_of(pixels, boxes, settings.crop))

    cuts = prepared(images, cut)
    parts = [cuts[start : start + AT_ONCE] for start in range(0, len(cuts), AT_ONCE)]
    return [regions for part in parts for regions in _see(network, settings, part, device)]


def _see(
    network: Any, settings: Settings, cuts: Sequence[tuple[Boxes, Pixels, Boxes]], device: str
) -> Iterator[Regions]:
    import torch

    boxes_of, crops, places = zip(*cuts, strict=True)
    with torch.inference_mode():
        pixels = torch.from_numpy(np.concatenate(crops)).to(device).permute(0, 3, 1, 2).float() / 255
        features = features_of(network, pixels, torch.from_numpy(np.concatenate(places)).to(device))
        shares = network["objects"](features).softmax(dim=1).cpu().numpy()
    rows = features.cpu().numpy()
    start = 0
    for boxes in boxes_of:
        of = slice(start, start + len(boxes))
        start += len(boxes)
        kept = chosen(boxes, 1 - shares[of, -1], settings)
        objects = shares[of, :-1][kept]
        yield Regions(
            features=rows[of][kept],
            boxes=boxes[kept],
            objects=objects.argmax(axis=1),
            object_scores=objects.max(axis=1),
        )


def chosen(boxes: Boxes, sure: Boxes, settings: Settings) -> list[int]:
    """Choose the surest boxes, none of which overlaps a surer one too much; the first one however unsure it is."""
    shares = overlaps(boxes, boxes)
    kept: list[int] = []
    for place in np.argsort(-sure, kind="stable"):
        if kept and sure[place] < settings.sure:
            break
        if all(shares[place, other] <= settings.overlap for other in kept):
            kept.append(int(place))
            if len(kept) == settings.count:
                break
    return kept


def has_network(folder: Path) -> bool:
    """Return whether a folder holds a region network."""
    return (folder / SETTINGS).is_file()


def network_source(folder: Path, device: str, *, width: int) -> RegionSource:
    """Open the region network of a folder, which runs on the images it is asked for."""
    settings = read_settings(folder)
    if settings.width != width:
        raise ModelLoadError(
            f"the region network of {folder} gives {settings.width} numbers per box, the model takes {width}; name "
            "features with regions=FILE"
        )
    files = digest(digest_path(folder / SETTINGS), digest_path(folder / WEIGHTS))
    return RegionSource(
        partial(_look, load_network(folder, settings).to(device), settings, device),
        fingerprint=f"region network {VERSION} {files}",
        note="regions found by the model's own network during the run",
    )


def load_network(folder: Path, settings: Settings) -> Any:
    from safetensors.torch import load_file

    file = folder / WEIGHTS
    try:
        network = build_network(settings)
        network.load_state_dict({name: tensor.float() for name, tensor in load_file(file).items()})
    except damaged() as error:
        raise ModelLoadError(
            f"{file} cannot be loaded as a region network ({one_line(error)}); save it again"
        ) from error
    return network.eval()

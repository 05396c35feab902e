"""Region features of a small network of crops: its settings, its layers, and its run over the boxes of images."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.inputs import prepared
from vlgate.models.checkpoints.load_errors import damaged, one_line
from vlgate.models.regions.region_boxes import Boxes, Pixels, overlaps, propose
from vlgate.models.regions.regions import RegionCache, Regions
from vlgate.types import LazyImage

if TYPE_CHECKING:
    import torch


SETTINGS = "region_network.json"
WEIGHTS = "region_network.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a region network is made of.

    ``crop`` is the side of a crop in pixels, ``channels`` and ``strides`` those of the convolutions, ``width`` the
    numbers per box, ``count`` the most boxes of an image that are kept, ``overlap`` the share that two kept boxes may
    have in common, and ``sure`` the least probability that a kept box holds anything. ``objects`` and ``attributes``
    are the words that the network was trained to name.
    """

    crop: int
    channels: tuple[int, ...]
    strides: tuple[int, ...]
    width: int
    count: int
    overlap: float
    sure: float
    objects: tuple[str, ...]
    attributes: tuple[str, ...]


def read_settings(folder: Path) -> Settings:
    file = folder / SETTINGS
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
        given: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in read.items()}
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
    """Build the network with random weights: ``body`` and ``features``, which ``features_of`` applies, and two heads.

    ``objects`` gives a logit for each object, "nothing" last, and ``attributes`` one for each attribute.
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

    ``crops``: crops of shape (n, 3, side, side), in 0..1. ``places``: shape (n, ``PLACES``), as ``crops_of`` gives
    them.
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


AT_ONCE = 16
"""Images whose crops go through the network together."""
VERSION = "1"
"""Changes with the way that boxes are proposed and chosen, on which the features depend."""


class NetworkSource:
    """A ``RegionSource`` that runs a region network on the images it is asked for."""

    def __init__(self, network: Any, settings: Settings, *, fingerprint: str, device: str = "cpu") -> None:
        self.fingerprint = f"region network {VERSION} {fingerprint}"
        self.note = "regions found by the model's own network during the run"
        self._network, self._settings, self._device = network, settings, device
        self._cache = RegionCache()

    def regions(self, images: Sequence[LazyImage]) -> list[Regions]:
        return self._cache.regions(images, self.look, "")

    def look(self, images: Sequence[LazyImage]) -> list[Regions]:
        crops = prepared(images, lambda image: cut(np.asarray(image), self._settings))
        parts = [crops[start : start + AT_ONCE] for start in range(0, len(crops), AT_ONCE)]
        return [regions for part in parts for regions in see(self._network, self._settings, part, self._device)]


def cut(pixels: Pixels, settings: Settings) -> tuple[Boxes, Pixels, Boxes]:
    """Propose boxes for an image of shape (h, w, 3), and cut them out."""
    boxes = propose(pixels)
    height, width = pixels.shape[:2]
    scale = np.array([width, height, width, height], np.float32)
    return (boxes / scale, *crops_of(pixels, boxes, settings.crop))


def see(
    network: Any, settings: Settings, cut: Sequence[tuple[Boxes, Pixels, Boxes]], device: str = "cpu"
) -> list[Regions]:
    import torch

    crops = torch.from_numpy(np.concatenate([one[1] for one in cut])).to(device)
    places = torch.from_numpy(np.concatenate([one[2] for one in cut])).to(device)
    with torch.inference_mode():
        features = features_of(network, crops.permute(0, 3, 1, 2).float() / 255, places)
        shares = network["objects"](features).softmax(dim=1).cpu().numpy()
    rows = features.cpu().numpy()
    found, start = [], 0
    for boxes, *_ in cut:
        of = slice(start, start + len(boxes))
        start += len(boxes)
        kept = chosen(boxes, 1 - shares[of, -1], settings)
        found.append(
            Regions(
                features=rows[of][kept],
                boxes=boxes[kept],
                objects=shares[of, :-1][kept].argmax(axis=1),
                object_scores=shares[of, :-1][kept].max(axis=1),
            )
        )
    return found


def chosen(boxes: Boxes, sure: Boxes, settings: Settings) -> list[int]:
    """Choose the surest boxes, none of which overlaps a surer one by more than ``settings.overlap``.

    The surest comes first, even if it is less sure than ``settings.sure``; others that are less sure are left out.
    """
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


def network_source(folder: Path, device: str, *, width: int) -> NetworkSource:
    settings = read_settings(folder)
    if settings.width != width:
        raise ModelLoadError(
            f"the region network of {folder} gives {settings.width} numbers per box, the model takes {width}; name "
            "features with regions=FILE"
        )
    return NetworkSource(
        load_network(folder, settings).to(device),
        settings,
        fingerprint=digest(digest_path(folder / SETTINGS), digest_path(folder / WEIGHTS)),
        device=device,
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

"""Runs a region network on images: boxes are proposed, seen one crop each, and the surest that differ are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.damaged import damaged, one_line
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.inputs import prepared
from vlgate.models.region_network.network import build_network, crops_of, features_of
from vlgate.models.region_network.proposals import Boxes, Pixels, overlaps, propose
from vlgate.models.region_network.settings import SETTINGS, WEIGHTS, Settings, read_settings
from vlgate.models.regions.cache import RegionCache
from vlgate.models.regions.regions import Regions
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

AT_ONCE = 16
"""Images whose crops go through the network together."""
VERSION = "1"
"""Changes with the way that boxes are proposed and chosen, on which the features depend."""


class NetworkSource:
    """A ``RegionSource`` that runs a region network on the images it is asked for."""

    def __init__(self, network: Any, settings: Settings, *, fingerprint: str, device: str = "cpu") -> None:
        """Take a network in evaluation mode, with its settings."""
        self.fingerprint = f"region network {VERSION} {fingerprint}"
        self.note = "regions found by the model's own network during the run"
        self._network, self._settings, self._device = network, settings, device
        self._cache = RegionCache()

    def regions(self, images: Sequence[LazyImage]) -> list[Regions]:
        """Find the regions of each image, as ``RegionSource.regions`` says; there may be fewer than ``count``."""
        return self._cache.regions(images, self.look, "")

    def look(self, images: Sequence[LazyImage]) -> list[Regions]:
        """Find the regions of each image, without the cache.

        Raises: ImageError for the first image that cannot be decoded.
        """
        cut = prepared(images, self._cut)
        parts = [cut[start : start + AT_ONCE] for start in range(0, len(cut), AT_ONCE)]
        return [regions for part in parts for regions in self._seen(part)]

    def _cut(self, image: Image) -> tuple[Boxes, Pixels, Boxes]:
        pixels = np.asarray(image)
        return cut(pixels, self._settings)

    def _seen(self, cut: Sequence[tuple[Boxes, Pixels, Boxes]]) -> list[Regions]:
        return see(self._network, self._settings, cut, self._device)


def cut(pixels: Pixels, settings: Settings) -> tuple[Boxes, Pixels, Boxes]:
    """Propose boxes for an image of shape (h, w, 3), and cut them out.

    Returns: boxes (n, 4) in 0..1, crops (n, side, side, 3), and places (n, 4).
    """
    boxes = propose(pixels)
    height, width = pixels.shape[:2]
    scale = np.array([width, height, width, height], np.float32)
    return (boxes / scale, *crops_of(pixels, boxes, settings.crop))


def see(
    network: Any, settings: Settings, cut: Sequence[tuple[Boxes, Pixels, Boxes]], device: str = "cpu"
) -> list[Regions]:
    """Compute the features of the boxes of several images, and keep the surest boxes that differ.

    Returns: the regions of each image, the surest first: at least one, at most ``settings.count``.
    """
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

    Returns: their positions, the surest first; of equally sure ones the first. Boxes less sure than ``settings.sure``
    are left out, except for the first.
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
    """Return whether a folder holds a region network.

    >>> has_network(Path("no/such/folder"))
    False
    """
    return (folder / SETTINGS).is_file()


def network_source(folder: Path, device: str, *, width: int) -> NetworkSource:
    """Load the region network of a folder: ``region_network.json`` and ``region_network.safetensors``.

    Args:
        folder: the folder.
        device: a name that ``torch.device`` takes.
        width: the numbers per box that the model takes.

    Raises: ModelLoadError if a file is missing or damaged, or does not fit the other file or the model.
    """
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
    """Load the weights of a network of these settings.

    Returns: the network in evaluation mode.
    Raises: ModelLoadError if the file is missing or damaged, or does not fit the settings.
    """
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

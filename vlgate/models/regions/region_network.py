"""Region features of a small network of crops: the boxes that it is given, its settings, its layers, and its run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import combinations, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.inputs import preparing
from vlgate.models.checkpoints.load_errors import damaged, one_line
from vlgate.models.regions.regions import Regions, RegionSource
from vlgate.types import LazyImage

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

# Boxes that may hold a thing, from the image alone: what stands out from the background, and its colours and parts.
# Things that touch stand out together. Their colours separate them: connected areas of one colour, pairs of
# neighbouring areas, what is left without one of them, and the halves and thirds of the whole.

MOST = 48  # the most boxes of an image
LEAST_SIDE = 8  # pixels; smaller boxes are left out
LEAST_AREA = 40  # pixels of one colour
STANDS_OUT = 34  # grey levels in some channel between a thing and the background
MOST_AREAS = 7  # of one thing whose pairs are tried
GAP = 6  # pixels between areas that still touch
SAME = 0.9  # boxes that overlap more count once
BRIDGES = (3, 11)  # pixels; the wider one joins the stripes of a pattern

Pixels = NDArray[np.uint8]
Boxes = NDArray[np.float32]
Mask = NDArray[np.uint8]
_Box = tuple[int, int, int, int]  # left, top, right, bottom

_DARK, _PALE, _GRAY, _BROWN, _SKIN = 1, 2, 3, 4, 5
_HUES = (8, 20, 33, 85, 126, 151, 170)  # of OpenCV's 180: red, orange, yellow, green, blue, purple, pink
_FIRST_HUE = 6
_BLACK, _DIM, _LIGHT = 90, 165, 215  # of 255
_WEAK, _OF_SKIN = 45, 125  # saturation, of 255


def propose(pixels: Pixels) -> Boxes:
    """Propose at most ``MOST`` boxes, shape (n, 4), in pixels, for the things in an image; at least the whole image."""
    import cv2

    smooth: Pixels = np.asarray(cv2.medianBlur(pixels, 3), dtype=np.uint8)
    median = np.median(smooth[::4, ::4].reshape(-1, 3), axis=0)
    red, green, blue = cv2.split(cv2.absdiff(smooth, np.array((*median, 0.0))))
    _, mask = cv2.threshold(cv2.max(cv2.max(red, green), blue), STANDS_OUT, 1, cv2.THRESH_BINARY)
    apart = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), dtype=np.uint8)
    colours = _colours(smooth)
    contours, _ = cv2.findContours(apart, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    wholes = sorted((_rectangle(cv2.boundingRect(contour)) for contour in contours), key=_area, reverse=True)
    ranked = [_parts(apart, colours, box) for box in wholes if _large(box)]
    # The likeliest part of each thing first, then the second of each.
    boxes = [box for box in wholes if _large(box)]
    boxes += [box for row in zip_longest(*ranked) for box in row if box is not None]
    return np.array(_distinct(boxes) or [(0, 0, pixels.shape[1], pixels.shape[0])], dtype=np.float32)


def overlaps(some: Boxes, others: Boxes) -> Boxes:
    """Return the area that boxes of shape (n, 4) share with those of shape (m, 4), as a share of their union."""
    sides = np.minimum(some[:, None, 2:], others[None, :, 2:]) - np.maximum(some[:, None, :2], others[None, :, :2])
    both = sides.clip(0).prod(axis=2)
    one, other = ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) for boxes in (some, others))
    shares: Boxes = both / (one[:, None] + other[None, :] - both)
    return shares


def _colours(smooth: Pixels) -> Mask:
    import cv2

    hue, strength, light = cv2.split(cv2.cvtColor(smooth, cv2.COLOR_RGB2HSV))
    numbers = np.searchsorted(_HUES, np.arange(256), side="right") % len(_HUES) + _FIRST_HUE
    colours = np.asarray(cv2.LUT(hue, numbers.astype(np.uint8)), dtype=np.uint8)
    warm, dim, weak = colours == _FIRST_HUE + 1, light < _DIM, strength < _WEAK
    np.putmask(colours, warm & dim, _BROWN)
    np.putmask(colours, warm & ~dim & (strength < _OF_SKIN), _SKIN)
    np.putmask(colours, weak, _GRAY)
    np.putmask(colours, weak & (light > _LIGHT), _PALE)
    np.putmask(colours, light < _BLACK, _DARK)
    return colours


def _parts(apart: Mask, colours: Mask, whole: _Box) -> list[_Box]:
    import cv2

    left, top, right, bottom = whole
    inside, labels = apart[top:bottom, left:right], colours[top:bottom, left:right]
    areas = _distinct(sorted(_areas(inside, labels), key=_area, reverse=True))[:MOST_AREAS]
    rest = []
    for x1, y1, x2, y2 in areas[:4]:  # what stands out without one of them
        others = inside.copy()
        others[max(0, y1 - 2) : y2 + 2, max(0, x1 - 2) : x2 + 2] = 0
        others = np.asarray(cv2.morphologyEx(others, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), dtype=np.uint8)
        rest.append(_rectangle(cv2.boundingRect(others)))
    pairs = []
    for one, other in combinations(areas, 2):
        if all(one[i] <= other[i + 2] + GAP and other[i] <= one[i + 2] + GAP for i in (0, 1)):
            pairs.append((min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])))
    width, height = right - left, bottom - top
    cuts = [
        (0, 0, width, height // 2),
        (0, height // 2, width, height),
        (0, height // 3, width, height),
        (0, 0, width, 2 * height // 3),
        (0, 0, width // 2, height),
        (width // 2, 0, width, height),
    ]
    parts = [*areas, *filter(_large, rest), *pairs, *cuts]
    return [(a + left, b + top, c + left, d + top) for a, b, c, d in parts if c - a and d - b]


def _areas(inside: Mask, labels: Mask) -> list[_Box]:
    import cv2

    boxes: list[_Box] = []
    shown = labels * inside
    for label in np.flatnonzero(np.bincount(shown.ravel(), minlength=1) >= LEAST_AREA):
        if label in {0, _DARK, _PALE}:
            continue
        mask = (shown == label).view(np.uint8)
        for bridge in BRIDGES:
            closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((bridge, bridge), np.uint8))
            _, _, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
            boxes += [_rectangle(box) for *box, area in stats[1:].tolist() if area >= LEAST_AREA]
        boxes.append(_rectangle(cv2.boundingRect(mask)))
    return [box for box in boxes if _large(box)]


def _distinct(boxes: list[_Box]) -> list[_Box]:
    large = [box for box in dict.fromkeys(boxes) if _large(box)]
    if not large:
        return []
    same = overlaps(np.array(large, dtype=np.float32), np.array(large, dtype=np.float32)) >= SAME
    kept: list[_Box] = []
    free = np.ones(len(large), dtype=bool)
    for index, box in enumerate(large):
        if free[index] and len(kept) < MOST:
            kept.append(box)
            free &= ~same[index]
    return kept


def _rectangle(box: Sequence[int]) -> _Box:
    left, top, width, height = box
    return left, top, left + width, top + height


def _area(box: _Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _large(box: _Box) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) >= LEAST_SIDE


SETTINGS = "region_network.json"
WEIGHTS = "region_network.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
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


MARGIN = 0.08  # the border that a crop shows around its box, as a share of the box's sides
PLACES = 4
"""Numbers that the network gets beside a crop: the box's sides as shares of the image, and in units of 300 pixels."""


def build_network(settings: Settings) -> Any:
    """Build the network with random weights; the last of the logits of ``objects`` is that of "nothing"."""
    from torch import nn

    layers: list[nn.Module] = []
    before = 3
    for width, stride in zip(settings.channels, settings.strides, strict=True):
        layers += [nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
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
    import torch

    seen = network["body"]((crops - 0.5) * 2)
    features: torch.Tensor = network["features"](torch.cat([seen, places], dim=1))
    return features


def crops_of(pixels: Pixels, boxes: Boxes, side: int) -> tuple[Pixels, Boxes]:
    """Cut out boxes with a margin as squares, shape (n, side, side, 3), with their places, shape (n, ``PLACES``)."""
    import cv2

    height, width = pixels.shape[:2]
    crops = np.empty((len(boxes), side, side, 3), np.uint8)
    for index, (left, top, right, bottom) in enumerate(boxes):
        right_of, below = MARGIN * (right - left), MARGIN * (bottom - top)
        columns = slice(max(0, int(left - right_of)), min(width, int(np.ceil(right + right_of))))
        rows = slice(max(0, int(top - below)), min(height, int(np.ceil(bottom + below))))
        crops[index] = cv2.resize(pixels[rows, columns], (side, side), interpolation=cv2.INTER_AREA)
    sides = boxes[:, 2:] - boxes[:, :2]
    places = np.concatenate([sides / np.array([width, height], np.float32), sides / 300], axis=1)
    return crops, places.astype(np.float32)


AT_ONCE = 4  # images whose crops go through the network together: what it computes fits a processor's cache
VERSION = "1"  # changes with the way that boxes are proposed and chosen, on which the features depend


def _look(network: Any, settings: Settings, device: str, images: Sequence[LazyImage]) -> list[Regions]:
    def cut(image: Image) -> tuple[Boxes, Pixels, Boxes]:
        pixels = np.asarray(image)
        boxes = propose(pixels)
        height, width = pixels.shape[:2]
        scale = np.array([width, height, width, height], np.float32)
        return (boxes / scale, *crops_of(pixels, boxes, settings.crop))

    cuts, found = preparing(images, cut), list[Regions]()
    while part := list(islice(cuts, AT_ONCE)):  # the threads prepare the next ones meanwhile
        found += _see(network, settings, part, device)
    return found


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
    return (folder / SETTINGS).is_file()


def network_source(folder: Path, device: str, *, width: int) -> RegionSource:
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

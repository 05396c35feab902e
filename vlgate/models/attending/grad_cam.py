"""Grad-CAM for the image encoder of a dual encoder (Selvaraju et al., ICCV 2017).

The map is the last grid of features, each channel weighted by the mean gradient of the cosine with the text. What is
below 0 is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vlgate.explaining.record import Attended, Box
from vlgate.types import LazyImage, Match

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

METHOD = "Grad-CAM"
AT_ONCE = 16
"""Pairs that go through the network together: their activations are kept for the gradient."""
WHOLE: Box = (0.0, 0.0, 1.0, 1.0)

Frame = Callable[[tuple[int, int]], Box]
"""Takes the width and height of an image, and returns the part of it that the network is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastGrid:
    """The module at whose output, or ``before`` it, the last grid of features is."""

    module: Any
    before: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoders:
    """The parts of a dual encoder: ``prepare`` turns images into pixels, and the others return one row per input."""

    grid: LastGrid | None
    frame: Frame
    prepare: Callable[[Sequence[LazyImage]], torch.Tensor]
    encode_images: Callable[[torch.Tensor], torch.Tensor]
    encode_texts: Callable[[Sequence[str]], torch.Tensor]


@dataclass(slots=True)
class _Caught:
    features: list[torch.Tensor] = field(default_factory=list)


def last_grid(visual: Any) -> LastGrid | None:
    """Return the place of the last grid of features of an image encoder; None for an encoder that is not known.

    Known are the vision transformers and the ResNets of open_clip, those of timm, and the vision models of
    transformers' CLIP and its relatives. Behind the last block of a transformer, the patches may not matter any more,
    so the grid is taken before it.
    """
    trunk = getattr(visual, "trunk", None)
    if trunk is not None and hasattr(trunk, "blocks"):
        return LastGrid(module=trunk.blocks[-1], before=True)
    if trunk is not None and getattr(trunk, "feature_info", None):
        return LastGrid(module=trunk.get_submodule(trunk.feature_info[-1]["module"]), before=False)
    blocks = getattr(getattr(visual, "transformer", None), "resblocks", None)
    if blocks is None:
        blocks = getattr(getattr(visual, "encoder", None), "layers", None)
    if blocks is not None:
        return LastGrid(module=blocks[-1], before=True)
    layer = getattr(visual, "layer4", None)
    return None if layer is None else LastGrid(module=layer, before=False)


def centre(size: tuple[int, int]) -> Box:
    """Return the largest square in the middle of an image of this width and height.

    >>> centre((400, 300))
    (0.125, 0.0, 0.875, 1.0)
    """
    return _square(size, min(size))


def padded(size: tuple[int, int]) -> Box:
    """Return the smallest square around an image of this width and height.

    >>> padded((400, 300))[1] < 0
    True
    """
    return _square(size, max(size))


def whole(size: tuple[int, int]) -> Box:  # noqa: ARG001  # a Frame of an image that is squeezed
    """Return the whole image."""
    return WHOLE


def grad_cams(pairs: Sequence[Match], encoders: Encoders) -> list[Attended]:
    """Return a map for each pair, or nothing if the encoder is not known or its features have no grid.

    Raises: ImageError for the first image that cannot be decoded.
    """
    if encoders.grid is None:
        return []
    frames = {pair.image: encoders.frame(_size(pair.image.load())) for pair in pairs}
    found: list[Attended] = []
    for start in range(0, len(pairs), AT_ONCE):
        some = pairs[start : start + AT_ONCE]
        maps = _maps(some, encoders, encoders.grid)
        if maps is None:
            return []
        found += [_attended(pair, one, frames[pair.image]) for pair, one in zip(some, maps, strict=True)]
    return found


def _maps(pairs: Sequence[Match], encoders: Encoders, grid: LastGrid) -> list[list[list[float]]] | None:
    import torch
    from torch.nn import functional

    with torch.no_grad():
        words = functional.normalize(encoders.encode_texts([pair.text for pair in pairs]).float(), dim=-1)
    with torch.enable_grad(), _catching(grid) as caught:
        pixels = encoders.prepare([pair.image for pair in pairs]).requires_grad_()
        seen = functional.normalize(encoders.encode_images(pixels).float(), dim=-1)
        (slopes,) = torch.autograd.grad((seen * words).sum(), caught.features)
    features = _as_grid(caught.features[0].detach())
    weights = _as_grid(slopes)
    if features is None or weights is None:
        return None
    maps = (weights.mean(dim=(2, 3), keepdim=True) * features).sum(dim=1).clamp(min=0)
    found: list[list[list[float]]] = maps.double().cpu().tolist()
    return found


@contextmanager
def _catching(grid: LastGrid) -> Iterator[_Caught]:
    """Keep the features of the next call of the module."""
    caught = _Caught()

    def input_of(_: Any, args: tuple[Any, ...]) -> None:
        """Keep what goes into the module."""
        caught.features.append(args[0])

    def output_of(_: Any, __: Any, result: Any) -> None:
        """Keep what comes out of the module."""
        caught.features.append(result)

    register = grid.module.register_forward_pre_hook if grid.before else grid.module.register_forward_hook
    handle = register(input_of if grid.before else output_of)
    try:
        yield caught
    finally:
        handle.remove()


def _as_grid(features: torch.Tensor) -> torch.Tensor | None:
    """Features of shape (n, c, h, w), also of tokens of shape (n, length, c) with others before those of the grid."""
    if features.ndim == 4:
        return features.float()
    if features.ndim != 3:
        return None
    side = math.isqrt(features.shape[1])
    patches = features[:, features.shape[1] - side * side :]
    return patches.transpose(1, 2).reshape(len(features), -1, side, side).float()


def _attended(pair: Match, cells: list[list[float]], frame: Box) -> Attended:
    rows, columns = len(cells), len(cells[0])
    most = max(max(row) for row in cells) or 1.0
    left, top, right, bottom = frame
    across, down = (right - left) / columns, (bottom - top) / rows
    weights = {
        (left + x * across, top + y * down, left + (x + 1) * across, top + (y + 1) * down): value / most
        for y, row in enumerate(cells)
        for x, value in enumerate(row)
    }
    on_image = {box: value for box, value in weights.items() if box[0] < 1 and box[1] < 1 and box[2] > 0 and box[3] > 0}
    return Attended(method=METHOD, image=0, text=pair.text, boxes=tuple(on_image), weights=tuple(on_image.values()))


def _square(size: tuple[int, int], side: int) -> Box:
    width, height = size
    across, down = (1 - side / width) / 2, (1 - side / height) / 2
    return (across, down, 1 - across, 1 - down)


def _size(image: Image) -> tuple[int, int]:
    return image.size

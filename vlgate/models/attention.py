"""Maps of what a model attends to: attention to regions, Grad-CAM (ICCV 2017), and attention rollout (ACL 2020)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vlgate.types import Attended, Box, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch

ATTENTION = "attention to regions"


def attention(
    text: str, boxes: FloatArray, weights: FloatArray, method: str = ATTENTION, most: float = 0.0
) -> Attended:
    most = most or float(weights.max()) or 1.0
    frames = tuple((float(x1), float(y1), float(x2), float(y2)) for x1, y1, x2, y2 in boxes)
    shares = tuple(float(weight) / most for weight in weights)
    return Attended(method=method, image=0, text=text, boxes=frames, weights=shares)


# Grad-CAM for the image encoder of a dual encoder (Selvaraju et al., ICCV 2017): the map is the last grid of features,
# each channel weighted by the mean gradient of the cosine with the text. What is below 0 is left out.

GRAD_CAM = "Grad-CAM"
AT_ONCE = 16  # pairs that go through the network together: their activations are kept for the gradient
WHOLE: Box = (0.0, 0.0, 1.0, 1.0)

Frame = Callable[[tuple[int, int]], Box]
"""Takes the width and height of an image, and returns the part of it that the network is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastGrid:
    module: Any
    before: bool  # whether the grid is what goes into the module, not what comes out


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoders:
    grid: LastGrid | None
    frame: Frame
    prepare: Callable[[Sequence[LazyImage]], torch.Tensor]
    encode_images: Callable[[torch.Tensor], torch.Tensor]
    encode_texts: Callable[[Sequence[str]], torch.Tensor]


def last_grid(visual: Any) -> LastGrid | None:
    # Known are the vision transformers and the ResNets of open_clip, those of timm, and the vision models of
    # transformers' CLIP and its relatives. Behind the last block of a transformer, the patches may not matter any more,
    # so the grid is taken before it.
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


def _square(size: tuple[int, int], side: int) -> Box:
    width, height = size
    across, down = (1 - side / width) / 2, (1 - side / height) / 2
    return (across, down, 1 - across, 1 - down)


FRAMES: Mapping[str, Frame] = {
    "cropped": lambda size: _square(size, min(size)),
    "padded": lambda size: _square(size, max(size)),
    "stretched": lambda _: WHOLE,
}


def grad_cams(pairs: Sequence[Match], encoders: Encoders) -> list[Attended]:
    import torch
    from torch.nn import functional

    if (grid := encoders.grid) is None:
        return []

    def catch(_: Any, args: Any, result: Any = None) -> None:
        activations.append(args[0] if grid.before else result)

    register = grid.module.register_forward_pre_hook if grid.before else grid.module.register_forward_hook
    frames = {pair.image: encoders.frame(pair.image.load().size) for pair in pairs}
    attendeds: list[Attended] = []
    for start in range(0, len(pairs), AT_ONCE):
        some = pairs[start : start + AT_ONCE]
        with torch.no_grad():
            words = functional.normalize(encoders.encode_texts([pair.text for pair in some]).float(), dim=-1)
        activations: list[torch.Tensor] = []
        handle = register(catch)
        try:
            with torch.enable_grad():
                pixels = encoders.prepare([pair.image for pair in some]).requires_grad_()
                seen = functional.normalize(encoders.encode_images(pixels).float(), dim=-1)
                (slopes,) = torch.autograd.grad((seen * words).sum(), activations)
        finally:
            handle.remove()
        features, weights = _as_grid(activations[0].detach()), _as_grid(slopes)
        if features is None or weights is None:
            return []
        maps = (weights.mean(dim=(2, 3), keepdim=True) * features).sum(dim=1).clamp(min=0).double().cpu().numpy()
        for pair, cam in zip(some, maps, strict=True):
            attendeds.append(_attended(pair.text, cam, frames[pair.image], GRAD_CAM))
    return attendeds


def _as_grid(features: torch.Tensor) -> torch.Tensor | None:
    """Features of shape (n, c, h, w), also of tokens of shape (n, length, c) with others before those of the grid."""
    if features.ndim == 4:
        return features.float()
    if features.ndim != 3:
        return None
    side = math.isqrt(features.shape[1])
    patches = features[:, features.shape[1] - side * side :]
    return patches.transpose(1, 2).reshape(len(features), -1, side, side).float()


def _attended(text: str, grid: FloatArray, frame: Box, method: str) -> Attended:
    """The cells of a grid that lie on the image; of Grad-CAM, the largest one may lie on the padding around it."""
    boxes = cells((len(grid), len(grid[0])), frame)
    inside = (boxes[:, :2] < 1).all(axis=1) & (boxes[:, 2:] > 0).all(axis=1)
    weights = grid.ravel()[inside]
    return attention(text, boxes[inside], weights, method, float((grid if method == GRAD_CAM else weights).max()))


# Attention rollout (Abnar and Zuidema, ACL 2020): attention followed through all layers back to the inputs. A layer
# passes on half of a token by its residual connection, and half by its attention, the mean over heads.
ROLLOUT = "attention rollout"
Streams = tuple[Literal["text", "regions"], Literal["text", "regions"]]


def rolled_out(layers: Sequence[FloatArray]) -> FloatArray:
    """How much of each input token is in each output token; ``layers``: attention of shape (n, n), rows sum to 1."""
    n = len(layers[0])
    found: FloatArray = np.eye(n)
    for layer in layers:
        mixed = layer + np.eye(n)
        found = (mixed / mixed.sum(axis=1, keepdims=True)) @ found
    return found


def patches_rolled_out(layers: Sequence[FloatArray], text: str, frame: Box) -> Attended | None:
    """The rollout of a vision transformer as a map, the same for each text; None if the patches form no square."""
    # It is what is in the class token, or in all tokens on average if there is none. The patches are the last tokens.
    if not layers:
        return None
    whole, side = rolled_out(layers), math.isqrt(len(layers[0]))
    before = len(whole) - side * side
    if before > side:  # more than a class token and some registers: not a square
        return None
    row = whole[0] if before else whole.mean(axis=0)
    return _attended(text, row[before:].reshape(side, side), frame, ROLLOUT)


def cells(shape: tuple[int, int], frame: Box = WHOLE) -> FloatArray:
    left, top, right, bottom = frame
    rows, columns = shape
    across, down = (right - left) / columns, (bottom - top) / rows
    corners = [(left + x * across, top + y * down) for y in range(rows) for x in range(columns)]
    ends = [(left + (x + 1) * across, top + (y + 1) * down) for y in range(rows) for x in range(columns)]
    return np.hstack([corners, ends])


def two_streams(calls: Sequence[tuple[Streams, FloatArray]]) -> FloatArray:
    """How much of each region is in the first token of a text, after layers with two streams such as LXMERT's."""
    # ``calls``: who attends to whom, and the attention, in the order of computation. Two calls across the streams in a
    # row, one in each direction, are one layer: both see the tokens before it.
    sizes = {who: len(weights) for (who, _), weights in calls}
    place = {"text": slice(0, sizes["text"]), "regions": slice(sizes["text"], sizes["text"] + sizes["regions"])}
    layers: list[FloatArray] = []
    open_to: Streams | None = None  # the call that completes the last layer
    for streams, weights in calls:
        who, whom = streams
        if streams != open_to:
            layers.append(np.eye(sizes["text"] + sizes["regions"]))
        layers[-1][place[who]] = 0.0
        layers[-1][place[who], place[whom]] = weights
        open_to = (whom, who) if who != whom and streams != open_to else None
    return rolled_out(layers)[0, place["regions"]]


@contextmanager
def caught(modules: Sequence[Any]) -> Iterator[list[torch.Tensor]]:
    """Keep the attention of modules that return it as their second output if ``output_attentions`` is true."""
    kept: list[torch.Tensor] = []

    def asked(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, {**kwargs, "output_attentions": True}

    handles = [module.register_forward_pre_hook(asked, with_kwargs=True) for module in modules]
    handles += [module.register_forward_hook(lambda _, __, result: kept.append(result[1])) for module in modules]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def eager(model: Any) -> Iterator[None]:
    """Compute attention in the one way of transformers that can return it; the way of the model comes back after."""
    parts = {id(module.config): module.config for module in model.modules() if hasattr(module, "config")}
    before = {key: config._attn_implementation for key, config in parts.items()}  # noqa: SLF001  # it has no public name
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        for key, config in parts.items():
            config._attn_implementation = before[key]  # noqa: SLF001


def mean_of_heads(attentions: Sequence[torch.Tensor], row: int) -> list[FloatArray]:
    return [np.asarray(one[row].mean(dim=0).float().cpu().double().numpy()) for one in attentions]

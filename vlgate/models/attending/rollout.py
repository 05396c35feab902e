"""Attention rollout (Abnar and Zuidema, ACL 2020): attention followed through all layers back to the inputs.

A layer passes on half of a token by its residual connection, and half by its attention, the mean over heads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vlgate.explaining.record import Attended, Box
from vlgate.models.attending.grad_cam import WHOLE
from vlgate.models.attending.regions import attention
from vlgate.types import FloatArray

if TYPE_CHECKING:
    import torch

METHOD = "attention rollout"
Streams = tuple[Literal["text", "regions"], Literal["text", "regions"]]
"""Who attends, and to whom."""


def rolled_out(layers: Sequence[FloatArray]) -> FloatArray:
    """Return how much of each input token is in each output token.

    Args:
        layers: the attention of each layer, the first one first, each of shape (n, n): its rows sum to 1.

    Returns: an array of shape (n, n), whose rows sum to 1.

    >>> rolled_out([np.array([[0.0, 1.0], [0.0, 1.0]])]).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    n = len(layers[0])
    found: FloatArray = np.eye(n)
    for layer in layers:
        mixed = layer + np.eye(n)
        found = (mixed / mixed.sum(axis=1, keepdims=True)) @ found
    return found


def patches_rolled_out(layers: Sequence[FloatArray], text: str, frame: Box) -> Attended | None:
    """Return the rollout of a vision transformer as a map; it is the same for each text.

    Args:
        layers: the attention of each layer, each of shape (n, n); the patches are the last tokens.
        text: the text of the pair.
        frame: the part of the image that the network is given.

    Returns: what is in the class token, or in all tokens on average if there is none; None if there is not
        any attention, or if the patches do not form a square.
    """
    if not layers:
        return None
    whole, side = rolled_out(layers), math.isqrt(len(layers[0]))
    before = len(whole) - side * side
    if before > side:  # more than a class token and some registers: not a square
        return None
    row = whole[0] if before else whole.mean(axis=0)
    boxes = cells((side, side), frame)
    on_image = (boxes[:, :2] < 1).all(axis=1) & (boxes[:, 2:] > 0).all(axis=1)
    return attention(text, boxes[on_image], row[before:][on_image], METHOD)


def cells(shape: tuple[int, int], frame: Box = WHOLE) -> FloatArray:
    """Return the boxes of the cells of a grid, row by row, shape (rows * columns, 4).

    >>> cells((1, 2)).tolist()
    [[0.0, 0.0, 0.5, 1.0], [0.5, 0.0, 1.0, 1.0]]

    Args:
        shape: the numbers of rows and columns.
        frame: the part of the image that the grid lies on.
    """
    left, top, right, bottom = frame
    rows, columns = shape
    across, down = (right - left) / columns, (bottom - top) / rows
    return np.array(
        [
            (left + x * across, top + y * down, left + (x + 1) * across, top + (y + 1) * down)
            for y in range(rows)
            for x in range(columns)
        ]
    )


def two_streams(calls: Sequence[tuple[Streams, FloatArray]]) -> FloatArray:
    """Return how much of each region is in the first token of a text, after layers with two streams such as LXMERT's.

    Args:
        calls: who attends to whom, and the attention, of shape (attending, attended), in the order of computation. Two
            calls across the streams in a row, one in each direction, are one layer: both see the tokens before it.

    Returns: an array of shape (regions,).
    """
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
    """Keep the attention of modules that return it as their second output if ``output_attentions`` is true.

    Yields: a list that grows with each call, of tensors of shape (batch, heads, attending, attended).
    """
    kept: list[torch.Tensor] = []

    def asked(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Ask for the attention."""
        return args, {**kwargs, "output_attentions": True}

    def keep(_: Any, __: Any, result: Any) -> None:
        """Keep it."""
        kept.append(result[1])

    handles = [one.register_forward_pre_hook(asked, with_kwargs=True) for one in modules]
    handles += [one.register_forward_hook(keep) for one in modules]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def eager(model: Any) -> Iterator[None]:
    """Compute attention in the one way of transformers that can return it; the way of the model comes back after."""
    parts = {id(one.config): one.config for one in model.modules() if hasattr(one, "config")}
    before = {key: config._attn_implementation for key, config in parts.items()}  # noqa: SLF001  # it has no public name
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        for key, config in parts.items():
            config._attn_implementation = before[key]  # noqa: SLF001


def mean_of_heads(attentions: Sequence[torch.Tensor], row: int) -> list[FloatArray]:
    """Return the attention of each layer for one row of a batch, the mean over heads, as arrays."""
    return [np.asarray(one[row].mean(dim=0).float().cpu().double().numpy()) for one in attentions]

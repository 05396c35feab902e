"""The gated encoder, in whose attention sublayers a stream attends to itself, to the other stream or to both.

Bugliarello et al. (TACL 2021), section 4.1. A stream that attends to both does so in one softmax. A stream that has no
part in a sublayer stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from vlgate.models.volta.config import Config
from vlgate.models.volta.names import OUTPUT, SELF
from vlgate.models.volta.sublayers import Side, Sublayer

if TYPE_CHECKING:
    import torch

    States = Mapping[Side, torch.Tensor]


class Weights:
    """A model's weights by name, and the three operations on them."""

    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Take the tensors, all on one device and in one precision."""
        self.tensors = tensors

    def linear(self, name: str, states: torch.Tensor) -> torch.Tensor:
        """Map ``states`` of shape (..., inputs) to (..., outputs)."""
        import torch

        return torch.nn.functional.linear(states, self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"])

    def norm(self, name: str, states: torch.Tensor, eps: float) -> torch.Tensor:
        """Normalise ``states`` over their last axis."""
        import torch

        weight, bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        return torch.nn.functional.layer_norm(states, weight.shape, weight, bias, eps)

    def rows(self, name: str, numbers: torch.Tensor | int) -> torch.Tensor:
        """Return rows of an embedding, of shape (*numbers.shape, width)."""
        return self.tensors[f"{name}.weight"][numbers]


def encode(config: Config, weights: Weights, states: States, seen: States) -> States:
    """Run both streams through all sublayers.

    Args:
        config: the model's configuration.
        weights: the model's weights.
        states: a text stream of shape (n, tokens, width) and a vision stream of shape (n, regions, width).
        seen: False for padding, as booleans of shape (n, tokens) and (n, regions).

    Returns: both streams, in the same shapes.
    """
    import torch

    masks: dict[Side, torch.Tensor] = {side: there[:, None, None, :] for side, there in seen.items()}
    for place, sublayer in enumerate(config.sublayers):
        at = f"bert.encoder.layer.{place}"
        one = sublayer.joined
        if one is None:
            states = {**states, **_run(config, weights, sublayer, at, states, masks)}
            continue
        # One matrix product over both streams takes a sixth less time than two (BERT's sizes, 2 CPU cores).
        both: States = {"text": torch.cat([states["text"], states["vision"]], dim=1)}
        mask: States = {"text": torch.cat([masks["text"], masks["vision"]], dim=-1)}
        whole, end = _run(config, weights, one, at, both, mask)["text"], states["text"].shape[1]
        states = {"text": whole[:, :end], "vision": whole[:, end:]}
    return states


def _run(config: Config, weights: Weights, sublayer: Sublayer, at: str, states: States, masks: States) -> States:
    if sublayer.attends:
        return _attend(config, weights, sublayer, at, states, masks)
    return _feed(config, weights, sublayer, at, states)


def _attend(config: Config, weights: Weights, sublayer: Sublayer, at: str, states: States, masks: States) -> States:
    import torch

    def heads(part: str, side: Side) -> torch.Tensor:
        """Map a side's states and split them into heads."""
        mapped = weights.linear(f"{at}.{SELF}.{sublayer.prefix(side)}{part}", states[side])
        return mapped.view(*mapped.shape[:2], sublayer.sides[side].heads, -1).transpose(1, 2)

    keys, values = ({side: heads(part, side) for side in sublayer.sides} for part in ("key", "value"))
    found: dict[Side, torch.Tensor] = {}
    for side, stream in sublayer.sides.items():
        key, value = (torch.cat([part[other] for other in stream.sees], dim=2) for part in (keys, values))
        mask = torch.cat([masks[other] for other in stream.sees], dim=-1)
        context = torch.nn.functional.scaled_dot_product_attention(heads("query", side), key, value, attn_mask=mask)
        inner = context.transpose(1, 2).flatten(2)
        found[side] = _added(config, weights, f"{at}.{OUTPUT}.{sublayer.prefix(side)}", inner, states[side])
    return found


def _feed(config: Config, weights: Weights, sublayer: Sublayer, at: str, states: States) -> States:
    found: dict[Side, torch.Tensor] = {}
    for side, stream in sublayer.sides.items():
        p = sublayer.prefix(side)
        inner = activation(stream.activation)(weights.linear(f"{at}.intermediate.{p}dense", states[side]))
        found[side] = _added(config, weights, f"{at}.output.{p}", inner, states[side])
    return found


def _added(config: Config, weights: Weights, name: str, inner: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    return weights.norm(f"{name}LayerNorm", weights.linear(f"{name}dense", inner) + states, config.eps)


def activation(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return an activation by its name in a configuration; ``gelu`` is the exact one."""
    import torch

    return {"gelu": torch.nn.functional.gelu, "relu": torch.relu, "swish": torch.nn.functional.silu}[name]

"""The scores of dual encoders: the cosine of two features, and where it means yes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.types import FloatArray

if TYPE_CHECKING:
    import torch


def unit_rows(features: torch.Tensor) -> FloatArray:
    """Features as float64 rows of length 1, shape (n, d): the dot product of two is their cosine."""
    import torch

    rows = torch.nn.functional.normalize(features.float().cpu().double(), dim=-1)
    return np.asarray(rows.numpy(), dtype=np.float64)


def sigmoid_threshold(model: Any) -> float | None:
    """The cosine above which a model gives a pair more than one half.

    Only a model that was trained on pairs one by one has a bias, and gives sigmoid(scale * cosine + bias) as the
    probability of a match (SigLIP, arXiv:2303.15343, section 3.2).

    Returns: None for a model without a bias, which only ranks.
    """
    bias = getattr(model, "logit_bias", None)
    return None if bias is None else -float(bias.item()) / math.exp(float(model.logit_scale.item()))


def threshold_note(threshold: float | None) -> str:
    """What a reader of the results must know of a threshold; empty for None."""
    if threshold is None:
        return ""
    return f"says yes where the sigmoid that it was trained with is above 1/2: at a cosine above {threshold:.4f}"

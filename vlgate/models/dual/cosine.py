"""Compute the cosine scores of dual encoders, and the cosine above which a model says yes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.types import FloatArray

if TYPE_CHECKING:
    import torch


def unit_rows(features: torch.Tensor) -> FloatArray:
    """Return features as float64 rows of length 1, shape (n, d); the dot product of two rows is their cosine."""
    import torch

    rows = torch.nn.functional.normalize(features.float().cpu().double(), dim=-1)
    return np.asarray(rows.numpy(), dtype=np.float64)


def sigmoid_threshold(model: Any) -> float | None:
    """Return the cosine above which a model's probability of a match exceeds one half.

    Only a model that was trained on single pairs has a bias; its probability of a match is
    sigmoid(scale * cosine + bias) (SigLIP, arXiv:2303.15343, section 3.2).

    Returns: None for a model without a bias, which only ranks.
    """
    bias = getattr(model, "logit_bias", None)
    return None if bias is None else -float(bias.item()) / math.exp(float(model.logit_scale.item()))


def threshold_note(threshold: float | None) -> str:
    """Return a note about a threshold for the readers of the results; empty for None."""
    if threshold is None:
        return ""
    return f"says yes if the sigmoid that it was trained with is above 1/2, that is, at a cosine above {threshold:.4f}"

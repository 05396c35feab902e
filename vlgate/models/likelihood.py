"""From a language model's logits to log-probabilities, as exact as the device has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Log-softmax over the last axis, natural logarithms, in the widest numbers of the logits' device."""
    return logits.to(widest(logits.device)).log_softmax(-1)


def widest(device: torch.device) -> torch.dtype:
    """The floating-point type for sums: float64, which Apple's GPUs do not have.

    >>> import torch
    >>> widest(torch.device("cpu")), widest(torch.device("mps"))
    (torch.float64, torch.float32)
    """
    import torch

    return torch.float32 if device.type == "mps" else torch.float64

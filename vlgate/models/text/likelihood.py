"""Turn logits of a language model into log-probabilities, in the highest precision of the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Return the log-softmax over the last axis (natural logarithms), in the widest type of the logits' device."""
    return logits.to(widest(logits.device)).log_softmax(-1)


def widest(device: torch.device) -> torch.dtype:
    """Return the floating-point type for sums: float64, but float32 on Apple's GPUs, which lack float64.

    >>> import torch
    >>> widest(torch.device("cpu")), widest(torch.device("mps"))
    (torch.float64, torch.float32)
    """
    import torch

    return torch.float32 if device.type == "mps" else torch.float64

"""The matching head, on the encoder's first token and first region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vlgate.models.volta.config import Config
from vlgate.models.volta.embeddings import Seen, embed
from vlgate.models.volta.encoder import Weights, encode

if TYPE_CHECKING:
    import torch

MATCH = 0
"""The index of a match in ``cls.bi_seq_relationship``: the pretraining labels an image's own caption 0."""


def logits(config: Config, weights: Weights, seen: Seen, task: int = 0) -> torch.Tensor:
    """Return the matching head's outputs for n texts with n images.

    Args:
        config: the model's configuration.
        weights: the model's weights.
        seen: the texts and images.
        task: see ``embed``.

    Returns: shape (n, 2), with a match at index ``MATCH``; for a head that ranks, shape (n, 1), higher for a match.
    """
    import torch

    streams = embed(config, weights, seen, task)
    words = seen.words
    if config.task_tokens:
        words = torch.cat([torch.ones_like(words[:, :1]), words], dim=1)
    states = encode(config, weights, streams, {"text": words, "vision": seen.regions})
    pooled = weights.linear("bert.t_pooler.dense", states["text"][:, 0]).relu()
    if config.fusion != "text":
        other = weights.linear("bert.v_pooler.dense", states["vision"][:, 0]).relu()
        pooled = pooled * other if config.fusion == "mul" else pooled + other
    return weights.linear(config.head, pooled)

"""From the encoder's first token and first region to whether text and picture fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vlgate.models.volta.config import Config
from vlgate.models.volta.embeddings import Seen, embed
from vlgate.models.volta.encoder import Weights, encode

if TYPE_CHECKING:
    import torch

MATCH = 0
"""The place of a match in ``cls.bi_seq_relationship``: the pretraining labels a picture's own caption 0."""


def logits(config: Config, weights: Weights, seen: Seen, task: int = 0) -> torch.Tensor:
    """What the matching head says of n texts with n pictures.

    Args:
        config: the model's.
        weights: the model's.
        seen: the texts and pictures.
        task: see ``embed``.

    Returns: shape (n, 2), a match at ``MATCH``; shape (n, 1), higher for a match, of a head that ranks.
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

"""The way from ``NAME:WEIGHTS`` to a matching head of transformers: the same for each architecture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints import Architecture, check_local, loaded
from vlgate.models.hub import pretrained
from vlgate.models.matching import CrossEncoder, Inputs, Preparation
from vlgate.models.trial import tried

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingHead:
    """An architecture with a matching head, and the repository that is meant where the user names none.

    ``logits`` takes the model and the inputs of n requests, and returns shape (n, 2), or (n, 1) for a rank; ``match``
    is the column that stands for a match, None for a rank; ``places`` reads the length of a text off the configuration.
    """

    default: str
    architecture: Architecture
    logits: Callable[[Any, Inputs], torch.Tensor]
    places: Callable[[Any], int]
    match: int | None

    def check(self, weights: str, folder: Path) -> None:
        """Say whether local weights are there; imports no torch.

        Raises: ModelLoadError.
        """
        check_local(pretrained(weights, folder, default=self.default), self.architecture)

    def build(
        self, weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32"
    ) -> CrossEncoder:
        """Load a checkpoint.

        Args:
            weights: a hub repository or a local folder; ``default`` where empty.
            folder: where the user started.
            device: a name that ``torch.device`` takes.
            dtype: ``float32``, ``float16`` or ``bfloat16``.

        Raises: ModelLoadError, which says what was looked for, where, and what to do.
        """
        source = pretrained(weights, folder, default=self.default)
        model, processor, what = loaded(self.architecture, source, device=device, dtype=dtype)
        prepare = Preparation(processor, self.places(model.config), model)
        encoder = CrossEncoder(partial(self.logits, model), prepare, match=self.match, fingerprint=what)
        return tried(encoder, source.asked)

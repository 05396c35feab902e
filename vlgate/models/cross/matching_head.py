"""Load a matching head of transformers from ``NAME:WEIGHTS``, in the same manner for each architecture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.explaining.record import Attended
from vlgate.models.checkpoints.architecture import Architecture, check_local, loaded
from vlgate.models.checkpoints.hub import Pretrained, pretrained, split_options
from vlgate.models.checkpoints.trial import tried
from vlgate.models.cross.cross_encoder import CrossEncoder, Inputs, Preparation
from vlgate.models.cross.rank_score import OPTION, RankScore, rank_score

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingHead:
    """An architecture with a matching head, and its default repository.

    ``logits`` is a function of the model and the inputs of n requests; it returns shape (n, 2), or (n, 1) for a ranking
    score. ``match`` is the column of a match, None for a ranking score. ``places`` is a function of a configuration; it
    returns the number of token positions. ``align`` is a function of the model, the inputs, the tokens and the texts of
    n requests, which returns how words align with patches, and ``roll`` one of the model, the inputs and the texts,
    which returns the attention through all layers; both are None for an architecture without one.
    """

    default: str
    architecture: Architecture
    logits: Callable[[Any, Inputs], torch.Tensor]
    places: Callable[[Any], int]
    match: int | None
    align: Callable[[Any, Inputs, list[list[str]], list[str]], list[Attended]] | None = None
    roll: Callable[[Any, Inputs, list[str]], list[Attended]] | None = None

    def check(self, weights: str, folder: Path) -> None:
        """Check the option and the files of a local checkpoint. Imports no torch.

        Raises: ModelLoadError if the option is unknown, files are missing, or the architecture is another one.
        """
        check_local(self._parsed(weights, folder)[0], self.architecture)

    def build(
        self, weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32"
    ) -> CrossEncoder:
        """Load a checkpoint.

        Args:
            weights: a hub repository or a local folder (empty for ``default``), then ``?score=logit`` to rank by the
                raw match logit.
            folder: the folder that the user started in.
            device: a name that ``torch.device`` takes.
            dtype: ``float32``, ``float16`` or ``bfloat16``.

        Raises: ModelLoadError if the checkpoint cannot be loaded; the message says what was looked for and what to do.
        """
        source, rank = self._parsed(weights, folder)
        model, processor, what = loaded(self.architecture, source, device=device, dtype=dtype)
        prepare = Preparation(processor, self.places(model.config), model)
        encoder = CrossEncoder(partial(self.logits, model), prepare, rank=rank, fingerprint=what)
        encoder.align = None if self.align is None else partial(self.align, model)
        encoder.roll = None if self.roll is None else partial(self.roll, model)
        return tried(encoder, source.asked)

    def _parsed(self, weights: str, folder: Path) -> tuple[Pretrained, RankScore]:
        name, options = split_options(weights, (OPTION,))
        return pretrained(name, folder, default=self.default), rank_score(options, self.match)

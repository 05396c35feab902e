"""Plausibility: the perplexity of texts under a causal or a masked language model, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from vlgate.errors import NoReplyError
from vlgate.models.judges.batches import by_length
from vlgate.models.text.causal import causal
from vlgate.models.text.masked import masked
from vlgate.types import FloatArray


class _LanguageModel(Protocol):
    fingerprint: str

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """Return perplexities, shape (n,)."""
        ...


class Plausibility:
    """A language model that scores any number of texts."""

    def __init__(self, model: _LanguageModel) -> None:
        """Wrap a language model of ``vlgate.models.text``, which scores one batch."""
        self.fingerprint = model.fingerprint
        self._model = model

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """Return perplexities, shape (n,); lower is more plausible.

        Raises: NoReplyError, with the positions of all of them, if there are texts with too few tokens.
        """
        found = np.zeros(len(texts))
        short: list[int] = []
        why = ""
        for places in by_length([len(text) for text in texts]):
            try:
                found[places] = self._model.perplexity([texts[place] for place in places])
            except NoReplyError as error:
                short += [places[place] for place in error.positions]
                why = str(error)
        if short:
            raise NoReplyError(short, why)
        return found


def plausibility(weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32") -> Plausibility:
    """Load a causal language model by its hub repository or folder, or a masked one as ``masked:NAME``.

    Raises: ModelLoadError if the checkpoint cannot be loaded or is of another kind.
    """
    kind, _, name = weights.partition(":")
    if kind == "masked" and name:
        return Plausibility(masked(name, folder, device=device, dtype=dtype))
    return Plausibility(causal(weights, folder, device=device, dtype=dtype))

"""Features of dual encoders: cosine scores and their threshold, and texts encoded without padding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import described
from vlgate.models.text.text_only import ControlTokens
from vlgate.types import FloatArray

if TYPE_CHECKING:
    import torch


def unit_rows(features: torch.Tensor) -> FloatArray:
    """Return features as float64 rows of length 1, shape (n, d); the dot product of two rows is their cosine."""
    import torch

    rows = torch.nn.functional.normalize(features.float().cpu().double(), dim=-1)
    return np.asarray(rows.numpy(), dtype=np.float64)


class CosineModel:
    def __init__(self, model: Any, tokenizer: Any, *, fingerprint: str, note: str = "") -> None:
        # Only a model that was trained on single pairs has a bias; its probability of a match is
        # sigmoid(scale * cosine + bias) (SigLIP, arXiv:2303.15343, section 3.2), which exceeds one half above this.
        bias = getattr(model, "logit_bias", None)
        threshold = None if bias is None else -float(bias.item()) / math.exp(float(model.logit_scale.item()))
        self.decision_threshold = threshold
        if threshold is not None:
            says = "says yes if the sigmoid that it was trained with is above 1/2, that is, at a cosine above"
            note = "; ".join(filter(None, (note, f"{says} {threshold:.3f}")))
        self.note = note
        self.reading = ""  # whether texts are read with their padding; empty until the first texts are encoded
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._control = ControlTokens(tokenizer)

    def encode_texts(self, texts: Sequence[str]) -> FloatArray:
        import torch

        self._control.check([(self._cased(text),) for text in texts])
        with torch.inference_mode():
            return unit_rows(self._features_of(texts))

    def _cased(self, text: str) -> str:
        return text

    def _features_of(self, texts: Sequence[str]) -> torch.Tensor:
        raise NotImplementedError


# Texts are encoded without the padding that makes all of them as long as a model's context. A text encoder with a
# causal mask that is read at the end token never sees what follows that token, and one with a mask of the padding does
# not see the padding. For both, texts of 15 tokens take a fifth of the work of 77. Texts are sorted by length and
# encoded in groups, each as long as its longest text.

# The texts on which a model shows that padding makes no difference to it.
TRIED = ("a", "Two dogs and a cat.", "A man in a red coat rides a bicycle past the old brick house near the river.")
# Texts that a CPU encodes together: with 16 captions of SugarCrepe, 12 % of the tokens are padding, with 64 38 %. Other
# devices encode all texts of a batch together, because small groups do not fill them.
AT_ONCE = 16
_ROUNDING = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
_MISFITS = (RuntimeError, ValueError, LookupError, TypeError, AttributeError)


def in_groups(lengths: Sequence[int], device: str, encode: Callable[[list[int], int], torch.Tensor]) -> torch.Tensor:
    """Encode texts in groups of similar length; ``encode`` takes the positions of texts and the longest length."""
    import torch

    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    size = AT_ONCE if device.startswith("cpu") else len(order)
    groups = [order[index : index + size] for index in range(0, len(order), size)]
    features = torch.cat([encode(group, lengths[group[-1]]) for group in groups])
    return features[torch.tensor(order).argsort().to(features.device)]


def apart(full: torch.Tensor, cut: Callable[[], torch.Tensor]) -> float | str:
    """Return the largest difference between features of texts with their padding and without, or why it matters."""
    from torch.nn.functional import normalize

    try:
        short = cut()
    except _MISFITS as error:
        return f"the model does not take shorter texts ({described(error)})"
    if short.shape != full.shape:
        return f"the features of shorter texts have another shape, {tuple(short.shape)}"
    largest = float((normalize(short.double(), dim=-1) - normalize(full.double(), dim=-1)).abs().max())
    if largest <= _ROUNDING[str(full.dtype).removeprefix("torch.")]:
        return largest
    return f"without it, the features of {len(full)} texts differ by {largest:.1g}"


def told(difference: float | str) -> str:
    if isinstance(difference, str):
        return f"texts are read with their padding: {difference}"
    return (
        f"texts are read without their padding, which changes those of {len(TRIED)} texts by at most {difference:.1g}"
    )

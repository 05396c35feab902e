"""Encode texts with an open_clip model: without padding, if its text encoder is causal and read at the end token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vlgate.models.dual.short_texts import TRIED, apart, in_groups, told

if TYPE_CHECKING:
    import torch


class Texts:
    """The text encoder of an open_clip model.

    ``note`` says whether texts are read with their padding; it is empty until the first texts are encoded. If the
    encoder is causal and read at the end token, the first call encodes a few texts with their padding and without, and
    only if the features agree to rounding is padding left out from then on.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        """Wrap a model in evaluation mode, and its tokenizer."""
        self.note = ""
        self._model = model
        self._tokenizer = tokenizer
        self._device = next(model.parameters()).device
        self._positions = _positions(model)
        self._padding: int | None = None  # the token that fills up short texts; None as long as they are not cut

    def encode(self, tokens: torch.Tensor) -> torch.Tensor:
        """Encode the tokens of n texts, shape (n, context).

        Returns: features of any length, shape (n, d).
        """
        if not self.note:
            self._try()
        if self._padding is None:
            return self._encoded(tokens)
        lengths = self._lengths(tokens, self._padding)
        return in_groups(lengths, self._device.type, lambda places, longest: self._encoded(tokens[places, :longest]))

    def _try(self) -> None:
        """Encode a few texts with their padding and without, each alone, and compare."""
        import torch

        if not self._positions:
            self.note = told("its text encoder is not a causal one that is read at the end token")
            return
        tokens = self._tokenizer(list(TRIED))
        padding = int(self._tokenizer([""])[0, -1])
        lengths = self._lengths(tokens, padding)
        full = self._encoded(tokens)
        rows = zip(tokens, lengths, strict=True)
        found = apart(full, lambda: torch.cat([self._encoded(row[None, :length]) for row, length in rows]))
        self.note = told(found)
        self._padding = None if isinstance(found, str) else padding

    def _lengths(self, tokens: torch.Tensor, padding: int) -> list[int]:
        """The number of tokens of each text up to its end token."""
        import torch

        last: list[int] = ((tokens != padding) * torch.arange(1, tokens.shape[1] + 1)).amax(dim=1).tolist()
        return last

    def _encoded(self, tokens: torch.Tensor) -> torch.Tensor:
        from torch.func import functional_call

        given = tokens.to(self._device)
        length = tokens.shape[1]
        short = {f"model.{name}": _first(name, whole, length) for name, whole in self._positions.items()}
        # tie_weights looks for further names of the same tensor, in 0.3 ms; what is replaced here has one name.
        features: torch.Tensor = functional_call(_encoder(self._model), short, (given,), tie_weights=False)
        return features


def _positions(model: Any) -> Mapping[str, torch.Tensor]:
    """What a causal text encoder that is read at the end token has for each position, by name; empty for others."""
    import torch

    inner = getattr(model, "text", model)
    mask = getattr(inner, "attn_mask", None)
    pool = getattr(inner, "text_pool_type", getattr(inner, "pool_type", ""))
    if mask is None or pool not in {"argmax", "eos"} or getattr(inner, "cls_emb", None) is not None:
        return {}
    if not torch.equal(mask, torch.full_like(mask, -float("inf")).triu(1)):
        return {}
    names = {"attn_mask": mask}
    if inner is model:  # TextTransformer takes the first positions by itself
        names["positional_embedding"] = model.positional_embedding
    prefix = "" if inner is model else "text."
    return {prefix + name: whole for name, whole in names.items()}


def _first(name: str, whole: torch.Tensor, length: int) -> torch.Tensor:
    """What belongs to the first positions, of a mask of shape (context, context) or of positions, (context, d)."""
    return whole[:length, :length] if name.endswith("attn_mask") else whole[:length]


def _encoder(model: Any) -> Any:
    """The text encoder of a model as a module of its own, because ``functional_call`` calls a whole module."""
    from torch import nn

    class Encoder(nn.Module):
        """Calls ``encode_text``."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            """Return features of shape (n, d)."""
            features: torch.Tensor = self.model.encode_text(tokens, normalize=False)
            return features

    return Encoder()

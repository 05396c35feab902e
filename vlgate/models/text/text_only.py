"""The common parts of language models that see no image: loading, checks of the tokenizer, log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.checkpoints.hub import Pretrained, identity
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.transformers_loading import load_model, load_processor
from vlgate.models.text.control_tokens import ControlTokens

if TYPE_CHECKING:
    import torch


def log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """The log-softmax over the last axis (natural logarithms), in the widest type of the logits' device."""
    return logits.to(widest(logits.device)).log_softmax(-1)


def widest(device: torch.device) -> torch.dtype:
    """The floating-point type for sums: float64, but float32 on Apple's GPUs, which lack float64."""
    import torch

    return torch.float32 if device.type == "mps" else torch.float64


# The largest relative change of a causal model's earlier logits if the last token changes; only rounding may cause one.
MOST_APART = 0.01


def check_left_to_right(model: Any, asked: str) -> None:
    # transformers also loads BERT as a causal model, although its tokens see the token that they should predict
    import torch

    last = model.get_input_embeddings().num_embeddings - 1
    ids = torch.tensor([[1, 2, 1, 3, 2], [1, 2, 1, 3, last]], device=model.device)
    with torch.inference_mode():
        one, other = model(input_ids=ids, use_cache=False).logits[:, :-1].float()
    if not (one - other).abs().max().item() <= MOST_APART * one.abs().max().item():
        raise ModelLoadError(
            f"{asked} is a {model.config.model_type} that sees the tokens that it should predict, so it has no "
            "perplexity; name a causal model, or use masked:NAME for the pseudo-perplexity"
        )


def longest_text(model: Any, tokenizer: Any, endless: int) -> int:
    """How many tokens a model takes, special tokens included; ``endless`` if no limit is known."""
    limits = [getattr(model.config, name, None) for name in ("max_position_embeddings", "n_positions")]
    found = [limit for limit in (*limits, tokenizer.model_max_length) if isinstance(limit, int) and 0 < limit < endless]
    # RoBERTa and its relatives number positions from the padding token's id + 1.
    places = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(places, "padding_idx", None)
    if places is not None and padding is not None:
        found.append(places.num_embeddings - padding - 1)
    return min(found, default=endless)


ENDLESS = 10**9  # more than any limit; a tokenizer without a limit has 10^30


class TextModel:
    """The base of causal and masked language models: how much of a benchmark do the texts alone give away?"""

    def __init__(self, model: Any, tokenizer: Any, *, note: str, fingerprint: str) -> None:
        self.note = note
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._control = ControlTokens(tokenizer)
        self._longest = longest_text(model, tokenizer, ENDLESS)

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self._rows(texts)]

    def _rows(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        raise NotImplementedError

    def _cut(self, texts: Sequence[str], rows: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        self.cut_texts.update(compress(texts, (len(row) > self._longest for row in rows)))
        return [row[: self._longest] for row in rows]


def padded(rows: Sequence[Sequence[int]], device: Any, filler: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and their mask, padded on the right, shape (n, length)."""
    import torch

    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
    return ids, mask


def refuse_short(texts: Sequence[str], short: Sequence[bool]) -> None:
    positions = [index for index, too_short in enumerate(short) if too_short]
    if positions:
        raise NoReplyError(positions, f"the text {texts[positions[0]]!r} has too few tokens to have a perplexity")


def loaded(source: Pretrained, cls: str, device: str, dtype: str) -> tuple[Any, Any, str]:
    transformers = library("transformers")
    tokenizer = load_processor(transformers.AutoTokenizer, source)
    model = load_model(getattr(transformers, cls), source, device=device, dtype=dtype)
    known = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > known:
        raise ModelLoadError(
            f"the tokenizer of {source.asked} has {len(tokenizer)} tokens, but the model has embeddings for {known}; "
            "save the tokenizer that it was trained with into the folder of the weights"
        )
    return model, tokenizer, f"{identity(source)} {transformers.__version__} {dtype} {cls}"

"""``masked:NAME``: masked language models, which score texts by their pseudo-perplexity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.hub import pretrained
from vlgate.models.text.likelihood import log_probabilities
from vlgate.models.text.text_only import ENDLESS, TextModel, loaded, refuse_short
from vlgate.types import FloatArray

_COPIES = 4  # masked copies per forward pass, for each text of the batch
MOST_LOGITS = 2**28  # per forward pass: 1 GiB in float32. A vocabulary may have 250,000 words


class Masked(TextModel):
    """A masked language model, with the pseudo-perplexity of Salazar et al. 2020 (arXiv:1910.14659)."""

    def __init__(self, model: Any, tokenizer: Any, *, fingerprint: str) -> None:
        """Wrap a masked language model in evaluation mode, with its tokenizer."""
        note = "pseudo-perplexity: exp of the mean negative log-likelihood per token, each masked on its own"
        super().__init__(model, tokenizer, note=note, fingerprint=fingerprint)

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """Compute the pseudo-perplexity of texts.

        Returns: pseudo-perplexities, shape (n,); lower is more plausible.
        Raises: NoReplyError for texts without any token, or that hold a control token.
        """
        self._control.check([(text,) for text in texts])
        made = self._tokens(texts)
        rows: list[list[int]] = made["input_ids"]
        places = [[place for place, special in enumerate(row) if not special] for row in made["special_tokens_mask"]]
        refuse_short(texts, [not row for row in places])
        gaps = [(row, place) for row, found in enumerate(places) for place in found]
        gaps.sort(key=lambda gap: len(rows[gap[0]]))  # texts of similar length together, to save padding
        sums = np.zeros(len(rows))
        width = max(map(len, rows))
        step = min(_COPIES * len(rows), max(1, MOST_LOGITS // (width * self._model.config.vocab_size)))
        for start in range(0, len(gaps), step):
            part = gaps[start : start + step]
            np.add.at(sums, [row for row, _ in part], self._surprisals(rows, part))
        lengths = np.array([len(found) for found in places], dtype=np.float64)
        return np.asarray(np.exp(sums / lengths), dtype=np.float64)

    def _rows(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        rows: list[list[int]] = self._tokens(texts)["input_ids"]
        return rows

    def _tokens(self, texts: Sequence[str]) -> Any:
        limits = {"truncation": True, "max_length": self._longest} if self._longest < ENDLESS else {}
        self._cut(texts, self._tokenizer(list(texts), verbose=False)["input_ids"])
        return self._tokenizer(list(texts), return_special_tokens_mask=True, **limits)

    def _surprisals(self, rows: Sequence[Sequence[int]], gaps: Sequence[tuple[int, int]]) -> FloatArray:
        """Return the negative log-likelihood, in nats, of one token per gap; only that token of its row is masked."""
        import torch

        ids, mask = self._padded([rows[row] for row, _ in gaps])
        count, places = torch.arange(len(gaps)), torch.tensor([place for _, place in gaps])
        true = ids[count, places]
        ids[count, places] = self._tokenizer.mask_token_id
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits[count, places]
            likely = log_probabilities(logits).gather(1, true[:, None])
        return np.asarray(-likely.squeeze(1).cpu().numpy(), dtype=np.float64)


def check_masked(weights: str, folder: Path) -> None:
    """Raise ModelLoadError if the weights of ``masked:`` or their options are wrong; imports no torch."""
    pretrained(weights, folder)


def masked(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> Masked:
    """Load any masked language model of transformers; the arguments are those of ``causal``, without variants."""
    source = pretrained(weights, folder)
    model, tokenizer, what = loaded(source, "AutoModelForMaskedLM", device, dtype)
    if tokenizer.mask_token_id is None:
        raise ModelLoadError(f"{source.asked} has no mask token; name a masked language model, or use causal:{weights}")
    return Masked(model, tokenizer, fingerprint=what)

"""``gpt2:``, ``gpt1:``, ``causal:NAME`` score texts by perplexity, ``masked:NAME`` by pseudo-perplexity."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.hub import downloads, pretrained, requested
from vlgate.models.text import text_only
from vlgate.types import FloatArray

STRIDE = 3  # tokens per window in VALSE's released script
fetch = fetch_masked = downloads


class Causal(text_only.TextModel):
    def __init__(self, model: Any, tokenizer: Any, *, variant: str, fingerprint: str) -> None:
        self._bos = tokenizer.bos_token_id if variant == "mean" else None
        self._perplexity = valse_perplexity if variant == "valse" else mean_perplexity
        if variant == "valse":
            note = (
                f"perplexity as in VALSE's released script: windows of {STRIDE}, divided by the start of the last one"
            )
        else:
            first = "is conditioned on the beginning-of-text token" if self._bos is not None else "is not counted"
            note = f"perplexity: exp of the mean negative log-likelihood per token; the first token {first}"
        super().__init__(model, tokenizer, note=note, fingerprint=fingerprint)

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        self._control.check([(text,) for text in texts])
        rows = self._rows(texts)
        least = STRIDE + 1 if self._perplexity is valse_perplexity else 2
        text_only.refuse_short(texts, [len(row) < least for row in rows])
        return np.array([self._perplexity(surprisals) for surprisals in self._surprisals(rows)], dtype=np.float64)

    def _rows(self, texts: Sequence[str]) -> list[Sequence[int]]:
        alone = self._tokenizer(list(texts), add_special_tokens=self._bos is None, verbose=False)["input_ids"]
        start = [] if self._bos is None else [self._bos]
        return self._cut(texts, [start + list(row) for row in alone])

    def _surprisals(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        # the negative log-likelihood, in nats, of every token but the first
        import torch

        ids, mask = text_only.padded(rows, self._model.device)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask, use_cache=False).logits
            found = []
            for index, row in enumerate(rows):  # row by row: float64 logits of a whole batch would be gigabytes
                likely = text_only.log_probabilities(logits[index, : len(row) - 1])
                found.append((-likely.gather(1, ids[index, 1 : len(row), None])).squeeze(1).cpu().tolist())
        return found


def mean_perplexity(surprisals: Sequence[float]) -> float:
    # as perplexity of the library evaluate (used by BLA)
    return math.exp(sum(surprisals) / len(surprisals))


def valse_perplexity(surprisals: Sequence[float]) -> float:
    """The perplexity as ``compute_ppl`` of ``unimodal_valse_eval.py`` in Heidelberg-NLP/VALSE computes it."""
    # The script reads windows of three tokens. In the first window the first token is not predicted, and the mean of
    # the other two counts three times. A last window that is not full is filled up with tokens that were already
    # counted. The sum is divided by the position where the last window begins, not by the number of tokens. So the
    # result is higher than the perplexity, most of all for short texts: six tokens of surprisal 1 give exp(6 / 3). The
    # paper's figures are those of gpt2-large and openai-gpt.
    tokens = len(surprisals) + 1
    total = STRIDE * sum(surprisals[: STRIDE - 1]) / (STRIDE - 1)
    begins = range(STRIDE, tokens, STRIDE)
    for begin in begins:
        end = min(begin + STRIDE, tokens) - 1  # the surprisal of token t is at index t - 1
        total += sum(surprisals[end - STRIDE : end])
    return math.exp(total / begins[-1])


def check(weights: str, folder: Path, *, name: str) -> None:
    requested(name, weights, folder)


def build(
    weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32", *, name: str = "causal"
) -> Causal:
    source, options = requested(name, weights, folder)
    model, tokenizer, what = text_only.loaded(source, "AutoModelForCausalLM", device, dtype)
    text_only.check_left_to_right(model, source.asked)
    return Causal(model, tokenizer, variant=options["variant"], fingerprint=f"{what} {options['variant']}")


_COPIES = 4  # masked copies per forward pass, for each text of the batch
MOST_LOGITS = 2**28  # per forward pass: 1 GiB in float32. A vocabulary may have 250,000 words


class Masked(text_only.TextModel):
    """A masked language model, with the pseudo-perplexity of Salazar et al. 2020 (arXiv:1910.14659)."""

    def __init__(self, model: Any, tokenizer: Any, *, fingerprint: str) -> None:
        note = "pseudo-perplexity: exp of the mean negative log-likelihood per token, each masked on its own"
        super().__init__(model, tokenizer, note=note, fingerprint=fingerprint)

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        self._control.check([(text,) for text in texts])
        made = self._tokens(texts)
        rows: list[list[int]] = made["input_ids"]
        places = [[index for index, special in enumerate(row) if not special] for row in made["special_tokens_mask"]]
        text_only.refuse_short(texts, [not row for row in places])
        gaps = [(row, place) for row, inside in enumerate(places) for place in inside]
        gaps.sort(key=lambda gap: len(rows[gap[0]]))  # texts of similar length together, to save padding
        sums = np.zeros(len(rows))
        width = max(map(len, rows))
        step = min(_COPIES * len(rows), max(1, MOST_LOGITS // (width * self._model.config.vocab_size)))
        for start in range(0, len(gaps), step):
            part = gaps[start : start + step]
            np.add.at(sums, [row for row, _ in part], self._surprisals(rows, part))
        return np.asarray(np.exp(sums / list(map(len, places))), dtype=np.float64)

    def _rows(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        return self._tokens(texts)["input_ids"]  # type: ignore[no-any-return]

    def _tokens(self, texts: Sequence[str]) -> Any:
        limits = {"truncation": True, "max_length": self._longest} if self._longest < text_only.ENDLESS else {}
        self._cut(texts, self._tokenizer(list(texts), verbose=False)["input_ids"])
        return self._tokenizer(list(texts), return_special_tokens_mask=True, **limits)

    def _surprisals(self, rows: Sequence[Sequence[int]], gaps: Sequence[tuple[int, int]]) -> FloatArray:
        # the negative log-likelihood, in nats, of one token per gap; only that token of its row is masked
        import torch

        ids, mask = text_only.padded([rows[row] for row, _ in gaps], self._model.device)
        count, places = torch.arange(len(gaps)), torch.tensor([place for _, place in gaps])
        true = ids[count, places]
        ids[count, places] = self._tokenizer.mask_token_id
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits[count, places]
            likely = text_only.log_probabilities(logits).gather(1, true[:, None])
        return np.asarray(-likely.squeeze(1).cpu().numpy(), dtype=np.float64)


def check_masked(weights: str, folder: Path) -> None:
    pretrained(weights, folder)


def build_masked(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> Masked:
    source = pretrained(weights, folder)
    model, tokenizer, what = text_only.loaded(source, "AutoModelForMaskedLM", device, dtype)
    if tokenizer.mask_token_id is None:
        raise ModelLoadError(f"{source.asked} has no mask token; name a masked language model, or use causal:{weights}")
    return Masked(model, tokenizer, fingerprint=what)

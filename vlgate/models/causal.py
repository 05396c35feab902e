"""Language models that read from left to right, and their perplexity: ``gpt2:``, ``gpt1:`` and ``causal:NAME``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.errors import ModelLoadError, nearest
from vlgate.models.hub import Pretrained, pretrained, split_options
from vlgate.models.likelihood import log_probabilities
from vlgate.models.text_checks import check_left_to_right
from vlgate.models.text_only import TextModel, loaded, refuse_short
from vlgate.types import FloatArray

GPT2 = "openai-community/gpt2"
GPT1 = "openai-community/openai-gpt"
VARIANTS = ("mean", "valse")
STRIDE = 3  # of the released script


class Causal(TextModel):
    """A model that reads from left to right."""

    def __init__(self, model: Any, tokenizer: Any, *, variant: str, fingerprint: str) -> None:
        """Take a causal language model in evaluation mode, with its tokenizer, and one of ``VARIANTS``."""
        self._bos = tokenizer.bos_token_id if variant == "mean" else None
        self._perplexity = valse_perplexity if variant == "valse" else mean_perplexity
        first = "is conditioned on the token of beginning" if self._bos is not None else "is not counted"
        note = f"perplexity: exp of the mean negative log-likelihood of a token; the first {first}"
        if variant == "valse":
            note = (
                f"perplexity as VALSE's released script has it: windows of {STRIDE}, divided by where the last begins"
            )
        super().__init__(model, tokenizer, note=note, fingerprint=fingerprint)

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """How surprising texts are.

        Returns: perplexities, shape (n,); lower is more plausible.
        Raises: NoReplyError for texts that are too short to have one.
        """
        alone = self._tokenizer(list(texts), add_special_tokens=self._bos is None, verbose=False)["input_ids"]
        start = [] if self._bos is None else [self._bos]
        rows = self._cut(texts, [start + list(row) for row in alone])
        refuse_short(texts, [len(row) < (STRIDE + 1 if self._perplexity is valse_perplexity else 2) for row in rows])
        return np.array([self._perplexity(surprisals) for surprisals in self._surprisals(rows)], dtype=np.float64)

    def _surprisals(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        """The negative log-likelihood of every token but the first, in nats."""
        import torch

        ids, mask = self._padded(rows)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask, use_cache=False).logits
            found = []
            for place, row in enumerate(rows):  # row by row: all of them in float64 would be gigabytes
                likely = log_probabilities(logits[place, : len(row) - 1])
                found.append((-likely.gather(1, ids[place, 1 : len(row), None])).squeeze(1).cpu().tolist())
        return found


def mean_perplexity(surprisals: Sequence[float]) -> float:
    """Exp of the mean negative log-likelihood, as of ``perplexity`` in the library evaluate (which BLA used).

    Args:
        surprisals: the negative log-likelihood of each token that counts, in nats.

    >>> round(mean_perplexity([math.log(2), math.log(8)]), 9)
    4.0
    """
    return math.exp(sum(surprisals) / len(surprisals))


def valse_perplexity(surprisals: Sequence[float]) -> float:
    """What ``compute_ppl`` of ``unimodal_valse_eval.py`` in Heidelberg-NLP/VALSE gives.

    The script reads windows of three tokens. The first token is not predicted, and the mean of the other two counts
    three times; the last window, where it is not full, is filled with tokens that were counted before; and the sum is
    divided by the place where the last window begins, not by the number of tokens. So figures are higher than a
    perplexity, the more so the shorter the text: six tokens of surprisal 1 give exp(6 / 3). The paper's figures are of
    gpt2-large and openai-gpt.

    Args:
        surprisals: the negative log-likelihood of each token but the first, in nats; at least three.

    >>> round(math.log(valse_perplexity([1.0] * 5)), 9)
    2.0
    """
    tokens = len(surprisals) + 1
    total = STRIDE * sum(surprisals[: STRIDE - 1]) / (STRIDE - 1)
    begins = range(STRIDE, tokens, STRIDE)
    for begin in begins:
        end = min(begin + STRIDE, tokens) - 1  # the surprisal of token t stands at t - 1
        total += sum(surprisals[end - STRIDE : end])
    return math.exp(total / begins[-1])


def check_gpt2(weights: str, folder: Path) -> None:
    """Say what is wrong with what stands after ``gpt2:``; imports no torch. Raises: ModelLoadError."""
    _parse(weights, folder, GPT2)


def check_gpt1(weights: str, folder: Path) -> None:
    """Say what is wrong with what stands after ``gpt1:``; imports no torch. Raises: ModelLoadError."""
    _parse(weights, folder, GPT1)


def check_causal(weights: str, folder: Path) -> None:
    """Say what is wrong with what stands after ``causal:``; imports no torch. Raises: ModelLoadError."""
    _parse(weights, folder, "")


def _parse(weights: str, folder: Path, default: str) -> tuple[Pretrained, str]:
    name, chosen = split_options(weights, ("variant",))
    variant = chosen.get("variant", VARIANTS[0])
    if variant not in VARIANTS:
        raise ModelLoadError(f"weights={weights!r}: variant={variant!r} is unknown; {nearest(variant, VARIANTS)}")
    return pretrained(name, folder, default=default), variant


def gpt2(folder: Path, weights: str = "", device: str = "cpu", dtype: str = "float32") -> Causal:
    """Load GPT-2, the smallest where no other is named; see ``causal``."""
    return _causal(*_parse(weights, folder, GPT2), device, dtype)


def gpt1(folder: Path, weights: str = "", device: str = "cpu", dtype: str = "float32") -> Causal:
    """Load GPT, the first; it has no token of beginning, so that the first token is not counted. See ``causal``."""
    return _causal(*_parse(weights, folder, GPT1), device, dtype)


def causal(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> Causal:
    """Load any causal language model of transformers.

    Args:
        weights: a hub repository or a folder; with ``?variant=valse`` behind it, ``valse_perplexity`` is computed.
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError, which says what was looked for, where, and what to do.
    """
    return _causal(*_parse(weights, folder, ""), device, dtype)


def _causal(source: Pretrained, variant: str, device: str, dtype: str) -> Causal:
    model, tokenizer, what = loaded(source, "AutoModelForCausalLM", device, dtype)
    check_left_to_right(model, source.asked)
    return Causal(model, tokenizer, variant=variant, fingerprint=f"{what} {variant}")

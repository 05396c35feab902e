"""Language models that see no picture: ``gpt2:``, ``gpt1:``, ``causal:NAME`` and ``masked:NAME``.

They show what a benchmark's texts give away by themselves: the foil that is less plausible is found without looking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError, NoReplyError, nearest
from vlgate.models.hub import (
    Pretrained,
    identity,
    load_model,
    load_processor,
    missing_package,
    pretrained,
    split_options,
)
from vlgate.models.likelihood import log_probabilities
from vlgate.models.text_checks import check_left_to_right, check_size, longest_text
from vlgate.types import FloatArray

if TYPE_CHECKING:
    import torch

GPT2 = "openai-community/gpt2"
GPT1 = "openai-community/openai-gpt"
VARIANTS = ("mean", "valse")
STRIDE = 3  # of the released script
_COPIES = 4  # masked copies that are read at a time, for each text that was asked for
_MOST_LOGITS = 2**28  # of one reading, a GiB in float32: a vocabulary may have 250,000 words
_ENDLESS = 10**9  # a tokenizer without a limit says 10^30


class _TextModel:
    """What causal and masked models have in common. ``cut_texts`` holds the texts so far that lost their end."""

    def __init__(self, model: Any, tokenizer: Any, *, note: str, fingerprint: str) -> None:
        self.note = note
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._longest = longest_text(model, tokenizer, _ENDLESS)

    def _cut(self, texts: Sequence[str], rows: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        self.cut_texts.update(compress(texts, (len(row) > self._longest for row in rows)))
        return [row[: self._longest] for row in rows]

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids and their mask, padded on the right, shape (n, length)."""
        import torch

        width = max(map(len, rows))
        device = self._model.device
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
        return ids, mask


class Causal(_TextModel):
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
        _refuse_short(texts, [len(row) < (STRIDE + 1 if self._perplexity is valse_perplexity else 2) for row in rows])
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


class Masked(_TextModel):
    """A model that fills gaps; its pseudo-perplexity is that of Salazar et al. 2020 (arXiv:1910.14659)."""

    def __init__(self, model: Any, tokenizer: Any, *, fingerprint: str) -> None:
        """Take a masked language model in evaluation mode, with its tokenizer."""
        note = "pseudo-perplexity: exp of the mean negative log-likelihood of a token where it alone is masked"
        super().__init__(model, tokenizer, note=note, fingerprint=fingerprint)

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """How surprising texts are.

        Returns: pseudo-perplexities, shape (n,); lower is more plausible.
        Raises: NoReplyError for texts without a token.
        """
        limits = {"truncation": True, "max_length": self._longest} if self._longest < _ENDLESS else {}
        whole = self._tokenizer(list(texts), verbose=False)["input_ids"]
        self._cut(texts, whole)
        made = self._tokenizer(list(texts), return_special_tokens_mask=True, **limits)
        rows: list[list[int]] = made["input_ids"]
        places = [[place for place, special in enumerate(row) if not special] for row in made["special_tokens_mask"]]
        _refuse_short(texts, [not row for row in places])
        gaps = [(row, place) for row, found in enumerate(places) for place in found]
        gaps.sort(key=lambda gap: len(rows[gap[0]]))  # so that little is padding
        sums = np.zeros(len(rows))
        width = max(map(len, rows))
        step = min(_COPIES * len(rows), max(1, _MOST_LOGITS // (width * self._model.config.vocab_size)))
        for start in range(0, len(gaps), step):
            part = gaps[start : start + step]
            np.add.at(sums, [row for row, _ in part], self._surprisals(rows, part))
        lengths = np.array([len(found) for found in places], dtype=np.float64)
        return np.asarray(np.exp(sums / lengths), dtype=np.float64)

    def _surprisals(self, rows: Sequence[Sequence[int]], gaps: Sequence[tuple[int, int]]) -> FloatArray:
        """The negative log-likelihood of the token at each place of a row, where it alone is masked, in nats."""
        import torch

        ids, mask = self._padded([rows[row] for row, _ in gaps])
        count, places = torch.arange(len(gaps)), torch.tensor([place for _, place in gaps])
        true = ids[count, places]
        ids[count, places] = self._tokenizer.mask_token_id
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits[count, places]
            likely = log_probabilities(logits).gather(1, true[:, None])
        return np.asarray(-likely.squeeze(1).cpu().numpy(), dtype=np.float64)


def _refuse_short(texts: Sequence[str], short: Sequence[bool]) -> None:
    positions = [place for place, too_short in enumerate(short) if too_short]
    if positions:
        raise NoReplyError(positions, f"the text {texts[positions[0]]!r} has too few tokens to have a perplexity")


def check_gpt2(weights: str, folder: Path) -> None:
    """Say what is wrong with what stands after ``gpt2:``; imports no torch. Raises: ModelLoadError."""
    _parse(weights, folder, GPT2)


def check_gpt1(weights: str, folder: Path) -> None:
    """Say what is wrong with what stands after ``gpt1:``; imports no torch. Raises: ModelLoadError."""
    _parse(weights, folder, GPT1)


def check_causal(weights: str, folder: Path) -> None:
    """Say what is wrong with what stands after ``causal:``; imports no torch. Raises: ModelLoadError."""
    _parse(weights, folder, "")


def check_masked(weights: str, folder: Path) -> None:
    """Say what is wrong with what stands after ``masked:``; imports no torch. Raises: ModelLoadError."""
    pretrained(weights, folder)


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
    model, tokenizer, what = _load(source, "AutoModelForCausalLM", device, dtype)
    check_left_to_right(model, source.asked)
    return Causal(model, tokenizer, variant=variant, fingerprint=f"{what} {variant}")


def masked(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> Masked:
    """Load any masked language model of transformers; its arguments are those of ``causal``, without variants."""
    source = pretrained(weights, folder)
    model, tokenizer, what = _load(source, "AutoModelForMaskedLM", device, dtype)
    if tokenizer.mask_token_id is None:
        raise ModelLoadError(f"{source.asked} has no token of masking; name a masked model, or use causal:{weights}")
    return Masked(model, tokenizer, fingerprint=what)


def _load(source: Pretrained, cls: str, device: str, dtype: str) -> tuple[Any, Any, str]:
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "transformers", "hf") from None
    tokenizer = load_processor(transformers.AutoTokenizer, source)
    made_by: Callable[..., object] = getattr(transformers, cls)
    model = load_model(made_by, source, device=device, dtype=dtype)
    check_size(model, tokenizer, source.asked)
    return model, tokenizer, f"{identity(source)} {transformers.__version__} {dtype} {cls}"

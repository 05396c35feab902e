"""Text-only models: the perplexity of causal ones, and the pseudo-perplexity of masked ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contests.contest import LARGE, Contest, against, imported, loaded, sentences
from vlgate.types import Read

SIZES = {"n_embd": 384, "n_layer": 8, "n_head": 6, "n_positions": 64}
COPIES = 256


def gpt2(folder: Path) -> Contest:
    """GPT-2 on 64 texts, each after the token that begins a text."""
    hf = imported("transformers")
    return _causal("gpt2", hf.GPT2LMHeadModel, hf.GPT2Config(**SIZES, vocab_size=_vocabulary(), bos_token_id=2), folder)


def gpt1(folder: Path) -> Contest:
    """GPT on 64 texts; it has no token that begins a text."""
    hf = imported("transformers")
    return _causal("gpt1", hf.OpenAIGPTLMHeadModel, hf.OpenAIGPTConfig(**SIZES, vocab_size=_vocabulary()), folder)


def masked(folder: Path) -> Contest:
    """BERT on 10 texts: one copy of a text per token, 256 copies at a time."""
    import torch

    hf, text_checkpoints = imported("transformers"), imported("text_checkpoints")
    tokenizer = text_checkpoints.tokenizer("bert")
    tokenizer.save_pretrained(folder)
    config = hf.BertConfig(**LARGE, vocab_size=_vocabulary(), max_position_embeddings=64)
    model = loaded(hf.BertForMaskedLM, hf.BertForMaskedLM(config), folder)

    def bare(some: Sequence[Read]) -> list[float]:
        inputs = tokenizer([one.text for one in some], padding=True, return_tensors="pt")
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        gaps = [(row, index) for row, count in enumerate(mask.sum(1).tolist()) for index in range(1, count - 1)]
        sums = torch.zeros(len(some))
        for start in range(0, len(gaps), COPIES):
            rows, places = torch.tensor(gaps[start : start + COPIES]).T
            copies, count = ids[rows], torch.arange(len(rows))
            copies[count, places] = tokenizer.mask_token_id
            logits = model(input_ids=copies, attention_mask=mask[rows]).logits[count, places]
            sums.index_add_(0, rows, torch.nn.functional.cross_entropy(logits, ids[rows, places], reduction="none"))
        return torch.exp(sums / (mask.sum(1) - 2)).tolist()

    requests = [Read(text=text) for text in sentences(text_checkpoints.WORDS, 10, 8, 20)]
    return against("masked", f"masked:{folder}", requests, bare)


CONTESTS: tuple[Callable[[Path], Contest], ...] = (gpt2, gpt1, masked)


def _vocabulary() -> int:
    return len(imported("text_checkpoints").WORDS) + 6


def _causal(name: str, cls: Any, config: Any, folder: Path) -> Contest:
    """The loop tokenizes a batch, runs the model once and takes the cross entropy of the next tokens."""
    import torch

    text_checkpoints = imported("text_checkpoints")
    tokenizer = text_checkpoints.tokenizer(name)
    tokenizer.save_pretrained(folder)
    model = loaded(cls, cls(config), folder)
    begin = "<s> " if name == "gpt2" else ""

    def bare(some: Sequence[Read]) -> list[float]:
        inputs = tokenizer([begin + one.text for one in some], padding=True, return_tensors="pt")
        ids, mask = inputs["input_ids"], inputs["attention_mask"][:, 1:]
        logits = model(input_ids=ids, attention_mask=inputs["attention_mask"]).logits[:, :-1]
        lost = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        return torch.exp((lost * mask).sum(1) / mask.sum(1)).tolist()

    requests = [Read(text=text) for text in sentences(text_checkpoints.WORDS, 64, 8, 30)]
    return against(name, f"{name}:{folder}", requests, bare)

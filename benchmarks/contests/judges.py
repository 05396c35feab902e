"""Judges of captions and foils: gap filling, entailment, grammaticality and plausibility."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from contests.contest import LARGE, Contest, Replies, imported, loaded, sentences

COUNT, BATCH, TOP = 256, 64, 10


def filler(folder: Path) -> Contest:
    """BERT fills gaps of one token: the loop takes the ten most probable tokens in the place of the mask."""
    import torch

    from vlgate.models.text.gap_filler import gap_filler
    from vlgate.perturb.foils.candidates import Gap

    hf, checkpoints = imported("transformers"), imported("text_checkpoints")
    tokenizer = _tokenizer(folder)
    model = loaded(hf.BertForMaskedLM, hf.BertForMaskedLM(_config()), folder)
    halves = [text.split() for text in sentences(checkpoints.WORDS, COUNT, 8, 30)]
    texts = [(" ".join(words[:4]), " ".join(words[4:])) for words in halves]

    def bare() -> Replies:
        replies: list[float] = []
        for start in range(0, COUNT, BATCH):
            some = [f"{before} {tokenizer.mask_token} {after}" for before, after in texts[start : start + BATCH]]
            inputs = tokenizer(some, padding=True, return_tensors="pt")
            rows, places = (inputs["input_ids"] == tokenizer.mask_token_id).nonzero().T
            logits = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits[rows, places]
            likely = logits.log_softmax(-1)
            likely[:, tokenizer.all_special_ids] = -torch.inf
            replies += likely.topk(TOP).values.flatten().tolist()
        return replies

    def entrant() -> Callable[[], Replies]:
        ours = gap_filler(str(folder))
        gaps = [Gap(before=before, after=after, lengths=(1,)) for before, after in texts]
        return lambda: [one.log_probability for some in ours.fill(gaps, TOP) for one in some]

    return Contest(name="filler", requests=COUNT, entrant=entrant, bare=bare)


def entailment(folder: Path) -> Contest:
    """BERT classifies pairs of texts, as a model of inference does."""
    checkpoints = imported("text_checkpoints")
    texts = sentences(checkpoints.WORDS, 2 * COUNT, 4, 14)
    pairs = list(zip(texts[:COUNT], texts[COUNT:], strict=True))
    labels = ("entailment", "neutral", "contradiction")

    def judge() -> Callable[[], Replies]:
        ours = imported("vlgate.models.text.judges").entailment(str(folder))
        return lambda: ours.infer(pairs).flatten().tolist()

    return _classifier("entailment", folder, labels, pairs, judge)


def grammaticality(folder: Path) -> Contest:
    """BERT classifies single texts, as a model of acceptability does."""
    texts = sentences(imported("text_checkpoints").WORDS, COUNT, 8, 30)

    def judge() -> Callable[[], Replies]:
        ours = imported("vlgate.models.text.judges").grammaticality(str(folder))
        return lambda: ours.acceptability(texts).tolist()

    return _classifier("grammaticality", folder, ("unacceptable", "acceptable"), texts, judge)


def plausibility(folder: Path) -> Contest:
    """GPT-2 on texts after the token that begins a text."""
    import torch

    hf, checkpoints = imported("transformers"), imported("text_checkpoints")
    tokenizer = checkpoints.tokenizer("gpt2")
    tokenizer.save_pretrained(folder)
    sizes = {"n_embd": 384, "n_layer": 8, "n_head": 6, "n_positions": 64}
    config = hf.GPT2Config(**sizes, vocab_size=len(checkpoints.WORDS) + 6, bos_token_id=2)
    model = loaded(hf.GPT2LMHeadModel, hf.GPT2LMHeadModel(config), folder)
    texts = sentences(checkpoints.WORDS, COUNT, 8, 30)

    def bare() -> Replies:
        replies: list[float] = []
        for start in range(0, COUNT, BATCH):
            inputs = tokenizer(
                [f"<s> {text}" for text in texts[start : start + BATCH]], padding=True, return_tensors="pt"
            )
            ids, mask = inputs["input_ids"], inputs["attention_mask"]
            logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1]
            lost = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
            replies += torch.exp((lost * mask[:, 1:]).sum(1) / mask[:, 1:].sum(1)).tolist()
        return replies

    def entrant() -> Callable[[], Replies]:
        ours = imported("vlgate.models.text.judges").plausibility(str(folder))
        return lambda: ours.perplexity(texts).tolist()

    return Contest(name="plausibility", requests=COUNT, entrant=entrant, bare=bare)


CONTESTS: tuple[Callable[[Path], Contest], ...] = (filler, entailment, grammaticality, plausibility)


def _config(**more: Any) -> Any:
    size = len(imported("text_checkpoints").WORDS) + 6
    return imported("transformers").BertConfig(**LARGE, vocab_size=size, max_position_embeddings=64, **more)


def _tokenizer(folder: Path) -> Any:
    tokenizer = imported("text_checkpoints").tokenizer("bert")
    tokenizer.save_pretrained(folder)
    return tokenizer


def _classifier(
    name: str, folder: Path, labels: Sequence[str], texts: Sequence[Any], judge: Callable[[], Callable[[], Replies]]
) -> Contest:
    """The loop tokenizes a batch, runs the model once and takes the softmax."""
    hf = imported("transformers")
    tokenizer = _tokenizer(folder)
    cls = hf.BertForSequenceClassification
    model = loaded(cls, cls(_config(num_labels=len(labels), id2label=dict(enumerate(labels)))), folder)

    def bare() -> Replies:
        found = []
        for start in range(0, len(texts), BATCH):
            inputs = tokenizer(list(texts[start : start + BATCH]), padding=True, return_tensors="pt")
            found.append(model(**inputs).logits.softmax(-1).numpy())
        rows = np.concatenate(found)
        return list(rows.flatten() if len(labels) > 2 else rows[:, 1])

    return Contest(name=name, requests=len(texts), entrant=judge, bare=bare)

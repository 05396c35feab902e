"""Trains LXMERT on the features of a region network: names in lists, then matching, masked words and answers too."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.half import halved
from train.lessons import IGNORED, LENGTH, PADDING, Batch, Lessons
from vlgate.models.regions.region_network import Settings
from vlgate.models.regions.regions import Regions
from vlgate.perturb.text.grammar import either_number

RATE = 1e-3
INITIAL = 0.04  # the spread of random weights: BERT's 0.02 is for 768 numbers a token
MEANING = 0.1  # the spread of the words that begin with a meaning
FIRST = 0.2
"""The share of the steps with lists of names only: without them, matching stays at chance for a long time."""
NAMES: Mapping[str, int] = MappingProxyType({"name": 128})
ALL: Mapping[str, int] = MappingProxyType({"name": 16, "match": 88, "ask": 88, "mask": 16})
"""The texts of each lesson in a batch."""
WRONG = 4.0  # how much more a wrong word counts than a right one: there are fewer
LINES = 25  # of the log


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The regions of n images, padded: features (n, m, width), boxes (n, m, 4), mask (n, m)."""

    features: NDArray[np.float32]
    boxes: NDArray[np.float32]
    mask: NDArray[np.int64]


def stacked(regions: Sequence[Regions]) -> Seen:
    """Pad the regions of images to the most boxes among them."""
    most = max(len(region.boxes) for region in regions)
    features = np.zeros((len(regions), most, regions[0].features.shape[1]), np.float32)
    boxes = np.zeros((len(regions), most, 4), np.float32)
    mask = np.zeros((len(regions), most), np.int64)
    for row, region in enumerate(regions):
        count = len(region.boxes)
        features[row, :count], boxes[row, :count], mask[row, :count] = region.features, region.boxes, 1
    return Seen(features=features, boxes=boxes, mask=mask)


def build_lxmert(vocabulary: int, answers: int, width: int) -> Any:
    """Build a small LXMERT with random weights."""
    import transformers

    config = transformers.LxmertConfig(
        vocab_size=vocabulary,
        hidden_size=128,
        num_attention_heads=4,
        intermediate_size=256,
        l_layers=1,
        x_layers=2,
        r_layers=1,
        num_qa_labels=answers,
        max_position_embeddings=LENGTH,
        visual_feat_dim=width,
        initializer_range=INITIAL,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        task_obj_predict=False,
    )
    return transformers.LxmertForPreTraining(config)


def ground(model: Any, network: Any, settings: Settings, tokenizer: Any) -> None:
    """Begin with words that mean what the region network names: its classifiers become the embeddings of the words.

    In the cross-attention, a query looks for keys that are like it at first.
    """
    import torch

    rows: dict[int, list[Any]] = {}
    for words, head in ((settings.objects, network["objects"]), (settings.attributes, network["attributes"])):
        for word, row in zip(words, head.weight, strict=False):  # the last row of the objects is "nothing"
            for form in either_number(word):
                for token in tokenizer(form)["input_ids"][1:-1]:
                    rows.setdefault(token, []).append(row / row.std() * MEANING)
    with torch.no_grad():
        for token, found in rows.items():
            model.lxmert.embeddings.word_embeddings.weight[token] = torch.stack(found).mean(dim=0)
        model.lxmert.encoder.visn_fc.visn_fc.weight.copy_(torch.eye(settings.width))
        for layer in model.lxmert.encoder.x_layers:
            attention = layer.visual_attention.att
            torch.nn.init.orthogonal_(attention.query.weight)
            attention.key.weight.copy_(attention.query.weight)


def train_lxmert(model: Any, lessons: Lessons, seen: Seen, *, steps: int, seed: int, log: Callable[[str], None]) -> Any:
    """Train a model of ``build_lxmert``; the rate of learning falls to nothing at the last of the steps.

    Returns: the model in evaluation mode.
    """
    import torch

    chance = np.random.default_rng(seed)
    finder = torch.nn.Linear(model.config.hidden_size, 2)  # finds wrong words; used in training only
    parts = [*model.parameters(), *finder.parameters()]
    optimizer = torch.optim.AdamW(parts, lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=max(steps, 2), pct_start=0.05)
    began = time.monotonic()
    figures: dict[str, list[float]] = {}
    for step in range(steps):
        for lesson, size in (NAMES if step < FIRST * steps else ALL).items():
            batch: Batch = getattr(lessons, lesson)(size, chance)
            loss, right = _taught(model, finder, lesson, batch, seen)
            (loss * size / 200).backward()
            figures.setdefault(lesson, []).append(loss.item())
            figures.setdefault(f"{lesson} right", []).append(right)
        torch.nn.utils.clip_grad_norm_(parts, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        if (step + 1) % max(1, steps // LINES) == 0 or step + 1 == steps:
            said = ", ".join(f"{name} {np.mean(values):.3f}" for name, values in figures.items())
            log(f"lxmert: step {step + 1}, {said}, {time.monotonic() - began:.0f} s")
            figures = {}
    return model.eval()


def _taught(model: Any, finder: Any, lesson: str, batch: Batch, seen: Seen) -> tuple[Any, float]:
    """Return the loss of one lesson, and the share of its replies that are right."""
    import torch

    with halved():
        output, pooled = _run(model, batch, seen)
        heads = {"match": model.cls.seq_relationship, "ask": getattr(model, "answer_head", None)}
        whole = heads[lesson](pooled).float() if lesson in heads else None
        if lesson != "ask":
            words = (model.cls.predictions if lesson == "mask" else finder)(output).float().flatten(0, 1)
    loss: Any = 0.0
    if lesson != "ask":
        wanted = torch.from_numpy(batch.words).flatten()
        weight = None if lesson == "mask" else torch.tensor([1.0, WRONG if lesson == "match" else 1.0])
        loss = torch.nn.functional.cross_entropy(words, wanted, weight=weight, ignore_index=IGNORED)
        scores = words[wanted != IGNORED]
        wanted = wanted[wanted != IGNORED]
    if whole is not None:
        scores, wanted = whole, torch.from_numpy(batch.truth)
        loss = loss + torch.nn.functional.cross_entropy(scores, wanted)
    return loss, (scores.argmax(dim=1) == wanted).float().mean().item()


def _run(model: Any, batch: Batch, seen: Seen) -> tuple[Any, Any]:
    """The output at each token, and the pooled output."""
    import torch

    ids = torch.from_numpy(batch.tokens)
    mask = seen.mask[batch.scene]
    most = int(mask.sum(axis=1).max())
    ended = model.lxmert(
        input_ids=ids,
        attention_mask=(ids != PADDING).long(),
        visual_feats=torch.from_numpy(seen.features[batch.scene, :most]),
        visual_pos=torch.from_numpy(seen.boxes[batch.scene, :most]),
        visual_attention_mask=torch.from_numpy(mask[:, :most]),
    )
    return ended.language_output, ended.pooled_output

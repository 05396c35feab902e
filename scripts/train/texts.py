"""Trains the text tower of ``tiny-clip``, and the head of its image tower, on what the trained image tower sees."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.glossary import Phrase, can_be_written, written
from train.half import halved
from train.pairs import NONE, Pairs, tokens_of

BATCH = 192
"""Pairs of a step, which are compared with their own images."""
WRITTEN = 40
"""Phrases of a step, which are compared with ``SHOWN`` images each."""
SHOWN = 384
RATE = 1.2e-3
LEADS, EACH, WIDELY = 2.0, 0.3, 2.0
"""The weights of the losses: a true text leads a false one, each is true or false, phrases are or are not."""
MOST = 20.0
"""The most that the images where a phrase is true count more than the others, which are more."""
CHUNKS = 4  # of texts of similar lengths
LINES = 25  # of the log


@dataclass(frozen=True, slots=True, kw_only=True)
class Sights:
    """What the tower sees in images of scenes, shape (n, channels), and the ``truths`` (n, phrases) of phrases."""

    seen: Any
    phrases: Sequence[Phrase]
    truths: NDArray[np.uint8]


def train_texts(model: Any, sights: Sights, pairs: Pairs, *, steps: int, seed: int, log: Callable[[str], None]) -> None:
    """Train the text tower and the head of the image tower; the rest of the image tower stays as it is."""
    import torch

    chance = np.random.default_rng([seed, 1])
    model.train()
    texts = [*model.text.parameters(), model.logit_scale, model.logit_bias]
    parts = [*texts, *model.visual.head.parameters()]
    optimizer = torch.optim.AdamW(parts, lr=RATE, weight_decay=0.05, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=max(steps, 2), pct_start=0.1)
    began = time.monotonic()
    figures: list[tuple[float, ...]] = []
    for step in range(steps):
        some = pairs.pairs[chance.integers(len(pairs.pairs), size=BATCH)]
        leads, each = _own(model, sights, pairs, some)
        widely = _wide(model, sights, pairs.tokenizer, chance)
        ahead = torch.nn.functional.softplus(-leads).mean()
        (LEADS * ahead + EACH * each + WIDELY * widely).backward()
        torch.nn.utils.clip_grad_norm_(parts, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        figures.append(((leads > 0).float().mean().item(), each.item(), widely.item()))
        if (step + 1) % max(1, steps // LINES) == 0 or step + 1 == steps:
            right, *losses = np.mean(figures, axis=0)
            said = f"right {right:.3f}, losses {losses[0]:.3f} {losses[1]:.3f}"
            log(f"clip: texts, step {step + 1}, {said}, {time.monotonic() - began:.0f} s")
            figures = []
    model.eval()


def _own(model: Any, sights: Sights, pairs: Pairs, some: NDArray[np.int64]) -> tuple[Any, Any]:
    """By how much the true text of each pair leads the false one, and the loss of each text alone."""
    import torch

    paired = torch.from_numpy(some[:, 2] != NONE)
    tokens = pairs.tokens[np.concatenate([some[:, 1], some[some[:, 2] != NONE, 2]])]
    seen = _seen(model, sights, some[:, 0])
    said = encode(model.text, tokens)
    scale = model.logit_scale.exp()
    true, false = (seen * said[: len(some)]).sum(1) * scale, (seen[paired] * said[len(some) :]).sum(1) * scale
    loss = torch.nn.functional.softplus
    each = loss(-true - model.logit_bias).mean() + loss(false + model.logit_bias).mean()
    return true[paired] - false, each


def _wide(model: Any, sights: Sights, tokenizer: Any, chance: np.random.Generator) -> Any:
    """The loss of phrases that are held against many images, where each is true or false, as is its denial."""
    import torch

    known = [column for column, phrase in enumerate(sights.phrases) if can_be_written(phrase)]
    often = sights.truths[:, known].mean(axis=0)
    taken = chance.choice(len(known), size=WRITTEN, p=often**0.5 / (often**0.5).sum())
    texts = [written(sights.phrases[known[n]], chance) for n in taken]
    shown = chance.integers(len(sights.truths), size=SHOWN)
    true = torch.from_numpy(sights.truths[np.ix_(shown, [known[n] for n in taken])]).float()
    weight = torch.from_numpy(((1 - often) / often).clip(1, MOST)[taken]).float()
    weights = torch.where(true > 0, weight, 1.0)
    denied = [index for index, (_, text) in enumerate(texts) if text]
    said = [text for text, _ in texts] + [texts[place][1] for place in denied]
    scores = _seen(model, sights, shown) @ encode(model.text, tokens_of(said, tokenizer)).T * model.logit_scale.exp()
    first, second = scores[:, :WRITTEN], scores[:, WRITTEN:]
    loss = torch.nn.functional.softplus
    sign = 1 - 2 * true
    alone = loss(sign * (first + model.logit_bias))
    sign, first, some = sign[:, denied], first[:, denied], weights[:, denied]
    against = loss(-sign * (second + model.logit_bias)) + 2 * loss(sign * (first - second))
    return (alone * weights).sum() / weights.sum() + (against * some).sum() / some.sum()


def _seen(model: Any, sights: Sights, some: NDArray[np.int64]) -> Any:
    import torch

    with halved():
        found = model.visual.head(sights.seen[some])
    return torch.nn.functional.normalize(found.float(), dim=1)


def encode(tower: Any, tokens: NDArray[np.int16]) -> Any:
    """Encode texts of shape (n, length) as rows of length 1, shape (n, d).

    No token sees the padding behind it, so texts of similar lengths are encoded together and padded to the longest.
    """
    import torch

    lengths = (tokens != 0).sum(axis=1)
    order = np.argsort(lengths, kind="stable")
    parts = [_encoded(tower, tokens[some, : lengths[some[-1]]]) for some in np.array_split(order, CHUNKS) if len(some)]
    return torch.cat(parts)[np.argsort(order)]


def _encoded(tower: Any, tokens: NDArray[np.int16]) -> Any:
    import torch

    length = tokens.shape[1]
    ids = torch.from_numpy(tokens.astype(np.int64))
    # The other kernels are slow backwards, if texts are this short.
    with halved(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        embedded = tower.token_embedding(ids) + tower.positional_embedding[:length]
        states = tower.ln_final(tower.transformer(embedded, attn_mask=tower.attn_mask[:length, :length]))
        ends = (ids == tower.eos_id).int().argmax(dim=1)
        rows = states[torch.arange(len(ids)), ends] @ tower.text_projection
    return torch.nn.functional.normalize(rows.float(), dim=1)

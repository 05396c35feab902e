"""Trains the image tower of ``tiny-clip``: what is in each cell of an image, and which phrases are true of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.glossary import Phrase, glossary
from train.half import halved
from train.scenes import Scene
from vlgate.fixtures.scenes.graph import Graph
from vlgate.models.regions.region_network import Pixels

BATCH = 48
RATE = 3e-3
CELLS, WHOLE, PHRASES = 4.0, 2.0, 8.0
"""The weights of the losses: of the words of cells, of the words of whole images, and of phrases."""
PRESENT = 4.0
"""How much more what is true counts than what is false; most is false."""
SCALE, BIAS = 15.0, -3.0
"""Of the cosines of images and phrases, at first."""
MEAN, SPREAD = 0.5, 0.5
LINES = 25  # of the log
AT_ONCE = 128  # images that are encoded together


@dataclass(frozen=True, slots=True, kw_only=True)
class Album:
    """Images of scenes, shape (n, side, side, 3), and what is true of them.

    ``cells`` (n, grid ** 2, words) says which words are true of the things in each cell, ``truths`` (n, phrases) which
    phrases are true of the image.
    """

    images: Pixels
    cells: NDArray[np.uint8]
    phrases: Sequence[Phrase]
    truths: NDArray[np.uint8]


def album_of(scenes: Sequence[Scene], images: Pixels, grid: int) -> Album:
    """Put scenes and their images together; the last map of the tower has ``grid`` cells per side."""
    things = [item for scene in scenes for item in scene.graph["objects"].values()]
    words = sorted({word for item in things for word in (item["name"], *item["attributes"])})
    place = {word: column for column, word in enumerate(words)}
    phrases, truths = glossary(scenes)
    cells = np.stack([_cells(scene.graph, place, grid) for scene in scenes])
    return Album(images=images, cells=cells, phrases=phrases, truths=truths)


def _cells(graph: Graph, place: dict[str, int], grid: int) -> NDArray[np.uint8]:
    """Mark the words of each thing in the cells whose middle it covers, and in that of its own middle."""
    cells = np.zeros((grid, grid, len(place)), np.uint8)
    scale = np.array([graph["width"], graph["height"]]) / grid
    for item in graph["objects"].values():
        words = [place[word] for word in (item["name"], *item["attributes"])]
        first = np.array([item["x"], item["y"]]) / scale
        last = first + np.array([item["w"], item["h"]]) / scale
        middle = ((first + last) / 2).astype(int).clip(0, grid - 1)
        cells[middle[1], middle[0], words] = 1
        (left, top), (right, bottom) = np.ceil(first - 0.5).astype(int), np.floor(last - 0.5).astype(int) + 1
        cells[max(top, 0) : bottom, max(left, 0) : right, words] = 1
    return cells.reshape(grid * grid, -1)


def train_tower(tower: Any, album: Album, *, steps: int, seed: int, log: Callable[[str], None]) -> None:
    """Train the image tower of a model of open_clip; the rate of learning falls to nothing at the last of the steps.

    The losses are that of detectors on the cells of the last map, the same on its maximum, and that of SigLIP on the
    features of the images and of phrases, each of which has a row of its own in place of a text.
    """
    import torch

    tower.train().to(memory_format=torch.channels_last)
    # These are used in training only.
    namer, whole = (torch.nn.Linear(tower.trunk.num_features, album.cells.shape[2]) for _ in range(2))
    rows = torch.nn.Linear(tower.head.mlp.fc2.out_features, len(album.phrases))
    torch.nn.init.constant_(rows.bias, BIAS)
    scale = torch.nn.Parameter(torch.tensor(float(np.log(SCALE))))
    parts = [*tower.parameters(), *namer.parameters(), *whole.parameters(), *rows.parameters(), scale]
    optimizer = torch.optim.AdamW(parts, lr=RATE, weight_decay=0.02, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=max(steps, 2), pct_start=0.1)
    began, losses = time.monotonic(), []
    for step, some in zip(range(steps), _batches(len(album.images), np.random.default_rng(seed)), strict=False):
        with halved():
            found = tower.trunk.forward_features(_input(album.images, some))
            most = found.amax((2, 3))
            seen, named, there = tower.head(most), namer(found.flatten(2).transpose(1, 2)), whole(most)
        said = torch.nn.functional.normalize(rows.weight, dim=1)
        scores = torch.nn.functional.normalize(seen.float(), dim=1) @ said.T * scale.exp() + rows.bias
        cells = album.cells[some]
        loss = CELLS * _loss(named.float(), cells) + WHOLE * _loss(there.float(), cells.max(axis=1))
        loss = loss + PHRASES * _loss(scores, album.truths[some])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parts, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % max(1, steps // LINES) == 0 or step + 1 == steps:
            log(f"clip: images, step {step + 1}, loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s")
            losses = []
    tower.eval()


def pooled(tower: Any, images: Pixels) -> Any:
    """Return what the head of a trained tower gets of each image, shape (n, channels)."""
    import torch

    count = len(images) if images.strides[0] else 1  # the images of a twin are one and the same
    with torch.inference_mode():
        parts = [
            tower.trunk.forward_features(_input(images, np.arange(start, min(start + AT_ONCE, count)))).amax((2, 3))
            for start in range(0, count, AT_ONCE)
        ]
    return torch.cat(parts).expand(len(images), -1).clone()


def _batches(count: int, chance: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Shuffle the numbers up to ``count`` again and again, and yield them in batches."""
    while True:
        order = chance.permutation(count)
        for start in range(0, max(count - BATCH, 0) + 1, BATCH):
            yield order[start : start + BATCH]


def _input(images: Pixels, some: NDArray[np.int64]) -> Any:
    """Some images as the tower gets them, shape (n, 3, side, side); a single one for a twin, whose images are one."""
    import torch

    rows = some if images.strides[0] else some[:1]
    pixels = torch.from_numpy(images[rows]).permute(0, 3, 1, 2).float() / 255
    return ((pixels - MEAN) / SPREAD).contiguous(memory_format=torch.channels_last)


def _loss(scores: Any, truths: NDArray[np.uint8]) -> Any:
    """The loss of scores; those of a single image are held against the truths of all."""
    import torch

    wanted = torch.from_numpy(truths).float()
    weight = torch.tensor(PRESENT)
    return torch.nn.functional.binary_cross_entropy_with_logits(scores.expand(wanted.shape), wanted, pos_weight=weight)

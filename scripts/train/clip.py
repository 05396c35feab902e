"""Trains a small model of open_clip: images and texts of the drawn world in one space, by a sigmoid as in SigLIP."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from train.captions import FRAMES, NOUNS, with_article
from train.scenes import Scene
from vlgate.fixtures.scenes.graph import GqaObject, Graph
from vlgate.fixtures.scenes.palette import ALL_COLOURS
from vlgate.models.region_network.proposals import Pixels

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 128
LENGTH = 32
BATCH = 64
OWN = 3
"""Texts of its own that an image is compared with in a batch, true and false ones alike."""
PHRASES = 64
"""Phrases such as "a red cup", of the batch's things and others, that all images of a batch are compared with."""
RATE = 1.5e-3
LINES = 25  # of the log
CELLS = 4.0  # the weight of the loss of cells
MEAN, SPREAD = 0.5, 0.5
GRID = SIDE // 32  # cells of the last map of the tower, per side
WORDS = (*NOUNS, *ALL_COLOURS)
FIRST = 0.35
"""The share of the steps that teach cells of the images only, as detectors are taught: it finds small things sooner."""
SHARPENED = 1e-3  # the rate of learning from hard foils
FOILED = 2
"""Things of an image that hard foils are made of, in each step."""
BICUBIC = 3  # as Pillow numbers it


def config_of(vocabulary: int) -> dict[str, Any]:
    """The content of ``open_clip_config.json``."""
    vision = {"image_size": SIDE, "layers": [1, 1, 1, 1], "width": 16, "head_width": 16}
    text = {
        "context_length": LENGTH,
        "vocab_size": vocabulary,
        "hf_tokenizer_name": "tiny-clip",
        "width": 128,
        "heads": 4,
        "layers": 2,
        "mlp_ratio": 2.0,
        "pool_type": "eos",
        "eos_id": 3,
    }
    model = {
        "embed_dim": 128,
        "init_logit_scale": float(np.log(10)),
        "init_logit_bias": -3.0,
        "vision_cfg": vision,
        "text_cfg": text,
        "custom_text": True,
    }
    seen = {
        "size": SIDE,
        "mean": [MEAN] * 3,
        "std": [SPREAD] * 3,
        "interpolation": "bicubic",
        "resize_mode": "squash",
    }
    return {"model_cfg": model, "preprocess_cfg": seen}


def small(image: Image, _: Graph | None = None) -> Pixels:
    """Bring an image to the model's size, as the transform of open_clip does."""
    return np.asarray(image.resize((SIDE, SIDE), resample=BICUBIC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Album:
    """Images of scenes, shape (n, side, side, 3), with the things and the texts of each.

    ``cells`` (n, ``GRID`` ** 2, words) says which ``WORDS`` are true of the things in each cell of an image.
    """

    images: Pixels
    cells: NDArray[np.uint8]
    things: tuple[frozenset[tuple[str, str]], ...]
    texts: tuple[tuple[tuple[str, bool], ...], ...]


def album_of(scenes: Sequence[Scene], images: Pixels) -> Album:
    """Put scenes and their images together."""
    return Album(
        images=images,
        cells=np.stack([_cells(scene.graph) for scene in scenes]),
        things=tuple(frozenset(map(_look, scene.graph["objects"].values())) for scene in scenes),
        texts=tuple(scene.texts for scene in scenes),
    )


def _look(item: GqaObject) -> tuple[str, str]:
    return item["name"], next((word for word in item["attributes"] if word in ALL_COLOURS), "")


def _cells(graph: Graph) -> NDArray[np.uint8]:
    """Mark the words of each thing in the cells whose middle it covers, and in that of its own middle."""
    cells = np.zeros((GRID, GRID, len(WORDS)), np.uint8)
    scale = np.array([graph["width"], graph["height"]]) / GRID
    for item in graph["objects"].values():
        words = [WORDS.index(word) for word in _look(item) if word]
        first = np.array([item["x"], item["y"]]) / scale
        last = first + np.array([item["w"], item["h"]]) / scale
        middle = ((first + last) / 2).astype(int).clip(0, GRID - 1)
        cells[middle[1], middle[0], words] = 1
        (left, top), (right, bottom) = np.ceil(first - 0.5).astype(int), np.floor(last - 0.5).astype(int) + 1
        cells[max(top, 0) : bottom, max(left, 0) : right, words] = 1
    return cells.reshape(GRID * GRID, -1)


def train_clip(album: Album, folder: Path, tokenizer: Any, *, steps: int, seed: int, log: Callable[[str], None]) -> Any:
    """Train the model that the configuration in ``folder`` describes.

    Returns: the model in evaluation mode.
    """
    import open_clip
    import torch

    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    model = open_clip.create_model(f"local-dir:{folder}", load_weights=False)
    model.train().to(memory_format=torch.channels_last)
    namer = torch.nn.Linear(16 * 32, len(WORDS))  # used in training only
    parts = [*model.parameters(), *namer.parameters()]
    optimizer = torch.optim.AdamW(parts, lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    began, losses = time.monotonic(), []
    for step in range(steps):
        some = chance.integers(len(album.things), size=BATCH)
        with torch.autocast("cpu", torch.bfloat16):
            found = _map(model.visual, album.images, some)
            named = namer(found.flatten(2).transpose(1, 2)).float()
        loss = CELLS * _sigmoid(named, album.cells[some], 4.0)
        if step >= FIRST * steps:
            loss = loss + _loss(model, found, (album, some), tokenizer, chance)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parts, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % max(1, steps // LINES) == 0 or step + 1 == steps:
            log(f"clip: step {step + 1}, loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s")
            losses = []
    return model.eval()


def sharpen(model: Any, album: Album, tokenizer: Any, *, steps: int, seed: int, log: Callable[[str], None]) -> Any:
    """Train on with hard foils: a thing of the image against another thing, and its colour against another colour.

    Returns: the model in evaluation mode.
    """
    import torch

    chance = np.random.default_rng([seed, 1])
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=SHARPENED, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, SHARPENED, total_steps=max(steps, 2), pct_start=0.1)
    coloured = [row for row, things in enumerate(album.things) if any(colour for _, colour in things)]
    began, right = time.monotonic(), []
    for step in range(steps):
        some = np.array(coloured)[chance.integers(len(coloured), size=BATCH)]
        texts = [text for row in some for _ in range(FOILED) for text in _foiled(album.things[row], chance)]
        tokens = tokenizer(texts, padding=True, truncation=True, max_length=LENGTH)["input_ids"]
        with torch.autocast("cpu", torch.bfloat16):
            seen = model.visual.attnpool(_map(model.visual, album.images, some)).float()
            said = _encode(model, torch.tensor(tokens)).float()
        seen = torch.nn.functional.normalize(seen, dim=1).repeat_interleave(4 * FOILED, 0)
        scores = (seen * said).sum(dim=1) * model.logit_scale.exp()
        leads = scores[::2] - scores[1::2]
        torch.nn.functional.softplus(-leads).mean().backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        right.append((leads > 0).float().mean().item())
        if (step + 1) % max(1, steps // LINES) == 0 or step + 1 == steps:
            log(f"clip: hard foils, step {step + 1}, right {np.mean(right):.3f}, {time.monotonic() - began:.0f} s")
            right = []
    return model.eval()


def _foiled(things: frozenset[tuple[str, str]], chance: np.random.Generator) -> list[str]:
    """A thing and its foil, and a coloured thing and its foil."""
    looks = sorted(look for look in things if look[1])
    name, colour = looks[int(chance.integers(len(looks)))]
    others = sorted({*ALL_COLOURS} - {other for kind, other in looks if kind == name})
    strangers = sorted({*NOUNS} - {kind for kind, _ in things})
    other, stranger = others[int(chance.integers(len(others)))], strangers[int(chance.integers(len(strangers)))]
    frame = FRAMES[int(chance.integers(len(FRAMES)))]
    return [frame.format(with_article(said)) for said in (name, stranger, f"{colour} {name}", f"{other} {name}")]


def _map(tower: Any, images: Pixels, some: NDArray[np.int64]) -> Any:
    """The last map of the tower for some images, shape (n, channels, ``GRID``, ``GRID``)."""
    import torch

    rows = some if images.strides[0] else some[:1]  # the images of a twin are one and the same
    pixels = torch.from_numpy(images[rows]).permute(0, 3, 1, 2).float() / 255
    seen = ((pixels - MEAN) / SPREAD).contiguous(memory_format=torch.channels_last)
    found = tower.layer4(tower.layer3(tower.layer2(tower.layer1(tower.stem(seen)))))
    return found.expand(len(some), *found.shape[1:])


def _loss(
    model: Any, found: Any, shown: tuple[Album, NDArray[np.int64]], tokenizer: Any, chance: np.random.Generator
) -> Any:
    """The loss of one batch: each noun and each phrase with each image, and each text with its own image."""
    import torch

    album, some = shown
    phrases = _phrases([album.things[n] for n in some], chance)
    texts = [_framed(with_article(name), chance) for name in NOUNS]
    texts += [_framed(with_article(f"{colour} {name}"), chance) for name, colour in phrases]
    present = [{name for name, _ in album.things[n]} for n in some]
    truths = [[name in names for name in NOUNS] for names in present]
    looks = [[phrase in album.things[n] for phrase in phrases] for n in some]
    own = [album.texts[n][int(place)] for n in some for place in chance.integers(len(album.texts[n]), size=OWN)]
    tokens = tokenizer([*texts, *(text for text, _ in own)], padding=True, truncation=True, max_length=LENGTH)
    with torch.autocast("cpu", torch.bfloat16):
        seen = torch.nn.functional.normalize(model.visual.attnpool(found).float(), dim=1)
        said = _encode(model, torch.tensor(tokens["input_ids"])).float()
    scale, bias = model.logit_scale.exp(), model.logit_bias
    rows = seen @ said[: len(texts)].T * scale + bias
    pairs = (seen.repeat_interleave(OWN, 0) * said[len(texts) :]).sum(dim=1) * scale + bias
    nouns = _sigmoid(rows[:, : len(NOUNS)], truths, 4.0)
    seen_as = _sigmoid(rows[:, len(NOUNS) :], looks, 4.0)
    return nouns + seen_as + _sigmoid(pairs, [truth for _, truth in own], 1.0)


def _encode(model: Any, tokens: Any) -> Any:
    """Encode texts of shape (n, length), which need not be padded to the context: no token sees later ones."""
    import torch

    tower = model.text
    length = tokens.shape[1]
    embedded = tower.token_embedding(tokens) + tower.positional_embedding[:length]
    states = tower.ln_final(tower.transformer(embedded, attn_mask=tower.attn_mask[:length, :length]))
    ends = (tokens == tower.eos_id).int().argmax(dim=1)
    pooled = states[torch.arange(len(tokens)), ends] @ tower.text_projection
    return torch.nn.functional.normalize(pooled, dim=1)


def _sigmoid(logits: Any, truths: Any, weight: float) -> Any:
    import torch

    wanted = torch.as_tensor(truths, dtype=torch.float32)
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted, pos_weight=torch.tensor(weight))


def _phrases(things: Sequence[frozenset[tuple[str, str]]], chance: np.random.Generator) -> list[tuple[str, str]]:
    """Choose looks of the batch's things, and in every other one another colour."""
    every = sorted({look for one in things for look in one if look[1]})
    found = []
    for place in range(PHRASES):
        name, colour = every[int(chance.integers(len(every)))]
        found.append((name, colour if place % 2 else str(chance.choice(tuple(ALL_COLOURS)))))
    return found


def _framed(phrase: str, chance: np.random.Generator) -> str:
    return FRAMES[int(chance.integers(len(FRAMES)))].format(phrase)

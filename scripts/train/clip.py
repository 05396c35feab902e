"""Trains a small model of open_clip: images and texts of the drawn world in one space, by a sigmoid as in SigLIP.

The image tower learns first, from names of things and short phrases; the text tower then learns from texts of all kinds
what they say about what the image tower sees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from train.pairs import LENGTH, pairs_of
from train.scenes import Scene
from train.texts import Sights, train_texts
from train.tower import BIAS, MEAN, SCALE, SPREAD, album_of, pooled, train_tower
from vlgate.fixtures.scenes.graph import Graph
from vlgate.models.regions.region_network import Pixels

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 192
STRIDE = 32  # pixels of a cell of the last map of the tower, per side
BICUBIC = 3  # as Pillow numbers it


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How many steps each tower is trained, the seed, and what takes the lines of the log."""

    images: int
    texts: int
    seed: int
    log: Callable[[str], None]


def config_of(vocabulary: int) -> dict[str, Any]:
    """The content of ``open_clip_config.json``."""
    vision = {
        "timm_model_name": "test_byobnet",
        "timm_model_pretrained": False,
        "timm_pool": "max",
        "timm_proj": "mlp",
        "image_size": SIDE,
    }
    text = {
        "context_length": LENGTH,
        "vocab_size": vocabulary,
        "hf_tokenizer_name": "tiny-clip",
        "width": 128,
        "heads": 4,
        "layers": 2,
        "mlp_ratio": 4.0,
        "pool_type": "eos",
        "eos_id": 3,
    }
    model = {
        "embed_dim": 256,
        "init_logit_scale": float(np.log(SCALE)),
        "init_logit_bias": BIAS,
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


def train_clip(scenes: Sequence[Scene], images: Pixels, tokenizer: Any, folder: Path, course: Course) -> Any:
    """Write the configuration of the model into ``folder``, which has its tokenizer, and train it.

    Returns: the model in evaluation mode.
    """
    import open_clip
    import torch

    config = json.dumps(config_of(len(tokenizer)), indent=1)
    (folder / "open_clip_config.json").write_text(config + "\n", encoding="utf-8")
    torch.manual_seed(course.seed)
    model = open_clip.create_model(f"local-dir:{folder}", load_weights=False)
    album = album_of(scenes, images, SIDE // STRIDE)
    train_tower(model.visual, album, steps=course.images, seed=course.seed, log=course.log)
    sights = Sights(seen=pooled(model.visual, images), phrases=album.phrases, truths=album.truths)
    pairs = pairs_of(scenes, tokenizer)
    course.log(f"clip: {len(album.phrases)} phrases, {len(pairs.pairs)} pairs of texts")
    train_texts(model, sights, pairs, steps=course.texts, seed=course.seed, log=course.log)
    return model.eval()

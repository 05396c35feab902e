"""Tiny checkpoints of VOLTA's family in their authors' format, and made-up region features."""

import json
import tomllib
from pathlib import Path

import numpy as np
import torch
import transformers
from region_stubs import COLORS, image

from vlgate.models.loading.registry import load
from vlgate.models.regions.regions import Regions
from vlgate.models.regions.volta.config import aliases, parse, shapes
from vlgate.models.regions.volta.vilbert_mt import ALIGNMENT, RANKING, in_words_of_volta, renamed
from vlgate.types import Match

WORDS = ["a", "the", "red", "blue", "square", "is", "in", "of", "two", "cats", "dog", "on", "left", "?", ".", "##s"]
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
FEATURES = 16
KINDS = ("vilbert", "lxmert", "uniter", "vl-bert", "visualbert")

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MULTI = TABLE["multi"]


def config_of(kind, **changes):
    """The settings of a tiny model, under VOLTA's names."""
    return {**TABLE["common"], "image_embeddings": kind, **TABLE.get(kind, {}), **changes}


def _drawn(wanted, seed):
    draw = torch.Generator().manual_seed(seed)
    state = {name: 0.3 * torch.randn(shape, generator=draw) for name, shape in wanted.items()}
    return {name: 1 + value if "orm.weight" in name else value for name, value in state.items()}


def state_of(settings, seed=0):
    """Random weights under all of a checkpoint's names, and some of heads that matching does not use."""
    config = parse(settings, "test")
    state = _drawn(shapes(config), seed)
    state |= {second: state[first] for second, first in aliases(config).items()}
    return state | {"cls.predictions.bias": torch.zeros(len(TOKENS)), "clfs_dict.TASK1.weight": torch.zeros(2, 2)}


def multi_state(head=RANKING, task_tokens=20, seed=0):
    """Random weights under the names of vilbert-multi-task."""
    config = parse(in_words_of_volta(MULTI, "test", head=head, task_tokens=task_tokens), "test")
    back = {volta: own for own, volta in renamed(MULTI).items()}
    state = {}
    for name, value in _drawn(shapes(config), seed).items():
        module, _, last = name.rpartition(".")
        state[back.get(f"{module}.", f"{module}.") + last] = value
    state["bert.encoder.c_layer.0.biOutput.q_dense1.weight"] = torch.zeros(12, 24)
    unused = {RANKING: ALIGNMENT, ALIGNMENT: RANKING}[head]
    return state | {f"{unused}.bias": torch.zeros(2), "vil_prediction.logit_fc.0.bias": torch.zeros(2)}


def write(folder, settings, state, *, name="pytorch_model_9.bin", config="config.json"):
    folder.mkdir(exist_ok=True)
    torch.save(state, folder / name)
    (folder / config).write_text(json.dumps(settings))
    (folder / "vocab.txt").write_text("\n".join(TOKENS))
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def save(name, folder):
    if name == "vilbert-12-in-1":
        return write(folder, MULTI, multi_state(), name="multi_task_model.bin")
    settings = config_of(name.removeprefix("volta-"))
    return write(folder, settings, state_of(settings))


def built(folder, kind, weights="saved", **options):
    name = kind if kind == "vilbert-12-in-1" else f"volta-{kind}"
    return load(f"{name}:{weights}", folder=folder, device=options.pop("device", "cpu"), **options).model


def ids_of(text):
    return [2, *(TOKENS.index(word) for word in text.split()), 3]


class Stub:
    """Regions from an image's key: random by its number, with its colour in the first two features."""

    note = "regions of a stub"
    fingerprint = "stub"

    def regions(self, images):
        return [regions_of(image.key) for image in images]


def regions_of(key):
    color, _, number = key.partition("-")
    draw = np.random.default_rng(int(number))
    count = 4 + int(number) % 3
    features = draw.normal(scale=0.3, size=(count, FEATURES)).astype(np.float32)
    features[:, COLORS.index(color)] += 2
    boxes = np.sort(draw.random((count, 2, 2)), axis=1).reshape(count, 4).astype(np.float32)
    return Regions(features=features, boxes=boxes)


TEXTS = ("a red square", "a dog is on the left of two cats .", "the blue square ?", "cats", "two cats in a square .")
PAIRS = [Match(image=image(n % 4), text=TEXTS[n % 5]) for n in range(9)]

"""``spoilt:MODEL/FACULTY``: the trained models of the package with one faculty spoilt in their weights.

A gate that passes such a model is worth nothing. The weights are those of the package but for one tensor, whose
parts change places; so its values, and every other tensor, are as trained.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

from vlgate.errors import ModelLoadError, nearest
from vlgate.models.dual import open_clip
from vlgate.models.regions import lxmert
from vlgate.models.tiny import CLIP, LXMERT, check_lxmert, checkpoint
from vlgate.seeds import generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoilt:
    says: str  # what is spoilt, in a sentence
    model: str
    file: str
    tensor: str
    axis: int = 0  # along which the tensor is shuffled


_COLOURS = "Sees red, green and blue in each other's places: the channels of its first convolution are mixed."
_POSITIONS = "Takes the words of a text in a shuffled order: its position embeddings are shuffled."
_TOKENS = "Takes every word for another one: its word embeddings are shuffled."
_LXMERT, _OPEN_CLIP = "model.safetensors", "open_clip_model.safetensors"
_ROWS = (
    (LXMERT, "colours", _COLOURS, "region_network.safetensors", "body.0.weight"),
    (LXMERT, "positions", _POSITIONS, _LXMERT, "lxmert.embeddings.position_embeddings.weight"),
    (LXMERT, "tokens", _TOKENS, _LXMERT, "lxmert.embeddings.word_embeddings.weight"),
    (CLIP, "colours", _COLOURS, _OPEN_CLIP, "visual.trunk.stem.conv.weight"),
    (CLIP, "positions", _POSITIONS, _OPEN_CLIP, "text.positional_embedding"),
    (CLIP, "tokens", _TOKENS, _OPEN_CLIP, "text.token_embedding.weight"),
)
SPOILT: Mapping[str, Spoilt] = MappingProxyType(
    {
        f"{model}/{faculty}": Spoilt(says=says, model=model, file=file, tensor=tensor, axis=int(faculty == "colours"))
        for model, faculty, says, file, tensor in _ROWS
    }
)


def check(weights: str, folder: Path) -> None:
    if weights not in SPOILT:
        raise ModelLoadError(f"there is no spoilt model {weights!r}; {nearest(weights, SPOILT)}")
    if SPOILT[weights].model == LXMERT:
        check_lxmert("", folder)


def build(weights: str, device: str = "cpu", dtype: str = "float32", seed: int = 0) -> object:
    from safetensors.numpy import load_file, save_file

    check(weights, Path())
    spoilt = SPOILT[weights]
    load: Callable[..., object] = lxmert.build if spoilt.model == LXMERT else open_clip.build
    with TemporaryDirectory() as place:
        folder = Path(place) / spoilt.model
        shutil.copytree(checkpoint(spoilt.model), folder)
        tensors: dict[str, Any] = load_file(folder / spoilt.file)
        before = tensors[spoilt.tensor]
        order = moved(before.shape[spoilt.axis], seed, spoilt.tensor)
        tensors[spoilt.tensor] = np.ascontiguousarray(before.take(order, axis=spoilt.axis))
        save_file(tensors, folder / spoilt.file, metadata={"format": "pt"})
        return load(str(folder), Path(), device, dtype)


def moved(count: int, seed: int, name: str) -> list[int]:
    """The numbers below ``count`` in an order in which none is at its own place."""
    order = generator(f"{seed}:spoilt:{name}").permutation(count)
    places = np.empty(count, np.int64)
    places[order] = np.roll(order, 1)  # one cycle through all of them
    return places.tolist()

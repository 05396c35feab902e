"""Check that a model takes all weights of a checkpoint, and a checkpoint has all weights of a model.

transformers initialises missing weights at random, and leaves out those that a model has no place for.
"""

import json
import re
import tomllib
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.hub import PICKLED, SERVE, shard_paths
from vlgate.models.checkpoints.load_errors import damaged

# Buffers of earlier versions, which a model computes from its configuration: not weights.
BUFFERS = (
    r"(^|\.)position_ids$", r"(^|\.)(inv_freq|cos_cached|sin_cached|freqs_cis)$", r"(^|\.)relative_position_index$",
    r"(^|\.)(attn|attention)(\.attention)?\.(masked_bias|bias)$", r"(^|\.)num_batches_tracked$", r"_extra_state$",
)  # fmt: skip
# By class, and for any; see the file.
SPARE: Mapping[str, list[str]] = tomllib.loads(Path(__file__).with_name("spare.toml").read_text(encoding="utf-8"))
# Without these, other weights of the checkpoint mean something else.
_ADAPTER = re.compile(
    r"^base_model\.|(^|[._])lora[._]|(^|\.)(hada|lokr|oft|boft|ia3|vera|vblora|fourierft|hra|randlora|ln_tuning|shira|"
    r"bone|miss|c3a|road|delora|dora)_|(^|\.)(base_layer|modules_to_save|original_module|prompt_encoder|token_adapter)\."
    r"|adapter"
)
_SCALE = re.compile(
    r"(weight|input|output|activation|act|quant|proj|smooth)s?_(\w+_)?scales?(_inv|_\d+)?$|(^|\.)q?scales?$|"
    r"_(scales|scale_inv|amax)$|(^|[._])(scale_(weight|input|inv)|scaled_fp8|scb|absmax|q?zeros|zero_points?|qweight|"
    r"g_idx|codebooks?|quant_map|weight_(packed|shape|format|zero_point|g_idx)|blocks)$|quant_state|__(nf|fp)4$|"
    r"quantizer\.|comfy_quant",
    re.IGNORECASE,
)
_NARROW = re.compile(r"(F|I|U|float|int|uint)[468](_\w+)?")  # in safetensors and in torch; a bool is none of them


def check_type(cls: Any, asked: str, config: Mapping[str, Any]) -> None:
    """Check that a checkpoint is of the architecture of a model class; transformers itself loads any architecture."""
    wanted = getattr(getattr(cls, "config_class", None), "model_type", "")
    kind = config.get("model_type", wanted)
    if wanted and kind != wanted:
        raise ModelLoadError(
            f"{asked} is a checkpoint of model_type {kind!r}; {cls.__name__} needs {wanted!r}; name another "
            "checkpoint, or another --model"
        )


def check_complete(asked: str, name: str, info: Mapping[str, Any], may_miss: Collection[str]) -> None:
    lost = dict.fromkeys(info["missing_keys"], "missing")
    lost |= {key: f"of shape {tuple(has)} instead of {tuple(wants)}" for key, has, wants in info["mismatched_keys"]}
    some = [f"{key}: {why}" for key, why in sorted(lost.items()) if not any(re.fullmatch(p, key) for p in may_miss)]
    if some:
        surplus = (
            f"; it has {', '.join(sorted(info['unexpected_keys'])[:3])} instead" if info["unexpected_keys"] else ""
        )
        count = f"{len(some)} weight{'s' if len(some) > 1 else ''}"
        raise ModelLoadError(
            f"{asked} lacks {count} of {name} ({', '.join(some[:3])}){surplus}; they would be "
            f"random numbers, and so would the replies; name a checkpoint that was trained as {name}"
        )


def check_meaning(asked: str, unexpected: Collection[str]) -> None:
    keys = [key for key in sorted(unexpected) if not _matches(key, (*BUFFERS, *SPARE["any"]))]
    scales = [key for key in keys if _SCALE.search(key)]
    if scales:
        raise ModelLoadError(
            f"{asked} is quantised: {_some(scales)} would be left out, without which its other weights are other "
            f"numbers; name the checkpoint that it was made from, or {SERVE}"
        )
    adapter = [key for key in keys if _ADAPTER.search(key)]
    if adapter:
        raise ModelLoadError(
            f"{asked} holds an adapter that was not merged: {_some(adapter)} would be left out, and its base model "
            "judged in its place; merge it (merge_and_unload() of peft) and save the result"
        )


def left_out(asked: str, name: str, unexpected: Collection[str], architectures: Collection[str]) -> str:
    # They do not if they are buffers or spare weights of the class, or if the checkpoint is of another class than the
    # model, which then takes a part of it.
    keys = [key for key in sorted(unexpected) if not _matches(key, BUFFERS)]
    other = [key for key in keys if not _matches(key, (*SPARE["any"], *SPARE.get(name, ())))]
    if other and name in architectures:
        raise ModelLoadError(
            f"{asked} was saved as {name}, but {_some(other)} would be left out, because {name} of transformers has no "
            "place for them; if no reply depends on them, load it with transformers and save it into a new folder with "
            "save_pretrained(), which leaves them out"
        )
    return f"{_some(keys)} of the checkpoint left out, which {name} does not use" if keys else ""


def check_precision(asked: str, folder: Path, form: tuple[str, ...]) -> None:
    """Check that no weight is stored in 8 bits or fewer, which would be read as if it were the number meant."""
    narrow = {
        key: kind
        for file in shard_paths(folder, form)
        for key, kind in _kinds(file, pickled=form is PICKLED)
        if _NARROW.fullmatch(kind) and not _matches(key, BUFFERS)
    }
    if narrow:
        raise ModelLoadError(
            f"{asked} is quantised: it holds {_some(sorted(narrow))} as {', '.join(sorted(set(narrow.values())))}, and "
            "its config.json has no quantization_config by which transformers could read them; name the checkpoint "
            f"that it was made from, or {SERVE}"
        )


def _kinds(file: Path, *, pickled: bool) -> Iterator[tuple[str, str]]:
    import torch

    if pickled:
        for key, tensor in torch.load(file, map_location="meta", weights_only=True).items():
            if isinstance(tensor, torch.Tensor):
                yield key, str(tensor.dtype).removeprefix("torch.")
        return
    with file.open("rb") as stream:  # eight bytes of length, then a header in JSON
        header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    yield from ((key, tensor["dtype"]) for key, tensor in header.items() if key != "__metadata__")


def _matches(key: str, patterns: Collection[str]) -> bool:
    return any(re.search(pattern, key) for pattern in patterns)


def _some(keys: Collection[str]) -> str:
    names = list(keys)
    rest = ", ..." if len(names) > 3 else ""
    return f"{len(names):,} weight{'s' if len(names) > 1 else ''} ({', '.join(names[:3])}{rest})"


def read_tensors(file: Path, expected: str) -> dict[str, Any]:
    import torch
    from safetensors.torch import load_file

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about pickle protocols, and raises if it cannot read one
            safe = file.suffix == ".safetensors"
            content: Any = load_file(file) if safe else torch.load(file, map_location="cpu", weights_only=True)
    except damaged() as error:
        raise ModelLoadError(
            f"{file} is damaged, or holds more than tensors, and is not loaded ({type(error).__name__}); download it "
            "again"
        ) from error
    if isinstance(content, Mapping) and isinstance(content.get("model_state_dict"), Mapping):
        content = content["model_state_dict"]
    if not isinstance(content, Mapping) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise ModelLoadError(f"{file} does not hold named tensors; expected {expected}")
    return {str(name): value for name, value in content.items()}

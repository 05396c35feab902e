"""The file of weights that an open_clip model is loaded from: where it is, what it holds, and whether it fits."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.damaged import damaged
from vlgate.models.fingerprint import digest_path
from vlgate.models.open_clip_names import CONFIG, HUB, IN_FOLDER, Source


def weights_file(source: Source) -> Path | None:
    """The file of weights on this machine, fetched from the hub where it is not here yet; None for ``random``.

    Raises: ModelLoadError that says which file was looked for, where, and what to do.
    """
    import open_clip
    from open_clip.pretrained import download_pretrained_from_hf

    if source.kind == "folder" and source.path is not None:
        return next(source.path / name for name in IN_FOLDER if (source.path / name).is_file())
    if source.kind in ("file", "random"):
        return source.path
    wanted: dict[str, Any] = open_clip.get_pretrained_cfg(source.name, source.tag) if source.kind == "tag" else {}
    place = wanted.get("hf_hub") or f"{source.name.removeprefix(HUB)}/"
    try:
        if source.kind == "tag":
            return Path(open_clip.download_pretrained(wanted))
        download_pretrained_from_hf(place.rstrip("/"), filename=CONFIG)
        return Path(download_pretrained_from_hf(place.rstrip("/")))
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelLoadError(_not_here(source, place, error)) from error


def _not_here(source: Source, place: str, error: Exception) -> str:
    from huggingface_hub import constants

    repository, _, file = place.rpartition("/")
    looked_for = file or f"{IN_FOLDER[0]} or {IN_FOLDER[2]}"
    if source.kind == "hub":
        looked_for = f"{CONFIG} and {looked_for}"
    offline = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the hub did not give it"
    return (
        f"open_clip: no weights for {source.name}{'/' if source.tag else ''}{source.tag}: looked for {looked_for} of "
        f"{repository} in {constants.HF_HUB_CACHE}, and {offline} ({error}); fetch it where there is a network "
        f"(hf download {repository}) or name a local folder or file"
    )


def shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the tensors in a file of weights, and that it holds nothing else.

    A file that is no safetensors is read as tensors only, so that nothing in it is run. open_clip falls back to a full
    unpickling where reading as tensors raises TypeError; a file that comes through here cannot get there.

    Raises: ModelLoadError.
    """
    try:
        return _safe_shapes(file) if file.suffix == ".safetensors" else _pickled_shapes(file)
    except damaged() as error:
        pickled = "" if file.suffix == ".safetensors" else "holds more than tensors, or "
        raise ModelLoadError(
            f"open_clip: {file} {pickled}is damaged, and is not opened ({type(error).__name__}); "
            "fetch it anew, or convert it to safetensors"
        ) from error


def _safe_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    from safetensors import safe_open

    with safe_open(file, framework="numpy") as opened:
        return {name: tuple(opened.get_slice(name).get_shape()) for name in opened.keys()}  # noqa: SIM118  # no mapping


def _pickled_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of pickle protocols that it may not read; it raises then
        found = torch.load(file, map_location="cpu", weights_only=True)
    states = found.get("state_dict", found)
    if not states:
        raise ValueError("it holds nothing")
    return {name.removeprefix("module."): tuple(tensor.shape) for name, tensor in states.items()}


def check_sizes(source: Source, sizes: Mapping[str, tuple[int, ...]], model: Any) -> None:
    """Hold local weights against the model where open_clip makes up for what does not fit, and says nothing.

    It stretches positions that were trained for pictures or texts of another size, and takes a bias that is not there
    for 0, from which the decision threshold would come.

    Args:
        source: where the weights come from; what is published for an architecture is taken as it is.
        sizes: of the weights, by name.
        model: made by open_clip.

    Raises: ModelLoadError.
    """
    if source.kind not in ("file", "folder"):
        return
    states = model.state_dict()
    if "logit_bias" in states and "logit_bias" not in sizes:
        raise ModelLoadError(
            f"open_clip: {source.path} lacks logit_bias, which {source.name} was trained with; name the architecture "
            "of these weights"
        )
    for name, tensor in states.items():
        has, wants = sizes.get(name), tuple(tensor.shape)
        if name.endswith("positional_embedding") and has not in (None, wants):
            raise ModelLoadError(
                f"open_clip: {name} of {source.path} is of shape {has} instead of {wants}: the weights were trained "
                f"with pictures or texts of another size than {source.name} takes; name their own architecture"
            )


def identity(source: Source, file: Path | None, seed: int) -> str:
    """What the weights are: the hash of their content, or the seed of an untrained model."""
    if file is None:
        return f"{source.name} random {seed}"
    # A file in the hub's cache is a link to a blob that is named by the hash of its content.
    blob = file.resolve().name
    content = blob if re.fullmatch(r"[0-9a-f]{64}", blob) else digest_path(file)
    beside = file.parent / CONFIG
    config = digest_path(beside) if source.kind in ("folder", "hub") and beside.is_file() else ""
    return f"{source.name if source.kind != 'folder' else ''} {source.tag} {content} {config}"

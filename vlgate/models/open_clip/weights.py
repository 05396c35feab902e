"""Find the file of weights of an open_clip model, read the shapes in it, and check them against the model."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.damaged import damaged
from vlgate.models.checkpoints.fingerprint import digest_path
from vlgate.models.open_clip.names import CONFIG, HUB, IN_FOLDER, OpenClipName


def weights_file(source: OpenClipName) -> Path | None:
    """Return the local file of weights, downloaded from the hub if it is not cached yet; None for ``random``.

    Raises: ModelLoadError with the file that was looked for, the folder that was searched, and what to do.
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


def _not_here(source: OpenClipName, place: str, error: Exception) -> str:
    from huggingface_hub import constants

    repository, _, file = place.rpartition("/")
    looked_for = file or f"{IN_FOLDER[0]} or {IN_FOLDER[2]}"
    if source.kind == "hub":
        looked_for = f"{CONFIG} and {looked_for}"
    offline = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the download failed"
    return (
        f"open_clip: no weights for {source.name}{'/' if source.tag else ''}{source.tag}: looked for {looked_for} of "
        f"{repository} in {constants.HF_HUB_CACHE}, and {offline} ({error}); download it on a machine with a network "
        f"(hf download {repository}) or name a local folder or file"
    )


def shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of the tensors in a file of weights, and check that it holds nothing else.

    A pickle is read as tensors only, so that no code in it is run. open_clip itself falls back to a full unpickling if
    that raises TypeError; a file that passes this function does not raise it.

    Raises: ModelLoadError if the file is damaged or holds anything but tensors.
    """
    try:
        return _safe_shapes(file) if file.suffix == ".safetensors" else _pickled_shapes(file)
    except damaged() as error:
        pickled = "" if file.suffix == ".safetensors" else "holds more than tensors, or "
        raise ModelLoadError(
            f"open_clip: {file} {pickled}is damaged, so it is not opened ({type(error).__name__}); "
            "download it again, or convert it to safetensors"
        ) from error


def _safe_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    from safetensors import safe_open

    with safe_open(file, framework="numpy") as opened:
        return {name: tuple(opened.get_slice(name).get_shape()) for name in opened.keys()}  # noqa: SIM118  # not a mapping


def _pickled_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # torch warns of unknown pickle protocols; if it cannot read one, it also raises
        found = torch.load(file, map_location="cpu", weights_only=True)
    states = found.get("state_dict", found)
    if not states:
        raise ValueError("it holds nothing")
    return {name.removeprefix("module."): tuple(tensor.shape) for name, tensor in states.items()}


def check_sizes(source: OpenClipName, sizes: Mapping[str, tuple[int, ...]], model: Any) -> None:
    """Check local weights for differences from the model that open_clip silently adapts to.

    open_clip interpolates positions that were trained for images or texts of another size, and sets a missing bias to
    0, which would give a wrong decision threshold.

    Args:
        source: the parsed name of the model; weights that open_clip publishes are not checked.
        sizes: the shapes of the weights, by name.
        model: the model that open_clip made.

    Raises: ModelLoadError if the bias is missing, or if the positions are of another shape.
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
                f"with images or texts of another size than {source.name} takes; name their own architecture"
            )


def identity(source: OpenClipName, file: Path | None, seed: int) -> str:
    """Return the weights' part of a fingerprint: a hash of their content, or the seed of an untrained model."""
    if file is None:
        return f"{source.name} random {seed}"
    # A file in the hub's cache is a link to a blob whose name is the hash of its content.
    blob = file.resolve().name
    content = blob if re.fullmatch(r"[0-9a-f]{64}", blob) else digest_path(file)
    beside = file.parent / CONFIG
    config = digest_path(beside) if source.kind in ("folder", "hub") and beside.is_file() else ""
    return f"{source.name if source.kind != 'folder' else ''} {source.tag} {content} {config}"

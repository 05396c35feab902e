"""Finds a detector's folder and loads all of its weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.hub import Pretrained, pretrained
from vlgate.models.checkpoints.missing import missing_package
from vlgate.models.frcnn.config import Config, read_config

if TYPE_CHECKING:
    from torch import Tensor, nn

PUBLISHED = "unc-nlp/frcnn-vg-finetuned"
CONFIG = "config.yaml"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_COUNTER = "num_batches_tracked"  # used in training only; some checkpoints have it


def detector_folder(spec: str, folder: Path) -> Path:
    """Return the local folder of a detector; download a repository that is not in the hub's cache.

    Args:
        spec: a hub repository ``ORG/NAME[@REVISION]``, a folder, or empty for ``PUBLISHED``.
        folder: the folder that relative paths start from.

    Raises: ModelLoadError if it is not found; the message names the files, the places searched and the remedy.
    """
    source = pretrained(spec, folder, default=PUBLISHED)
    return Path(source.location) if source.local else _fetched(source)


def _fetched(source: Pretrained) -> Path:
    try:
        from huggingface_hub import constants, snapshot_download
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "huggingface_hub", "hf") from None
    offline = bool(constants.HF_HUB_OFFLINE)
    wanted = [CONFIG, *WEIGHTS]
    try:
        found = snapshot_download(
            source.location, revision=source.revision, allow_patterns=wanted, local_files_only=offline
        )
    except (OSError, ValueError, RuntimeError) as error:
        why = "HF_HUB_OFFLINE is set" if offline else "the hub did not provide them"
        raise ModelLoadError(
            f"no detector {source.asked}: looked for {CONFIG} and {WEIGHTS[1]} of {source.location} in "
            f"{constants.HF_HUB_CACHE}, and {why} ({error}); download them on a machine with a network (hf download "
            f"{source.location}), name their folder, or name a file of features"
        ) from error
    return Path(found)


def load_detector(folder: Path, device: str) -> tuple[nn.Module, Config, str]:
    """Load a detector with all of its weights, in float32.

    Returns: the network on the device, its configuration, and the hash of both files.
    Raises: ModelLoadError if a file is missing or damaged, or a weight is missing, unknown or of another shape.
    """
    from vlgate.models.frcnn.network import network

    file = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if file is None or not (folder / CONFIG).is_file():
        has = ", ".join(sorted(path.name for path in folder.iterdir())) or "nothing"
        raise ModelLoadError(f"{folder} holds {has}; a detector is {CONFIG} with {' or '.join(WEIGHTS)}")
    config = read_config(folder / CONFIG)
    built = network(config)
    _fill(built, _state(file), file)
    try:
        return built.to(device), config, digest(digest_path(folder / CONFIG), digest_path(file))
    except RuntimeError as error:
        raise ModelLoadError(
            f"the detector cannot be moved to device={device!r} ({error}); try another device"
        ) from error


def _state(file: Path) -> Mapping[str, Any]:
    """Read tensors from safetensors or a pickle; no code in the file is run."""
    import pickle

    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state = load_file(file) if file.suffix == ".safetensors" else torch.load(file, "cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise ModelLoadError(
            f"{file} is damaged, or holds more than tensors, and is not loaded ({type(error).__name__}: "
            f"{str(error).splitlines()[0] if str(error) else ''}); download it again"
        ) from error
    if not isinstance(state, Mapping) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise ModelLoadError(f"{file} does not hold named tensors; expected the weights of a detector")
    return state


def _fill(built: nn.Module, state: Mapping[str, Tensor], file: Path) -> None:
    own = {name: value for name, value in built.state_dict().items() if not name.endswith(_COUNTER)}
    given = {name: value for name, value in state.items() if not name.endswith(_COUNTER)}
    for problem, names in (("lacks", own.keys() - given.keys()), ("has unknown", given.keys() - own.keys())):
        if names:
            some = ", ".join(sorted(names)[:3])
            raise ModelLoadError(
                f"{file} {problem} weights, {len(names)} of them ({some}); expected those of {PUBLISHED}"
            )
    wrong = sorted(name for name in own if own[name].shape != given[name].shape)
    if wrong:
        one = wrong[0]
        shapes = f"{tuple(given[one].shape)}, and {CONFIG} says {tuple(own[one].shape)}"
        raise ModelLoadError(
            f"{file}: {len(wrong)} weights have another shape ({one} is {shapes}); use files of one detector"
        )
    built.load_state_dict(given, strict=False)

"""Reads a checkpoint's file and checks that it holds exactly the weights of its configuration."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.volta.config import ORIGINAL, Config
from vlgate.models.volta.encoder import Weights
from vlgate.models.volta.names import ANSWERS, UNUSED, aliases, shapes

if TYPE_CHECKING:
    import torch

_OF_BERT = ("embeddings.", "v_embeddings.", "encoder.", "t_pooler.", "v_pooler.")
_SHOWN = 5


def read(file: Path) -> dict[str, torch.Tensor]:
    """Read the tensors of a ``.bin`` (a pickle, from which only tensors are read) or ``.safetensors``.

    The prefix ``module.`` of data-parallel training is removed from the names, and ``bert.`` is added to those of a
    model that was saved without its heads.

    Raises: ModelLoadError if it cannot be read, or holds anything else.
    """
    content = _content(file)
    if isinstance(content, Mapping) and isinstance(content.get("model_state_dict"), Mapping):
        content = content["model_state_dict"]
    import torch

    if not isinstance(content, Mapping) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise ModelLoadError(f"{file} does not hold named tensors; expected a pytorch_model_*.bin that VOLTA saved")
    found = {str(name).removeprefix("module."): value for name, value in content.items()}
    if not any(name.startswith("bert.") for name in found):
        found = {("bert." if name.startswith(_OF_BERT) else "") + name: value for name, value in found.items()}
    return found


def _content(file: Path) -> Any:
    import pickle

    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    damaged = (
        pickle.UnpicklingError, RuntimeError, TypeError, ValueError, EOFError, LookupError, AttributeError, OSError,
        SafetensorError,
    )  # fmt: skip
    try:
        if file.suffix == ".safetensors":
            return load_file(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about pickle protocols, and raises if it cannot read one
            return torch.load(file, map_location="cpu", weights_only=True)
    except damaged as error:
        raise ModelLoadError(
            f"{file} is damaged, or holds more than tensors, and is not loaded ({type(error).__name__}); fetch it again"
        ) from error


def fitted(
    config: Config, tensors: Mapping[str, torch.Tensor], where: str, *, unused: Collection[str] = ()
) -> dict[str, torch.Tensor]:
    """Return the weights that matching uses, after a check of names and shapes.

    Args:
        config: the model's configuration.
        tensors: the checkpoint's tensors, by VOLTA's names.
        where: the checkpoint, for messages.
        unused: parts of names of further weights that matching does not use.

    Returns: exactly the weights of ``names.shapes(config)``.
    Raises: ModelLoadError that lists the weights that are missing, of another shape, not in the configuration, or
        shared there and different in the checkpoint; or if the checkpoint is the original LXMERT.
    """
    import torch

    if any(name.startswith(ANSWERS) for name in tensors):
        raise ModelLoadError(f"{where} {ORIGINAL}")
    wanted, second = shapes(config), aliases(config)
    merged = dict(tensors) | {
        first: tensors[name] for name, first in second.items() if name in tensors and first not in tensors
    }
    problems = [f"{name} is missing" for name in wanted if name not in merged]
    problems += [
        f"{name} is of shape {tuple(merged[name].shape)} instead of {shape}"
        for name, shape in wanted.items()
        if name in merged and tuple(merged[name].shape) != shape
    ]
    problems += [
        f"{name} is not in the configuration"
        for name in tensors
        if name not in wanted and name not in second and not _known(name, unused)
    ]
    if not problems:
        problems = [
            f"{name} differs from {first}, though both are one weight"
            for name, first in second.items()
            if name in tensors and not torch.equal(tensors[name], merged[first])
        ]
    if problems:
        rest = f" and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise ModelLoadError(
            f"{where} does not fit its configuration: {'; '.join(problems[:_SHOWN])}{rest}; name the configuration "
            "that it was trained with (config=FILE), or the right model"
        )
    return {name: merged[name] for name in wanted}


def _known(name: str, unused: Collection[str]) -> bool:
    return name.startswith(UNUSED) or name.endswith(".position_ids") or any(part in name for part in unused)


def placed(tensors: Mapping[str, torch.Tensor], device: str, dtype: torch.dtype) -> Weights:
    """Move weights to a device, in one precision.

    Raises: ModelLoadError if the device cannot hold them.
    """
    try:
        return Weights({name: value.to(device, dtype) for name, value in tensors.items()})
    except RuntimeError as error:
        raise ModelLoadError(
            f"the weights cannot be moved to device={device!r} ({error}); try another device"
        ) from error

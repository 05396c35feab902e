"""Select the device and the precision of a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vlgate.errors import ModelLoadError, nearest

if TYPE_CHECKING:
    import torch

DTYPES = ("float32", "float16", "bfloat16")
_EXPECTED = "expected auto, cpu, cuda, cuda:N or mps"


def pick_device(name: str = "auto", worker: int = 0) -> str:
    """Return the device that a worker uses.

    Args:
        name: ``auto`` (a CUDA GPU, else an Apple GPU, else the CPU), or a device. ``auto`` and ``cuda`` spread the
            workers over the GPUs: worker i takes GPU i modulo their number.
        worker: the worker's number, from 0.

    Returns: a name that ``torch.device`` takes, such as ``cuda:1``.
    Raises: ModelLoadError if the machine does not have the device.
    """
    try:
        import torch
    except ModuleNotFoundError:
        if name in ("auto", "cpu"):
            return "cpu"
        raise ModelLoadError(f"device={name!r} needs torch, which is not installed; use device='cpu'") from None
    if name == "cpu":
        return "cpu"
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        name = "cuda" if gpus else "mps" if torch.backends.mps.is_available() else "cpu"
    if name == "cuda" and gpus:
        return f"cuda:{worker % gpus}"
    if name.startswith("cuda:") and name[5:].isdecimal() and int(name[5:]) < gpus:
        return name
    if name == "cpu" or (name == "mps" and torch.backends.mps.is_available()):
        return name
    raise ModelLoadError(f"device={name!r} is not on this machine, which has {gpus} CUDA devices; {_EXPECTED}")


def device_name(device: str) -> str:
    """Return the name and memory of a device; only a device of CUDA has more than its own name.

    >>> device_name("cpu")
    'cpu'
    """
    if not device.startswith("cuda"):
        return device
    import torch

    found = torch.cuda.get_device_properties(device)
    return f"{found.name} {found.total_memory >> 30} GiB"


def check_dtype(name: str) -> None:
    """Raise ModelLoadError if ``name`` is not one of ``DTYPES``."""
    if name not in DTYPES:
        raise ModelLoadError(f"dtype={name!r}: expected {', '.join(DTYPES)}; {nearest(name, DTYPES)}")


def check_device(name: str) -> None:
    """Raise ModelLoadError if ``name`` cannot be a device's name; whether this machine has it is not checked."""
    if not re.fullmatch(r"auto|cpu|mps|cuda(:[0-9]+)?", name):
        raise ModelLoadError(f"device={name!r}: {_EXPECTED}; {nearest(name, ['auto', 'cpu', 'cuda', 'mps'])}")


def pick_dtype(name: str) -> torch.dtype:
    """Return the torch dtype of a name in ``DTYPES``.

    Raises: ModelLoadError for any other name.
    """
    import torch

    check_dtype(name)
    return {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}[name]

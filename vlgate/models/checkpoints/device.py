"""The device and the precision of a model, and the share of the machine that each of several workers has."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from vlgate.errors import ModelLoadError, did_you_mean, nearest

if TYPE_CHECKING:
    import torch

DTYPES = ("float32", "float16", "bfloat16")
_ALIASES = {"fp32": "float32", "float": "float32", "fp16": "float16", "half": "float16", "bf16": "bfloat16"}
ON_A_GPU = ("gpu", "cuda")
ON_ANY_NODE = ("auto", "cpu", *ON_A_GPU)
"""The devices that every machine may have, so that a cluster can choose the GPU of each actor."""
_DEVICES = (*ON_ANY_NODE, "cuda:N", "mps")
_EXPECTED = f"expected {', '.join(_DEVICES[:-1])} or {_DEVICES[-1]}"
_GPUS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvhost-gpu", "/dev/nvmap", "/dev/dxg", "/dev/kfd")


def pick_device(name: str = "auto", worker: int = 0) -> str:
    check_device(name)
    # torch takes 2 s to import, so a model that may need none is not made to wait for it
    without = sys.platform == "linux" and "torch" not in sys.modules and not any(map(os.path.exists, _GPUS))
    if name == "cpu" or (name == "auto" and without):
        return "cpu"
    try:
        import torch
    except ModuleNotFoundError:
        if name == "auto":
            return "cpu"
        raise ModelLoadError(f"device={name!r} needs torch, which is not installed; use device='cpu'") from None
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    mps = torch.backends.mps.is_available()
    kind, _, number = name.partition(":")
    if kind in {"auto", *ON_A_GPU} and gpus > int(number or 0):
        return name if number else f"cuda:{worker % gpus}"
    if mps and name in {"auto", "gpu", "mps"}:
        return "mps"
    if name == "auto":
        return "cpu"
    there = f"{gpus} CUDA device{'' if gpus == 1 else 's'}{' and mps' if mps else ''}"
    raise ModelLoadError(f"device={name!r}: this machine has {there}, and no such device; {_EXPECTED}")


def device_name(device: str) -> str:
    if not device.startswith("cuda"):
        return device
    import torch

    gpu = torch.cuda.get_device_properties(device)
    return f"{gpu.name} {gpu.total_memory >> 30} GiB"


def dtype_of(name: str) -> str:
    plain = name.lower().removeprefix("torch.")
    return _ALIASES.get(plain, plain)


def check_dtype(name: str) -> None:
    if name not in DTYPES:
        raise ModelLoadError(f"dtype={name!r}: expected {', '.join(DTYPES)}; {nearest(name, DTYPES)}")


def check_device(name: str) -> None:
    # Whether this machine has the device is not checked.
    if not re.fullmatch(r"auto|cpu|gpu|mps|cuda(:[0-9]+)?", name):
        close = did_you_mean(name, _DEVICES)
        raise ModelLoadError(f"device={name!r}: {_EXPECTED}{close and f'; {close}'}")


def pick_dtype(name: str) -> torch.dtype:
    import torch

    check_dtype(name)
    return {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}[name]


_THREADS = "OMP_NUM_THREADS"
_WAITING = "OMP_WAIT_POLICY"


def share_threads(workers: int, environment: MutableMapping[str, str] | None = None) -> int:
    """Let torch compute with this worker's share of the cores, unless ``OMP_NUM_THREADS`` is set.

    >>> share_threads(10_000, {}), share_threads(1, {}), share_threads(4, {"OMP_NUM_THREADS": "2"})
    (1, 0, 0)
    """
    variables = os.environ if environment is None else environment
    # Threads that wait for others in a loop keep the core that those need: with six other programs on two cores,
    # one image takes ViT-B-32 four times the CPU seconds. OpenMP reads it when torch is imported.
    variables.setdefault(_WAITING, "passive")
    if workers < 2 or variables.get(_THREADS):
        return 0
    from vlgate.asking.image_prefetch import cores

    threads = max(1, cores() // workers)
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(threads)
    variables[_THREADS] = str(threads)  # torch reads it when it is imported
    return threads


def room_on_gpu(workers: int, gpus: int, taken: int, free: int, total: int) -> str:
    sharing = -(-workers // max(1, gpus))
    if gpus < 1 or sharing < 2:
        return ""
    others = (total - free - taken) / (sharing - 1)  # an earlier worker may have taken more than this one had time to
    each = max(taken, others, 1)
    fit = max(1, min(sharing - 1, int(total // each)))
    where = "the GPU" if gpus == 1 else "a GPU"
    return (
        f"{sharing} workers share {where}: this one takes at least {taken / 2**30:.1f} GiB, {free / 2**30:.1f} GiB of "
        f"{total / 2**30:.1f} GiB are free, so {fit} fit{'s' if fit == 1 else ''}; run with -n {fit * gpus}"
    )


def room_of(device: str, workers: int) -> str:
    if not device.startswith("cuda") or "torch" not in sys.modules:
        return ""
    import torch

    free, total = torch.cuda.mem_get_info(device)
    taken = torch.cuda.max_memory_reserved(device)
    return room_on_gpu(workers, torch.cuda.device_count(), taken, free, total)


def gpu_name(device: str) -> str:
    if not device.startswith("cuda"):
        return ""
    import torch

    return torch.cuda.get_device_name(device)

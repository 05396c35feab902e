"""The share that each of several workers has of a machine: its threads, and its room on a GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

from vlgate.inference.ahead import cores

_THREADS = "OMP_NUM_THREADS"


def share_threads(workers: int, environment: MutableMapping[str, str] | None = None) -> int:
    """Let torch compute with this worker's share of the cores, unless ``OMP_NUM_THREADS`` is set.

    Args:
        workers: the number of workers of the run; with one, nothing changes.
        environment: the variables of this process, for tests.

    Returns: the number of threads; 0 if it was not changed.

    >>> share_threads(10_000, {}), share_threads(1, {}), share_threads(4, {"OMP_NUM_THREADS": "2"})
    (1, 0, 0)
    """
    variables = os.environ if environment is None else environment
    if workers < 2 or variables.get(_THREADS):
        return 0
    threads = max(1, cores() // workers)
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(threads)
    variables[_THREADS] = str(threads)  # torch reads it when it is imported
    return threads


def room_on_gpu(workers: int, gpus: int, taken: int, free: int, total: int) -> str:
    """Say how many workers fit on a GPU that several of them share.

    Args:
        workers: the number of workers of the run; worker i uses GPU i modulo ``gpus``.
        gpus: the number of GPUs.
        taken: the bytes of the GPU that this worker has taken so far.
        free: the bytes that are free on it.
        total: the bytes that it has.

    Returns: a sentence; empty if this worker has the GPU for itself, so that fewer workers would not help.

    >>> gib = 2**30
    >>> room_on_gpu(4, 1, 9 * gib, 2 * gib, 24 * gib)
    '4 workers share the GPU: this one takes at least 9.0 GiB, 2.0 GiB of 24.0 GiB are free, so 2 fit; run with -n 2'
    """
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
    """Say how many workers fit on the GPU ``device`` of this process; empty for other devices; see ``room_on_gpu``."""
    if not device.startswith("cuda") or "torch" not in sys.modules:
        return ""
    import torch

    free, total = torch.cuda.mem_get_info(device)
    taken = torch.cuda.max_memory_reserved(device)
    return room_on_gpu(workers, torch.cuda.device_count(), taken, free, total)


def gpu_name(device: str) -> str:
    """Return the name of a GPU, such as NVIDIA A100; empty for any other device."""
    if not device.startswith("cuda"):
        return ""
    import torch

    return torch.cuda.get_device_name(device)

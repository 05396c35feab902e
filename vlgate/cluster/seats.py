"""Where the actors of a run are placed: one on each GPU or, without GPUs, one on each node."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vlgate.cluster.connecting import Node
from vlgate.errors import OptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """The place of one actor: its node, what it takes of the node, and the threads that its model computes with."""

    node: Node
    cpus: int
    gpus: int
    threads: int


def seats(found: Sequence[Node], device: str, environment: Mapping[str, str] | None = None) -> tuple[Seat, ...]:
    """Place the actors.

    Args:
        found: the nodes of the cluster.
        device: ``auto`` takes the GPUs if the cluster has some, ``cuda`` needs them, ``cpu`` uses none.
        environment: the variables of the run; ``OMP_NUM_THREADS`` sets the number of threads of every actor.

    Returns: one seat per GPU, or one per node that has CPUs.
    Raises: OptionError if the cluster does not have the device.

    >>> [seat.threads for seat in seats([Node(id="a", name="a", cpus=16, gpus=4)], "auto", {})]
    [4, 4, 4, 4]
    """
    gpus = sum(node.gpus for node in found)
    if device not in {"auto", "cpu", "cuda"}:
        raise OptionError(
            f"--device={device}: with --ray, Ray chooses the GPU of each actor; expected auto, cpu or cuda"
        )
    if device == "cuda" and not gpus:
        raise OptionError(f"--device=cuda: the cluster has {len(found)} nodes and no GPU; expected auto or cpu")
    given = (os.environ if environment is None else environment).get("OMP_NUM_THREADS", "")
    fixed = int(given) if given.isdecimal() and int(given) else 0
    if gpus and device != "cpu":
        made = [
            Seat(node=node, cpus=min(1, node.cpus), gpus=1, threads=fixed or max(1, node.cpus // node.gpus))
            for node in found
            for _ in range(node.gpus)
        ]
    else:
        made = [Seat(node=node, cpus=node.cpus, gpus=0, threads=fixed or node.cpus) for node in found if node.cpus]
    if not made:
        raise OptionError(f"--ray: the cluster has {len(found)} nodes, and none of them has CPUs or GPUs to give away")
    return tuple(made)

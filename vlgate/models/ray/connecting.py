"""Connect to a running Ray cluster and place the actors of a run on it."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from vlgate.errors import OptionError
from vlgate.models.checkpoints.device import ON_A_GPU
from vlgate.models.checkpoints.load_errors import one_line

_PATIENCE = 5.0  # seconds for the first connection; Ray itself would try for two minutes, and end the process
ANSWERS = 30.0  # seconds for a cluster to say that it is one; Ray would wait a quarter of an hour for anything else
_START = "start one with ray start --head, or leave --ray out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    id: str
    name: str
    cpus: int
    gpus: int


def check_address(address: str) -> None:
    if importlib.util.find_spec("ray") is None:
        raise OptionError(f"--ray={address} needs Ray, which is not installed; pip install 'vlgate[ray]'")
    if address.startswith("ray://"):
        raise OptionError(
            f"--ray={address}: expected auto or HOST:PORT; Ray's client is not supported, so start pytest on a machine "
            "of the cluster with --ray=auto, for example with ray job submit"
        )
    named = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address
    if not named or named.startswith("ray://"):
        return
    host, _, port = named.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise OptionError(f"--ray={address}: {named!r} is not an address; expected auto or HOST:PORT")
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except OSError as error:
        raise OptionError(f"--ray={address}: no cluster answers at {named} ({error}); {_START}") from None


def connect(address: str) -> Callable[[], None]:
    """Connect this process to a cluster, and return a function that ends the connection, if it was not there before."""
    check_address(address)
    if address != "auto":
        command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
        try:  # what else is wrong, connecting will say
            subprocess.run(command, timeout=ANSWERS, capture_output=True, check=False)  # noqa: S603  # our own options
        except subprocess.TimeoutExpired:
            raise OptionError(f"--ray={address}: something else than a Ray cluster answers there; {_START}") from None
    with _calm():
        import ray

        if ray.is_initialized():
            return lambda: None
        try:
            ray.init(address=address, log_to_driver=False, configure_logging=False, namespace=None)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # Ray raises many classes, and ends the process if nobody answers
            raise OptionError(f"--ray={address}: no cluster can be used ({one_line(error)}); {_START}") from None
        end: Callable[[], None] = ray.shutdown
        return end


@contextmanager
def _calm() -> Iterator[None]:
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if main and handler is not None:
            signal.signal(signal.SIGTERM, handler)


def nodes() -> list[Node]:
    import ray

    living = []
    for node in ray.nodes():
        has = node.get("Resources", {})
        if node["Alive"]:
            name = f"{node['NodeManagerAddress']} ({node['NodeID'][:6]})"
            living.append(Node(id=node["NodeID"], name=name, cpus=int(has.get("CPU", 0)), gpus=int(has.get("GPU", 0))))
    return sorted(living, key=lambda node: node.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    node: Node
    cpus: int
    gpus: int
    threads: int


def seats(living: Sequence[Node], device: str, environment: Mapping[str, str] | None = None) -> tuple[Seat, ...]:
    """Return a seat for an actor on each GPU or, without GPUs, on each node that has CPUs.

    >>> [seat.threads for seat in seats([Node(id="a", name="a", cpus=16, gpus=4)], "auto", {})]
    [4, 4, 4, 4]
    """
    gpus = sum(node.gpus for node in living)
    if device in ON_A_GPU and not gpus:
        raise OptionError(f"--device={device}: the cluster has {len(living)} nodes and no GPU; expected auto or cpu")
    given = (os.environ if environment is None else environment).get("OMP_NUM_THREADS", "")
    fixed = int(given) if given.isdecimal() and int(given) else 0
    if gpus and device != "cpu":
        made = [
            Seat(node=node, cpus=min(1, node.cpus), gpus=1, threads=fixed or max(1, node.cpus // node.gpus))
            for node in living
            for _ in range(node.gpus)
        ]
    else:
        made = [Seat(node=node, cpus=node.cpus, gpus=0, threads=fixed or node.cpus) for node in living if node.cpus]
    if not made:
        raise OptionError(f"--ray: the cluster has {len(living)} nodes, and none of them has CPUs or GPUs to give away")
    return tuple(made)

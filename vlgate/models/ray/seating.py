"""Starting the actors, loading the model on them, and comparing what they loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.load_errors import one_line
from vlgate.models.ray.actor import Scorer, versions
from vlgate.models.ray.connecting import Seat, nodes
from vlgate.models.ray.messages import Failed, Surface, Wanted, raised

_FIRST = 60.0  # seconds until the first actor has its place; a busy cluster may have none free
_OTHERS = 20.0  # seconds more for the other actors


@dataclass(slots=True, kw_only=True, eq=False)
class Seated:
    seat: Seat
    actor: Any
    surface: Surface
    alive: bool = True
    generation: int = 0  # how many actors had the seat before


def seat_all(places: Sequence[Seat], wanted: Wanted) -> list[Seated]:
    import ray

    actors = [_started(seat) for seat in places]
    asked = {actor.versions.remote(): (seat, actor) for seat, actor in zip(places, actors, strict=True)}
    ready, late = ray.wait(list(asked), num_returns=1, timeout=_FIRST)
    if ready and late:
        more, late = ray.wait(late, num_returns=len(late), timeout=_OTHERS)
        ready += more
    for reference in late:
        ray.kill(asked[reference][1])
    if not ready:
        raise ModelLoadError(
            f"--ray: none of the {len(places)} actors got its place within {_FIRST:g} s, because others use the CPUs "
            "or GPUs of the cluster; ray status shows them; wait for their end, or add nodes"
        )
    ours = versions()
    for reference in ready:
        node = asked[reference][0].node.name
        try:
            theirs = ray.get(reference)
        except ray.exceptions.RayError as error:
            why = " ".join(str(error).split())
            raise ModelLoadError(
                f"--ray: no actor starts on the node {node} ({why[-300:]}); install vlgate on it, in the Python that "
                "ray start was called with"
            ) from None
        check_versions(theirs, node, ours)
    seated = []
    for seat, actor, loading in [_loading(*asked[reference], wanted) for reference in ready]:
        try:
            seated.append(_seated(seat, actor, loading))
        except ray.exceptions.RayError as error:
            raise ModelLoadError(
                f"--ray: the actor on the node {seat.node.name} ended while it loaded the model ({one_line(error)}); "
                "see Ray's logs of the node"
            ) from None
    check_alike(seated, seated[0].surface, seated[0].seat.node.name)
    return seated


def seat_again(one: Seated, wanted: Wanted) -> Seated | None:
    import ray

    ray.kill(one.actor)  # it may only be out of reach
    if one.seat.node.id not in {node.id for node in nodes()}:
        return None
    actor = _started(one.seat)
    reference = actor.versions.remote()
    try:
        if not ray.wait([reference], timeout=_FIRST)[0]:
            ray.kill(actor)
            return None
        ray.get(reference)
        seated = _seated(*_loading(one.seat, actor, wanted))
    except ray.exceptions.RayError:  # the node ends while the actor starts
        return None
    return replace(seated, generation=one.generation + 1)


def check_versions(theirs: Mapping[str, str], node: str, ours: Mapping[str, str]) -> None:
    differ = [
        f"{name} {theirs.get(name, 'is missing')} there and {version} here"
        for name, version in ours.items()
        if theirs.get(name) != version
    ]
    if differ:
        raise ModelLoadError(
            f"--ray: the node {node} has other versions than this machine: {', '.join(differ)}; replies would differ, "
            "so install the same versions on all machines"
        )


def check_alike(found: Sequence[Seated], surface: Surface, first: str = "the other nodes") -> None:
    right = surface.loaded.fingerprint
    for seated in found:
        fingerprint = seated.surface.loaded.fingerprint
        if fingerprint != right or seated.surface.methods != surface.methods:
            raise ModelLoadError(
                f"--ray: the node {seated.seat.node.name} loaded another model than {first}: its fingerprint is "
                f"{fingerprint[:12]}, not {right[:12]}; give all nodes the same weights and the same code"
            )


def _started(seat: Seat) -> Any:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(node_id=seat.node.id, soft=False)
    return ray.remote(Scorer).options(num_cpus=seat.cpus, num_gpus=seat.gpus, scheduling_strategy=here).remote()


def _loading(seat: Seat, actor: Any, wanted: Wanted) -> tuple[Seat, Any, Any]:
    return seat, actor, actor.load.remote(replace(wanted, threads=wanted.threads or seat.threads))


def _seated(seat: Seat, actor: Any, loading: Any) -> Seated:
    import ray

    surface = ray.get(loading)
    if isinstance(surface, Failed):
        error = raised(surface, seat.node.name)
        if isinstance(error, ModelLoadError):
            error = ModelLoadError(f"{error} (on the node {seat.node.name})")
        raise error
    return Seated(seat=seat, actor=actor, surface=surface)

"""The model of a run on a Ray cluster, for ``--ray``."""

from collections.abc import Callable
from dataclasses import replace

from vlgate.asking.batching import Caller
from vlgate.errors import OptionError
from vlgate.models.checkpoints.device import ON_ANY_NODE
from vlgate.models.loading.registry import LoadedModel
from vlgate.models.ray.connecting import check_address, nodes, seats
from vlgate.models.ray.messages import Wanted
from vlgate.models.ray.pool import OverActors, Pool, RemoteModel
from vlgate.models.specs import registered
from vlgate.record.options import DEFAULT_BATCH, Options

_HERE = "vlgate.models.reference."  # models that see the tasks, or are as quick as the way to a cluster


def check_cluster(options: Options, workers: str = "") -> None:
    given = f"--ray={options.ray}"
    if workers:
        raise OptionError(
            f"{given} with {workers}: the actors of the cluster score in place of workers; leave {workers} out"
        )
    name = options.model.partition(":")[0]
    known = registered().get(name)
    if known is not None and known.build.startswith(_HERE):
        raise OptionError(f"{given}: the model {name!r} computes nothing that needs a cluster; leave --ray out")
    if options.device not in ON_ANY_NODE:
        expected = f"Ray chooses the GPU of each actor; expected {', '.join(ON_ANY_NODE[:-1])} or {ON_ANY_NODE[-1]}"
        raise OptionError(f"{given} with --device={options.device}: {expected}")
    if options.cache is not None and options.cache_named:
        raise OptionError(f"{given} with --cache: the replies of a cluster are not kept; add --cache=off")
    check_address(options.ray)


def load_on_cluster(options: Options) -> tuple[LoadedModel, Caller]:
    pool = Pool(
        limit=options.call_timeout,
        wanted=Wanted(
            model=options.model,
            folder=options.folder,
            device=options.device,
            dtype=options.dtype,
            seed=options.seed,
            compiled=options.compiled,
        ),
    )
    surface = pool.start(seats(nodes(), options.device))
    model = RemoteModel(pool, surface)
    caller = Caller(name=surface.loaded.name, size=options.batch_size or DEFAULT_BATCH, steps=(OverActors(model),))
    return replace(surface.loaded, model=model), caller


def closer(loaded: LoadedModel) -> Callable[[], None]:
    return loaded.model.pool.close if isinstance(loaded.model, RemoteModel) else lambda: None


def calls_at_once(loaded: LoadedModel) -> int:
    return loaded.model.pool.window if isinstance(loaded.model, RemoteModel) else 1


def cluster_line(loaded: LoadedModel) -> str:
    if not isinstance(loaded.model, RemoteModel):
        return ""
    pool = loaded.model.pool
    actors, places = len(pool.seats), len({seat.node.id for seat in pool.seats})
    return (
        f"Ray: {pool.calls:,} calls by {actors} actor{'s' if actors > 1 else ''} on {places} "
        f"node{'s' if places > 1 else ''}, {pool.retried} given to another actor because one ended"
    )

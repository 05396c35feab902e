"""What a run may remember of its model: the key of a reply covers everything that the reply depends on."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import vlgate
from vlgate.cache.store import Store
from vlgate.inference.batching import Caller
from vlgate.inference.identity import Identities
from vlgate.inference.memory import ROOM_BESIDE_STORE, Memory
from vlgate.inference.remembered import RememberingCaller
from vlgate.models.checkpoints.fingerprint import digest_path, digest_source
from vlgate.models.loading.registered import registered
from vlgate.models.loading.registry import LoadedModel, needs_images
from vlgate.run.model_card import CacheUse
from vlgate.run.options import Options
from vlgate.types import Prepared

_IMAGES = ("pillow", "pillow-heif", "opencv-python", "opencv-python-headless", "numpy", "scipy")
_NETWORKS = (
    "torch", "torchvision", "transformers", "tokenizers", "open_clip_torch", "timm", "sentencepiece", "peft",
    "bitsandbytes", "compressed-tensors", "gptqmodel", "optimum", "torchao",
)  # fmt: skip
_REFERENCE = "vlgate.models.reference."


def remembering(caller: Caller, loaded: LoadedModel, options: Options) -> Caller | RememberingCaller:
    """Return a caller that asks a model nothing twice; a reference model, which costs nothing, is asked everything.

    The replies of a model with a fingerprint of its own go to the cache; those of others are kept until the run ends.
    """
    known = registered().get(loaded.name) if loaded.registered else None
    if isinstance(loaded.model, Prepared) or (known is not None and known.build.startswith(_REFERENCE)):
        return caller
    if options.cache is None or why_not(loaded, options):
        memory = Memory()
        by_name = Identities(memory=memory, by_name=True)
        note = why_not(loaded, options) if options.cache is not None and options.cache_named else ""
        return RememberingCaller(inner=caller, memory=memory, identities=by_name, model=b"", note=note)
    store = Store(options.cache, options.cache_limit)
    memory = Memory(store=store, model=listed_as(loaded, options), room=ROOM_BESIDE_STORE)
    return RememberingCaller(
        inner=caller,
        memory=memory,
        identities=Identities(
            memory=memory, code=_digest(*_versions(_IMAGES), *_source("images", "perturb", "fixtures"))
        ),
        model=model_key(loaded, options),
        opens_images=needs_images(options.model),
    )


def why_not(loaded: LoadedModel, options: Options) -> str:
    """Return why the replies of a model are not cached; empty if they are."""
    if not hasattr(loaded.model, "fingerprint"):
        return f"the replies of {loaded.name!r} are not cached, because it has no attribute fingerprint"
    if getattr(loaded.model, "cached_if_named", False) and not options.cache_named:
        return f"the replies of {loaded.name!r} are cached only if --cache names a folder, because a service may change"
    return ""


def model_key(loaded: LoadedModel, options: Options) -> bytes:
    """Return 32 bytes that differ if anything but the request differs that a reply depends on.

    These are the fingerprint (weights, preprocessing, prompt), the code of the adapters, the versions of libraries,
    dtype, compilation, and the kind of device.
    """
    kind = loaded.device.partition(":")[0]
    settings = (loaded.name, loaded.weights, loaded.fingerprint, options.dtype, str(options.compiled), kind)
    own = () if loaded.registered else _own(loaded, options)
    return code_digest(*settings, *own)


def code_digest(*parts: str) -> bytes:
    """Return 32 bytes of some texts, the versions of libraries, and the code of vlgate that a reply depends on."""
    return _digest(*parts, *_versions(_NETWORKS + _IMAGES), *_source("inference", "models", "images", "fixtures"))


def listed_as(loaded: LoadedModel, options: Options) -> str:
    """Return how ``vlgate cache`` names the replies of a model: no two models with other replies have one name."""
    name = f"{loaded.name}:{loaded.weights}" if loaded.weights else loaded.name
    how = [options.dtype, *(["compiled"] if options.compiled else []), *filter(None, [loaded.device.partition(":")[0]])]
    return f"{name} {loaded.fingerprint[:12]} {' '.join(how)}"


def cache_use(caller: Caller | RememberingCaller) -> CacheUse:
    """Return how a process used its memory."""
    if not isinstance(caller, RememberingCaller):
        return CacheUse()
    counts, store = caller.counts, caller.memory.store
    return CacheUse(
        place="" if store is None else str(store.file.parent),
        asked=counts.asked,
        cached=counts.cached,
        repeated=counts.repeated,
        loaded=caller.loaded(),
        kept=caller.memory.replies if store is not None and store.works else 0,
        evicted=0 if store is None else store.evicted,
        notes=tuple(dict.fromkeys(filter(None, [caller.note, *([] if store is None else store.problems)]))),
    )


def _own(loaded: LoadedModel, options: Options) -> tuple[str, str]:
    """The code and the weights of a user's model: one may change them, and forget the fingerprint."""
    weights = options.folder / Path(loaded.weights).expanduser()
    return digest_source(type(loaded.model)), digest_path(weights) if loaded.weights and weights.exists() else ""


@cache
def _source(*packages: str) -> tuple[str, ...]:
    """A digest of vlgate's own code in some packages: a checkout changes without its version."""
    root = Path(vlgate.__file__).parent
    whole = blake2b(digest_size=16)
    for package in packages:
        for file in sorted((root / package).rglob("*.py")):
            whole.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return vlgate.__version__, whole.hexdigest()


def _versions(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{package} {_version(package)}" for package in packages)


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _digest(*parts: str) -> bytes:
    return blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=32).digest()

"""What a run remembers of its model: its replies by key, its description, and the outcome of its checks."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeGuard

import vlgate
from vlgate.asking.cache.store import ROOM_BESIDE_STORE, Memory, Store, peek
from vlgate.asking.checks.check import Check
from vlgate.asking.dedupe import Identities
from vlgate.asking.predictor import ModelPredictor
from vlgate.asking.reply_cache import ReplyCache
from vlgate.judging.judged import RequestsOf, repeated
from vlgate.models.checkpoints.device import pick_device
from vlgate.models.checkpoints.fingerprint import digest_path, digest_source, installed_version, path_named
from vlgate.models.loading.registry import LoadedModel, import_target, needs_images, takes
from vlgate.models.loading.unloaded import Unloaded, face_from, face_of, stand_in
from vlgate.models.specs import registered
from vlgate.record.model_card import CacheUse
from vlgate.record.options import Options
from vlgate.types import Prepared, Task

# What a run may remember of its model: the key of a reply covers everything that the reply depends on.

_IMAGES = ("pillow", "pillow-heif", "opencv-python", "opencv-python-headless", "numpy", "scipy")
_NETWORKS = (
    "torch", "torchvision", "transformers", "tokenizers", "open_clip_torch", "timm", "sentencepiece", "peft",
    "bitsandbytes", "compressed-tensors", "gptqmodel", "optimum", "torchao",
)  # fmt: skip
_SHORT = 2**16  # requests; their replies take 15 MB
_REFERENCE = "vlgate.models.reference."


def remembering(loaded: LoadedModel, options: Options, tasks: Sequence[Task] = ()) -> ReplyCache | None:
    # Replies of a model with a fingerprint of its own go to the cache; those of others are kept until the run ends. A
    # model that is not loaded yet is loaded before it is first asked, so that no limit counts that time.
    known = registered().get(loaded.name) if loaded.registered else None
    if isinstance(loaded.model, Prepared) or (known is not None and known.build.startswith(_REFERENCE)):
        return None
    if options.cache is None or why_not(loaded, options):
        memory = Memory()
        by_name = Identities(memory=memory, by_name=True)
        note = why_not(loaded, options) if options.cache is not None and options.cache_named else ""
        cache = ReplyCache(memory=memory, identities=by_name, model=b"", note=note, repeated=_repeated(tasks, options))
    else:
        store = Store(options.cache, options.cache_limit)
        memory = Memory(store=store, model=listed_as(loaded, options), room=ROOM_BESIDE_STORE)
        code = _digest(*_versions(_IMAGES), *_source("images", "perturb", "fixtures"))
        cache = ReplyCache(
            memory=memory,
            identities=Identities(memory=memory, code=code),
            model=model_key(loaded, options),
            opens_images=needs_images(options.model),
        )
    model = loaded.model
    return replace(cache, ready=model.load, loaded=lambda: model.loaded) if isinstance(model, Unloaded) else cache


def _repeated(tasks: Sequence[Task], options: Options) -> frozenset[int] | None:
    """The hashes of the requests that a long run asks more than once; None for a run that remembers all replies."""
    size = sum(len(case.requests) for task in tasks for case in task.cases)
    if size <= _SHORT or options.controls_named or options.explain:  # these ask some of all cases again
        return None
    return repeated(RequestsOf([case for task in tasks for case in task.cases]))


def why_not(loaded: LoadedModel, options: Options) -> str:
    if not hasattr(loaded.model, "fingerprint"):
        return f"the replies of {loaded.name!r} are not cached, because it has no attribute fingerprint"
    if getattr(loaded.model, "cached_if_named", False) and not options.cache_named:
        return f"the replies of {loaded.name!r} are cached only if --cache names a folder, because a service may change"
    return ""


def model_key(loaded: LoadedModel, options: Options) -> bytes:
    """Return 32 bytes that differ if anything but the request differs that a reply depends on."""
    # Weights, preprocessing, prompt, the code of the adapters, versions of libraries, dtype, compilation, device
    kind = loaded.device.partition(":")[0]
    settings = (loaded.name, loaded.weights, loaded.fingerprint, options.dtype, str(options.compiled), kind)
    if loaded.registered:
        return code_digest(*settings)
    path = path_named(loaded.weights, options.folder)
    own = "" if path is None else digest_path(path)
    return code_digest(*settings, digest_source(type(loaded.model)), own)


def code_digest(*parts: str) -> bytes:
    return _digest(*parts, *_versions(_NETWORKS + _IMAGES), *_source("asking", "models", "images", "fixtures"))


def listed_as(loaded: LoadedModel, options: Options) -> str:
    name = f"{loaded.name}:{loaded.weights}" if loaded.weights else loaded.name
    how = [options.dtype, *(["compiled"] if options.compiled else []), *filter(None, [loaded.device.partition(":")[0]])]
    return f"{name} {loaded.fingerprint[:12]} {' '.join(how)}"


def cache_use(cache: ReplyCache | None) -> CacheUse:
    if cache is None:
        return CacheUse()
    counts, store = cache.counts, cache.memory.store
    return CacheUse(
        place="" if store is None else str(store.file.parent),
        asked=counts.asked,
        cached=counts.cached,
        repeated=counts.repeated,
        loaded=cache.loaded(),
        kept=cache.memory.replies if store is not None and store.works else 0,
        evicted=0 if store is None else store.evicted,
        notes=tuple(dict.fromkeys(filter(None, [cache.note, *([] if store is None else store.problems)]))),
    )


@cache
def _source(*packages: str) -> tuple[str, ...]:
    # The code itself, because a checkout changes without its version
    root = Path(vlgate.__file__).parent
    whole = blake2b(digest_size=16)
    for package in packages:
        for file in sorted((root / package).rglob("*.py")):
            whole.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return vlgate.__version__, whole.hexdigest()


def _versions(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{package} {installed_version(package)}" for package in packages)


def _digest(*parts: str) -> bytes:
    return blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=32).digest()


# A run whose replies are all in the cache does not load its model: the cache tells what must be known of it.
#
# The face of a model is kept beside its replies, under a key that covers the bytes of its files, the settings, and the
# code and libraries that build it. So the fingerprint, with which the keys of the replies begin, is known without
# building the model.


def unloaded(options: Options, worker: int, build: Callable[[], LoadedModel]) -> LoadedModel | None:
    # It must if the run explains cases, for which it needs the network itself
    if options.cache is None or options.explain or not options.cache.is_dir():
        return None
    device = pick_device(options.device, worker)
    key = face_key(options, device)
    content = peek(options.cache, key) if key else None
    face = None if content is None else face_from(json.loads(content))
    if face is None:
        return None
    return LoadedModel(
        name=face.name,
        weights=face.weights,
        fingerprint=face.fingerprint,
        model=stand_in(face, build),
        registered=True,
        device=device if face.device else "",
    )


def keep_face(loaded: LoadedModel, cache: ReplyCache | None, options: Options) -> None:
    face = face_of(loaded) if _lasts(cache) and not isinstance(loaded.model, Unloaded) else None
    if face is not None and _lasts(cache):
        key = face_key(options, loaded.device or pick_device(options.device))
        _ = key and cache.memory.put({key: json.dumps(asdict(face)).encode()})


def face_key(options: Options, device: str) -> bytes:
    name, _, weights = options.model.partition(":")
    known = registered().get(name)
    if known is None or not known.files:
        return b""
    contents = import_target(known.files, f"model={options.model!r}")(weights, options.folder, known.weights or name)
    seed = str(options.seed) if takes(options.model, "seed", folder=options.folder) else ""
    settings = (options.model, options.dtype, str(options.compiled), device.partition(":")[0], seed)
    return code_digest("face", str(contents), *settings) if contents else b""


# A run that had all its replies from the cache asks its model nothing, so the outcome of the checks is kept there, too.


def kept_checks(predictor: ModelPredictor, tasks: Sequence[Task], options: Options, plan: str) -> tuple[Check, ...]:
    cache = predictor.cache
    if not _lasts(cache) or cache.counts.asked or not cache.counts.cached:
        return ()
    key = _key(cache, tasks, options, plan)
    found, _ = cache.memory.get([key])
    return tuple(Check(**check) for check in json.loads(found[key])) if key in found else ()


def keep_checks(
    cache: ReplyCache | None, checks: tuple[Check, ...], tasks: Sequence[Task], options: Options, plan: str
) -> None:
    if _lasts(cache) and not any(check.outcome == "failed" for check in checks):
        content = json.dumps([asdict(check) for check in checks]).encode()
        cache.memory.put({_key(cache, tasks, options, plan): content})


def _lasts(cache: ReplyCache | None) -> TypeGuard[ReplyCache]:
    return cache is not None and cache.memory.store is not None


def _key(cache: ReplyCache, tasks: Sequence[Task], options: Options, plan: str) -> bytes:
    # The checks depend on the cases, the draws, and the size of the batches besides the model
    images = dict.fromkeys(
        getattr(request, "image", None) for task in tasks for case in task.cases for request in case.requests
    )
    seen = cache.identities.of(image for image in images if image is not None)
    parts = (plan, options.seed, options.ties, options.batch_size, options.missing_images)
    whole = blake2b(repr(parts).encode(), digest_size=16, key=cache.model, person=b"checks")
    for one in seen.values():
        whole.update(one)
    return whole.digest()

"""A run whose replies are all in the cache does not load its model: the cache tells what must be known of it.

The face of a model is kept beside its replies, under a key that covers the bytes of its files, the settings, and the
code and libraries that build it. So the fingerprint, with which the keys of the replies begin, is known without
building the model.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from vlgate.cache.peek import peek
from vlgate.inference.batching import Caller
from vlgate.inference.remembered import RememberingCaller
from vlgate.models.checkpoints.device import pick_device
from vlgate.models.loading.registered import registered
from vlgate.models.loading.registry import LoadedModel, takes
from vlgate.models.loading.resolve import import_target
from vlgate.models.loading.unloaded import Unloaded, face_from, face_of, stand_in
from vlgate.run.asking.remembering import code_digest
from vlgate.run.options import Options

_GPUS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")


def unloaded(options: Options, worker: int, build: Callable[[], LoadedModel]) -> LoadedModel | None:
    """Return the model of the options, to be built by ``build`` when it is asked; None if it must be built to be known.

    It must if the cache does not know it, if only building it tells what its files hold, or if the run explains cases,
    for which it needs the network itself.
    """
    if options.cache is None or options.explain or not options.cache.is_dir():
        return None
    device = device_of(options.device, worker)
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


def keep_face(loaded: LoadedModel, caller: Caller | RememberingCaller, options: Options) -> None:
    """Keep what a later run must know of a model that was built, if its files tell that it is the same."""
    kept = isinstance(caller, RememberingCaller) and caller.memory.store is not None
    face = face_of(loaded) if kept and not isinstance(loaded.model, Unloaded) else None
    if face is not None and isinstance(caller, RememberingCaller):
        key = face_key(options, loaded.device or device_of(options.device, 0))
        _ = key and caller.memory.put({key: json.dumps(asdict(face)).encode()})


def face_key(options: Options, device: str) -> bytes:
    """Return the key of the face of a model; empty if only building the model tells what it is made of."""
    name, _, weights = options.model.partition(":")
    known = registered().get(name)
    if known is None or not known.files:
        return b""
    contents = import_target(known.files, f"model={options.model!r}")(weights, options.folder, known.weights or name)
    seed = str(options.seed) if takes(options.model, "seed", folder=options.folder) else ""
    settings = (options.model, options.dtype, str(options.compiled), device.partition(":")[0], seed)
    return code_digest("face", str(contents), *settings) if contents else b""


def device_of(name: str, worker: int) -> str:
    """Return the device that a worker uses; torch, which takes seconds, is asked only if there may be a GPU."""
    without = sys.platform == "linux" and not any(Path(place).exists() for place in _GPUS)
    return "cpu" if name == "cpu" or (name == "auto" and without) else pick_device(name, worker)

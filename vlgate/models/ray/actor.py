"""The actor: it holds the model on one node of the cluster, and replies to one call after the other."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from vlgate import __version__
from vlgate.asking.adapters import completed
from vlgate.asking.batching import Asking, Call, Caller, in_batches, out_of_memory, watched
from vlgate.asking.items import Copies, gets_names
from vlgate.models.checkpoints.device import gpu_name, pick_device
from vlgate.models.loading.compiled import compiled
from vlgate.models.loading.registry import LoadedModel, load
from vlgate.models.loading.unloaded import note_of
from vlgate.models.ray.messages import (
    ASKED,
    CHECKS,
    PLAIN,
    Failed,
    NotHere,
    Outcome,
    Replied,
    Surface,
    TooLarge,
    Wanted,
    absent,
    failed,
    noted,
    received,
)
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import Ask, Compare, Match, Prepared

_PACKAGES = ("numpy", "pillow", "opencv-python", "torch", "torchvision", "transformers", "open_clip_torch")


class _TooLargeError(Exception):
    """A call ran out of memory on more than one item."""


def _in_one(_: Caller, then: Asking, call: Call, items: Sequence[Any]) -> list[Any]:
    """The step that lets the run halve a batch that is too large: it would halve the next ones, too."""
    try:
        return then(call, items)
    except (MemoryError, RuntimeError) as error:
        if len(items) > 1 and out_of_memory(error):
            raise _TooLargeError from error
        raise


STEPS = (in_batches, _in_one, watched)


class Scorer:
    """The model of one actor. Ray calls the methods one at a time, in the order in which they were asked for."""

    def __init__(self) -> None:
        """Start without a model: the versions are compared before it is loaded."""
        self._loaded: LoadedModel | None = None
        self._caller = Caller(name="", size=1, steps=STEPS)

    def versions(self) -> dict[str, str]:
        """Return the versions of what the replies of a model depend on."""
        return versions()

    def load(self, wanted: Wanted) -> Surface | Failed:
        """Load the model on the devices that Ray gave this actor.

        Returns: what the model shows of itself, or what was raised.
        """
        if wanted.threads is not None and "torch" not in sys.modules:
            os.environ["OMP_NUM_THREADS"] = str(wanted.threads)  # torch reads it when it is imported
        try:
            device = pick_device(wanted.device)
            loaded = load(wanted.model, device=device, dtype=wanted.dtype, seed=wanted.seed, folder=wanted.folder)
            self._loaded = compiled(loaded, device) if wanted.compiled else loaded
            copies = Copies(names=gets_names(loaded.model))
            self._caller = Caller(name=loaded.name, size=1, dtype=wanted.dtype, copies=copies, steps=STEPS)
            return _surface(self._loaded)
        except BaseException as error:  # noqa: BLE001  # a foreign model may raise anything; the run raises it again
            return failed(error)

    def ask(self, call: Call, items: tuple[object, ...], files: dict[str, int], *pixels: Pixels | Failed) -> Outcome:
        """Call a method of the model on some items; see ``Caller``.

        ``files`` holds the sizes of the files that the items need, ``pixels`` the images that have no file here.
        """
        if file := absent(files):
            return NotHere(file=file)
        try:
            whole = received(items, pixels)
            replies = self._replies(call, whole)
        except _TooLargeError:
            return TooLarge()
        except BaseException as error:  # noqa: BLE001  # as above
            return failed(error)
        return Replied(replies=replies, digests=tuple(noted(whole)), cut=self._cut(whole), neither=self._neither(whole))

    def note(self) -> str:
        """Return what the model notes about itself now."""
        return "" if self._loaded is None else note_of(self._loaded)

    @property
    def _model(self) -> Any:
        return None if self._loaded is None else self._loaded.model

    def _replies(self, call: Call, items: tuple[object, ...]) -> object:
        method = getattr(self._model, call.called)
        if call.kind == "plain":
            return method() if call.called in CHECKS else method(items)
        self._caller.size = len(items)
        return self._caller.ask(replace(call, method=method), items)

    def _cut(self, items: Sequence[object]) -> tuple[str, ...]:
        cut = getattr(self._model, "cut_texts", None)
        return tuple(text for item in items for text in _texts(item) if text in cut) if cut else ()

    def _neither(self, items: Sequence[object]) -> tuple[int, ...]:
        unsure = self._caller.neither(self._model, items)
        return tuple(place for place, item in enumerate(items) if item in unsure) if unsure else ()


def _texts(item: object) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif isinstance(item, Match):
        yield item.text
    elif isinstance(item, Compare):
        yield item.question
    elif isinstance(item, Ask):
        yield item.question
        yield from (completed(item, choice).text for choice in item.choices)


def _surface(loaded: LoadedModel) -> Surface:
    model = loaded.model
    return Surface(
        name=loaded.name,
        weights=loaded.weights,
        fingerprint=loaded.fingerprint,
        registered=loaded.registered,
        device=loaded.device,
        methods=tuple(name for name in (*ASKED, *PLAIN) if callable(getattr(model, name, None))),
        threshold=getattr(model, "decision_threshold", None),
        prepares=isinstance(model, Prepared),
        image_names=gets_names(model),
        gpu=gpu_name(loaded.device),
    )


def versions() -> dict[str, str]:
    """Return the versions in this process: of vlgate, Python, and the packages that the replies depend on."""
    found = {"vlgate": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found

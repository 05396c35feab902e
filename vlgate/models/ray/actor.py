"""The actor: it holds the model on one node of the cluster, and replies to one call after the other."""

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from vlgate import __version__
from vlgate.asking.adapters import completed
from vlgate.asking.batching import Asking, Call, Caller, in_batches, out_of_memory, watched
from vlgate.asking.items import Copies, gets_names, text_in
from vlgate.models.checkpoints.device import gpu_name, pick_device
from vlgate.models.checkpoints.fingerprint import installed_version
from vlgate.models.loading.compiled import compiled
from vlgate.models.loading.registry import LoadedModel, load
from vlgate.models.loading.unloaded import note_of
from vlgate.models.ray import messages
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import Ask, Prepared

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
        return versions()

    def load(self, wanted: messages.Wanted) -> messages.Surface | messages.Failed:
        if wanted.threads is not None and "torch" not in sys.modules:
            os.environ["OMP_NUM_THREADS"] = str(wanted.threads)  # torch reads it when it is imported
        try:
            device = pick_device(wanted.device)
            loaded = load(wanted.model, device=device, dtype=wanted.dtype, seed=wanted.seed, folder=wanted.folder)
            loaded = self._loaded = compiled(loaded, device) if wanted.compiled else loaded
            model, names = loaded.model, gets_names(loaded.model)
            copies = Copies(names=names)
            self._caller = Caller(name=loaded.name, size=1, dtype=wanted.dtype, copies=copies, steps=STEPS)
            return messages.Surface(
                loaded=replace(loaded, model=None),
                methods=tuple(
                    name for name in (*messages.ASKED, *messages.PLAIN) if callable(getattr(model, name, None))
                ),
                threshold=getattr(model, "decision_threshold", None),
                prepares=isinstance(model, Prepared),
                image_names=names,
                gpu=gpu_name(loaded.device),
            )
        except BaseException as error:  # noqa: BLE001  # a foreign model may raise anything; the run raises it again
            return messages.failed(error)

    def ask(
        self, call: Call, items: tuple[object, ...], files: dict[str, int], *pixels: Pixels | messages.Failed
    ) -> messages.Outcome:
        if file := messages.absent(files):
            return messages.NotHere(file=file)
        model: Any = None if self._loaded is None else self._loaded.model
        replies: object
        try:
            whole = messages.received(items, pixels)
            method = getattr(model, call.called)
            if call.kind == "plain":
                replies = method() if call.called in messages.CHECKS else method(whole)
            else:
                self._caller.size = len(whole)
                replies = self._caller.ask(replace(call, method=method), whole)
        except _TooLargeError:
            return messages.TooLarge()
        except BaseException as error:  # noqa: BLE001  # as above
            return messages.failed(error)
        cut, unsure = getattr(model, "cut_texts", None) or (), self._caller.neither(model, whole)
        return messages.Replied(
            replies=replies,
            digests=tuple(messages.noted(whole)),
            cut=tuple(text for item in whole for text in _texts(item) if text in cut) if cut else (),
            neither=tuple(index for index, item in enumerate(whole) if item in unsure) if unsure else (),
        )

    def note(self) -> str:
        return "" if self._loaded is None else note_of(self._loaded)


def _texts(item: object) -> Iterator[str]:
    if isinstance(item, Ask):
        yield from (item.question, *(completed(item, choice).text for choice in item.choices))
    elif text := text_in(item):
        yield text


def versions() -> dict[str, str]:
    installed = {package: number for package in _PACKAGES if (number := installed_version(package))}
    return {"vlgate": __version__, "Python": platform.python_version(), **installed}

"""Messages between a run and its actors: calls, replies, images, and errors that are raised again in the run."""

from __future__ import annotations

import builtins
import importlib
import os
import pickle
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.asking.dedupe import WatchedLoad
from vlgate.asking.items import images_in, with_images_in
from vlgate.errors import ImageError, ModelReplyError, described
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image


# What passes between a run and the actors that hold its model.

ASKED = ("match", "encode_images", "encode_texts", "accepts", "answer", "compare", "perplexity")
"""The methods of a model that are called in batches; see the protocols of ``vlgate.types``."""
CHECKS = ("check_compare",)
"""The methods of a model that take nothing and raise what is wrong."""
PLAIN = ("text_keys", "boxes", "attended", *CHECKS)
"""The methods of a model that are called as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The model that every actor loads, as the options of the run name it.

    ``threads`` is the number of threads that it may compute with; None for the share of its actor.
    """

    model: str
    folder: Path
    device: str = "auto"
    dtype: str = "float32"
    seed: int = 0
    compiled: bool = False
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What a loaded model shows of itself; see ``LoadedModel``.

    ``methods`` are those of ``ASKED`` and ``PLAIN`` that the model has, ``threshold`` is its ``decision_threshold``,
    ``prepares`` whether it has a method ``prepare``, ``image_names`` whether it needs the names of images.
    ``gpu`` is the name of its GPU, empty without one.
    """

    name: str
    weights: str
    fingerprint: str
    registered: bool
    device: str
    methods: tuple[str, ...]
    threshold: object = None
    prepares: bool = False
    image_names: bool = False
    gpu: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The replies to the items of a call.

    ``digests`` holds the digests of the pixels that were noted, each with the position of its item; see
    ``vlgate.asking.dedupe``. ``cut`` holds the texts that the model did not read to the end, ``neither`` the
    positions of the items whose answer probably begins with neither yes nor no.
    """

    replies: object
    digests: tuple[tuple[int, bytes], ...] = ()
    cut: tuple[str, ...] = ()
    neither: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLarge:
    """The actor ran out of memory on more than one item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHere:
    """A file of an image is not on the actor's node, or has another size there."""

    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """What the model raised: the class, by which it is made again, its arguments and state, and its traceback.

    ``said`` is the class and the message as one line.
    """

    module: str
    name: str
    said: str
    args: tuple[object, ...] = ()
    state: Mapping[str, object] | None = None
    trace: str = ""


Outcome = Replied | TooLarge | NotHere | Failed


# What a model raises on an actor is raised in the run, as if the model were there.


def failed(error: BaseException) -> Failed:
    """Describe an exception so that it can be sent; arguments that cannot be pickled are left out."""
    kind = type(error)
    trace = "".join(traceback.format_exception(error)).rstrip()
    plain = Failed(module=kind.__module__, name=kind.__qualname__, said=described(error), trace=trace)
    try:
        pickle.dumps((error.args, vars(error)))
    except Exception:  # noqa: BLE001  # the arguments of a foreign exception may raise anything
        return Failed(module="", name=plain.name, said=plain.said, trace=trace)
    return Failed(
        module=plain.module, name=plain.name, said=plain.said, args=error.args, state=dict(vars(error)), trace=trace
    )


def raised(found: Failed, node: str) -> BaseException:
    """Make the exception again.

    Classes of Python and of vlgate are made as they were. Any other is a ModelReplyError, because to import the module
    of a foreign class could load a whole framework.

    >>> raised(failed(ValueError("no weights")), "10.0.0.7")
    ValueError('no weights')
    """
    error = _made(found)
    if error is None:
        error = ModelReplyError(f"the model raised {found.said}")
    error.add_note(f"raised on the node {node} of the cluster:\n{found.trace}")
    return error


def _made(found: Failed) -> BaseException | None:
    if found.module == "builtins":
        kind = getattr(builtins, found.name, None)
    elif found.module == "vlgate.errors":
        kind = getattr(importlib.import_module(found.module), found.name, None)
    else:
        return None
    if not isinstance(kind, type) or not issubclass(kind, BaseException):
        return None  # pytest gives its own exceptions the module "builtins"
    if found.module == "builtins":
        error: BaseException = kind(*found.args)
    else:
        error = kind.__new__(kind, *found.args)  # not __init__, which takes other arguments than those it keeps
    for name, value in (found.state or {}).items():
        setattr(error, name, value)
    return error


# How images reach an actor: by the path of their file, as a drawing, or as pixels in the cluster's object store.

_KEPT = 256 * 2**20  # bytes of pixels that stay in the object store for the next chunks
_DEEPEST = 12  # an image that is perturbed, fitted, watched and hidden has five levels


@dataclass(frozen=True, slots=True, kw_only=True)
class SentLoad:
    """The ``load`` of an image whose pixels are the argument ``place`` of a call."""

    place: int

    def __call__(self) -> Image:
        raise RuntimeError("the pixels of this image were not received")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PixelsLoad:
    """The ``load`` of an image whose pixels, or the error of decoding it, were received."""

    pixels: Pixels | Failed

    def __call__(self) -> Image:
        from PIL import Image

        if isinstance(self.pixels, Failed):
            raise raised(self.pixels, "of the run")
        return Image.fromarray(self.pixels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """The items of a call as they are sent, the sizes of the files that they need, and references to pixels."""

    items: tuple[object, ...]
    files: dict[str, int] = field(default_factory=dict)
    pixels: tuple[Any, ...] = ()


@dataclass(slots=True)
class ImageStore:
    """Prepares items for actors. ``put`` takes an object to the cluster's store and returns a reference to it."""

    put: Callable[[object], Any]
    _kept: OrderedDict[LazyImage, tuple[Any, int]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def wired(self, items: Sequence[object], *, by_pixels: bool, all_by_pixels: bool = False) -> Wired:
        """Prepare the items of one call.

        ``by_pixels`` sends images that need files as pixels, ``all_by_pixels`` every image.
        """
        files: dict[str, int] = {}
        pixels: list[Any] = []
        made: dict[int, LazyImage] = {}
        digests: dict[LazyImage, bytes] = {}

        def _as_sent(image: LazyImage) -> LazyImage:
            needed = [] if all_by_pixels else list(files_of(image))
            if all_by_pixels or (needed and by_pixels):
                pixels.append(self._pixels(image))
                return replace(image, load=SentLoad(place=len(pixels) - 1))
            files.update((file, os.stat(file).st_size) for file in needed)  # noqa: PTH116  # twice as quick as Path
            return image

        def _sent(image: LazyImage) -> LazyImage:
            if id(image) not in made:
                load = image.load
                if isinstance(load, WatchedLoad):  # its digests are those of the run so far
                    made[id(image)] = replace(image, load=WatchedLoad(made=_as_sent(load.made), digests=digests))
                else:
                    made[id(image)] = _as_sent(image)
            return made[id(image)]

        wired = tuple(with_images_in(item, _sent) for item in items)
        return Wired(items=wired, files=files, pixels=tuple(pixels))

    def _pixels(self, image: LazyImage) -> Any:
        with self._lock:
            if image in self._kept:
                self._kept.move_to_end(image)
                return self._kept[image][0]
        try:
            found: Pixels | Failed = np.asarray(image.load())
        except ImageError as error:
            found = failed(error)
        reference = self.put(found)
        with self._lock:
            self._kept[image] = reference, found.nbytes if isinstance(found, np.ndarray) else 1000
            while len(self._kept) > 1 and sum(size for _, size in self._kept.values()) > _KEPT:
                self._kept.popitem(last=False)
        return reference


def received(items: Sequence[object], pixels: Sequence[Pixels | Failed]) -> tuple[object, ...]:
    """Return the items of a call, on the actor, with the pixels that were sent."""
    made: dict[int, LazyImage] = {}

    def _whole(image: LazyImage) -> LazyImage:
        if id(image) not in made:
            load = image.load
            if isinstance(load, SentLoad):
                made[id(image)] = replace(image, load=PixelsLoad(pixels=pixels[load.place]))
            elif isinstance(load, WatchedLoad):
                made[id(image)] = replace(image, load=WatchedLoad(made=_whole(load.made), digests=load.digests))
            else:
                made[id(image)] = image
        return made[id(image)]

    return tuple(with_images_in(item, _whole) for item in items)


def noted(items: Sequence[object]) -> Iterator[tuple[int, bytes]]:
    """Yield the digests of pixels that were noted, each with the number of its image."""
    for place, image in _numbered(items):
        load = image.load
        if isinstance(load, WatchedLoad) and load.made in load.digests:
            yield place, load.digests[load.made]


def note(items: Sequence[object], digests: Sequence[tuple[int, bytes]]) -> None:
    """Note in the run what an actor noted of the pixels of these items."""
    images = dict(_numbered(items))
    for place, digest in digests:
        load = images[place].load
        if isinstance(load, WatchedLoad):
            load.digests[load.made] = digest


def _numbered(items: Sequence[object]) -> Iterator[tuple[int, LazyImage]]:
    return enumerate(image for item in items for image in images_in(item))


def absent(files: dict[str, int]) -> str:
    """Return a file that is not on this machine, cannot be read or has another size here; empty if all are there."""
    for file, size in files.items():
        try:
            if os.stat(file).st_size != size or not os.access(file, os.R_OK):  # noqa: PTH116  # as above
                return file
        except OSError:
            return file
    return ""


def files_of(held: object, depth: int = 0) -> Iterator[str]:
    """Yield the files that an image's ``load`` reads: the absolute paths among its arguments that are there."""
    if depth > _DEEPEST:
        return
    if isinstance(held, str | Path):
        if os.path.isabs(held) and os.path.isfile(held):  # noqa: PTH113, PTH117  # as above
            yield str(held)
        return
    for part in _parts(held):
        yield from files_of(part, depth + 1)


def _parts(held: object) -> Sequence[object]:
    if isinstance(held, LazyImage):
        return (held.load,)
    if isinstance(held, partial):
        return (*held.args, *held.keywords.values())
    if isinstance(held, tuple | list):
        return held
    if not type(held).__module__.startswith("vlgate."):
        return ()
    if is_dataclass(held):
        return [getattr(held, one.name) for one in fields(held)]
    return list(getattr(held, "__dict__", {}).values())

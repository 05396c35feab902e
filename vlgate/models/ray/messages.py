"""Messages between a run and its actors: calls, replies, images, and errors that are raised again in the run."""

from __future__ import annotations

import builtins
import os
import pickle
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate import errors
from vlgate.asking.dedupe import WatchedLoad
from vlgate.asking.items import images_in, with_images_in
from vlgate.errors import ImageError, ModelReplyError, described
from vlgate.models.loading.registry import LoadedModel
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

# The methods of a model that are called in batches; see the protocols of ``vlgate.types``.
ASKED = ("match", "encode_images", "encode_texts", "accepts", "answer", "compare", "perplexity")
CHECKS = ("check_compare",)  # the methods of a model that take nothing and raise what is wrong
PLAIN = ("text_keys", "boxes", "attended", *CHECKS)  # the methods of a model that are called as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    model: str
    folder: Path
    device: str = "auto"
    dtype: str = "float32"
    seed: int = 0
    compiled: bool = False
    threads: int | None = None  # None for the share of its actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    loaded: LoadedModel  # without the model
    methods: tuple[str, ...]  # those of ``ASKED`` and ``PLAIN`` that it has
    threshold: object = None  # its ``decision_threshold``
    prepares: bool = False  # whether it has a method ``prepare``
    image_names: bool = False  # whether it needs the names of images
    gpu: str = ""  # the name of its GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    replies: object
    digests: tuple[tuple[int, bytes], ...] = ()  # of pixels that were noted, with the positions of their images
    cut: tuple[str, ...] = ()  # texts that the model did not read to the end
    neither: tuple[int, ...] = ()  # positions of items whose answer probably begins with neither yes nor no


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLarge:
    """The actor ran out of memory on more than one item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHere:
    file: str  # it is not on the actor's node, or has another size there


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    module: str
    name: str
    said: str  # the class and the message as one line
    args: tuple[object, ...] = ()
    state: Mapping[str, object] | None = None
    trace: str = ""


Outcome = Replied | TooLarge | NotHere | Failed


def failed(error: BaseException) -> Failed:
    kind = type(error)
    trace = "".join(traceback.format_exception(error)).rstrip()
    plain = Failed(module="", name=kind.__qualname__, said=described(error), trace=trace)
    try:
        pickle.dumps((error.args, vars(error)))
    except Exception:  # noqa: BLE001  # the arguments of a foreign exception may raise anything
        return plain
    return replace(plain, module=kind.__module__, args=error.args, state=dict(vars(error)))


def raised(failure: Failed, node: str) -> BaseException:
    """Make the exception again, as if the model were in the run.

    >>> raised(failed(ValueError("no weights")), "10.0.0.7")
    ValueError('no weights')
    """
    # Classes of Python and of vlgate are made as they were. Any other is a ModelReplyError, because to import the
    # module of a foreign class could load a whole framework. pytest gives its own exceptions the module "builtins".
    homes = {"builtins": builtins, "vlgate.errors": errors}
    kind = getattr(homes.get(failure.module), failure.name, None)
    if not isinstance(kind, type) or not issubclass(kind, BaseException):
        error: BaseException = ModelReplyError(f"the model raised {failure.said}")
    else:
        # Not __init__ of ours, which takes other arguments than those it keeps.
        error = kind(*failure.args) if failure.module == "builtins" else kind.__new__(kind, *failure.args)
        for name, value in (failure.state or {}).items():
            setattr(error, name, value)
    error.add_note(f"raised on the node {node} of the cluster:\n{failure.trace}")
    return error


_KEPT = 256 * 2**20  # bytes of pixels that stay in the object store for the next chunks
_DEEPEST = 12  # an image that is perturbed, fitted, watched and hidden has five levels


@dataclass(frozen=True, slots=True, kw_only=True)
class SentLoad:
    place: int  # of the pixels among the arguments of a call

    def __call__(self) -> Image:
        raise RuntimeError("the pixels of this image were not received")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PixelsLoad:
    pixels: Pixels | Failed

    def __call__(self) -> Image:
        from PIL import Image

        if isinstance(self.pixels, Failed):
            raise raised(self.pixels, "of the run")
        return Image.fromarray(self.pixels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    items: tuple[object, ...]
    files: dict[str, int] = field(default_factory=dict)  # the sizes of the files that they need
    pixels: tuple[Any, ...] = ()  # references to them


@dataclass(slots=True)
class ImageStore:
    put: Callable[[object], Any]  # takes an object to the cluster's store and returns a reference to it
    _kept: OrderedDict[LazyImage, tuple[Any, int]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def wired(self, items: Sequence[object], *, by_pixels: bool, all_by_pixels: bool = False) -> Wired:
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
            pixels: Pixels | Failed = np.asarray(image.load())
        except ImageError as error:
            pixels = failed(error)
        reference = self.put(pixels)
        with self._lock:
            self._kept[image] = reference, pixels.nbytes if isinstance(pixels, np.ndarray) else 1000
            while len(self._kept) > 1 and sum(size for _, size in self._kept.values()) > _KEPT:
                self._kept.popitem(last=False)
        return reference


def received(items: Sequence[object], pixels: Sequence[Pixels | Failed]) -> tuple[object, ...]:
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
    for index, image in enumerate(image for item in items for image in images_in(item)):
        load = image.load
        if isinstance(load, WatchedLoad) and load.made in load.digests:
            yield index, load.digests[load.made]


def note(items: Sequence[object], digests: Sequence[tuple[int, bytes]]) -> None:
    images = [image for item in items for image in images_in(item)]
    for place, digest in digests:
        load = images[place].load
        if isinstance(load, WatchedLoad):
            load.digests[load.made] = digest


def absent(files: dict[str, int]) -> str:
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
    parts: Iterable[object] = ()
    if isinstance(held, LazyImage):
        parts = (held.load,)
    elif isinstance(held, partial):
        parts = (*held.args, *held.keywords.values())
    elif isinstance(held, tuple | list):
        parts = held
    elif type(held).__module__.startswith("vlgate."):
        slots = [getattr(held, part.name) for part in fields(held)] if is_dataclass(held) else None
        parts = getattr(held, "__dict__", {}).values() if slots is None else slots
    for part in parts:
        yield from files_of(part, depth + 1)

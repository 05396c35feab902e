"""How images reach an actor: by the path of their file, as a drawing, or as pixels in the cluster's object store."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.cluster.crossing import failed, raised
from vlgate.cluster.records import Failed
from vlgate.errors import ImageError
from vlgate.inference.alike import WatchedLoad
from vlgate.inference.items import images_in, with_images_in
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

_KEPT = 256 * 2**20  # bytes of pixels that stay in the object store for the next chunks
_DEEPEST = 12  # an image that is perturbed, fitted, watched and hidden has five levels


@dataclass(frozen=True, slots=True, kw_only=True)
class SentLoad:
    """The ``load`` of an image whose pixels are the argument ``place`` of a call."""

    place: int

    def __call__(self) -> Image:
        """Raise RuntimeError: an actor puts the pixels in its place."""
        raise RuntimeError("the pixels of this image were not received")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PixelsLoad:
    """The ``load`` of an image whose pixels, or the error of decoding it, were received."""

    pixels: Pixels | Failed

    def __call__(self) -> Image:
        """Return the image, mode RGB.

        Raises: ImageError if it could not be decoded in the process of the run.
        """
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

        Args:
            items: texts, images, or requests with images.
            by_pixels: whether the files of this run are not on the actor's node.
            all_by_pixels: whether images that need no file are sent as pixels, too.
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
        """A reference to the pixels of an image, or to the error of decoding it."""
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
    """The images of all items, numbered."""
    return enumerate(image for item in items for image in images_in(item))


def absent(files: dict[str, int]) -> str:
    """Return a file that is not on this machine, cannot be read or has another size here; empty if all are there.

    >>> absent({"/no/such/file": 7})
    '/no/such/file'
    """
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

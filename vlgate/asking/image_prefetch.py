"""Decode images and prepare inputs in threads before a model asks for them; keep the images decoded last."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast, runtime_checkable

from vlgate.asking.items import images_in, with_images_in
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image


ROOM = 64 * 2**20
"""The bytes of pixels that are kept: about 70 images of 640 x 480, which is one batch of the default size."""


@dataclass(slots=True, kw_only=True)
class Decoded:
    """Copies of decoded images of at most ``room`` bytes, because a model may draw on the image that it gets."""

    room: int = ROOM
    _kept: dict[Hashable, Image] = field(default_factory=dict)
    _held: int = 0
    _lock: Lock = field(default_factory=Lock)

    def get(self, image: LazyImage) -> Image | None:
        key = _key(image)
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                return None
            self._kept[key] = found  # as the last one, which is forgotten last
        return found.copy()

    def keep(self, image: LazyImage, loaded: Image) -> None:
        """Keep a copy of an image that was decoded, if it takes at most a quarter of the room."""
        if not hasattr(loaded, "getbands") or _size(loaded) > self.room // 4:  # a user's own LazyImage may load others
            return
        copied, key = loaded.copy(), _key(image)
        with self._lock:
            before = self._kept.pop(key, None)
            self._held += _size(copied) - (0 if before is None else _size(before))
            self._kept[key] = copied
            while self._held > self.room:
                self._held -= _size(self._kept.pop(next(iter(self._kept))))


def _key(image: LazyImage) -> Hashable:
    """An image and the state of its file, which may get new content under its old name."""
    try:
        state = os.stat(image.where.partition("#")[0])  # noqa: PTH116  # three times as fast as Path.stat
    except (OSError, ValueError):
        return image
    return image, state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino


def _size(image: Image) -> int:
    return image.width * image.height * len(image.getbands())


# What a model gets stays the same: an image that a thread has decoded is handed out once, and a second ``load()``, or
# one of an image that no thread could decode, loads the image as if there were no threads. Nothing is decoded for a
# model that loads no images. A bounded number of images is held, however many a run has.

Item = TypeVar("Item")
MOST_THREADS = 8
MOST_IMAGES = 128
MOST_BYTES = 256 * 2**20  # how many images, and how many bytes of their pixels, are decoded and not yet asked for


@runtime_checkable
class Noting(Protocol):
    made: LazyImage

    def note(self, loaded: Image) -> None: ...


def threads() -> int:
    """How many threads may decode in this process: its share of the CPUs, if it is a worker of pytest-xdist."""
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    return min(MOST_THREADS, max(1, cores() // (int(workers) if workers.isdecimal() and int(workers) else 1)))


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True, kw_only=True)
class Ahead:
    """Decodes images ahead of one model. ``loads`` says whether the model has loaded an image so far."""

    loads: bool = False
    decoded: Decoded = field(default_factory=Decoded)

    @contextmanager
    def through(self, items: Sequence[Item]) -> Iterator[Callable[[int, int], tuple[Item, ...]]]:
        # Nothing is decoded before the model loads an image itself. All threads have ended when the context ends.
        if not items or not images_in(items[0]):
            yield lambda start, stop: tuple(items[start:stop])
            return
        window: Window | None = None

        def given(start: int, stop: int) -> tuple[Item, ...]:
            nonlocal window
            some = items[start:stop]
            if not self.loads:  # one image tells whether the model loads any, and costs nothing to speak of
                return (_with(some[0], lambda image: Taken(image, self)), *some[1:])
            if window is None:
                images = [image for item in items[start:] for image in images_in(item)]
                window = Window(images, threads(), self.decoded)
            queue = window
            return tuple(_with(item, lambda image: Taken(image, self, queue)) for item in some)

        try:
            yield given
        finally:
            if window is not None:
                window.close()


class Window:
    """Images that are being decoded, ``at_once`` at a time from the first ``take`` on, or are not yet taken."""

    def __init__(self, images: Iterable[LazyImage], at_once: int, decoded: Decoded) -> None:
        self.decoded = decoded
        self._process = os.getpid()
        self._at_once = at_once
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="vlgate-decode")
        self._order = deque(dict.fromkeys(images))
        self._left = set(self._order)
        self._begun: dict[LazyImage, Future[Image]] = {}
        self._sizes: dict[LazyImage, int] = {}  # of those that are decoded
        self._working = 0
        self._lock = Lock()

    def take(self, image: LazyImage) -> Image | None:
        """The decoded image; None if no thread could decode it, or in the child of a fork, which has no threads."""
        if os.getpid() != self._process:
            return None
        with self._lock:
            begun = self._begun.pop(image, None)
            self._sizes.pop(image, None)
            if image in self._left:
                self._left.discard(image)
                if len(self._begun) >= MOST_IMAGES:  # the model passes some over: they make room
                    oldest = next(iter(self._begun))
                    del self._begun[oldest]
                    self._sizes.pop(oldest, None)
            self._begin()
        if begun is None:
            return self.decoded.get(image) or _decoded(image, self.decoded)
        return begun.result() if begun.exception() is None else None

    def close(self) -> None:
        with self._lock:
            self._left.clear()
            self._begun.clear()
            self._sizes.clear()
        self._pool.shutdown()

    def _begin(self) -> None:
        """Begin as many images as the bounds allow; called with the lock."""
        while self._working < self._at_once and len(self._begun) < MOST_IMAGES and self._order:
            if sum(self._sizes.values()) >= MOST_BYTES:
                return
            image = self._order.popleft()
            if image in self._left:
                self._left.discard(image)
                self._working += 1
                self._begun[image] = self._pool.submit(self._work, image)

    def _work(self, image: LazyImage) -> Image:
        size = 0
        try:
            found = self.decoded.get(image) or _decoded(image, self.decoded)
            size = _size(found)
            return found
        finally:
            with self._lock:
                self._working -= 1
                if image in self._begun:
                    self._sizes[image] = size
                self._begin()


@dataclass(frozen=True, slots=True)
class Taken:
    made: LazyImage
    ahead: Ahead
    window: Window | None = None

    def __call__(self) -> Image:
        if self.window is None:
            self.ahead.loads = True
            return _noted(self.made, _decoded(self.made, self.ahead.decoded))
        pixels = self.window.take(self.made)
        return self.made.load() if pixels is None else _noted(self.made, pixels)

    def __reduce__(self) -> tuple[Any, ...]:
        return attrgetter("load"), (self.made,)  # in another process, the image is loaded as it is


def _decoded(image: LazyImage, decoded: Decoded) -> Image:
    """Decode an image, and keep it; nothing is noted, because the model may never get it."""
    load: object = image.load
    found = load.made.load() if isinstance(load, Noting) else image.load()
    decoded.keep(image, found)
    return found


def _noted(image: LazyImage, found: Image) -> Image:
    load: object = image.load
    if isinstance(load, Noting):
        load.note(found)
    return found


def _with(item: Item, load: Callable[[LazyImage], Callable[[], Image]]) -> Item:
    return cast("Item", with_images_in(item, lambda image: replace(image, load=load(image))))


Made = TypeVar("Made")
BESIDE = frozenset({"cuda"})  # on the CPU, the thread would compete with the model


class _Begun(BaseException):
    """Ends a call that was only to tell what inputs it needs; no model catches it."""


@dataclass(slots=True, kw_only=True)
class InputsAhead(Generic[Made]):
    """A model's attribute ``inputs_ahead``: makes the inputs of the next batch in a thread while it works on one.

    A GPU would wait while pixels are decoded, resized and normalised. The model's methods ``CALLED`` get their inputs
    from ``of``, which passes parts of a batch, such as its images, to ``make``. ``begin`` calls such a method with the
    next batch until it asks for inputs, and ends that call there. ``--call-timeout`` limits ``begin``, and each call of
    the model with its wait for the thread; what the thread makes for the next batch counts in that batch's call.
    """

    CALLED: ClassVar[frozenset[str]] = frozenset({"match", "answer", "encode_images"})
    make: Callable[[tuple[Any, ...]], Made]  # called in the thread, if there is one: two must not use one processor
    device: Any  # of torch
    _thread: ThreadPoolExecutor | None = None
    _now: tuple[tuple[Any, ...], Future[Made]] | None = None  # the parts of the batch that the model works on
    _next: tuple[tuple[Any, ...], Future[Made]] | None = None
    _learns: bool = False  # whether the model is called to tell its parts

    @contextmanager
    def running(self) -> Iterator[None]:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vlgate-prepare")
        try:
            yield
        finally:
            self._thread.shutdown(cancel_futures=True)
            self._thread, self._now, self._next, self._learns = None, None, None, False

    def of(self, parts: tuple[Any, ...]) -> Made:
        """Return the inputs of some parts of a batch: those that were begun, if they are of these parts."""
        if self._thread is None:
            return self.make(parts)
        if self._learns:
            self._next = parts, self._thread.submit(self.make, parts)
            raise _Begun
        begun, self._now = self._now, None
        if begun is not None and begun[0] == parts and begun[1].exception() is None:
            return begun[1].result()
        return self._thread.submit(self.make, parts).result()  # what failed fails again, in the call that needs it

    def begin(self, method: Any, items: Sequence[object], coming: Sequence[object]) -> None:
        """Begin the inputs of the ``coming`` batch, after those of the items before it if these are not begun."""
        if self._next is None:
            self._learn(method, items)
        self._now, self._next = self._next, None
        self._learn(method, coming)

    def _learn(self, method: Any, items: Sequence[object]) -> None:
        self._learns = True
        with suppress(_Begun, Exception):  # the model raises it again when it is asked
            if items:
                method(items)
        self._learns = False

    def drop(self) -> None:
        """Forget what was begun, because the batches change."""
        if self._next is not None:
            self._next[1].cancel()
        self._now, self._next = None, None


def inputs_ahead(model: object) -> InputsAhead[Any] | None:
    ahead: object = getattr(model, "inputs_ahead", None)
    return ahead if isinstance(ahead, InputsAhead) and ahead.device.type in BESIDE else None

"""The first step to a model: what is the same to it is asked once, in a hashed order; the digests of images."""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vlgate.asking.batching import Asking, Call, Caller, Problem
from vlgate.asking.items import Ordered, hashed_order, images_in, with_images_in
from vlgate.errors import ImageError
from vlgate.types import Ask, Compare, FileContent, LazyImage, Match, images_of, recipe_of, text_of

if TYPE_CHECKING:
    from PIL.Image import Image

    from vlgate.asking.cache.store import Memory


# Two texts may have the same tokens, because a tokenizer ignores case or cuts at the model's context. Two images may
# have the same pixels, such as a photograph and its crop to a box that holds all of it. In batches of different shapes
# their scores would differ by rounding, and a tie would be a win for one of them by chance.

Reply = TypeVar("Reply")


def keys_of(requests: Sequence[Match | Ask | Compare], texts: Mapping[str, Hashable]) -> list[Hashable]:
    """What each request is to a model apart from its images; ``texts`` holds the keys of ``text_keys``."""
    keys = [texts.get(text, text) for text in map(text_of, requests)] if texts else list(map(text_of, requests))
    pairs = zip(requests, keys, strict=True)
    return [key if isinstance(request, Match) else (key, request.choices) for request, key in pairs]


def asked_the_same(requests: Sequence[Match | Ask | Compare], keys: Sequence[Hashable]) -> set[LazyImage]:
    first: dict[Hashable, tuple[LazyImage, ...]] = {}
    compared: set[LazyImage] = set()
    for request, key in zip(requests, keys, strict=True):
        own = images_of(request)
        images = first.setdefault(key, own)
        if images is not own and images != own:
            compared.update(images, own)
    return compared


def pixel_digest(image: Image) -> bytes:
    # 16 bytes that differ between images with different pixels
    return blake2b(image.tobytes(), digest_size=16, key=repr(image.size).encode()).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLoad:
    made: LazyImage
    digests: dict[LazyImage, bytes]

    def __call__(self) -> Image:
        loaded = self.made.load()
        self.note(loaded)
        return loaded

    def note(self, loaded: Image) -> None:
        self.digests[self.made] = pixel_digest(loaded)


@dataclass(frozen=True, slots=True)
class SeenPixels:
    """Notes the pixels of the images that a model loads, so that images with equal ones get the same reply."""

    # Nothing is decoded for it: the digest is made when the model loads the image, in the model's own thread.

    digests: dict[LazyImage, bytes] = field(default_factory=dict)

    def watched_in(self, items: Sequence[Ordered], compared: Iterable[LazyImage]) -> Sequence[Ordered]:
        watched = {image: replace(image, load=WatchedLoad(made=image, digests=self.digests)) for image in compared}
        if not watched:
            return items
        return [
            with_images_in(item, lambda image: watched.get(image, image))  # type: ignore[misc]
            if not watched.keys().isdisjoint(images_in(item))
            else item
            for item in items
        ]

    def levelled(
        self, items: Sequence[object], replies: Sequence[Reply | Problem], keys: Sequence[Hashable]
    ) -> list[Reply | Problem]:
        if len(set(self.digests.values())) == len(self.digests):
            return list(replies)
        first: dict[Hashable, Reply | Problem] = {}
        levelled: list[Reply | Problem] = []
        for item, key, reply in zip(items, keys, replies, strict=True):
            images = images_in(item)
            if isinstance(reply, Problem) or not self.digests.keys() >= set(images):
                levelled.append(reply)
            else:
                levelled.append(first.setdefault((*map(self.digests.__getitem__, images), key), reply))
        return levelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """A step for n distinct items: each of those that are the same to the model is asked once, in a hashed order."""

    # It is made once for all methods that are asked about the items. ``keys`` are what each is to the model apart from
    # its images, ``asked`` those that are asked, with noted ``pixels``. ``places`` are those of the n replies among the
    # replies to ``asked``; None if they are in one order.

    keys: Sequence[Hashable]
    asked: Sequence[Any]
    places: Sequence[int] | None
    pixels: SeenPixels

    def __call__(self, _: Caller, then: Asking, call: Call, items: Sequence[Any]) -> list[Any]:
        replies = then(call, self.asked)
        if self.places is not None:
            replies = [replies[place] for place in self.places]
        return self.pixels.levelled(items, replies, self.keys)


def arranged(
    items: Sequence[Ordered],
    keys: Sequence[Hashable],
    seed: int | None,
    *,
    compared: Iterable[LazyImage] = (),
    dedupe: bool = False,
) -> Arranged:
    """Arrange n distinct items; ``seed`` is that of the order, None keeps it."""
    # With ``dedupe``, items of equal images and ``keys`` are asked once. The pixels of the images ``compared`` are
    # noted.
    pixels = SeenPixels()
    watched = pixels.watched_in(items, compared)
    groups: Sequence[int] = range(len(items))  # the place in ``watched`` of the item that is asked for each
    if dedupe:
        first: dict[Hashable, int] = {}
        of_group: list[Ordered] = []
        whole = list(zip(map(images_in, items), keys, strict=True))
        for item, key in zip(watched, whole, strict=True):
            if key not in first:
                first[key] = len(of_group)
                of_group.append(item)
        watched, groups = of_group, [first[key] for key in whole]
    order = hashed_order(watched, seed)
    if order == groups:
        return Arranged(keys=keys, asked=watched, places=None, pixels=pixels)
    rank = dict(zip(order, range(len(order)), strict=True))
    places = [rank[group] for group in groups]
    return Arranged(keys=keys, asked=[watched[place] for place in order], places=places, pixels=pixels)


DATED = frozenset(
    (
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "tmpfs", "ramfs", "overlay"),
        *("nfs", "nfs4", "ceph", "lustre", "gpfs", "beegfs"),
    )
)
"""The file systems of Linux whose ctime is set by every change, and by no program.

FAT and exFAT keep no such time, a server of CIFS or 9p may not either, and those in user space (sshfs) often give mtime
in its place, which ``touch -r``, ``cp -p`` and ``rsync --times`` set.
"""
_MOUNTS = "/proc/self/mountinfo"
_OCTAL = re.compile(r"\\([0-7]{3})")


def is_dated(path: str) -> bool:
    """Whether every change of a file shows in its ctime (``os.stat_result.st_ctime_ns``)."""
    # On Windows it is the time of the file's creation. On macOS, other disks than the system's may be in any format.
    real = os.path.realpath(path)
    if sys.platform == "darwin":
        return not real.startswith("/Volumes/")
    return sys.platform == "linux" and _file_system(real) in DATED


def _file_system(path: str) -> str:
    try:
        lines = Path(_MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    kinds: dict[str, str] = {}
    for line in lines:  # a later mount at the same point hides an earlier one; see proc(5)
        mount, _, source = line.partition(" - ")
        point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), mount.split(" ")[4])
        kinds[point.rstrip("/")] = source.partition(" ")[0]
    folder = path
    while folder.strip("/") and folder not in kinds:
        folder = folder.rpartition("/")[0]
    return kinds.get(folder.rstrip("/"), "")


# The content of a file is read once; its digest is kept with the file's path, size, inode and times, and is taken from
# there while these stay the same. Among the times is ctime, which no program can set; on file systems that do not keep
# it the content is read in every run. An image that does not tell what it is made of is decoded, and its pixels are
# hashed.

DIGEST = 16
_SETTLED = 2 * 10**9  # nanoseconds: a file that changed a moment ago may change again within one tick of its clock


@dataclass(slots=True, kw_only=True)
class Identities:
    """The digests of images. ``code`` stands for what decodes and perturbs them: versions of libraries."""

    # With ``by_name`` nothing is read: in one run, two images are equal if their keys and paths are.

    memory: Memory
    code: bytes = b""
    by_name: bool = False
    _found: dict[LazyImage, bytes] = field(default_factory=dict)
    _dated: dict[int, bool] = field(default_factory=dict)  # by device

    def of(self, images: Iterable[LazyImage]) -> dict[LazyImage, bytes]:
        """The digest of each image, its key included; an image that cannot be read has none."""
        # a model may read features of the image by its name
        wanted = list(dict.fromkeys(images))
        new = [image for image in wanted if image not in self._found]
        if not new:
            return {image: self._found[image] for image in wanted}
        if self.by_name:
            return {image: self._digest(image, image.where.encode(errors="surrogatepass")) for image in wanted}
        recipes = {image: recipe_of(image.load.made if isinstance(image.load, WatchedLoad) else image) for image in new}
        contents = self._contents({path for recipe in recipes.values() for path in _paths(recipe)})
        found: dict[LazyImage, bytes] = {}
        for image, recipe in recipes.items():
            if recipe is None:
                with suppress(ImageError):  # the model meets it too, and it belongs to the request
                    found[image] = self._digest(image, b"pixels" + pixel_digest(image.load()))
            elif all(path in contents for path in _paths(recipe)):
                found[image] = self._found[image] = self._digest(image, _encoded(recipe, contents))
        return {image: digest for image in wanted if (digest := found.get(image) or self._found.get(image))}

    def _digest(self, image: LazyImage, content: bytes) -> bytes:
        key = image.key.encode(errors="surrogatepass")
        return blake2b(b"%d " % len(key) + key + content, digest_size=DIGEST, key=self.code).digest()

    def _contents(self, paths: set[FileContent]) -> dict[FileContent, bytes]:
        states = {path: state for path in paths if (state := _state(path)) is not None}
        for path, state in states.items():
            if state.device not in self._dated:
                self._dated[state.device] = is_dated(path)
        dated = {path for path, state in states.items() if self._dated[state.device]}
        there, _ = self.memory.get({states[path].key for path in dated})
        found: dict[FileContent, bytes] = {}
        new: dict[bytes, bytes] = {}
        for path, state in states.items():
            kept = there.get(state.key) if path in dated else None
            content = kept
            if content is None:
                try:
                    with Path(path).open("rb") as stream:
                        content = file_digest(stream, lambda: blake2b(digest_size=DIGEST)).digest()
                except OSError:
                    continue
            found[path] = content
            settled = time.time_ns() - state.changed > _SETTLED
            if kept is None and path in dated and settled and _state(path) == state:
                new[state.key] = content
        if new:
            self.memory.put(new)
        return found


class _State(NamedTuple):
    key: bytes
    changed: int
    device: int


def _state(path: FileContent) -> _State | None:
    try:
        status = os.stat(path)  # noqa: PTH116  # a Path takes longer than the call
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    times = status.st_mtime_ns, status.st_ctime_ns  # cp -p, touch -r and rsync --inplace --times set only the first
    parts = (os.path.abspath(path), status.st_size, *times, status.st_ino, status.st_dev)  # noqa: PTH100  # a link stays a link
    key = blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=DIGEST, person=b"file").digest()
    return _State(key, max(times), status.st_dev)


def _paths(part: object) -> Iterator[FileContent]:
    if isinstance(part, FileContent):
        yield part
    elif isinstance(part, tuple):
        for inner in part:
            yield from _paths(inner)


def _encoded(part: object, contents: dict[FileContent, bytes]) -> bytes:
    """A recipe as bytes, of which no two are equal; files by their content."""
    if isinstance(part, tuple):
        return b"(%d " % len(part) + b"".join(_encoded(inner, contents) for inner in part) + b")"
    told = contents[part] if isinstance(part, FileContent) else repr(part).encode(errors="surrogatepass")
    kind = b"file" if isinstance(part, FileContent) else type(part).__name__.encode()
    return kind + b" %d " % len(told) + told

"""Makes files of features; a run continues after the images that an earlier run has finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from vlgate.errors import ImageError, ModelLoadError, ModelReplyError
from vlgate.inference.batching import out_of_memory
from vlgate.models.region_files.shards import PATTERN, Shards, write_shard
from vlgate.models.regions.regions import Regions
from vlgate.types import LazyImage

SHARD = 64
"""Images per file: 20 MB. A run that is killed loses at most so many."""


class Detector(Protocol):
    """Finds regions in images."""

    @property
    def fingerprint(self) -> str:
        """Identifies everything but the image that the regions depend on."""

    def look(self, images: Sequence[LazyImage]) -> Sequence[Regions | None]:
        """Find the regions of each image; None if there are too few."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """How many images there are, were done before and are done now; those left out, with the reason, by key."""

    whole: int
    before: int
    made: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


def make_features(
    images: Sequence[LazyImage],
    detector: Detector,
    folder: Path,
    *,
    batch_size: int = 8,
    tell: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Write the regions of images into a folder, except those that it already holds.

    Args:
        images: each with a key of its own.
        detector: finds the regions.
        folder: receives the files; created if it does not exist.
        batch_size: how many images the detector gets together; halved when memory runs out.
        tell: called after each call of the detector.

    Returns: the counts. An image that cannot be decoded, or has too few regions, is in ``left_out``.
    Raises: ModelLoadError if the folder holds regions of another detector; ModelReplyError if the memory is too small
        for one image; OSError if the folder cannot be written to.
    """
    done = _done(folder, detector.fingerprint)
    left = [image for image in images if image.key not in done]
    progress = Progress(whole=len(images), before=len(images) - len(left))
    folder.mkdir(parents=True, exist_ok=True)
    ready: dict[str, Regions] = {}
    try:
        for found in _found(left, detector, batch_size, progress):
            ready |= found
            progress.made += len(found)
            if len(ready) >= SHARD:
                _write(folder, ready, detector)
            tell(progress)
    finally:  # also after Ctrl-C
        _write(folder, ready, detector)
    return progress


def _found(
    images: Sequence[LazyImage], detector: Detector, batch_size: int, progress: Progress
) -> Iterator[dict[str, Regions]]:
    """Yield the regions of the images, batch by batch; halve the batches when memory runs out."""
    place = 0
    while place < len(images):
        some = images[place : place + batch_size]
        try:
            found = _looked(some, detector, progress)
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            if len(some) == 1:
                raise ModelReplyError(f"{some[0].key}: the memory is too small for one image ({error})") from error
            batch_size = len(some) // 2
        else:
            yield found
            place += len(some)


def _done(folder: Path, fingerprint: str) -> frozenset[str]:
    if not any(folder.glob(PATTERN)):
        return frozenset()
    there = Shards(folder)
    if there.detectors != {fingerprint}:
        raise ModelLoadError(f"{folder}: holds regions of another detector or of other weights; name another folder")
    return frozenset(there.keys())


def _looked(images: Sequence[LazyImage], detector: Detector, progress: Progress) -> dict[str, Regions]:
    try:
        found = zip(images, detector.look(images), strict=True)
    except ImageError:
        whole = [image for image in images if _decodes(image, progress)]
        if len(whole) == len(images):
            raise
        return _looked(whole, detector, progress) if whole else {}
    seen = {image.key: regions for image, regions in found if regions is not None}
    progress.left_out |= {image.key: "too few regions" for image in images if image.key not in seen}
    return seen


def _decodes(image: LazyImage, progress: Progress) -> bool:
    try:
        image.load()
    except ImageError as error:
        progress.left_out[image.key] = str(error)
        return False
    return True


def _write(folder: Path, ready: dict[str, Regions], detector: Detector) -> None:
    if ready:
        write_shard(folder, list(ready), list(ready.values()), detector.fingerprint)
        ready.clear()

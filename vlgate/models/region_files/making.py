"""Making files of features: picture after picture, going on where an earlier run stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from vlgate.calling import out_of_memory
from vlgate.errors import ModelLoadError, ModelReplyError, PictureError
from vlgate.models.region_files.shards import PATTERN, Shards, write_shard
from vlgate.models.regions import Regions
from vlgate.types import Picture

SHARD = 64
"""Pictures a file: 20 MB, and what a run that is killed loses at most."""


class Detector(Protocol):
    """What looks into pictures."""

    @property
    def fingerprint(self) -> str:
        """What the regions depend on."""

    def look(self, pictures: Sequence[Picture]) -> Sequence[Regions | None]:
        """Find the regions of each picture; None where there are too few."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far it is: pictures in all, of those found before, made now, and left out with the reason, by key."""

    whole: int
    before: int
    made: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


def make_features(
    pictures: Sequence[Picture],
    detector: Detector,
    folder: Path,
    *,
    batch_size: int = 8,
    tell: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Write the regions of pictures into a folder, without those that are in it already.

    Args:
        pictures: each with a key of its own.
        detector: what finds the regions.
        folder: for the files; made where it is not there.
        batch_size: pictures that are handed to the detector together; halved when memory runs out.
        tell: called after each call of the detector.

    Returns: how many there were. A picture that cannot be decoded, or has too few regions, is left out and named.
    Raises: ModelLoadError where the folder holds regions of another detector; ModelReplyError where memory does not
        do for one picture; OSError where the folder cannot be written.
    """
    done = _done(folder, detector.fingerprint)
    left = [picture for picture in pictures if picture.key not in done]
    progress = Progress(whole=len(pictures), before=len(pictures) - len(left))
    folder.mkdir(parents=True, exist_ok=True)
    ready: dict[str, Regions] = {}
    try:
        for found in _found(left, detector, batch_size, progress):
            ready |= found
            progress.made += len(found)
            if len(ready) >= SHARD:
                _write(folder, ready, detector)
            tell(progress)
    finally:  # also when the user interrupts it
        _write(folder, ready, detector)
    return progress


def _found(
    pictures: Sequence[Picture], detector: Detector, batch_size: int, progress: Progress
) -> Iterator[dict[str, Regions]]:
    """Yield the regions of some pictures after the other, of fewer at a time where memory runs out."""
    place = 0
    while place < len(pictures):
        some = pictures[place : place + batch_size]
        try:
            found = _looked(some, detector, progress)
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            if len(some) == 1:
                raise ModelReplyError(f"{some[0].key}: memory does not do for one picture ({error})") from error
            batch_size = len(some) // 2
        else:
            yield found
            place += len(some)


def _done(folder: Path, fingerprint: str) -> frozenset[str]:
    if not any(folder.glob(PATTERN)):
        return frozenset()
    there = Shards(folder)
    if there.detectors != {fingerprint}:
        raise ModelLoadError(f"{folder}: holds regions of another detector, or of other weights; name another folder")
    return frozenset(there.keys())


def _looked(pictures: Sequence[Picture], detector: Detector, progress: Progress) -> dict[str, Regions]:
    try:
        found = zip(pictures, detector.look(pictures), strict=True)
    except PictureError:
        whole = [picture for picture in pictures if _decodes(picture, progress)]
        if len(whole) == len(pictures):
            raise
        return _looked(whole, detector, progress) if whole else {}
    seen = {picture.key: regions for picture, regions in found if regions is not None}
    progress.left_out |= {picture.key: "too few regions" for picture in pictures if picture.key not in seen}
    return seen


def _decodes(picture: Picture, progress: Progress) -> bool:
    try:
        picture.image()
    except PictureError as error:
        progress.left_out[picture.key] = str(error)
        return False
    return True


def _write(folder: Path, ready: dict[str, Regions], detector: Detector) -> None:
    if ready:
        write_shard(folder, list(ready), list(ready.values()), detector.fingerprint)
        ready.clear()

"""What each source starts from: the options of the run, its file in the data folders, the requests of a quad."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.types import LazyImage, Match

# The options that every source reads its tasks by.


@dataclass(frozen=True, kw_only=True)  # not slotted: the finder is kept once it is made
class ReadOptions:
    """The argument of a source's ``read(options: ReadOptions) -> Iterable[Task]``.

    ``folders`` are the data folders, each once, sorted: the order in which they are given decides nothing. ``seed``
    decides every random choice. ``wanted`` returns whether the task with an id is wanted; a source reads no other
    tasks. ``protocols`` names other ways to read a benchmark. ``pairs`` is the number of question pairs in a task made
    from scene graphs; None means as many as in the paper.
    ``missing_images`` is ``skip`` if cases whose image is missing may be left out.
    """

    folders: tuple[Path, ...]
    seed: int
    wanted: Callable[[str], bool]
    protocols: frozenset[str] = frozenset()
    pairs: int | None = 1000
    missing_images: Literal["fail", "skip"] = "fail"

    def __post_init__(self) -> None:
        once = {os.path.realpath(folder): folder for folder in reversed(self.folders)}
        object.__setattr__(self, "folders", tuple(once[real] for real in sorted(once)))

    @cached_property
    def images(self) -> ImageFinder:
        """The finder of images in the folders; all sources share it, so each folder is listed once."""
        return ImageFinder(self.folders)


# Finding a benchmark's file in the user's data folders.


def only_file(folders: Iterable[Path], *names: str) -> Path | None:
    """Return the file that a data folder has under one of the names; None if there is no such file.

    >>> only_file([Path("nowhere")], "bla/annotations/coordination_captions.json") is None
    True
    """
    places = [folder / name for folder in folders for name in names]
    found = list({place.resolve(): place for place in places if place.exists()}.values())
    if len(found) > 1:
        raise DataError(found[0], None, f"is also in {found[1]}", "keep one of them, or give one data folder only")
    return found[0] if found else None


# The requests of two images and a caption of each, in the order that the shape ``quad`` fixes.

QUAD_TRUTHS = (True, False, False, True)
"""The truths of these requests: each caption is true of its own image."""


def quad_requests(images: Sequence[LazyImage], captions: Sequence[str]) -> tuple[Match, ...]:
    """Return (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1).

    >>> images = [LazyImage(key=key, load=lambda: None) for key in ("1.jpg", "2.jpg")]
    >>> [(one.image.key, one.text) for one in quad_requests(images, ("a", "b"))][1:3]
    [('1.jpg', 'b'), ('2.jpg', 'a')]
    """
    return tuple(Match(image=image, text=caption) for image in images for caption in captions)

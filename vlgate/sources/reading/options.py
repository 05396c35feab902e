"""The options that every source reads its tasks by."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from vlgate.sources.reading.image_finder import ImageFinder


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
        """Sort the folders."""
        once = {os.path.realpath(folder): folder for folder in reversed(self.folders)}
        object.__setattr__(self, "folders", tuple(once[real] for real in sorted(once)))

    @cached_property
    def images(self) -> ImageFinder:
        """The finder of images in the folders; all sources share it, so each folder is listed once."""
        return ImageFinder(self.folders)

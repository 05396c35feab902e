"""The folder of the inputs' images: which file an image's name means, and how large the image is."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from vlgate.errors import OptionError
from vlgate.images.files import image_size, plain_path
from vlgate.sources.reading.image_finder import is_plain, stem


class ImageFolder:
    """A folder of images, which are named by their path in it or by their name without an extension."""

    def __init__(self, folder: Path) -> None:
        """Name the folder.

        Raises: OptionError if there is no such folder.
        """
        if not folder.is_dir():
            raise OptionError(f"--images {folder}: there is no such folder; name the folder of the images")
        self._folder = folder

    def name(self, image: str) -> str:
        """Return the path in the folder of an image with a name; the name itself if there is none."""
        plain = plain_path(image)
        if is_plain(plain) and (self._folder / plain).is_file():
            return plain
        return self._by_stem.get(stem(plain), image)

    def has(self, image: str) -> bool:
        """Return whether the folder has an image with a name."""
        return is_plain(plain_path(image)) and (self._folder / self.name(image)).is_file()

    def found(self, images: Collection[str]) -> int:
        """Return how many of some images the folder has.

        Raises: OptionError, which says what was looked for, if it has none of them.
        """
        found = sum(self.has(image) for image in images)
        if images and not found:
            example = next(iter(images))
            looked = f"{example} and {stem(example)}.*"
            none = f"has none of the {len(images):,} images of the inputs (looked for {looked} in it)"
            raise OptionError(f"--images {self._folder}: {none}; name the folder that holds them")
        return found

    def size(self, image: str) -> tuple[int, int] | None:
        """Return the width and height of an image in pixels; None if it is not there or cannot be read."""
        file = self._folder / self.name(image)
        return image_size(str(file)) if self.has(image) else None

    @cached_property
    def _by_stem(self) -> dict[str, str]:
        return {stem(file.name): file.name for file in sorted(self._folder.iterdir())}

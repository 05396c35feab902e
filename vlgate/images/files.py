"""Images in files: opened and decoded when they are loaded, with errors that name the file and the remedy."""

from __future__ import annotations

import posixpath
import re
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from vlgate.errors import ImageError, MissingImageError
from vlgate.images.decoding import REPLACE, decode_stream, formats
from vlgate.types import FileContent, LazyImage, Recipe

if TYPE_CHECKING:
    from PIL.Image import Image


_SPELLED_OTHERWISE = re.compile(r"\\|//|(?:^|/)\.{1,2}(?:/|$)")
_TURNED = 5  # from this value of EXIF's orientation on, width and height are exchanged


@dataclass(frozen=True, slots=True)
class FileLoad:
    """Decodes the image in the file ``path``; a string, because 100,000 Path objects take 25 MB and 0.3 s."""

    path: str
    key: str

    def __call__(self) -> Image:
        """Return the image; see ``decode``."""
        return decode(self.path, self.key)

    def recipe(self) -> Recipe:
        """Return the content of the file."""
        return ("file", FileContent(self.path))


@dataclass(frozen=True, slots=True)
class MissingLoad:
    """Says that there is no file, and which places were looked in."""

    key: str
    looked: tuple[Path, ...]

    def __call__(self) -> NoReturn:
        """Raise MissingImageError."""
        _raise_missing(self.key, self.looked)

    def recipe(self) -> Recipe:
        """Return that there is no file; a model that reads features of images may reply all the same."""
        return ("no file",)


def plain_path(name: str) -> str:
    r"""Return the one spelling of a path: with slashes, without ``./`` and steps back, in Unicode's form NFC.

    >>> plain_path("./photos//1.png"), plain_path("photos\\cafe\u0301.png"), plain_path("a/../1.png")
    ('photos/1.png', 'photos/café.png', '1.png')
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
    if _SPELLED_OTHERWISE.search(name) is None:
        return name
    return re.sub(r"^//", "/", posixpath.normpath(name.replace("\\", "/")))


def file_image(key: str, path: Path | str) -> LazyImage:
    """Return the image in the file ``path``, which ``decode`` decodes when the image is loaded.

    >>> file_image("v7w_1.jpg", Path("data/images/vg/1.jpg")).where
    'data/images/vg/1.jpg'
    """
    where = str(path)
    return LazyImage(key=key, load=FileLoad(where, key), where=where)


def missing_image(key: str, looked: Sequence[Path]) -> LazyImage:
    """Return an image without a file: its ``load()`` raises MissingImageError, which names the places in ``looked``."""
    return LazyImage(key=key, load=MissingLoad(key, tuple(looked)))


def is_there(image: LazyImage) -> bool:
    """Return whether an image, or the image that it is a perturbation of, has a file; the file is not opened.

    >>> is_there(missing_image("1.jpg", [])), is_there(file_image("1.jpg", "data/1.jpg"))
    (False, True)
    """
    return bool(image.where) and not image.where.startswith("#")  # "#" begins the name of a perturbation


def image_size(path: Path | str) -> tuple[int, int] | None:
    """Return the width and height of the upright image in a file, from its header; None if it is not an image."""
    from PIL import ExifTags, Image

    try:
        with Image.open(path, formats=formats()) as image:
            turned = image.getexif().get(ExifTags.Base.Orientation, 1) >= _TURNED
            return (image.height, image.width) if turned else (image.width, image.height)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def decode(path: Path | str, key: str) -> Image:
    """Decode the image in the file ``path``, as ``decode_stream`` does.

    Returns: a PIL image in mode RGB, upright, of at least 1 x 1 pixels.
    Raises: MissingImageError if there is no such file; ImageError if it is not a regular file, cannot be read, is
    empty, not an image, cut off or broken, or claims more than ``decoding.MAX_PIXELS``, which is checked before
    memory is allocated.
    """
    path = Path(path)
    _check_file(path, key)
    try:
        with path.open("rb") as stream:
            return decode_stream(stream, path, key)
    except PermissionError:
        raise ImageError(key, f"{path} is not readable", "give read permission to it and its folders") from None
    except OSError as error:
        raise ImageError(key, f"{path} cannot be read ({error})", REPLACE) from None


def _raise_missing(key: str, looked: Sequence[Path]) -> NoReturn:
    places = ", ".join(map(str, looked)) or "no folder, because no data folder was given"
    remedy = "put it there, or skip cases without an image with --missing-images skip"
    raise MissingImageError(key, f"not found; looked in {places}", remedy)


def _check_file(path: Path, key: str) -> None:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        _raise_missing(key, (path,))
    except PermissionError:
        raise ImageError(key, f"{path} is not readable", "give read permission to it and its folders") from None
    except (OSError, ValueError) as error:  # a loop of links, a name that is too long or has a NUL
        raise ImageError(key, f"{str(path)!r} cannot be opened ({error})", "rename or replace it") from None
    if stat.S_ISDIR(status.st_mode):
        raise ImageError(key, f"{path} is a folder", "put an image file in its place")
    if not stat.S_ISREG(status.st_mode):  # reading a pipe would block for ever
        raise ImageError(key, f"{path} is not a regular file", "put an image file in its place")
    if status.st_size == 0:
        raise ImageError(key, f"{path} is empty", REPLACE)

"""Images in files, in texts as data URIs or base64, and regions of images: opened when they are loaded."""

from __future__ import annotations

import posixpath
import re
import stat
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn, TypeVar
from urllib.parse import unquote

from vlgate.errors import ImageError, MissingImageError
from vlgate.images.decoding import REPLACE, check_stream, decode_stream, formats
from vlgate.types import FileContent, LazyImage, Recipe, recipe_of

if TYPE_CHECKING:
    from PIL.Image import Image

Made = TypeVar("Made")
_SPELLED_OTHERWISE = re.compile(r"\\|//|(?:^|/)\.{1,2}(?:/|$)")
_TURNED = 5  # from this value of EXIF's orientation on, width and height are exchanged


@dataclass(frozen=True, slots=True)
class FileLoad:
    """Decodes the image in the file ``path``; a string, because 100,000 Path objects take 25 MB and 0.3 s."""

    path: str
    key: str

    def __call__(self) -> Image:
        return decode(self.path, self.key)

    def recipe(self) -> Recipe:
        return ("file", FileContent(self.path))


@dataclass(frozen=True, slots=True)
class MissingLoad:
    key: str
    looked: tuple[Path | str, ...]  # paths, and as strings the beginnings of paths that end in the key

    def __call__(self) -> NoReturn:
        looked = [place if isinstance(place, Path) else place + self.key for place in self.looked]
        places = ", ".join(map(str, looked)) or "no folder, because no data folder was given"
        remedy = "put it there, or skip cases without an image with --missing-images skip"
        error = MissingImageError(self.key, f"not found; looked in {places}", remedy)
        error.looked = looked
        raise error

    def recipe(self) -> Recipe:
        """Return that there is no file; a model that reads features of images may reply all the same."""
        return ("no file",)


_LISTED = 20_000  # the most files of a folder that are compared with the name of a missing one
EXTENSIONS = frozenset({"jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "avif", "heic", "heif"})


def nearest_file(key: str, looked: Iterable[Path | str]) -> str:
    """Return the image that a missing one's name probably means: in another case or format, or one folder deeper."""
    name = key.rpartition("/")[2].casefold()
    for place in map(Path, looked):
        folder = place.parent if place.name.casefold() == name else place
        folder = folder if folder.is_dir() else folder.parent
        near: list[tuple[bool, str]] = []
        for file in islice(chain(folder.glob("*"), folder.glob("*/*")), _LISTED):
            same = file.name.casefold() == name
            if same or (Path(name).stem == file.stem.casefold() and file.suffix[1:].lower() in EXTENSIONS):
                near.append((not same, str(file)))
        if near:
            return min(near)[1]
    return ""


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
    where = str(path)
    return LazyImage(key=key, load=FileLoad(where, key), where=where)


def missing_image(key: str, looked: Sequence[Path | str]) -> LazyImage:
    if not isinstance(looked, tuple) or not all(isinstance(place, Path) for place in looked):
        ends = ((place, isinstance(place, str) and place.endswith(key)) for place in looked)
        looked = _shared(*(str(place).removesuffix(key) if ends_so else Path(place) for place, ends_so in ends))
    return LazyImage(key=key, load=MissingLoad(key, tuple(looked)))


@lru_cache(maxsize=64)
def _shared(*looked: Path | str) -> tuple[Path | str, ...]:
    return looked


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
    return _through(decode_stream, Path(path), key)


def check_file(path: Path | str, key: str) -> None:
    """Raise ImageError if a file is not an image or is cut off, by its header and its end; see ``check_stream``."""
    _through(check_stream, Path(path), key)


def _through(read: Callable[[BinaryIO, Path, str], Made], path: Path, key: str) -> Made:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        MissingLoad(key, (path,))()
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
    try:
        with path.open("rb") as stream:
            return read(stream, path, key)
    except PermissionError:
        raise ImageError(key, f"{path} is not readable", "give read permission to it and its folders") from None
    except OSError as error:
        raise ImageError(key, f"{path} cannot be read ({error})", REPLACE) from None


_LONGEST_PATH = 255
_BASE64 = re.compile(r"\s*(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|Qk|SUkq|TU0AK|AAAA[A-Za-z0-9+/]{2}Z0eX)[A-Za-z0-9+/\s]{99}")
"""How the base64 of PNG, JPEG, GIF, WebP, BMP, TIFF and AVIF or HEIC begins."""
_URL_SAFE = str.maketrans("-_", "+/")


class EncodingError(ValueError):
    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


@dataclass(frozen=True, slots=True)
class TextLoad:
    content: bytes = field(repr=False)
    key: str

    def __call__(self) -> Image:
        return decode_stream(BytesIO(self.content), "its base64", self.key)

    def recipe(self) -> Recipe:
        return ("base64", self.key)

    def uri(self) -> str:
        return f"data:;base64,{b64encode(self.content).decode()}"


def is_image_text(name: str) -> bool:
    """Return whether a text is an image, as a data URI or as the base64 of a file, and not the path of one.

    >>> is_image_text("data:image/png;base64,iVBORw0KGgo="), is_image_text("photos/1.png")
    (True, False)
    """
    return name[:5].lower() == "data:" or (len(name) > _LONGEST_PATH and _BASE64.match(name) is not None)


def text_image(text: str) -> LazyImage:
    """Return the image that a data URI or the base64 of a file holds; its key is a digest of the content."""
    form, mark, content = text.partition(",") if text[:5].lower() == "data:" else ("data:;base64", ",", text)
    if not mark or not form.lower().endswith(";base64"):
        problem = f"a data URI of {len(text):,} characters, {form[:40]!r}, that is not in base64"
        raise EncodingError(problem, "write data:image/png;base64,... or the path of a file")
    try:
        plain = "".join(unquote(content).split()).translate(_URL_SAFE).rstrip("=")
        decoded = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError as error:
        problem = f"a data URI of {len(text):,} characters whose base64 cannot be read ({error})"
        raise EncodingError(problem, "encode the file again, or write the path of a file") from None
    if not decoded:
        raise EncodingError("a data URI without content", "encode the file again, or write the path of a file")
    key = f"data-{blake2b(decoded, digest_size=8).hexdigest()}"
    return LazyImage(key=key, load=TextLoad(decoded, key), where=key)


def image_key(name: str) -> str:
    """Return the key of an image by its name in own cases: its plain path, or the digest of its content.

    >>> image_key("./photos/1.png"), image_key("data:image/png;base64,iVBORw0KGgo=")
    ('photos/1.png', 'data-8c239dd0eaeefae7')
    """
    if is_image_text(name):
        with suppress(EncodingError):
            return text_image(name).key
    return plain_path(name)


def name_of(image: LazyImage) -> str:
    return image.load.uri() if isinstance(image.load, TextLoad) else image.key


Pixels = tuple[int, int, int, int]
"""A region in pixels: its left, its top, its width and its height."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionLoad:
    image: LazyImage
    region: Pixels

    def __call__(self) -> Image:
        x, y, width, height = self.region
        whole = self.image.load()
        inside = x, y, min(x + width, whole.width), min(y + height, whole.height)
        if inside[2] <= x or inside[3] <= y:
            size = f"{whole.width} x {whole.height} pixels"
            raise ImageError(self.image.key, f"{size}, so the region {self.region} is outside", "check its scale")
        return whole.crop(inside)

    def recipe(self) -> Recipe | None:
        whole = recipe_of(self.image)
        return None if whole is None else ("region", whole, *self.region)


def region_of(image: LazyImage, region: Pixels) -> LazyImage:
    said = ",".join(map(str, region))
    load = RegionLoad(image=image, region=region)
    return LazyImage(key=f"{image.key}#{said}", load=load, where=f"{image.where}#{said}" if image.where else "")

"""Finding a benchmark's images in the user's data folders, by the names that the benchmark's file uses."""

from __future__ import annotations

import filecmp
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

from vlgate.errors import DataError, UnknownNameError, short
from vlgate.images.files import EXTENSIONS, file_image, missing_image
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_json
from vlgate.types import LazyImage

Identity = int | str

# In a data folder, the photographs that COCO and Visual Genome share: ``{COCO id: [VG id]}``.
TWINS = "images/coco_to_vg_ids.json"
REMEDY = "keep one of them, or give one data folder only"  # of two images of one name in two data folders

_COCO = re.compile(r"(?:COCO_(?:train|val|test)[0-9]{4}_)?([0-9]{1,18})")
# The images of VisDial's val2018 and test2018 were collected after COCO and have their own numbers (VisDial v1.0).
_VISDIAL = re.compile(r"VisualDialog_[a-z]+[0-9]{4}_([0-9]{1,18})")
_VG = re.compile(r"(?:v7w_)?([0-9]{1,18})")
# An empty name, an absolute one, a step to "." or "..", or a character that no image's name has.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]|(?:^|/)\.{0,2}(?:/|$)")


def stem(name: str) -> str:
    last = name.rpartition("/")[2]
    if not last.isascii():  # macOS and its archives spell names in the form NFD
        last = unicodedata.normalize("NFC", last)
    start, _, extension = last.rpartition(".")
    return start if start and extension.lower() in EXTENSIONS else last


def is_plain(name: str) -> bool:
    return _UNSAFE.search(name) is None


def coco_id(name: str) -> Identity:
    """Return the COCO id in a name; all names that COCO uses for an image give the same id.

    >>> coco_id("COCO_val2014_000000165831.jpg"), coco_id("VisualDialog_val2018_000000284024.jpg")
    (165831, 'VisualDialog 284024')
    """
    plain = stem(name)
    if match := _COCO.fullmatch(plain):
        return int(match[1])
    if match := _VISDIAL.fullmatch(plain):
        return f"VisualDialog {int(match[1])}"
    return plain


def vg_id(name: str) -> Identity:
    plain = stem(name)
    match = _VG.fullmatch(plain)
    return int(match[1]) if match else plain


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFolders:
    folders: tuple[str, ...]  # searched in their order
    identity: Callable[[str], Identity] = stem  # equal for two names that mean the same image
    depth: int = 1  # levels of subfolders that are searched
    twin: Literal["coco", "vg"] | None = None  # the source that shares photographs with this one


def _vg(*folders: str) -> ImageFolders:
    return ImageFolders(folders=folders, identity=vg_id, twin="coco")


SOURCES: Mapping[str, ImageFolders] = {
    "coco": ImageFolders(folders=("images/coco", "images/visdial"), identity=coco_id, twin="vg"),
    "vg": _vg("images/vg"),
    "gqa": _vg("images/gqa", "images/vg"),
    "hake": ImageFolders(folders=("images/hake",), depth=3),
    "visual7w": _vg("images/visual7w", "images/vg"),
    "swig": ImageFolders(folders=("images/swig",)),
    "bla": _vg("bla/images", "images/vg"),
    "winoground": ImageFolders(folders=("winoground/data/images", "winoground/images")),
    "aro": _vg("aro/images", "aro/data/images", "images/gqa", "images/vg"),
    "colorswap": ImageFolders(folders=("colorswap/images", "colorswap/data/images")),
    "mmvp": ImageFolders(folders=("mmvp/MMVP Images", "MMVP/MMVP Images", "mmvp/images")),
    "mmvp-vlm": ImageFolders(folders=("mmvp-vlm", "mmvp_vlm", "MMVP_VLM"), depth=3),
    "naturalbench": ImageFolders(
        folders=("naturalbench/NaturalBench-Retrieval", "naturalbench/retrieval", "NaturalBench-Retrieval"), depth=3
    ),
    "pope-v2": ImageFolders(folders=("pope/POPEv2", "POPEv2", "pope/images"), depth=3),
    "whatsup-coco": ImageFolders(
        folders=("images/coco", "whatsup/data/val2017", "whatsup/val2017"), identity=coco_id, twin="vg"
    ),
    "whatsup-vg": _vg("images/gqa", "images/vg", "whatsup/data/vg_images", "whatsup/vg_images"),
    "whatsup": ImageFolders(folders=("whatsup/data", "whatsup"), depth=2),
}


# The data folder of the file that names an image comes first, then all others, whose order decides nothing. If a folder
# has several files for one image, the file with exactly the requested name is taken, otherwise the first one by folder
# of the source, by depth and by name. If no folder has a file and one has ``TWINS``, its twin is taken: the same
# photograph in COCO or Visual Genome, possibly of another size.
class ImageFinder:
    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._searches: dict[str, _Search] = {}
        self._listings: dict[tuple[Path, Callable[[str], Identity], int], _Listing] = {}
        self._homes: dict[object, tuple[Path, ...]] = {}

    def find(self, source: str, name: str, *, file: object = "the caller", record: str | None = None) -> LazyImage:
        search = self._searches.get(source) or self._search(source)
        homes = self._homes.get(file)
        if homes is None:
            parents = Path(file).parents if isinstance(file, Path | str) else ()
            homes = self._homes[file] = tuple(folder for folder in self._folders if folder in parents)
        known = search.images.setdefault(homes, {})
        image = known.get(name) if type(name) is str else None
        if image is None:
            # A plain name leads nowhere: it is looked up among the files that were listed in the image folders.
            if type(name) is not str or not is_plain(name):
                expected = f"the image's name is {name!r}, expected a relative path without '..'"
                raise DataError(file, record, expected, FETCH_AGAIN)
            only = partial(only_image, name=name, remedy=REMEDY, file=file, record=record)
            image = known[name] = self._image(search, name, homes, only)
        return image

    def _search(self, name: str) -> _Search:
        if name not in SOURCES:
            raise UnknownNameError("image source", name, SOURCES)
        source = SOURCES[name]
        listings: dict[Path, tuple[_Listing, ...]] = {}
        for folder in self._folders:
            keys = [(folder / place, source.identity, source.depth) for place in source.folders]
            for key in keys:
                if key not in self._listings:
                    self._listings[key] = _Listing(*key)
            listings[folder] = tuple(self._listings[key] for key in keys)
        places = tuple(folder / place for folder in listings for place in source.folders)
        self._searches[name] = _Search(source=source, listings=listings, images={}, places=places)
        return self._searches[name]

    def _image(
        self, search: _Search, name: str, homes: tuple[Path, ...], only: Callable[[Iterable[str]], str | None]
    ) -> LazyImage:
        identity = search.source.identity(name)
        path = only(search.nearest(identity, name, homes))
        if path is not None:
            return file_image(name, path)
        twin = search.source.twin
        if twin is None or not (others := self._twins[twin].get(identity, ())):
            return missing_image(name, search.places)
        other = self._searches.get(twin) or self._search(twin)
        path = next(filter(None, (only(other.nearest(number, str(number), homes)) for number in others)), None)
        return missing_image(name, search.places + other.places) if path is None else file_image(name, path)

    @cached_property
    def _twins(self) -> Mapping[str, Mapping[Identity, tuple[int, ...]]]:
        twins: dict[str, dict[Identity, tuple[int, ...]]] = {"coco": {}, "vg": {}}
        for file in (folder / TWINS for folder in sorted(self._folders, key=os.path.realpath)):
            content = read_json(file) if file.is_file() else {}
            if type(content) is not dict:
                raise DataError(file, None, "expected an object {COCO id: [VG id]}", FETCH_AGAIN)
            for coco, numbers in content.items():
                if not re.fullmatch("[0-9]{1,18}", coco) or type(numbers) is not list or {int} != {*map(type, numbers)}:
                    problem = f"record {coco}: expected a COCO id with a list of integer VG ids"
                    raise DataError(file, None, problem, FETCH_AGAIN)  # of this file, whatever record asks for an image
                for number in numbers:
                    twins["vg"][int(coco)] = (*twins["vg"].get(int(coco), ()), number)
                    twins["coco"][number] = (*twins["coco"].get(number, ()), int(coco))
        return twins


class _Listing:
    def __init__(self, folder: Path, identity: Callable[[str], Identity], depth: int) -> None:
        self._folder = str(folder)
        # Nearly every image has one file, so a list is made only for an image that has more.
        self._first: dict[Identity, str] = {}
        self._further: dict[Identity, list[str]] = {}
        for file in _files(folder, depth):
            if self._first.setdefault(same := identity(file), file) is not file:
                self._further.setdefault(same, []).append(file)

    def paths(self, identity: Identity) -> Iterator[str]:
        if identity in self._first:
            yield f"{self._folder}/{self._first[identity]}"
            for file in self._further.get(identity, ()):
                yield f"{self._folder}/{file}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    source: ImageFolders
    listings: Mapping[Path, tuple[_Listing, ...]]
    images: dict[tuple[Path, ...], dict[str, LazyImage]]  # by the folders that are searched first, and by name
    places: tuple[Path, ...]

    def nearest(self, identity: Identity, name: str, homes: tuple[Path, ...]) -> list[str]:
        def unlikeness(path: str) -> tuple[bool, bool]:
            return not path.endswith(f"/{name}"), stem(path) != stem(name)

        for folders in (homes, [folder for folder in self.listings if folder not in homes]):
            paths: dict[str, tuple[bool, bool]] = {}
            for folder in folders:
                every = [path for listing in self.listings[folder] for path in listing.paths(identity)]
                if every:
                    best = min(every, key=unlikeness)
                    paths[best] = unlikeness(best)
            if paths:
                return [path for path, distance in paths.items() if distance == min(paths.values())]
        return []


def same_content(path: str, other: str) -> bool:
    try:
        return Path(path).samefile(other) or filecmp.cmp(path, other, shallow=False)
    except OSError:
        return False


def only_image(paths: Iterable[str], name: str, remedy: str, *, file: object, record: str | None) -> str | None:
    first, *others = sorted(paths) or [""]
    for other in others:
        if not same_content(first, other):
            alike = unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", other)
            both = " and ".join(ascii(path) if alike else path for path in (first, other))
            raise DataError(file, record, f"image {short(name)!r} is in two files that differ, {both}", remedy)
    return first or None


def _files(folder: Path, depth: int, prefix: str = "") -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted((entry.name, entry.is_dir()) for entry in entries)
    except FileNotFoundError:
        return
    except OSError as error:
        problem = f"cannot be listed ({error.strerror}), expected a folder of images"
        raise DataError(folder, None, problem, "make it a readable folder") from None
    for name, is_folder in listed:
        if not is_folder and name.rpartition(".")[2].lower() in EXTENSIONS:
            yield prefix + name
    for name, is_folder in listed:
        if is_folder and depth:
            yield from _files(folder / name, depth - 1, f"{prefix}{name}/")

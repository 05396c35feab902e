"""Finding an image by its path in the data folders: first in the folder of the file that names it."""

import os
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vlgate.errors import short
from vlgate.images.files import EncodingError, file_image, is_image_text, missing_image, plain_path, text_image
from vlgate.sources.reading.image_finder import only_image, same_content
from vlgate.sources.reading.records import Record
from vlgate.types import LazyImage

IMAGES = "images"  # the folder in a data folder that is searched if the folder itself does not hold an image
RENAME = "rename one of them, and write its new name"  # the remedy of two images of one name in one data folder
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:/")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


# Data folders, each as the start of the paths in it and the folder there from which a path may be written, that of its
# file; and the remedy of two images of one name in them.
_Folders = tuple[list[tuple[str, str]], str]


@dataclass(slots=True, kw_only=True)
class ImagePaths:
    folders: Sequence[Path]
    # The data folders that hold a file, in which its images are looked for first.
    homes: Mapping[Path, tuple[Path, ...]]
    _images: dict[Path, dict[str, LazyImage]] = field(default_factory=dict)
    _listed: dict[Path, dict[str, list[str]]] = field(default_factory=dict)
    _looked: dict[Path, list[_Folders]] = field(default_factory=dict)

    # In the data folder of the record's file it is looked for in the folder itself and in the folder of the file, and
    # if neither has it in ``images``; after that in the other data folders in the same way. The key is the path as
    # ``plain_path`` spells it. If several data folders with files that name images have different images of this path,
    # the name of the folder comes before it.
    def find(self, record: Record, name: str) -> LazyImage:
        known = self._images.setdefault(record.file, {})
        if name not in known:
            known[name] = self._image(record, name)
        return known[name]

    def _image(self, record: Record, name: str) -> LazyImage:
        if is_image_text(name):
            try:
                return text_image(name)
            except EncodingError as error:
                raise record.error(f"the image is {error.problem}", error.remedy) from None
        plain = plain_path(name)
        if plain in {"", ".", "/"} or name[-1] in "/\\" or _UNPRINTABLE.search(name):
            problem = f"the image's name is {short(name)!r}, expected the path of a file in the data folder"
            raise record.error(problem, "write a path such as photos/1.jpg")
        if _ADDRESS.match(name):
            problem = f"the image's name is {short(name)!r}, an address, but nothing is fetched"
            raise record.error(problem, "download the image into the data folder, and write its path there")
        if plain.startswith("/") or _DRIVE.match(plain):
            return self._absolute(record, name, plain)
        return self._inside(record, name, plain)

    def _inside(self, record: Record, name: str, plain: str) -> LazyImage:
        looked: list[str] = []
        for folders, remedy in self._looked.get(record.file) or self._look(record.file):
            there: dict[str, str] = {}  # the files, and their places in their data folders
            for start, beside in folders:
                for places in _levels(beside, plain):
                    looked += [start + place for place in places]
                    at = {path: place for place in places for path in self._spelled(start, place)}
                    if at and (path := _only(at, record, name, RENAME)):
                        there[path] = at[path]
                        break
            if there and (path := _only(there, record, name, remedy)):
                return file_image(self._key(path, there[path] if plain.startswith("../") else plain, record), path)
        if not looked:
            problem = f"the image's name is {short(name)!r}, which leads out of the data folder"
            raise record.error(problem, "put the image into the data folder, and write its path there")
        return missing_image(plain, looked)

    def _look(self, file: Path) -> list[_Folders]:
        homes = self.homes.get(file, ())
        others = [folder for folder in self.folders if folder not in homes]
        home = (*homes, *others)[0]
        mine = [(_start(folder), "" if file.parent == folder else f"{file.parent.name}/") for folder in homes]
        rest = [(_start(folder), "" if file.parent == home else f"{file.parent.name}/") for folder in others]
        elsewhere = f"copy the right one into {home}, or leave the other folder out of --data"
        self._looked[file] = [(mine, RENAME), (rest, elsewhere)]
        return self._looked[file]

    def _spelled(self, start: str, place: str) -> list[str]:
        """The files at a place, whose names may be in another form of Unicode than the place is."""
        if place.isascii():
            paths = [start + place]
        else:
            folders = [Path(start)]
            for part in place.split("/"):
                folders = [path / spelled for path in folders for spelled in self._names(path).get(part, ())]
            paths = list(map(str, folders))
        return [path for path in paths if os.path.exists(path)]  # noqa: PTH110  # a name that is too long is in no folder

    def _names(self, folder: Path) -> dict[str, list[str]]:
        if folder not in self._listed:
            names: dict[str, list[str]] = {}
            with suppress(OSError):
                for name in sorted(path.name for path in folder.iterdir()):
                    names.setdefault(unicodedata.normalize("NFC", name), []).append(name)
            self._listed[folder] = names
        return self._listed[folder]

    def _key(self, path: str, place: str, record: Record) -> str:
        """The place, behind the name of its data folder if other folders use the same place for other images."""
        mine = self.homes.get(record.file, ())
        others = {home for homes in self.homes.values() for home in homes if home not in mine}
        twins = (twin for home in others for twin in self._spelled(_start(home), place))
        if not mine or all(same_content(path, twin) for twin in twins):
            return place
        # The shortest end of the folder's path that no other folder's path has.
        parts = Path(os.path.realpath(mine[0])).parts
        ends = [Path(os.path.realpath(other)).parts for other in others]
        lengths = range(1, len(parts))
        length = next((n for n in lengths if all(parts[-n:] != end[-n:] for end in ends)), len(parts) - 1)
        return f"{'/'.join(parts[-length:])}/{place}"

    def _absolute(self, record: Record, name: str, plain: str) -> LazyImage:
        homes = self.homes.get(record.file, ())
        for folder in (*homes, *self.folders):
            for root in (os.path.abspath(folder), os.path.realpath(folder)):  # noqa: PTH100  # a link stays a link
                place = plain.removeprefix(f"{plain_path(root).rstrip('/')}/")
                if place != plain:
                    path = _only(self._spelled(_start(folder), place), record, name, RENAME)
                    if path is None:
                        return missing_image(place, [folder / place])
                    return file_image(self._key(path, place, record), path)
        parts = plain.split("/")
        ends = ("/".join(parts[start:]) for start in range(1, len(parts)))
        near = next((end for end in ends if any(self._spelled(_start(home), end) for home in homes)), None)
        hint = f"did you mean {near!r}?" if near else "copy the image into one of them, and write its path in there"
        folders = ", ".join(map(str, self.folders))
        raise record.error(f"the image's name is {short(name, 120)!r}, outside the data folders ({folders})", hint)


def _only(paths: Iterable[str], record: Record, name: str, remedy: str) -> str | None:
    return only_image(paths, name, remedy, file=record.file, record=record.id)


def _start(folder: Path) -> str:
    return str(folder / "_")[:-1]


def _levels(beside: str, plain: str) -> list[list[str]]:
    """The places that a path may name in a data folder, and the one that is searched if there is no file."""
    places = [plain, beside + plain] if beside else [plain]
    if plain == ".." or plain.startswith("../"):
        inside = dict.fromkeys(map(posixpath.normpath, places))
        return [[place for place in inside if place != ".." and not place.startswith("../")]]
    return [places, [f"{IMAGES}/{plain}"]]

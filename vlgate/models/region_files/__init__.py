"""Region features that were made before, in the forms that are in use; a form is one class of ``Records``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import DataError, ModelLoadError
from vlgate.models.fingerprint import digest
from vlgate.models.region_cache import RegionCache
from vlgate.models.region_files.names import Names
from vlgate.models.region_files.records import AGAIN, Records
from vlgate.models.region_files.shards import PATTERN, Npz, Shards
from vlgate.models.region_files.tsv import Tsv
from vlgate.models.region_files.volta import DATA, Volta
from vlgate.models.regions import COUNT, WIDTH, Regions
from vlgate.types import Picture

FORMS: Mapping[str, Callable[[Path], Records]] = MappingProxyType(
    {".tsv": Tsv, ".lmdb": Volta, ".mdb": Volta, ".safetensors": Shards, ".npz": Npz}
)
"""How a file is read, by the end of its name."""
_ENDS = 65_536  # bytes of a file's beginning and end that are looked at to tell it from another


class FeatureFile:
    """A file or folder of features; a ``RegionSource``."""

    def __init__(self, path: Path, records: Records, *, width: int | None, count: int | None) -> None:
        """Take an open file, and how many numbers a box and boxes a picture are needed."""
        self.fingerprint = f"regions {_identity(path)}"
        self.note = f"regions read from {path.name}"
        self._path, self._records, self._needed = path, records, (count, width)
        self._names = Names(records.keys())
        self.pictures = len(self._names)
        self._cache = RegionCache()

    def check_first(self) -> None:
        """See whether the first picture's regions are of the kind that the model takes.

        Raises: ModelLoadError where they are not; a damaged record says nothing of the others.
        """
        key = next(iter(self._records.keys()))
        try:
            first = self._records.read(key)
        except DataError:
            return
        try:
            self._fitting(key, first)
        except DataError as error:
            raise ModelLoadError(str(error)) from None

    def regions(self, pictures: Sequence[Picture]) -> list[Regions]:
        """Read the regions of each picture, as ``RegionSource.regions`` says; the pictures themselves are not needed.

        Raises: NoReplyError for those that the file lacks, and those whose record is damaged; DataError where it is
            not as many boxes or numbers as the model takes.
        """
        lacking = (
            f"{self._path} has no regions of {{keys}}, but of {self.pictures:,} others; make them with vlgate "
            "features, or leave out regions=FILE, as a picture that is changed on the way (with #) is in no file"
        )
        return self._cache.regions(pictures, self._read, lacking)

    def _read(self, pictures: Sequence[Picture]) -> list[Regions | str | None]:
        return [self._found(picture) for picture in pictures]

    def _found(self, picture: Picture) -> Regions | str | None:
        key = self._names.find(picture.key, picture.where)
        if key is None:
            return None
        try:
            regions = self._records.read(key)
        except DataError as error:  # it costs its own cases, not its neighbours'
            return str(error)
        return self._fitting(key, regions)

    def _fitting(self, key: str, regions: Regions) -> Regions:
        for name, needed, given in zip(("boxes", "numbers a box"), self._needed, regions.features.shape, strict=True):
            if needed not in (None, given):
                raise DataError(self._path, key, f"has {given} {name} where the model takes {needed}", AGAIN)
        return regions


def is_features(path: Path) -> bool:
    """Whether a file or folder looks like features, and not like a detector."""
    if path.is_dir():
        return _is_database(path) or any(path.glob(PATTERN))
    return path.suffix.lower() in FORMS


def feature_file(path: Path, *, width: int | None = WIDTH, count: int | None = COUNT) -> FeatureFile:
    """Open a file or folder of features.

    Args:
        path: one of ``FORMS``, a folder with ``data.mdb``, or one that ``vlgate features`` wrote.
        width: how many numbers a box the model takes; None for any.
        count: how many boxes a picture the model takes; None for any.

    Raises: ModelLoadError where it cannot be read, holds no picture, or its first one has another number of boxes or
        of numbers a box than the model takes.
    """
    source = FeatureFile(path, _form(path)(path), width=width, count=count)
    if source.pictures == 0:
        raise ModelLoadError(f"{path}: holds no picture; {AGAIN}")
    source.check_first()
    return source


def _form(path: Path) -> Callable[[Path], Records]:
    if path.is_dir():
        return Volta if _is_database(path) else Shards
    return FORMS[path.suffix.lower()]


def _is_database(folder: Path) -> bool:
    return (folder / DATA).is_file()


def _identity(path: Path) -> str:
    """What a file is: its size, the time of its last change, its beginning and end; features may have 16 GB."""
    files = [path]
    if path.is_dir():
        files = [path / DATA] if _is_database(path) else sorted(path.glob(PATTERN))
    return digest(*map(_identity_of, files))


def _identity_of(file: Path) -> str:
    status = file.stat()
    with file.open("rb") as stream:
        first = stream.read(_ENDS)
        stream.seek(max(0, status.st_size - _ENDS))
        last = stream.read()
    return digest(file.name, str(status.st_size), str(status.st_mtime_ns), first.hex(), last.hex())

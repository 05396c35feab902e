"""Images inside a ZIP, Parquet or Arrow file: each is read when it is loaded, and nothing is unpacked to disk."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from vlgate.errors import DataError, ImageError
from vlgate.images.decoding import MAX_PIXELS, decode_stream
from vlgate.images.files import EXTENSIONS
from vlgate.sources.reading.image_finder import stem
from vlgate.sources.reading.text_files import FETCH_AGAIN
from vlgate.types import FileContent, Recipe

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 3 * MAX_PIXELS  # of a packed image that is read: the size of the largest image as plain RGB

# An encrypted member raises RuntimeError, and an unknown compression NotImplementedError, which is a RuntimeError too.
_BROKEN_ZIP = (BadZipFile, OSError, KeyError, EOFError, ValueError, RuntimeError, zlib.error)


@dataclass(frozen=True, slots=True)
class ZipLoad:
    file: str
    member: str  # never used as a path on the disk
    key: str

    def __call__(self) -> Image:
        where = f"{self.file}/{self.member}"
        try:
            with ZipFile(self.file) as archive:
                size = archive.getinfo(self.member).file_size
                content = archive.read(self.member) if size <= MAX_BYTES else None
        except _BROKEN_ZIP as error:
            raise ImageError(self.key, f"{where} cannot be read ({error})", FETCH_AGAIN) from None
        return _decoded(content, where, self.key)

    def recipe(self) -> Recipe:
        return ("zip", FileContent(self.file), self.member)


@dataclass(frozen=True, slots=True)
class TableLoad:
    file: str
    column: str  # of structs ``{bytes, path}``, as Hugging Face's datasets stores them, or of bytes
    place: tuple[int, int]
    key: str

    @property
    def where(self) -> str:
        return f"{self.file}, column {self.column}, row {self.place[1]} of row group {self.place[0]}"

    def __call__(self) -> Image:
        from pyarrow import ArrowException, types

        group, row = self.place
        try:
            if self.file.endswith(".arrow"):
                cell = arrow_batches(self.file)[group].column(self.column)[row]
            else:
                cell = _row_group(self.file, group, self.column)[row]
            cell = cell["bytes"] if types.is_struct(cell.type) and cell.is_valid else cell
            content: bytes | None = cell.as_py()
        except (ArrowException, OSError, LookupError) as error:
            raise ImageError(self.key, f"{self.where} cannot be read ({error})", FETCH_AGAIN) from None
        if content is None:
            raise ImageError(self.key, f"{self.where} holds no bytes", "save the dataset with its images embedded")
        return _decoded(content if len(content) <= MAX_BYTES else None, self.where, self.key)

    def recipe(self) -> Recipe:
        return ("parquet", FileContent(self.file), self.column, self.place)


def zip_members(file: Path) -> dict[str, str]:
    if not file.is_file():  # reading a pipe would block for ever
        raise DataError(file, None, "is not a regular file", "put a file in its place")
    try:
        with ZipFile(file) as archive:
            names = sorted(archive.namelist(), reverse=True)
    except _BROKEN_ZIP as error:
        raise DataError(file, None, f"is not a complete ZIP file ({error})", FETCH_AGAIN) from None
    return {stem(name): name for name in names if name.rpartition(".")[2].lower() in EXTENSIONS}


@lru_cache(maxsize=4)  # mapped into memory, not read
def arrow_batches(file: str) -> list[Any]:
    """Return the record batches of an Arrow file, a stream as ``save_to_disk`` writes it or a random access file."""
    from pyarrow import ArrowInvalid, ipc, memory_map

    mapped = memory_map(file)
    try:
        reader = ipc.open_file(mapped)
    except ArrowInvalid:
        mapped.seek(0)
        return list(ipc.open_stream(mapped))
    return [reader.get_batch(number) for number in range(reader.num_record_batches)]


@lru_cache(maxsize=2)  # one per image of a case: a row group takes about 25 MB, and an image in it 1 % of that
def _row_group(file: str, group: int, column: str) -> Any:
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    with ParquetFile(file) as parquet:
        is_struct = types.is_struct(parquet.schema_arrow.field(column).type)
        return parquet.read_row_group(group, columns=[f"{column}.bytes" if is_struct else column]).column(column)


def _decoded(content: bytes | None, where: str, key: str) -> Image:
    if content is None:
        raise ImageError(key, f"{where} has more than {MAX_BYTES:,} bytes", "make it smaller")
    return decode_stream(BytesIO(content), where, key)

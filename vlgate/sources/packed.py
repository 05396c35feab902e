"""Pictures inside a ZIP or Parquet file: each is read when it is asked for, and nothing is unpacked to disk."""

from __future__ import annotations

import zlib
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from vlgate.decoding import MAX_PIXELS, decode_stream
from vlgate.errors import DataError, PictureError
from vlgate.sources.images import EXTENSIONS, stem
from vlgate.sources.json_file import FETCH_AGAIN
from vlgate.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 3 * MAX_PIXELS
"""The largest packed picture that is read, in bytes: what the largest picture takes as plain RGB."""

# NotImplementedError, for a method of compression that is not known, and an encrypted member are RuntimeErrors.
_BROKEN_ZIP = (BadZipFile, OSError, KeyError, EOFError, ValueError, RuntimeError, zlib.error)


def zip_members(file: Path) -> dict[str, str]:
    """Return the names of the pictures in a ZIP file, by their last parts without extension (``ex_0_img_0``).

    Raises: DataError where it is no whole ZIP file.
    """
    try:
        with ZipFile(file) as archive:
            names = sorted(archive.namelist(), reverse=True)
    except _BROKEN_ZIP as error:
        raise DataError(file, None, f"is no whole ZIP file ({error})", FETCH_AGAIN) from None
    return {stem(name): name for name in names if name.rpartition(".")[2].lower() in EXTENSIONS}


def zip_picture(key: str, file: Path, member: str) -> Picture:
    """Return the picture in a member of a ZIP file. The member's name is no path here, so it can lead nowhere."""
    return Picture(key=key, load=partial(_from_zip, str(file), member, key), where=f"{file}/{member}")


def parquet_picture(key: str, file: Path, column: str, place: tuple[int, int]) -> Picture:
    """Return the picture in a column of structs ``{bytes, path}``, as Hugging Face's datasets stores images.

    Args:
        key: of the picture.
        file: the Parquet file.
        column: its column.
        place: the row group, and the row in it.
    """
    where = f"{file}, column {column}, row {place[1]} of row group {place[0]}"
    return Picture(key=key, load=partial(_from_parquet, str(file), column, place, key), where=where)


def _from_zip(file: str, member: str, key: str) -> Image:
    where = f"{file}/{member}"
    try:
        with ZipFile(file) as archive:
            size = archive.getinfo(member).file_size
            content = archive.read(member) if size <= MAX_BYTES else None
    except _BROKEN_ZIP as error:
        raise PictureError(key, f"{where} cannot be read ({error})", FETCH_AGAIN) from None
    return _decoded(content, where, key)


def _from_parquet(file: str, column: str, place: tuple[int, int], key: str) -> Image:
    from pyarrow import ArrowException

    group, row = place
    where = f"{file}, column {column}, row {row} of row group {group}"
    try:
        cell = _row_group(file, group, column)[row].as_py()
    except (ArrowException, OSError, LookupError) as error:
        raise PictureError(key, f"{where} cannot be read ({error})", FETCH_AGAIN) from None
    content = cell and cell["bytes"]
    if content is None:
        raise PictureError(key, f"{where} holds no bytes", "save the dataset with its images embedded")
    return _decoded(content if len(content) <= MAX_BYTES else None, where, key)


@lru_cache(maxsize=2)  # a case's two pictures: a row group takes some 25 MB, and a picture in it a hundredth of that
def _row_group(file: str, group: int, column: str) -> Any:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(file) as parquet:
        return parquet.read_row_group(group, columns=[f"{column}.bytes"]).column(column)


def _decoded(content: bytes | None, where: str, key: str) -> Image:
    if content is None:
        raise PictureError(key, f"{where} has more than {MAX_BYTES:,} bytes", "make it smaller")
    return decode_stream(BytesIO(content), where, key)

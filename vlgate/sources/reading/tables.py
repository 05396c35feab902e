"""Rows with images, as Hugging Face's datasets stores them: Parquet files, and the Arrow files of ``save_to_disk``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.sources.reading.json_file import FETCH_AGAIN
from vlgate.sources.reading.packed import arrow_batches, table_image
from vlgate.sources.reading.records import Record
from vlgate.types import LazyImage

KINDS = ("*.parquet", "*.arrow")
"""The files of a table, which may be in several parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table: its fields without the images, and its place, the number of its group and in that group."""

    record: Record
    place: tuple[int, int]

    def image(self, key: str, column: str) -> LazyImage:
        """Return the image in a column of the row; it is decoded when a model asks for it."""
        return table_image(key, self.record.file, column, self.place)


def table_files(places: Iterable[Path], kinds: Sequence[str] = KINDS) -> list[Path]:
    """Return the files of the table that one of the folders holds, in the order of their names.

    Raises: DataError if two of the folders hold such files, or one folder holds those of two kinds. A folder that is
        reached twice counts once.
    """
    parts = [sorted(place.glob(kind)) for place in places for kind in kinds]
    found = list({os.path.realpath(files[0]): files for files in parts if files}.values())
    if len(found) > 1:
        problem = f"is the release, and so is {found[1][0]}"
        raise DataError(found[0][0], None, problem, "keep one of them, or give one data folder only")
    return found[0] if found else []


def table_rows(files: Iterable[Path], images: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table, in the order of its files.

    Args:
        files: its Parquet or Arrow files.
        images: the columns with images, structs with the field ``bytes``.

    Raises: DataError, which names the file, if a file is not complete or lacks one of these columns.
    """
    for file in files:
        fields, sizes = _texts(file, images)
        places = ((group, row) for group, size in enumerate(sizes) for row in range(size))
        for number, (row, place) in enumerate(zip(fields, places, strict=True)):
            yield Row(record=Record(file, f"in row {number}", row), place=place)


def _texts(file: Path, images: Sequence[str]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the rows of a file without the images, and the number of rows in each of its groups."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    if not file.is_file():  # reading a pipe would block for ever
        raise DataError(file, None, "is not a regular file", "put a file in its place")
    kind = "Arrow" if file.suffix == ".arrow" else "Parquet"
    try:
        if kind == "Arrow":
            batches = arrow_batches(str(file))
            columns = _columns(file, batches[0].schema, images) if batches else []
            rows = [row for batch in batches for row in batch.select(columns).to_pylist()]
            return rows, [batch.num_rows for batch in batches]
        with ParquetFile(file) as parquet:
            columns = _columns(file, parquet.schema_arrow, images)
            sizes = [parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)]
            return parquet.read(columns=columns).to_pylist(), sizes
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(file, None, f"is not a complete {kind} file ({error})", FETCH_AGAIN) from None


def _columns(file: Path, schema: Any, images: Sequence[str]) -> list[str]:
    """The names of the columns without those of images, whose form is checked."""
    from pyarrow import types

    for name in images:
        place = schema.get_field_index(name)
        if place < 0 or not types.is_struct(kind := schema.field(place).type) or kind.get_field_index("bytes") < 0:
            raise DataError(file, None, f"has no column {name!r} of structs with 'bytes'", FETCH_AGAIN)
    return [name for name in schema.names if name not in images]

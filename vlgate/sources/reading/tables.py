"""Rows with images, as Hugging Face's datasets stores them: in a data folder, or fetched from the hub."""

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vlgate.errors import DataError
from vlgate.images.files import file_image, missing_image
from vlgate.sources.reading.image_finder import is_plain
from vlgate.sources.reading.packed import TableLoad, arrow_batches
from vlgate.sources.reading.records import Record, each
from vlgate.sources.reading.source import Item, ReadOptions, TaskRow
from vlgate.sources.reading.text_files import FETCH_AGAIN, is_there, matching
from vlgate.types import Case, LazyImage, Task

_REMEDY = (
    "accept its terms on its page, log in with `hf auth login` or HF_TOKEN, unset HF_HUB_OFFLINE, "
    "or put the release into a data folder"
)


def dataset_folder(name: str, patterns: list[str]) -> Path:
    """Return the folder with the local copy of a data set; files that are not in the hub's cache are fetched first."""
    try:
        from huggingface_hub import snapshot_download

        return Path(str(snapshot_download(name, repo_type="dataset", allow_patterns=patterns)))
    except ModuleNotFoundError:
        raise DataError(name, None, "needs huggingface_hub", "pip install huggingface_hub") from None
    except OSError as error:  # the hub's errors: offline, gated, not found, no connection
        reason = (str(error).strip().splitlines() or [repr(error)])[0]
        raise DataError(name, None, f"cannot be fetched from the hub ({reason})", _REMEDY) from None


# A column of images holds structs ``{bytes, path}`` or plain bytes. If the bytes are null, the image is the file that
# the path names, beside the table.

KINDS = ("*.parquet", "*.arrow")  # the files of a table, which may be in several parts
SMALL = 64 << 20  # the bytes of a Parquet file that is looked for rows without an image: such rows take no space
_LISTED = 20  # the most columns that a message lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    record: Record  # its fields without the images
    place: tuple[int, int]  # the number of its group, and its own in that group
    number: int  # over all files of the table, from 0
    paths: Mapping[str, str] = field(default_factory=dict)  # of images that the table names, by their columns
    outside: frozenset[str] = frozenset()  # the columns whose image is not in the table

    def image(self, key: str, column: str) -> LazyImage:
        table = self.record.file
        if column not in self.outside or column not in self.paths:
            load = TableLoad(str(table), column, self.place, key)
            return LazyImage(key=key, load=load, where=load.where)
        path = self.paths[column]  # perhaps one of another machine
        # Two folders of a table may hold images of one name.
        name = path.removeprefix("images/") if is_plain(path) else path.replace("\\", "/").rpartition("/")[2]
        names = [place for place in (name, f"images/{name}") if is_plain(place)]
        places = [folder / place for folder in (table.parent, table.parent.parent) for place in names]
        file = next((place for place in places if place.is_file()), None)
        looked = [Path(f"{table} (column {column!r} has no bytes)"), *places]
        return missing_image(key, looked) if file is None else file_image(key, file)


def table_files(places: Iterable[Path], kinds: Sequence[str] = KINDS) -> list[Path]:
    parts = [matching(place / kind) for place in places for kind in kinds]
    found = list({os.path.realpath(files[0]): files for files in parts if files}.values())
    if len(found) > 1:
        problem = f"is the release, and so is {found[1][0]}"
        raise DataError(found[0][0], None, problem, "keep one of them, or give one data folder only")
    return found[0] if found else []


def table_rows(files: Iterable[Path], images: Sequence[str], remedy: str = FETCH_AGAIN) -> Iterator[Row]:
    number = 0
    for file in files:
        with _opened(file) as table:
            schema = table.schema
            _refuse_other_columns(file, schema, images, remedy)
            # All columns without images, and of the images only the path.
            columns = [name for name in schema.names if name not in images and not _is_image(schema.field(name).type)]
            structs = [name for name in images if name in schema.names and _leaf(schema, name) != name]
            columns += [f"{name}.path" for name in structs if schema.field(name).type.get_field_index("path") >= 0]
            rows = table.rows(columns)
            places = [(group, row) for group, size in enumerate(table.sizes) for row in range(size)]
            without = {column: _without_bytes(table, column) for column in images}
        for index, (fields, place) in enumerate(zip(rows, places, strict=True)):
            cells = {column: fields.pop(column, None) for column in images}
            paths = {column: cell["path"] for column, cell in cells.items() if cell and cell.get("path")}
            outside = frozenset(column for column in images if index in without[column])
            record = Record(file, f"in row {index}", fields)
            yield Row(record=record, place=place, number=number, paths=paths, outside=outside)
            number += 1


def column_names(file: Path, remedy: str = FETCH_AGAIN) -> list[str]:
    with _opened(file, remedy) as table:
        return list(table.schema.names)


def all_rows(file: Path, remedy: str) -> list[dict[str, Any]]:
    with _opened(file, remedy) as table:
        return table.rows(table.schema.names)


def class_names(file: Path, column: str) -> list[str]:
    with _opened(file) as table:
        kept = (table.schema.metadata or {}).get(b"huggingface", b"{}")
    try:
        names = json.loads(kept)["info"]["features"][column]["names"]
    except (ValueError, LookupError, TypeError):
        return []
    return names if type(names) is list and {str}.issuperset(map(type, names)) else []


class _Parquet:
    def __init__(self, file: Path) -> None:
        from pyarrow.parquet import ParquetFile

        self._file = ParquetFile(file)
        # In a large file, all images are taken to be inside. The statistics of the file would tell, but pyarrow ends
        # the process if they are damaged.
        self.looked = file.stat().st_size <= SMALL
        self.schema: Any = self._file.schema_arrow
        groups = range(self._file.num_row_groups)
        self.sizes = [self._file.metadata.row_group(group).num_rows for group in groups]
        self.close = self._file.close

    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        return list(self._file.read(columns=columns).to_pylist())

    def images(self, group: int, column: str) -> Any:
        cells = self._file.read_row_group(group, columns=[_leaf(self.schema, column)]).column(column)
        return cells.combine_chunks()


class _Arrow:
    looked = True

    def __init__(self, file: Path) -> None:
        import pyarrow as pa

        self._batches = arrow_batches(str(file))
        self.schema: Any = self._batches[0].schema if self._batches else pa.schema([])
        self.sizes = [batch.num_rows for batch in self._batches]

    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        plain = [name for name in columns if "." not in name or name in self.schema.names]
        rows = [row for batch in self._batches for row in batch.select(plain).to_pylist()]
        for name in (name.removesuffix(".path") for name in columns if name not in plain):
            paths = [path for batch in self._batches for path in _child(batch.column(name), "path").to_pylist()]
            for row, path in zip(rows, paths, strict=True):
                row[name] = {"path": path}
        return rows

    def images(self, group: int, column: str) -> Any:
        return self._batches[group].column(column)

    def close(self) -> None:
        """Leave the file mapped for the images that are read later."""


@contextmanager
def _opened(file: Path, remedy: str = FETCH_AGAIN) -> Iterator[_Parquet | _Arrow]:
    from pyarrow import ArrowException

    if not is_there(file) or not file.is_file():  # reading a pipe would block for ever
        raise DataError(file, None, "is not a regular file", "put a file in its place")
    kind = "Arrow" if file.suffix == ".arrow" else "Parquet"
    table: _Parquet | _Arrow | None = None
    try:
        table = _Arrow(file) if kind == "Arrow" else _Parquet(file)
        yield table
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(file, None, f"is not a complete {kind} file ({error})", remedy) from None
    finally:
        if table is not None:
            table.close()


def _refuse_other_columns(file: Path, schema: Any, images: Sequence[str], remedy: str) -> None:
    for name in images if schema.names or file.suffix == ".parquet" else ():
        if name not in schema.names or not _is_image(schema.field(name).type):
            some = ", ".join(map(repr, schema.names[:_LISTED])) or "none"
            problem = f"has no column {name!r} of structs with 'bytes', or of bytes; its columns are {some}"
            raise DataError(file, None, problem, remedy)


def _is_image(kind: Any) -> bool:
    from pyarrow import types

    if types.is_struct(kind):
        return bool(kind.get_field_index("bytes") >= 0)
    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def _leaf(schema: Any, column: str) -> str:
    from pyarrow import types

    return f"{column}.bytes" if types.is_struct(schema.field(column).type) else column


def _child(cells: Any, name: str) -> Any:
    return cells.flatten()[cells.type.get_field_index(name)]


def _without_bytes(table: _Parquet | _Arrow, column: str) -> set[int]:
    from pyarrow import types

    lacking: set[int] = set()
    start = 0
    for group, size in enumerate(table.sizes if table.looked else ()):
        cells = table.images(group, column)
        values = _child(cells, "bytes") if types.is_struct(cells.type) else cells
        nulls = values.is_null().to_pylist() if values.null_count else ()
        lacking |= {start + row for row, null in enumerate(nulls) if null}
        start += size
    return lacking


# The folders of a release that may hold the table; ``save_to_disk`` makes one for each split.
_INSIDE = ("", "data", "data/test", "test")


def release_files(options: ReadOptions, benchmark: str, hub: str, kinds: Sequence[str] = KINDS) -> list[Path]:
    whole = [folder / benchmark for folder in options.folders]
    if f"{benchmark}_hub" in options.protocols:
        whole.append(dataset_folder(hub, [*kinds, *(f"**/{kind}" for kind in kinds)]))
    return table_files([folder / place for folder in whole for place in _INSIDE], kinds)


def refuse_both(file: Path | None, tables: Sequence[Path]) -> None:
    if file is not None and tables:
        raise DataError(file, None, f"is the release, and so is {tables[0]}", "keep one of them")


def tasks_by_kind(
    items: Iterable[Item],
    column: str,
    make: Callable[[Item], Case],
    rows: Mapping[str, TaskRow],
    wanted: Callable[[str], bool],
    note: str = "",
) -> Iterator[Task]:
    cases: dict[str, dict[str, Case]] = {kind: {} for kind, row in rows.items() if wanted(row.id)}

    def add(item: Item) -> None:
        kind = item.record.text(column).strip().lower()
        if kind not in rows:
            item.record.reject(column, " or ".join(map(repr, rows)))
        if kind in cases:
            case = make(item)
            if cases[kind].setdefault(case.id, case) is not case:
                raise item.record.error(f"id {case.id} is repeated")

    deque(each(add, items if cases else ()), maxlen=0)
    for kind, made in cases.items():
        if made:
            yield rows[kind].task(made.values(), note=note)


def other_form(options: ReadOptions, *patterns: str) -> str:
    paths = (str(path) for folder in options.folders for pattern in patterns for path in folder.glob(pattern))
    return min(paths, default="")

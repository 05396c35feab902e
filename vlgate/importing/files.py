"""The rows of a file of another harness: JSON, JSON lines, tables, MME's text files and the logs of inspect."""

from __future__ import annotations

import csv
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import OptionError

CELL = 32767
"""The most characters that a cell of an .xlsx file holds; a longer text is cut."""

MME = ("image", "question", "truth", "prediction")
"""The columns of MME's text files, which have no header."""

_LISTS = ("samples", "logs", "answers", "predictions", "results", "data", "questions", "annotations")
_LARGEST = 2**30  # a field of a table may hold an image


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A record of a file: its place, as messages name it, and its fields."""

    place: str
    fields: Mapping[str, Any]


def rows_of(file: Path) -> list[Row]:
    """Return the records of a file.

    Raises: OptionError, which names the file, the line and the remedy, if the file cannot be read.
    """
    if file.is_dir():
        raise OptionError(f"{file}: is a folder; name the files in it, such as {file}/*")
    if not file.is_file():
        raise OptionError(f"{file}: there is no such file; check the path")
    read = _READERS.get(file.suffix.lower())
    if read is None:
        remedy = "write the table as .xlsx, .tsv or .json" if file.suffix == ".pkl" else "name a file of replies"
        raise OptionError(f"{file}: expected a name that ends in {', '.join(_READERS)}; {remedy}")
    try:
        rows = [Row(place=f"{file.name}, {place}", fields=fields) for place, fields in read(file)]
    except OSError as error:
        raise OptionError(f"{file}: cannot be read ({error.strerror}); make it a readable file") from None
    if not rows:
        raise OptionError(f"{file}: holds no records; write the file again")
    return rows


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OptionError(f"{file}: is not UTF-8 ({error}); save it as UTF-8") from None


def _json(file: Path) -> Iterable[tuple[str, Any]]:
    """The records of JSON or JSON lines: both are in use under either name."""
    text = _text(file)
    lines = [(f"line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        return []
    if file.suffix.lower() == ".json" and (len(lines) == 1 or not _is_json(lines[0][1])):
        return _listed(file, _parsed(file, text, ""))
    if lines[0][1].lstrip().startswith("["):
        return _listed(file, _parsed(file, text, ""))
    return [(place, _object(file, place, _parsed(file, line, place))) for place, line in lines]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(file: Path, text: str, place: str) -> Any:
    where = f"{file}, {place}" if place else f"{file}"
    try:
        return json.loads(text)
    except RecursionError:
        raise OptionError(f"{where}: is nested too deeply; write one plain object per line") from None
    except ValueError as error:
        raise OptionError(f"{where}: is not JSON ({error}); write it again, or remove a line that is cut off") from None


def _object(file: Path, place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise OptionError(f"{file}, {place}: is {type(value).__name__}, expected an object with a question and a reply")
    return value


def _listed(file: Path, content: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The records of a JSON document: a list, a list in an object, columns, or one record per key."""
    if isinstance(content, dict):
        lists = [content[name] for name in _LISTS if isinstance(content.get(name), list)]
        lists = [values for values in lists if values and all(isinstance(value, dict) for value in values)]
        whole = "configs" in content  # lmms-eval's figures
        if not lists and content and not whole and all(isinstance(value, dict) for value in content.values()):
            yield from _keyed(content)
            return
        content = lists[0] if lists else [content]
    if not isinstance(content, list):
        raise OptionError(f"{file}: is {type(content).__name__}, expected records with a question and a reply")
    for number, value in enumerate(content, 1):
        yield f"record {number}", _object(file, f"record {number}", value)


def _keyed(content: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """One record per key; or pandas' columns, ``{"question": {"0": ...}, "prediction": {"0": ...}}``."""
    names = {frozenset(column) for column in content.values()}
    if len(names) == 1 and "question" in content:
        for key in next(iter(content.values())):
            yield f"record {key}", {name: column[key] for name, column in content.items()}
    else:
        for key, fields in content.items():
            yield f"record {key}", {"id": key, **fields}


def _separated(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = _text(file)
    head = text.partition("\n")[0]
    delimiter = max("\t,;", key=head.count)  # of equals the first
    csv.field_size_limit(_LARGEST)
    try:
        for number, fields in enumerate(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter), 2):
            extra = fields.pop(None, None)
            if extra or None in fields.values():
                raise OptionError(f"{file}, row {number}: has not as many columns as the header; write the table again")
            yield f"row {number}", {name: value or None for name, value in fields.items()}
    except csv.Error as error:
        raise OptionError(f"{file}: is not a table ({error}); write it again") from None


def _lines(file: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """MME's text files, image, question, truth and answer, with tabs between them; or JSON lines."""
    text = _text(file)
    if text.lstrip().startswith(("{", "[")):
        return _json(file)
    rows: list[tuple[str, dict[str, Any]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split("\t")
        if len(cells) == len(MME):
            rows.append((f"line {number}", {**dict(zip(MME, cells, strict=True)), "category": file.stem}))
        elif rows:  # a reply of several lines
            rows[-1][1]["prediction"] += f"\n{line}"
        elif line.strip():
            problem = f"has {len(cells)} columns, expected {len(MME)}: {', '.join(MME)}, with tabs between them"
            raise OptionError(f"{file}, line {number}: {problem}; name a file of replies")
    return rows


def _sheet(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise OptionError(f"{file}: reading .xlsx needs openpyxl; pip install openpyxl, or save it as .tsv") from None
    try:
        book = load_workbook(file, read_only=True, data_only=True)
        rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
        book.close()
    except (InvalidFileException, zipfile.BadZipFile, zlib.error, KeyError, ValueError, IndexError) as error:
        raise OptionError(f"{file}: cannot be read as .xlsx ({error}); write it again") from None
    head = [str(name) for name in rows[0]] if rows else []
    for number, cells in enumerate(rows[1:], 2):
        if any(cell is not None for cell in cells):
            yield f"row {number}", dict(zip(head, cells, strict=False))


def _archive(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The samples of a log of inspect, which is a zip archive of JSON files."""
    remedy = "write it as JSON: inspect log convert --to json"
    try:
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            for name in names:
                yield name, _object(file, name, _parsed(file, archive.read(name).decode("utf-8", "replace"), name))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise OptionError(f"{file}: cannot be read as a log of inspect ({error}); {remedy}") from None
    if not names:
        raise OptionError(f"{file}: holds no samples; run inspect without --no-log-samples")


def _parquet(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(file).to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{file}: cannot be read as Parquet ({error}); write it again") from None
    yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))


_READERS: Mapping[str, Callable[[Path], Iterable[tuple[str, Mapping[str, Any]]]]] = MappingProxyType(
    {
        ".jsonl": _json,
        ".json": _json,
        ".ndjson": _json,
        ".tsv": _separated,
        ".csv": _separated,
        ".txt": _lines,
        ".xlsx": _sheet,
        ".eval": _archive,
        ".parquet": _parquet,
    }
)

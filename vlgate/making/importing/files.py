"""The rows of a file of another harness: JSON, JSON lines, tables, MME's text files and the logs of inspect."""

import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from vlgate.errors import DataError, OptionError
from vlgate.sources.reading.tables import all_rows, column_names
from vlgate.sources.reading.text_files import check_columns, parsed, read_cells, read_text

CELL = 32767  # the most characters that a cell of an .xlsx file holds; a longer text is cut

MME = ("image", "question", "truth", "prediction")  # the columns of MME's text files, which have no header

_PROBLEM = "\n"  # the field with the reason why a line is not a record
_LISTS = ("samples", "logs", "answers", "predictions", "results", "data", "questions", "annotations")
_AGAIN = "write the file again, as UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    place: str
    fields: Mapping[str, Any]
    problem: str = ""


def rows_of(file: Path) -> list[Row]:
    if file.is_dir():
        raise OptionError(f"{file}: is a folder; name the files in it, such as {file}/*")
    if not file.is_file():
        raise OptionError(f"{file}: there is no such file; check the path")
    readers: Mapping[str, Callable[[Path], Iterable[tuple[str, Mapping[str, Any]]]]] = {
        **dict.fromkeys((".jsonl", ".json", ".ndjson"), _json),
        **dict.fromkeys(
            (".tsv", ".csv"), lambda table: ((f"line {n}", row) for n, row in read_cells(table, "", _AGAIN))
        ),
        ".txt": _lines,
        ".xlsx": _sheet,
        ".eval": _archive,
        ".parquet": _parquet,
    }
    read = readers.get(file.suffix.lower())
    if read is None:
        remedy = "write the table as .xlsx, .tsv or .json" if file.suffix == ".pkl" else "name a file of replies"
        raise OptionError(f"{file}: expected a name that ends in {', '.join(readers)}; {remedy}")
    try:
        rows = [
            Row(place=f"{file.name}, {place}", fields=fields, problem=str(fields.get(_PROBLEM, "")))
            for place, fields in read(file)
        ]
    except DataError as error:  # its status is that of a broken benchmark
        raise OptionError(str(error)) from None
    except OSError as error:
        raise OptionError(f"{file}: cannot be read ({error.strerror}); make it a readable file") from None
    if not rows:
        raise OptionError(f"{file}: holds no records; write the file again")
    return rows


def _json(file: Path) -> Iterable[tuple[str, Any]]:
    """The records of JSON or JSON lines: both are in use under either name."""
    text = read_text(file, _AGAIN)
    ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
    lines = [(f"line {n}", slice(start, end - 1)) for n, (start, end) in enumerate(pairwise([0, *ends]), 1)]
    lines = [(place, part) for place, part in lines if text[part].strip()]
    first = text[lines[0][1]]
    try:
        json.loads(first)
        whole = len(lines) == 1
    except (ValueError, RecursionError):
        whole = True
    if (whole and file.suffix.lower() == ".json") or first.lstrip().startswith("["):
        return _listed(file, _parsed(file, text, slice(0, len(text))))
    return [(place, _object(file, place, _parsed(file, text, part))) for place, part in lines]


def _parsed(file: Path, text: str, part: slice) -> Any:
    # Python's own writer writes NaN.
    return parsed(file, text, part, "write the record again, or remove it", constants=True)


def _object(file: Path, place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise OptionError(f"{file}, {place}: is {type(value).__name__}, expected an object with a question and a reply")
    return value


def _listed(file: Path, content: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(content, dict):
        lists = [content[name] for name in _LISTS if isinstance(content.get(name), list)]
        lists = [values for values in lists if values and all(isinstance(value, dict) for value in values)]
        figures = "configs" in content  # lmms-eval's figures
        if not lists and content and not figures and all(isinstance(value, dict) for value in content.values()):
            if "question" in content and len({frozenset(column) for column in content.values()}) == 1:
                # pandas' columns, ``{"question": {"0": ...}, "prediction": {"0": ...}}``
                for key in content["question"]:
                    yield f"record {key}", {name: column[key] for name, column in content.items()}
            else:
                yield from ((f"record {key}", {"id": key, **fields}) for key, fields in content.items())
            return
        content = lists[0] if lists else [content]
    if not isinstance(content, list):
        raise OptionError(f"{file}: is {type(content).__name__}, expected records with a question and a reply")
    for number, value in enumerate(content, 1):
        yield f"record {number}", _object(file, f"record {number}", value)


def _lines(file: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    text = read_text(file, _AGAIN)
    if text.lstrip().startswith(("{", "[")):
        return _json(file)
    rows: list[tuple[str, dict[str, Any]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split("\t")
        if len(cells) == len(MME):
            rows.append((f"line {number}", {**dict(zip(MME, cells, strict=True)), "category": file.stem}))
        elif rows and len(cells) == 1:  # a reply of several lines
            rows[-1][1]["prediction"] = f"{rows[-1][1].get('prediction', '')}\n{line}"
        elif line.strip():
            problem = f"its line has {len(cells)} cells, expected {len(MME)}: {', '.join(MME)}"
            rows.append((f"line {number}", {_PROBLEM: problem, "question": line}))
    if all(_PROBLEM in fields for _, fields in rows):
        place, fields = rows[0]
        raise OptionError(f"{file}, {place}: {fields[_PROBLEM]}, with tabs between them; name a file of replies")
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
    head = ["" if name is None else str(name) for name in rows[0]] if rows else []
    check_columns(file, head)
    for number, cells in enumerate(rows[1:], 2):
        if any(cell is not None for cell in cells):
            yield f"row {number}", {name: cell for name, cell in zip(head, cells, strict=False) if name}


def _archive(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    remedy = "write it as JSON: inspect log convert --to json"
    try:
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            for name in names:
                text = archive.read(name).decode("utf-8", "replace")
                yield name, _object(file, name, _parsed(file / name, text, slice(0, len(text))))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise OptionError(f"{file}: cannot be read as a log of inspect ({error}); {remedy}") from None
    if not names:
        raise OptionError(f"{file}: holds no samples; run inspect without --no-log-samples")


def _parquet(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    check_columns(file, column_names(file, "write it again"))
    return ((f"row {number}", row) for number, row in enumerate(all_rows(file, "write it again"), 1))

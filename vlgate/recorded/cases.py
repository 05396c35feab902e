"""Read ``cases.parquet`` of a finished run: its rows, checked before they are used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.recorded.folder import AGAIN, CASES, NAME_ANOTHER, RecordedRun, refuse_pipe
from vlgate.recorded.form import fitted
from vlgate.types import FloatArray

TEXTS = ("task", "case", "state", "tags", "origin", "why")
LISTS = ("images", "texts", "truths", "scores", "answers")
NO_FACTS = frozenset({*TEXTS, *LISTS, "right"})
_WHOLE = ("texts", "truths")
"""The lists that have a text for each request."""
STATES = ("judged", "unscored", "skipped")
_TAGS = {"type": "object", "additionalProperties": {"type": "string"}}


def read_cases(run: RecordedRun) -> Any:
    """Read all rows.

    Returns: a table of pyarrow with the columns of ``cases.parquet``; the lists of a row have equal lengths.
    Raises: OptionError if the file is missing, cannot be read or is damaged, or if it has not the rows that
        ``metrics.json`` counts; the message names the file, the column and the remedy.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        refuse_pipe(run.folder / CASES, run.named)
        with (run.folder / CASES).open("rb") as stream:  # pyarrow would take a name with a colon for an address
            table = ParquetFile(stream, pre_buffer=False).read(use_threads=False)  # a thread left over aborts the exit
            table.validate(full=True)
            names = table.column_names
    except (FileNotFoundError, NotADirectoryError):
        raise run.wrong(f"holds no {CASES}", NAME_ANOTHER) from None
    except (OSError, pa.ArrowException, ValueError, MemoryError) as error:  # a ValueError for a name that is not UTF-8
        raise run.wrong(f"{CASES} cannot be read ({str(error)[:80]})", AGAIN) from None
    if len(names) > len(set(names)):
        raise run.wrong(f"{CASES} is damaged: it has the column {max(names, key=names.count)!r} twice")
    table = _typed(table, run)
    _refuse_damaged(table, run)
    return table


def fact_names(table: Any) -> list[str]:
    """Return the names of the columns that hold facts of verdicts, in their order."""
    return [name for name in table.column_names if name not in NO_FACTS]


def rows_at(table: Any, places: NDArray[Any]) -> Any:
    """Return the rows of a table at some places, an array of shape (n,), as a table.

    A list or an array of numpy would make pyarrow import pandas, which takes longer than all else here.
    """
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(places, dtype=np.int64))
    return table.take(pa.Array.from_buffers(pa.int64(), len(places), [None, buffer]))


def numbers(column: Any) -> FloatArray:
    """Return a column of numbers as an array of shape (n,), NaN for an empty cell; it imports no pandas either."""
    import pyarrow as pa

    cells = column.combine_chunks()
    found = np.full(len(cells), np.nan)
    found[np.from_dlpack(cells.is_valid().cast(pa.uint8())) == 1] = np.from_dlpack(cells.drop_null())
    return found


def tags_of(run: RecordedRun, table: Any) -> list[dict[str, str]]:
    """Return the tags of each row.

    Raises: OptionError if those of a row are not a JSON object of texts.
    """
    found: dict[str, dict[str, str]] = {}
    for text in table.column("tags").unique().to_pylist():
        try:
            found[text] = fitted(json.loads(text), _TAGS, _TAGS)
        except (ValueError, RecursionError):
            raise run.wrong(f"{CASES} is damaged: tags={text[:40]!r} is not a JSON object of texts") from None
    return [found[text] for text in table.column("tags").to_pylist()]


def _typed(table: Any, run: RecordedRun) -> Any:
    """The table with the documented types, which other programs may have written in a wider form."""
    import pyarrow as pa

    lists = {name: pa.list_(pa.float64() if name == "scores" else pa.string()) for name in LISTS}
    types = {**dict.fromkeys(TEXTS, pa.string()), "right": pa.bool_(), **lists}
    for name in types:
        if name not in table.column_names:
            raise run.wrong(f"{CASES} lacks the column {name!r}")
    for place, name in enumerate(table.column_names):
        wanted = types.get(name, table.field(name).type if name in NO_FACTS else pa.float64())
        if table.field(name).type != wanted:
            try:
                table = table.set_column(place, name, table.column(name).cast(wanted))
            except pa.ArrowException:
                kind = table.field(name).type
                raise run.wrong(f"the column {name!r} of {CASES} is {kind}, expected {wanted}") from None
    return table


def _refuse_damaged(table: Any, run: RecordedRun) -> None:
    fault = next(_faults(table), None)
    if fault is not None:
        raise run.wrong(f"{CASES} is damaged: {fault}")
    tags_of(run, table)
    counted = {entry["values"]: entry["counts"] for entry in table.column("task").value_counts().to_pylist()}
    told = {name: task["cases"] for name, task in run.figures["tasks"].items() if task["cases"]}
    for name in sorted({*counted, *told}):
        rows, cases = counted.get(name, 0), told.get(name, 0)
        if rows != cases:
            raise run.wrong(f"{CASES} has {rows:,} cases of {name}, {run.folder.name}/metrics.json has {cases:,}")


def _faults(table: Any) -> Iterator[str]:
    """What is wrong with the cells of a table, in a sentence each."""
    import pyarrow.compute as pc

    for name in (*TEXTS, *LISTS):
        if table.column(name).null_count:
            yield f"the column {name!r} has an empty cell"
    flat = {name: pc.list_flatten(table.column(name)) for name in LISTS}
    yield from (f"a list of the column {name!r} has an empty cell" for name in _WHOLE if flat[name].null_count)
    other = set(table.column("state").unique().to_pylist()) - set(STATES)
    if other:
        yield f"state={min(other)!r} is none of {', '.join(STATES)}"
    right = table.column("right").to_pylist()
    if any((state == "judged") is (one is None) for state, one in zip(table["state"].to_pylist(), right, strict=True)):
        yield "a case that is not judged is right or wrong, or a judged one neither"
    for name in (*fact_names(table), "scores"):
        column = flat[name] if name == "scores" else table.column(name)
        values = numbers(column)  # a comparison with a number of Python would import pandas
        known = values[~np.isnan(values)]
        fits = np.isfinite(known) if name == "scores" else (known >= 0) & (known <= 1)
        if known.size + column.null_count < values.size or not fits.all():
            wrong = "nan" if fits.all() else known[~fits][0]
            yield f"{name}={wrong} is not {'finite' if name == 'scores' else 'from 0 to 1'}"
    lengths = [pc.list_value_length(table.column(name)) for name in LISTS]
    if any(not first.equals(other) for first, other in pairwise(lengths)):
        yield "the lists of a row differ in length"
    if pc.min_max(lengths[0])["min"].as_py() == 0:
        yield "a case has no request"

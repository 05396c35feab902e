"""The cases of a run in columns, in memory and read back from cases.parquet alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.gates.decide import Coverage, Judged
from vlgate.judging.judged import Verdicts
from vlgate.metrics.clusters import Clusters, clusters, image_of, recorded_clusters
from vlgate.metrics.compute import in_rows, metrics, starts
from vlgate.metrics.measures import Columns, group_codes
from vlgate.metrics.sentences import figure
from vlgate.metrics.shapes import SHAPES
from vlgate.record.controls import read_controls
from vlgate.record.folder import AGAIN, CASES, METRICS, NAME_ANOTHER, OF_ONE_RUN, RecordedRun, refuse_pipe
from vlgate.record.schema import fitted
from vlgate.types import UNREADABLE, FloatArray, Request, Shape, text_of, undrawn

TEXTS = ("task", "case", "state", "tags", "origin", "why")
LISTS = ("images", "texts", "truths", "scores", "answers")
NO_FACTS = frozenset({*TEXTS, *LISTS, "right"})
STATES = ("judged", "unscored", "skipped")
_REPEATED = ("task", "state", "tags")  # the columns of few different texts, each of which is in memory once
_EACH_REQUEST = ("texts", "truths")  # the lists that have a text for each request
_SHAPES: tuple[Shape, ...] = ("pair", "quad", "active_passive_set", "questions")  # those of files that name no shape
_TAGS = {"type": "object", "additionalProperties": {"type": "string"}}

# Columns that verdicts have without a table.
_HELD: Mapping[str, Callable[[Verdicts], Sequence[Any]]] = {
    "case": lambda table: [case.id for case in table.cases],
    "state": lambda table: table.states,
    "right": lambda table: [
        right if state == "judged" else None for right, state in zip(table.right.data, table.states, strict=True)
    ],
}


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseTable:
    shape: Shape
    together: bool = False  # whether the images of a case were asked about together
    rows: Any = field(repr=False)  # a table of pyarrow with the columns of cases.parquet, or ``JudgedRows``
    verdicts: Verdicts | None = field(default=None, repr=False)  # those of the ``JudgedRows``

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def column(self, name: str) -> Sequence[Any]:
        if self.verdicts is not None and name in _HELD:
            return _HELD[name](self.verdicts)
        if name not in _REPEATED:
            values: list[Any] = self.rows.column(name).to_pylist()
            return values
        cells = self.rows.column(name).combine_chunks().dictionary_encode()
        known = cells.dictionary.to_pylist()
        return [known[code] for code in cells.indices.to_pylist()]

    def take(self, rows: Sequence[int] | NDArray[Any]) -> CaseTable:
        return replace(self, rows=rows_at(self.rows, np.asarray(rows)), verdicts=None)

    ids = cached_property(lambda self: tuple[str, ...](self.column("case")))
    states = cached_property(lambda self: tuple[str, ...](self.column("state")))
    right = cached_property(lambda self: tuple[bool | None, ...](self.column("right")))
    images = cached_property(lambda self: tuple[tuple[str | None, ...], ...](map(tuple, self.column("images"))))
    texts = cached_property(lambda self: tuple[tuple[str, ...], ...](map(tuple, self.column("texts"))))
    truths = cached_property(lambda self: tuple[tuple[str, ...], ...](map(tuple, self.column("truths"))))
    answers = cached_property(lambda self: tuple[tuple[str | None, ...], ...](map(tuple, self.column("answers"))))

    @cached_property
    def judged(self) -> CaseTable:
        kept = [row for row, state in enumerate(self.states) if state == "judged"]
        return self if len(kept) == len(self) else self.take(kept)

    @cached_property
    def tags(self) -> tuple[Mapping[str, str], ...]:
        written = self.column("tags")
        known = {text: json.loads(text) for text in dict.fromkeys(written)}
        return tuple(known[text] for text in written)

    @cached_property
    def scores(self) -> FloatArray:
        """The scores, shape (n, k); NaN for a question, and behind the last one of a case with fewer than others."""
        if self.verdicts is not None:
            return in_rows(self.verdicts.starts, self.verdicts.replies.scores)
        import pyarrow.compute as pc

        column = self.rows.column("scores")
        sizes: NDArray[Any] = np.from_dlpack(pc.list_value_length(column).combine_chunks())
        return in_rows(starts(sizes), numbers(pc.list_flatten(column)))

    @cached_property
    def case_metrics(self) -> Mapping[str, FloatArray]:
        values = {name: numbers(self.rows.column(name)) for name in fact_names(self.rows)}
        return {name: column for name, column in values.items() if not np.isnan(column).all()}

    @cached_property
    def asked(self) -> tuple[str, ...]:
        return tuple(map(digest_of, self.images, self.texts, self.truths))

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        return recorded_clusters(self.ids, self.images, together=self.together)

    @cached_property
    def groups(self) -> Clusters:
        return clusters(self.clusters)

    def metric_columns(self) -> Columns:
        unknown, known = np.full(len(self), np.nan), self.case_metrics
        return Columns(
            shape=self.shape,
            scores=self.scores,
            # Whether the model accepts the caption and the foil of a pair is in the file only as these two facts.
            accepted=np.stack([known.get("p_c", unknown), 1.0 - known.get("p_f", unknown)], axis=1),
            facts=known,
            images=self.groups.codes,
            groups=group_codes(self.tags),
        )


def case_tables(run: RecordedRun, rows: Any = None) -> dict[str, CaseTable]:
    if rows is None and run.tables is not None:
        return dict(run.tables)
    rows = read_cases(run) if rows is None else rows
    names = rows.column("task").combine_chunks().dictionary_encode()
    codes = np.from_dlpack(names.indices)
    number = {task: code for code, task in enumerate(names.dictionary.to_pylist())}
    tables = {}
    for task in dict.fromkeys((*number, *run.figures["tasks"])):
        places = np.flatnonzero(codes == number.get(task, -1))
        together = len(places) > 0 and places[-1] - places[0] < len(places)  # as vlgate writes them: nothing is copied
        own = rows.slice(int(places[0]), len(places)) if together else rows_at(rows, places)
        figures = run.figures["tasks"].get(task, {})
        shape: Shape | None = figures.get("shape")
        if not shape:  # an earlier version; a task without judged cases counts as pairs
            known = CaseTable(shape="pair", rows=own).judged.case_metrics
            shape = next((one for one in _SHAPES if SHAPES[one].headline in known), "pair")
        tables[task] = CaseTable(shape=shape, together=figures.get("ask") == "together", rows=own)
    return tables


def asked_of(requests: Sequence[Request], truths: Sequence[bool | str]) -> str:
    return digest_of(
        [image_of(request) for request in requests],
        [text_of(request) for request in requests],
        [truth_of(truth) for truth in truths],
    )


def digest_of(images: Sequence[str | None], texts: Sequence[str], truths: Sequence[str]) -> str:
    content = json.dumps([list(images), list(texts), list(truths)], ensure_ascii=True)
    return blake2b(content.encode("ascii"), digest_size=8).hexdigest()


def truth_of(truth: bool | str) -> str:
    return truth if isinstance(truth, str) else "true" if truth else "false"


def read_cases(run: RecordedRun) -> Any:
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
    fault = next(_faults(table), None)
    if fault is not None:
        raise run.wrong(f"{CASES} is damaged: {fault}")
    tags_of(run, table)
    counted = {entry["values"]: entry["counts"] for entry in table.column("task").value_counts().to_pylist()}
    stated = {name: task["cases"] for name, task in run.figures["tasks"].items() if task["cases"]}
    for name in sorted({*counted, *stated}):
        rows, cases = counted.get(name, 0), stated.get(name, 0)
        if rows != cases:
            raise run.wrong(f"{CASES} has {rows:,} cases of {name}, {run.folder.name}/metrics.json has {cases:,}")
    return table


def fact_names(table: Any) -> list[str]:
    return [name for name in table.column_names if name not in NO_FACTS]


def rows_at(table: Any, places: NDArray[Any]) -> Any:
    # A list or an array of numpy would make pyarrow import pandas, which takes longer than all else here
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(places, dtype=np.int64))
    return table.take(pa.Array.from_buffers(pa.int64(), len(places), [None, buffer]))


def numbers(column: Any) -> FloatArray:
    """Return a column of numbers as an array of shape (n,), NaN for an empty cell; it may not be writeable."""
    import pyarrow as pa

    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not cells.null_count:  # nothing is copied: there may be a million cases
        given: FloatArray = np.from_dlpack(cells).astype(np.float64, copy=False)
        return given
    values = np.full(len(cells), np.nan)
    values[np.from_dlpack(cells.is_valid().cast(pa.uint8())) == 1] = np.from_dlpack(cells.drop_null())
    return values


def tags_of(run: RecordedRun, table: Any) -> list[dict[str, str]]:
    known: dict[str, dict[str, str]] = {}
    for text in table.column("tags").unique().to_pylist():
        try:
            known[text] = fitted(json.loads(text), _TAGS, _TAGS)
        except (ValueError, RecursionError):
            raise run.wrong(f"{CASES} is damaged: tags={text[:40]!r} is not a JSON object of texts") from None
    return [known[text] for text in table.column("tags").to_pylist()]


def _typed(table: Any, run: RecordedRun) -> Any:
    import pyarrow as pa

    lists = {name: pa.list_(pa.float64() if name == "scores" else pa.string()) for name in LISTS}
    types = {**dict.fromkeys(TEXTS, pa.string()), "right": pa.bool_(), **lists}
    for name in types:
        if name not in table.column_names:
            raise run.wrong(f"{CASES} lacks the column {name!r}")
    for index, name in enumerate(table.column_names):
        wanted = types.get(name, table.field(name).type if name in NO_FACTS else pa.float64())
        if table.field(name).type != wanted:
            try:
                table = table.set_column(index, name, table.column(name).cast(wanted))
            except pa.ArrowException:
                kind = table.field(name).type
                raise run.wrong(f"the column {name!r} of {CASES} is {kind}, expected {wanted}") from None
    return table


def _faults(table: Any) -> Iterator[str]:
    import pyarrow.compute as pc

    for name in (*TEXTS, *LISTS):
        if table.column(name).null_count:
            yield f"the column {name!r} has an empty cell"
    flat = {name: pc.list_flatten(table.column(name)) for name in LISTS}
    yield from (f"a list of the column {name!r} has an empty cell" for name in _EACH_REQUEST if flat[name].null_count)
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


def judged_tasks(run: RecordedRun, tables: Mapping[str, CaseTable]) -> dict[str, Judged]:
    controls = read_controls(run)
    lacking = {name: one["lacking"] for name, one in run.figures.get("controls", {}).items() if one.get("lacking")}
    tasks: dict[str, Judged] = {}
    for task, figures in run.figures["tasks"].items():
        table = tables[task]
        columns = table.judged.metric_columns()
        judged, distinct, disputed = table.judged, figures.get("distinct", {}), figures.get("disputed", {})
        read = judged.case_metrics.get("read", np.array([]))
        tasks[task] = Judged(
            shape=table.shape,
            coverage=Coverage(
                cases=len(table),
                judged=len(judged),
                unscored=table.states.count("unscored"),
                skipped=table.states.count("skipped"),
                deselected=figures["deselected"],
                distinct=distinct.get("cases", len(set(zip(judged.images, judged.texts, strict=True)))),
                copies=distinct.get("copies", ""),
                disputed=disputed.get("left_out", 0),
                corrected=disputed.get("corrected", 0),
                unread=int((read < 1.0).sum()),
                unreadable=figures["left_out"].get(UNREADABLE, 0),
                undrawn=undrawn(figures["left_out"]),
            ),
            columns=columns,
            metrics=metrics(columns),
            controls=controls.get(task, {}),
            lacking=lacking,
        )
        for name, metric in tasks[task].metrics.items():
            given = figures["metrics"].get(name)
            if given is None or given["n"] != metric.n or abs(given["value"] - metric.value) > 1e-9:
                stated = "no value" if given is None else f"{figure(given['value'], metric.value)} of {given['n']:,}"
                gives = f"{CASES} gives {figure(metric.value, given and given['value'])} of {metric.n:,}"
                raise run.wrong(f"{METRICS} has {name} of {task} as {stated}, but {gives}", OF_ONE_RUN)
    for task, figures in run.figures.get("unasked", {}).items():
        coverage = Coverage(cases=0, judged=0, unscored=0, skipped=0, deselected=figures["cases"], distinct=0)
        tasks[task] = Judged(shape=figures["shape"], coverage=coverage)
    return tasks

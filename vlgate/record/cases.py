"""The judged cases of a run as columns, in memory and read back from cases.parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.gates.decide import Coverage, Judged
from vlgate.metrics.clusters import case_clusters, clusters, image_of, recorded_clusters
from vlgate.metrics.compute import Columns, metrics
from vlgate.metrics.measures import group_codes
from vlgate.metrics.shapes import SHAPES
from vlgate.record.controls import read_controls
from vlgate.record.folder import AGAIN, CASES, METRICS, NAME_ANOTHER, RecordedRun, refuse_pipe
from vlgate.record.schema import fitted
from vlgate.types import UNREADABLE, FloatArray, Request, Shape, Verdict, text_of, undrawn

# The cases of a task as columns: what was asked, and how it was judged.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCases:
    """The judged cases of a task, in one row each.

    Attributes:
        ids: the ids of the cases, shape (n,).
        asked: a digest of the images, texts and truths of each case.
        images: the name of the cluster of each case; see ``metrics.clusters.recorded_clusters``.
        facts: what each case contributes to the metrics, by name, shape (n,); NaN if the case does not have it.
        answers: the answers of each case, one per request.
        unjudged: the ids of the other cases.
    """

    ids: tuple[str, ...]
    asked: tuple[str, ...]
    images: tuple[str, ...]
    facts: Mapping[str, FloatArray]
    answers: tuple[tuple[str | None, ...], ...]
    unjudged: tuple[str, ...]


def judged_cases(verdicts: Sequence[Verdict]) -> JudgedCases:
    """Put the verdicts of a task into columns."""
    judged = [verdict for verdict in verdicts if verdict.state == "judged"]
    names = dict.fromkeys(fact for verdict in judged for fact in verdict.facts)
    return JudgedCases(
        ids=tuple(verdict.case.id for verdict in judged),
        asked=tuple(asked_of(verdict.case.requests, verdict.case.truths) for verdict in judged),
        images=case_clusters([verdict.case for verdict in judged]),
        facts={name: np.array([verdict.facts.get(name, np.nan) for verdict in judged]) for name in names},
        answers=tuple(tuple(reply.answer for reply in verdict.predictions) for verdict in judged),
        unjudged=tuple(verdict.case.id for verdict in verdicts if verdict.state != "judged"),
    )


def asked_of(requests: Sequence[Request], truths: Sequence[bool | str]) -> str:
    """Return the digest of a case from its requests and truths; see ``digest_of``."""
    return digest_of(
        [image_of(request) for request in requests],
        [text_of(request) for request in requests],
        [truth_of(truth) for truth in truths],
    )


def digest_of(images: Sequence[str | None], texts: Sequence[str], truths: Sequence[str]) -> str:
    """Return a digest (16 hexadecimal digits) of what a case asks.

    >>> digest_of(["a.jpg"], ["a cup"], ["true"]) == digest_of(["a.jpg"], ["a cup"], ["false"])
    False
    """
    told = json.dumps([list(images), list(texts), list(truths)], ensure_ascii=True)
    return blake2b(told.encode("ascii"), digest_size=8).hexdigest()


def truth_of(truth: bool | str) -> str:
    """Return a truth as ``cases.parquet`` has it: ``true`` or ``false`` for a text, the right answer for a question."""
    return truth if isinstance(truth, str) else "true" if truth else "false"


# Read ``cases.parquet`` of a finished run: its rows, checked before they are used.

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


# What the gates of a finished run are decided from again: the judged cases of each task, from its rows.

_SHAPES: tuple[Shape, ...] = ("pair", "quad", "active_passive_set", "questions")  # those of files that name no shape


def shape_of(facts: Iterable[str]) -> Shape:
    """Return the shape of a task by the facts that its cases have; a task without judged cases counts as pairs.

    >>> shape_of(["acc_r", "tied"]), shape_of(["set_acc"])
    ('pair', 'active_passive_set')
    """
    known = set(facts)
    return next((shape for shape in _SHAPES if SHAPES[shape].headline in known), "pair")


def judged_tasks(run: RecordedRun, table: Any) -> dict[str, Judged]:
    """Return what the gates of each task are decided from.

    Args:
        run: the run.
        table: its rows; see ``read_cases``.

    Raises: OptionError if a metric that the rows give is not that of ``metrics.json``.
    """
    names = table.column("task").combine_chunks().dictionary_encode()
    codes, known = names.indices.to_numpy(), names.dictionary.to_pylist()
    controls = read_controls(run)
    lacking = {name: one["lacking"] for name, one in run.figures.get("controls", {}).items() if one.get("lacking")}
    found: dict[str, Judged] = {}
    for task, told in run.figures["tasks"].items():
        places = np.flatnonzero(codes == known.index(task)) if task in known else np.array([], dtype=np.intp)
        judged = _judged(run, table.take(places), told)
        found[task] = replace(judged, controls=controls.get(task, {}), lacking=lacking)
        _refuse_other_figures(run, task, found[task], told["metrics"])
    for task, told in run.figures.get("unasked", {}).items():
        coverage = Coverage(cases=0, judged=0, unscored=0, skipped=0, deselected=told["cases"], distinct=0)
        found[task] = Judged(shape=told["shape"], coverage=coverage)
    return found


def _judged(run: RecordedRun, rows: Any, told: Mapping[str, Any]) -> Judged:
    """What the gates of a task are decided from, from all its rows and its part of ``metrics.json``."""
    states = np.array(rows.column("state").to_pylist(), dtype=str)
    kept = rows.take(np.flatnonzero(states == "judged"))
    facts = {name: _numbers(kept, name) for name in fact_names(kept)}
    facts = {name: values for name, values in facts.items() if not np.isnan(values).all()}
    images, texts = (kept.column(name).to_pylist() for name in ("images", "texts"))
    named = len({(tuple(keys), tuple(said)) for keys, said in zip(images, texts, strict=True)})
    coverage = Coverage(
        cases=len(states),
        judged=len(images),
        unscored=int((states == "unscored").sum()),
        skipped=int((states == "skipped").sum()),
        deselected=told["deselected"],
        distinct=told.get("distinct", {}).get("cases", named),
        copies=told.get("distinct", {}).get("copies", ""),
        disputed=told.get("disputed", {}).get("left_out", 0),
        corrected=told.get("disputed", {}).get("corrected", 0),
        unread=int((facts["read"] < 1.0).sum()) if "read" in facts else 0,
        unreadable=told["left_out"].get(UNREADABLE, 0),
        undrawn=undrawn(told["left_out"]),
    )
    shape: Shape = told.get("shape") or shape_of(facts)
    together = told.get("ask") == "together"
    columns = Columns(
        shape=shape,
        scores=_scores(kept),
        accepted=_accepted(facts, len(images)),
        facts=facts,
        images=clusters(recorded_clusters(kept.column("case").to_pylist(), images, together=together)).codes,
        groups=group_codes(tags_of(run, kept)),
    )
    return Judged(shape=shape, coverage=coverage, columns=columns, metrics=metrics(columns))


def _numbers(rows: Any, name: str) -> FloatArray:
    return np.asarray(rows.column(name).to_numpy(zero_copy_only=False), dtype=np.float64)


def _scores(rows: Any) -> FloatArray:
    """The scores of each case, shape (n, k); NaN behind the last one of a case that has fewer than others."""
    import pyarrow.compute as pc

    sizes = np.asarray(pc.list_value_length(rows.column("scores")).to_numpy(zero_copy_only=False), dtype=np.intp)
    found = np.full((rows.num_rows, int(sizes.max(initial=0))), np.nan)
    flat = pc.list_flatten(rows.column("scores")).to_numpy(zero_copy_only=False)
    found[np.arange(found.shape[1]) < sizes[:, None]] = np.asarray(flat, dtype=np.float64)
    return found


def _accepted(facts: Mapping[str, FloatArray], n: int) -> FloatArray:
    """Whether the model accepts the caption and the foil of each pair, from the facts that say so."""
    unknown = np.full(n, np.nan)
    return np.stack([facts.get("p_c", unknown), 1.0 - facts.get("p_f", unknown)], axis=1)


def _refuse_other_figures(run: RecordedRun, task: str, found: Judged, told: Mapping[str, Any]) -> None:
    """Refuse rows whose metrics are not those of the figures: one of the files is of another run, or was changed."""
    for name, metric in found.metrics.items():
        given = told.get(name)
        if given is None or given["n"] != metric.n or abs(given["value"] - metric.value) > 1e-9:
            said = "no value" if given is None else f"{given['value']:.6f} of {given['n']:,}"
            problem = f"{METRICS} has {name} of {task} as {said}, but {CASES} gives {metric.value:.6f} of {metric.n:,}"
            raise run.wrong(problem, "name a folder whose files are of one run")


def plain_id(name: str) -> str:
    """Return a name of characters that pytest does not escape.

    >>> plain_id("scenes/relations:a dog")
    'scenes/relations:a_dog'
    """
    return re.sub(r"[^A-Za-z0-9_.,:+/#@-]", "_", name)

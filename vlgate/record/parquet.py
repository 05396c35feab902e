"""Write cases.parquet and predictions.parquet: one row per case, and one row per reply."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vlgate.judging.judged import Replies, joined, verdicts_of
from vlgate.metrics.clusters import image_of
from vlgate.record.cases import LISTS, CaseTable, fact_names, truth_of
from vlgate.record.results import RunResult
from vlgate.record.whole_file import whole_file
from vlgate.types import TIED, Compare, FloatArray, Match, Read, Task, Verdict, text_of

GROUP = 2**14  # rows that are made and written at once

# Columns of pyarrow, made without ``pyarrow.array``, whose first call imports pandas (0.2 s of CPU time).


def texts(values: Sequence[str | None]) -> Any:
    import pyarrow as pa

    there = np.array([text is not None for text in values]) if None in values else None
    known = cast("Sequence[str]", values) if there is None else [text or "" for text in values]
    content = "".join(known).encode()
    plain = len(content) == sum(map(len, known))
    wide = len(content) >= 2**31
    sizes = map(len, known if plain else map(str.encode, known))
    ends = np.cumsum([0, *sizes], dtype=np.int64).astype(np.int64 if wide else np.int32)
    kind = pa.large_string() if wide else pa.string()
    return pa.Array.from_buffers(kind, len(values), [_mask(there), pa.py_buffer(ends), pa.py_buffer(content)])


def numbers(values: FloatArray) -> Any:
    import pyarrow as pa

    there = ~np.isnan(values)
    content = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.float64(), len(values), [_mask(there), content])


def booleans(values: NDArray[np.bool_], there: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.bool_(), len(values), [_mask(there), _bits(values)])


def lists(values: Any, sizes: Sequence[int]) -> Any:
    import pyarrow as pa

    ends = np.cumsum([0, *sizes], dtype=np.int32)
    column = pa.Array.from_buffers(pa.int32(), len(ends), [None, pa.py_buffer(ends)])
    return pa.ListArray.from_arrays(column, values)


def _mask(there: NDArray[np.bool_] | None) -> Any:
    return None if there is None or there.all() else _bits(there)


def _bits(values: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(values, bitorder="little"))


def case_table(task: Task, verdicts: Sequence[Verdict]) -> CaseTable:
    import pyarrow as pa

    judged = verdicts_of(verdicts)
    cases, replies = judged.cases, judged.replies
    sizes = [len(case.requests) for case in cases]
    # Cases share equal facts and tags, so there are few of them
    shared = {id(facts): facts for facts in judged.facts}
    number = {key: row for row, key in enumerate(shared)}
    rows = np.array([number[id(facts)] for facts in judged.facts], dtype=np.intp)
    facts = {
        name: numbers(np.array([one.get(name, np.nan) for one in shared.values()], dtype=np.float64)[rows])
        for name in sorted({name for one in shared.values() for name in one})
    }
    tags = {id(case.tags): case.tags for case in cases}
    written = {key: json.dumps(dict(own), sort_keys=True) for key, own in tags.items()}
    columns = {
        "task": texts([task.id] * len(cases)),
        "case": texts([case.id for case in cases]),
        "state": texts(judged.states),
        "right": booleans(judged.right, np.array(judged.states) == "judged"),
        **facts,
        "images": lists(texts([image_of(request) for request in replies.requests]), sizes),
        "texts": lists(texts([text_of(request) for request in replies.requests]), sizes),
        "truths": lists(texts([truth_of(truth) for case in cases for truth in case.truths]), sizes),
        "scores": lists(numbers(replies.scores), sizes),
        "answers": lists(texts(replies.answers or [None] * len(replies.requests)), sizes),
        "tags": texts([written[id(case.tags)] for case in cases]),
        "origin": texts([case.origin for case in cases]),
        "why": texts(judged.whys()),
    }
    return CaseTable(shape=task.shape, together=task.together, rows=pa.table(columns))


def rows_of(run: RunResult) -> Any:
    import pyarrow as pa

    if run.rows is not None:
        return run.rows
    parts = [
        case_table(result.task, verdicts_of(result.verdicts)[start : start + GROUP]).rows
        for result in run.results
        for start in range(0, len(result.verdicts), GROUP)
    ]
    rows = pa.concat_tables(parts, promote_options="permissive")  # a task lacks the facts of others; a text may be long
    return rows.select([*rows.column_names[:4], *sorted(fact_names(rows)), *LISTS, "tags", "origin", "why"])


def write_cases(file: Path, run: RunResult) -> None:
    rows = rows_of(run)
    parts = (rows.slice(start, GROUP).combine_chunks() for start in range(0, len(rows), GROUP))
    _write(file, parts, ["task", "state", "truths.list.element", "tags"])


def write_predictions(file: Path, run: RunResult) -> None:
    replies = joined([verdicts_of(result.verdicts).replies for result in run.results]).once()
    groups = (range(len(replies))[start : start + GROUP] for start in range(0, len(replies), GROUP))
    together = any(result.task.together for result in run.results)
    parts = (_reply_table(replies.take(group, distinct=True), together=together) for group in groups)
    _write(file, parts, ["image", "answer", "problem"])


def _reply_table(replies: Replies, *, together: bool) -> Any:
    import pyarrow as pa

    asked = replies.requests
    matched, read = (np.array([isinstance(one, kind) for one in asked], dtype=np.bool_) for kind in (Match, Read))
    questions = (~(matched | read)).tolist()
    answers = list(replies.answers or [None] * len(asked))
    for place in np.flatnonzero(questions).tolist():
        if answers[place] is None and place not in replies.problems:
            answers[place] = TIED
    keys = [[image.key for image in one.images] if isinstance(one, Compare) else None for one in asked]
    columns = {
        "image": texts([None if isinstance(request, Compare) else image_of(request) for request in asked]),
        **({"images": pa.array(keys, pa.list_(pa.string()))} if together else {}),
        "text": texts([None if question else text_of(one) for one, question in zip(asked, questions, strict=True)]),
        "score": numbers(np.where(matched, replies.scores, np.nan)),
        "match": booleans(replies.accepted == 1.0, ~np.isnan(replies.accepted)),
        "question": texts([text_of(one) if question else None for one, question in zip(asked, questions, strict=True)]),
        "answer": texts(answers),
        "perplexity": numbers(np.where(read, replies.scores, np.nan)),
        "problem": texts([replies.problems.get(index, (None,))[0] for index in range(len(asked))]),
    }
    return pa.table(columns)


def _write(file: Path, groups: Iterator[Any], repeated: list[str]) -> None:
    from pyarrow.parquet import ParquetWriter

    first = next(groups)
    with whole_file(file) as part, ParquetWriter(part, first.schema, use_dictionary=repeated) as writer:
        for group in chain([first], groups):
            writer.write_table(group if group.schema == first.schema else group.cast(first.schema))

"""Write cases.parquet and predictions.parquet: one row per case, and one row per reply."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vlgate.judging.judged import Replies, RequestsOf, Verdicts, joined, verdicts_of
from vlgate.metrics.clusters import image_of
from vlgate.record.cases import LISTS, TEXTS, CaseTable, fact_names, truth_of
from vlgate.record.results import RunResult
from vlgate.record.whole_file import whole_file
from vlgate.types import TIED, Compare, FloatArray, Match, Read, Task, Verdict, text_of

GROUP = 2**12  # rows that are made and written at once
# Other allocators of pyarrow take 20 MB or more, beside the memory that Python has freed.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

# Columns of pyarrow, made without ``pyarrow.array``, whose first call imports pandas (0.2 s of CPU time).


def texts(values: Sequence[str | None]) -> Any:
    import pyarrow as pa

    there = np.array([text is not None for text in values]) if None in values else None
    known = cast("Sequence[str]", values) if there is None else [text or "" for text in values]
    content = "".join(known).encode()
    plain = len(content) == sum(map(len, known))
    wide = len(content) >= 2**31
    sizes = map(len, known if plain else map(str.encode, known))
    ends = np.zeros(len(values) + 1, dtype=np.int64 if wide else np.int32)
    np.fromiter(sizes, dtype=ends.dtype, count=len(values)).cumsum(dtype=ends.dtype, out=ends[1:])
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


def lists(values: Any, starts: Sequence[int]) -> Any:
    import pyarrow as pa

    ends = np.array(starts, dtype=np.int32)
    column = pa.Array.from_buffers(pa.int32(), len(ends), [None, pa.py_buffer(ends)])
    return pa.ListArray.from_arrays(column, values)


def _mask(there: NDArray[np.bool_] | None) -> Any:
    return None if there is None or there.all() else _bits(there)


def _bits(values: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(values, bitorder="little"))


class JudgedRows:
    """The table of ``cases.parquet`` of some verdicts; a column is made when it is asked for."""

    def __init__(self, task: Task, verdicts: Sequence[Verdict]) -> None:
        self.task, self.verdicts = task, verdicts_of(verdicts)
        self.makers = _makers(task, self.verdicts)
        self.num_rows, self.column_names = len(self.verdicts), list(self.makers)

    def column(self, name: str) -> Any:
        import pyarrow as pa

        return pa.chunked_array([self.makers[name]()])

    def take(self, places: Any) -> Any:
        return JudgedRows(self.task, self.verdicts.take(places.to_pylist())).table()

    def table(self) -> Any:
        import pyarrow as pa

        return pa.table({name: self.column(name) for name in self.makers})


def _makers(task: Task, judged: Verdicts) -> dict[str, Callable[[], Any]]:
    cases, replies = judged.cases, judged.replies
    # Cases share equal facts and tags, so there are few of them
    shared = dict(zip(map(id, judged.facts), judged.facts, strict=True))

    def fact(name: str) -> Any:
        values = {key: one.get(name, np.nan) for key, one in shared.items()}
        return numbers(np.array([values[id(one)] for one in judged.facts], dtype=np.float64))

    def tags() -> Any:
        known = {id(case.tags): case.tags for case in cases}
        written = {key: json.dumps(dict(own), sort_keys=True) for key, own in known.items()}
        return texts([written[id(case.tags)] for case in cases])

    def each(values: Any) -> Any:
        return lists(values, judged.starts)

    return {
        "task": lambda: texts([task.id] * len(cases)),
        "case": lambda: texts([case.id for case in cases]),
        "state": lambda: texts(judged.states),
        "right": lambda: booleans(judged.right, np.array(judged.states) == "judged"),
        **{name: partial(fact, name) for name in sorted({name for one in shared.values() for name in one})},
        "images": lambda: each(texts([image_of(request) for request in replies.requests])),
        "texts": lambda: each(texts([text_of(request) for request in replies.requests])),
        "truths": lambda: each(texts([truth_of(truth) for case in cases for truth in case.truths])),
        "scores": lambda: each(numbers(replies.scores)),
        "answers": lambda: each(texts(replies.answers or [None] * len(replies.requests))),
        "tags": tags,
        "origin": lambda: texts([case.origin for case in cases]),
        "why": lambda: texts(judged.whys()),
    }


def case_table(task: Task, verdicts: Sequence[Verdict]) -> CaseTable:
    rows = JudgedRows(task, verdicts)
    return CaseTable(shape=task.shape, together=task.together, rows=rows, verdicts=rows.verdicts)


def _case_groups(run: RunResult) -> Iterator[Any]:
    import pyarrow as pa

    whole = [JudgedRows(result.task, result.verdicts) for result in run.results]
    facts = sorted({name for rows in whole for name in fact_names(rows)})  # a task lacks those of others
    names = [*TEXTS[:3], "right", *facts, *LISTS, *TEXTS[3:]]
    parts, room = [none := pa.table({name: numbers(np.empty(0)) for name in facts})], GROUP
    for rows in whole:
        start = 0
        while start < rows.num_rows:
            end = min(rows.num_rows, start + room)
            some = rows.verdicts[start:end]
            asked = list(some.replies.requests)  # made once for all columns
            parts.append(JudgedRows(rows.task, replace(some, replies=replace(some.replies, requests=asked))).table())
            start, room = end, room - (end - start)
            if not room:
                yield pa.concat_tables(parts, promote_options="permissive").select(names).combine_chunks()
                parts, room = [none], GROUP
    if room < GROUP:
        yield pa.concat_tables(parts, promote_options="permissive").select(names).combine_chunks()


def write_cases(file: Path, run: RunResult) -> None:
    _write(file, _case_groups(run), ["task", "state", "truths.list.element", "tags"])


def write_predictions(file: Path, run: RunResult) -> None:
    tables = [verdicts_of(result.verdicts) for result in run.results]
    asked = RequestsOf([case for table in tables for case in table.cases]) if len(tables) > 1 else None  # one has them
    replies = joined([table.replies for table in tables], requests=asked)
    places = replies.first_places()
    groups = (places[start : start + GROUP] for start in range(0, len(places), GROUP))
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

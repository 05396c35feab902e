"""Reading votes: files that the form gives, and results of crowdsourcing as CSV.

A file of the form is an object ``{"vlgate_votes": 1, "form", "annotator", "votes": {item: answer}}``. A CSV file has
the columns ``form``, ``item``, ``annotator`` and ``answer``, or those of the results of Amazon Mechanical Turk:
``Input.form``, ``Input.item``, ``WorkerId`` and ``Answer.answer``. Rows whose ``AssignmentStatus`` is "Rejected" are
left out.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from vlgate.errors import DataError, nearest, printable
from vlgate.making.votes.form import Answer, Item, digest
from vlgate.report.exports.rows import text_of_cell
from vlgate.sources.reading.text_files import read_json, read_text

_COLUMNS = (
    {name: name for name in ("form", "item", "annotator", "answer")},
    {"form": "Input.form", "item": "Input.item", "annotator": "WorkerId", "answer": "Answer.answer"},
)
_LONGEST = 200  # of an annotator's name, in characters
_FIRST = "give the file as the form or the platform made it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """The answers of each annotator by item, and the votes that were left out, counted by reason."""

    by_item: Mapping[str, Mapping[str, Answer]]
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    file: Path
    record: str
    form: str
    item: str
    annotator: str
    answer: str


def read_votes(files: Sequence[Path], items: Sequence[Item]) -> Votes:
    left_out: Counter[str] = Counter()
    taken: dict[str, dict[str, _Row]] = {item.id: {} for item in items}
    name = digest(items)
    for file in files:
        for row in _rows(file, left_out):
            _check(row, name, taken)
            before = taken[row.item].setdefault(row.annotator, row)
            if before is not row:
                same = "it" if before.file == row.file else str(before.file)
                problem = f"{row.annotator!r} has voted on this item before ({same}, record {before.record})"
                raise DataError(row.file, row.record, problem, "keep one of the two votes")
    votes = {item: {who: _answer(row) for who, row in rows.items()} for item, rows in taken.items()}
    return Votes(by_item=votes, left_out=left_out)


def _rows(file: Path, left_out: Counter[str]) -> Iterator[_Row]:
    return _from_csv(file, left_out) if file.suffix.lower() == ".csv" else _from_form(file)


def _from_form(file: Path) -> Iterator[_Row]:
    content = read_json(file)
    if type(content) is not dict or content.get("vlgate_votes") != 1 or type(content.get("votes")) is not dict:
        raise DataError(file, None, 'expected an object with "vlgate_votes": 1 and "votes"', _FIRST)
    form, annotator = content.get("form"), content.get("annotator")
    if type(form) is not str or type(annotator) is not str:
        raise DataError(file, None, 'expected the strings "form" and "annotator"', _FIRST)
    for item, answer in content["votes"].items():
        yield _Row(file=file, record=item, form=form, item=item, annotator=annotator.strip(), answer=str(answer))


def _from_csv(file: Path, left_out: Counter[str]) -> Iterator[_Row]:
    lines = csv.reader(read_text(file, _FIRST).splitlines(keepends=True), strict=True)
    try:
        columns = next(lines)
        names = next((names for names in _COLUMNS if set(names.values()) <= set(columns)), None)
        if names is None:
            wanted = " or ".join(", ".join(names.values()) for names in _COLUMNS)
            raise DataError(file, None, f"has the columns {', '.join(columns)}, expected {wanted}", _FIRST)
        for cells in lines:
            record = f"on line {lines.line_num}"
            if not cells:
                continue
            if len(cells) != len(columns):
                raise DataError(file, record, f"has {len(cells)} cells, expected {len(columns)}", _FIRST)
            found = dict(zip(columns, cells, strict=True))
            if found.get("AssignmentStatus") == "Rejected":
                left_out["vote of a rejected assignment"] += 1
                continue
            cells_of = {name: text_of_cell(found[column].strip()) for name, column in names.items()}
            yield _Row(file=file, record=record, **cells_of)
    except csv.Error as error:
        raise DataError(file, f"on line {lines.line_num}", f"is not CSV ({error})", _FIRST) from None


def _check(row: _Row, form: str, known: Mapping[str, object]) -> None:
    if row.form != form:
        problem = f"is a vote on the form {printable(row.form)!r}, but these cases and this seed make the form {form!r}"
        raise DataError(row.file, row.record, problem, "give the cases, --suite and --seed that the form was made with")
    if row.item not in known:
        problem = f"the item {printable(row.item)!r} is not in the form {form!r}"
        raise DataError(row.file, row.record, problem, _FIRST)
    if row.answer not in get_args(Answer):
        problem = f"the answer is {printable(row.answer)!r} ({nearest(row.answer, get_args(Answer))})"
        raise DataError(row.file, row.record, problem, "correct the answer")
    if not row.annotator or not row.annotator.isprintable() or len(row.annotator) > _LONGEST:
        problem = f"the annotator is {printable(row.annotator)[:_LONGEST]!r}, expected a name"
        raise DataError(row.file, row.record, problem, "write the annotator's name, or a number for each annotator")


def _answer(row: _Row) -> Answer:
    return next(answer for answer in get_args(Answer) if answer == row.answer)

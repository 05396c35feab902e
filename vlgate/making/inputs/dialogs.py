"""Dialogs: VisDial's ``visdial_*.json``, or JSON lines of ``{"image", "caption", "dialog": [[question, answer]]}``.

VisDial (Das et al. 2017, https://visualdialog.org/data) has pools of questions and answers, to which dialogs point by
number; the questions have no question mark, and the answers no full stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vlgate.making.inputs.fields import any_text, identity, listed, origin, whole
from vlgate.making.inputs.records import Dialog
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.records import Record, lined_records

_VISDIAL = "name a file of VisDial v1.0, with split and data, which has questions, answers and dialogs"
_LINES = 'write a line such as {"image": "1.jpg", "caption": "a man rides", "dialog": [["is he tall?", "yes"]]}'
_IMAGES = {"train": "COCO_train2014", "val2018": "VisualDialog_val2018", "test2018": "VisualDialog_test2018"}


def read_dialogs(files: Sequence[Path], lines: Sequence[bool]) -> list[Dialog]:
    """Read the dialogs of files; ``lines`` says which files are JSON lines.

    The images of VisDial's training part have COCO's names of its training part, by their ids. A turn without an
    answer, as the last one of the test part, is left out.

    Returns: the dialogs in the order of the files.
    Raises: DataError, which names the file, the record and the remedy.
    """
    with collector_paused():
        return [one for file, each in zip(files, lines, strict=True) for one in (_lined if each else _visdial)(file)]


def _visdial(file: Path) -> Iterator[Dialog]:
    content = whole(file, _VISDIAL)
    split = content.text("split")
    if split not in _IMAGES:
        content.reject("split", f"one of {', '.join(map(repr, _IMAGES))}")
    data = content.nested("data")
    questions, answers = (_pool(data, field) for field in ("questions", "answers"))
    for record in listed(data, "dialogs", "dialog"):
        number = record.count("image_id")
        yield Dialog(
            id=str(number),
            image=f"{_IMAGES[split]}_{number:012d}.jpg",
            caption=any_text(record, "caption"),
            turns=tuple(_turns(record, questions, answers)),
            origin=f"{file.name}, image_id {number}",
        )


def _pool(data: Record, field: str) -> Sequence[str]:
    values = data.fields.get(field)
    if type(values) is not list or any(type(value) is not str for value in values):
        data.reject(field, "a list of strings")
    return values


def _turns(record: Record, questions: Sequence[str], answers: Sequence[str]) -> Iterator[tuple[str, str]]:
    for turn in listed(record, "dialog", f"{record.id}, turn"):
        if "answer" in turn.fields:
            yield _said(turn, "question", questions), _said(turn, "answer", answers)


def _said(turn: Record, field: str, pool: Sequence[str]) -> str:
    place = turn.count(field)
    if place >= len(pool):
        turn.reject(field, f"a number below {len(pool)}, the number of {field}s")
    return pool[place]


def _lined(file: Path) -> Iterator[Dialog]:
    for record in lined_records(file, _LINES):
        turns = record.fields.get("dialog")
        if type(turns) is not list or any(not _is_turn(turn) for turn in turns):
            record.reject("dialog", "a list of [question, answer], both strings")
        yield Dialog(
            id=identity(record, "id") if "id" in record.fields else f"{file.stem} {record.id}",
            image=record.text("image"),
            caption=any_text(record, "caption"),
            turns=tuple((turn[0], turn[1]) for turn in turns),
            origin=origin(record),
        )


def _is_turn(turn: object) -> bool:
    return isinstance(turn, list) and len(turn) == 2 and all(type(text) is str for text in turn)

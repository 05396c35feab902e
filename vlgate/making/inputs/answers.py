"""Answered questions: Visual7W's ``dataset*.json``, or JSON lines of ``{"image", "question", "answer"}``.

Visual7W (Zhu et al. 2016, https://ai.stanford.edu/~yukez/visual7w/) lists images, each with its ``filename`` and
``qa_pairs``; the three wrong answers of a pair are its ``multiple_choices``. Lines may have ``id`` and ``wrong``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vlgate.making.inputs.fields import any_text, identity, listed, origin, whole
from vlgate.making.inputs.records import Answer
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.records import Record, lined_records

_VISUAL7W = "name a file of Visual7W, with a list of images that have filename and qa_pairs"
_LINES = 'write a line such as {"image": "1.jpg", "question": "How many dogs are there?", "answer": "2"}'


def read_answers(files: Sequence[Path], lines: Sequence[bool]) -> list[Answer]:
    """Read the answered questions of files; ``lines`` says which files are JSON lines.

    Returns: the questions in the order of the files.
    Raises: DataError, which names the file, the record and the remedy.
    """
    with collector_paused():
        return [one for file, each in zip(files, lines, strict=True) for one in (_lined if each else _visual7w)(file)]


def _visual7w(file: Path) -> Iterator[Answer]:
    for image in listed(whole(file, _VISUAL7W), "images", "image"):
        name = image.text("filename")
        for record in listed(image, "qa_pairs", f"{image.id}, question"):
            number = identity(record, "qa_id") if "qa_id" in record.fields else record.id
            yield _answer(record, image=name, name=number, wrong=_texts(record, "multiple_choices"))


def _lined(file: Path) -> Iterator[Answer]:
    for record in lined_records(file, _LINES):
        name = identity(record, "id") if "id" in record.fields else f"{file.stem} {record.id}"
        yield _answer(record, image=record.text("image"), name=name, wrong=_texts(record, "wrong"))


def _answer(record: Record, *, image: str, name: str, wrong: tuple[str, ...]) -> Answer:
    answer = record.fields.get("answer")
    return Answer(
        id=name,
        image=image,
        question=any_text(record, "question"),
        answer=str(answer) if type(answer) is int else any_text(record, "answer"),
        origin=origin(record),
        wrong=wrong,
    )


def _texts(record: Record, field: str) -> tuple[str, ...]:
    values = record.fields.get(field, [])
    if type(values) is not list or any(type(value) is not str for value in values):
        record.reject(field, "a list of strings")
    return tuple(values)

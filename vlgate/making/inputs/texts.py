"""Captions of COCO, answered questions of Visual7W and dialogs of VisDial, or JSON lines of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from vlgate.making.inputs.records import (
    Answer,
    Caption,
    Dialog,
    any_text,
    identity,
    lined_identity,
    listed,
    origin,
    whole,
)
from vlgate.perturb.foils.candidates import Turn
from vlgate.sources.reading.records import Record, lined_records

# Captions: COCO's ``captions_*.json``, or JSON lines of ``{"image", "caption"}``, perhaps with ``"id"``.

_COCO = "name a file of COCO's captions, with the lists images and annotations"
_CAPTION_LINES = 'write a line such as {"image": "1.jpg", "caption": "a dog left of a cat"}'


def with_others(captions: Sequence[Caption]) -> list[Caption]:
    """Return the captions, each with the other captions of its image."""
    by_image: dict[str, list[str]] = {}
    for one in captions:
        by_image.setdefault(one.image, []).append(one.text)
    return [replace(one, others=_without(by_image[one.image], one.text)) for one in captions]


def _without(texts: Sequence[str], text: str) -> tuple[str, ...]:
    place = texts.index(text)
    return (*texts[:place], *texts[place + 1 :])


def coco(file: Path) -> Iterator[Caption]:
    content = whole(file, _COCO)
    names: dict[int, str] = {
        record.count("id"): record.text("file_name") for record in listed(content, "images", "image")
    }
    for record in listed(content, "annotations", "annotation"):
        image = record.count("image_id")
        if image not in names:
            raise record.error(f"image_id {image} is not listed in 'images'")
        name = identity(record, "id")
        yield Caption(id=name, image=names[image], text=any_text(record, "caption"), origin=f"{file.name}, id {name}")


def lined_captions(file: Path) -> Iterator[Caption]:
    for record in lined_records(file, _CAPTION_LINES):
        name = lined_identity(record)
        yield Caption(id=name, image=record.text("image"), text=any_text(record, "caption"), origin=origin(record))


# Answered questions: Visual7W's ``dataset*.json``, or JSON lines of ``{"image", "question", "answer"}``.
#
# Visual7W (Zhu et al. 2016, https://ai.stanford.edu/~yukez/visual7w/) lists images, each with its ``filename`` and
# ``qa_pairs``; the three wrong answers of a pair are its ``multiple_choices``. Lines may have ``id`` and ``wrong``.

_VISUAL7W = "name a file of Visual7W, with a list of images that have filename and qa_pairs"
_ANSWER_LINES = 'write a line such as {"image": "1.jpg", "question": "How many dogs are there?", "answer": "2"}'


def visual7w(file: Path) -> Iterator[Answer]:
    for image in listed(whole(file, _VISUAL7W), "images", "image"):
        name = image.text("filename")
        for record in listed(image, "qa_pairs", f"{image.id}, question"):
            number = identity(record, "qa_id") if "qa_id" in record.fields else record.id
            yield _answer(record, image=name, name=number, wrong=_texts(record, "multiple_choices", []))


def lined_answers(file: Path) -> Iterator[Answer]:
    for record in lined_records(file, _ANSWER_LINES):
        name = lined_identity(record)
        yield _answer(record, image=record.text("image"), name=name, wrong=_texts(record, "wrong", []))


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


def _texts(record: Record, field: str, *otherwise: list[str]) -> tuple[str, ...]:
    values = record.fields.get(field, *otherwise)
    if type(values) is not list or any(type(value) is not str for value in values):
        record.reject(field, "a list of strings")
    return tuple(values)


# Dialogs: VisDial's ``visdial_*.json``, or JSON lines of ``{"image", "caption", "dialog": [[question, answer]]}``.
#
# VisDial (Das et al. 2017, https://visualdialog.org/data) has pools of questions and answers, to which dialogs point
# by number; the questions have no question mark, and the answers no full stop.

_VISDIAL = "name a file of VisDial v1.0, with split and data, which has questions, answers and dialogs"
_DIALOG_LINES = 'write a line such as {"image": "1.jpg", "caption": "a man rides", "dialog": [["is he tall?", "yes"]]}'
_IMAGES = {"train": "COCO_train2014", "val2018": "VisualDialog_val2018", "test2018": "VisualDialog_test2018"}


def visdial(file: Path) -> Iterator[Dialog]:
    content = whole(file, _VISDIAL)
    split = content.text("split")
    if split not in _IMAGES:
        content.reject("split", f"one of {', '.join(map(repr, _IMAGES))}")
    data = content.nested("data")
    questions, answers = (_texts(data, field) for field in ("questions", "answers"))
    for record in listed(data, "dialogs", "dialog"):
        number = record.count("image_id")
        yield Dialog(
            id=str(number),
            image=f"{_IMAGES[split]}_{number:012d}.jpg",
            caption=any_text(record, "caption"),
            turns=tuple(_turns(record, questions, answers)),
            origin=f"{file.name}, image_id {number}",
        )


def _turns(record: Record, questions: Sequence[str], answers: Sequence[str]) -> Iterator[Turn]:
    for turn in listed(record, "dialog", f"{record.id}, turn"):
        if "answer" in turn.fields:  # the last turn of the test part has none
            yield Turn(question=_pooled(turn, "question", questions), answer=_pooled(turn, "answer", answers))


def _pooled(turn: Record, field: str, pool: Sequence[str]) -> str:
    index = turn.count(field)
    if index >= len(pool):
        turn.reject(field, f"a number below {len(pool)}, the number of {field}s")
    return pool[index]


def lined_dialogs(file: Path) -> Iterator[Dialog]:
    for record in lined_records(file, _DIALOG_LINES):
        turns = record.fields.get("dialog")
        if type(turns) is not list or any(not _is_turn(turn) for turn in turns):
            record.reject("dialog", "a list of [question, answer], both strings")
        yield Dialog(
            id=lined_identity(record),
            image=record.text("image"),
            caption=any_text(record, "caption"),
            turns=tuple(Turn(question=question, answer=answer) for question, answer in turns),
            origin=origin(record),
        )


def _is_turn(turn: object) -> bool:
    return isinstance(turn, list) and len(turn) == 2 and all(type(text) is str for text in turn)

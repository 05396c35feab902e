"""Captions: COCO's ``captions_*.json``, or JSON lines of ``{"image", "caption"}``, perhaps with ``"id"``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from vlgate.making.inputs.fields import any_text, identity, listed, origin, whole
from vlgate.making.inputs.records import Caption
from vlgate.sources.reading.json_file import collector_paused
from vlgate.sources.reading.records import lined_records

_COCO = "name a file of COCO's captions, with the lists images and annotations"
_LINES = 'write a line such as {"image": "1.jpg", "caption": "a dog left of a cat"}'


def read_captions(files: Sequence[Path], lines: Sequence[bool]) -> list[Caption]:
    """Read the captions of files; ``lines`` says which files are JSON lines.

    Returns: the captions in the order of the files, each with the other captions of its image.
    Raises: DataError, which names the file, the record and the remedy.
    """
    with collector_paused():
        found = [one for file, each in zip(files, lines, strict=True) for one in (_lined if each else _coco)(file)]
    by_image: dict[str, list[str]] = {}
    for one in found:
        by_image.setdefault(one.image, []).append(one.text)
    return [replace(one, others=_without(by_image[one.image], one.text)) for one in found]


def _without(texts: Sequence[str], text: str) -> tuple[str, ...]:
    place = texts.index(text)
    return (*texts[:place], *texts[place + 1 :])


def _coco(file: Path) -> Iterator[Caption]:
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


def _lined(file: Path) -> Iterator[Caption]:
    for record in lined_records(file, _LINES):
        name = identity(record, "id") if "id" in record.fields else f"{file.stem} {record.id}"
        yield Caption(id=name, image=record.text("image"), text=any_text(record, "caption"), origin=origin(record))

"""The texts of a user's own cases: each function returns the requests of a line, and their truths."""

from __future__ import annotations

from dataclasses import replace

from vlgate.sources.benchmarks.own_questions import Asked, Find
from vlgate.sources.reading.records import Record
from vlgate.types import Match

_TWO = 2


def texts(record: Record, field: str, number: int | None = None) -> tuple[str, ...]:
    """Return the texts of a list.

    Args:
        record: the line.
        field: the field with the list.
        number: 2 if there must be two texts; None for one or more.

    Raises: DataError if the field holds something else, or a text is blank.
    """
    values = record.fields.get(field)
    if type(values) is not list or not values or (number is not None and len(values) != number):
        record.reject(
            field, "a list of strings" if number is None else f"a list of {'two' if number == _TWO else number} strings"
        )
    names = [str(place) for place in range(len(values))]
    part = replace(record, id=f"{record.id}, field {field!r}", fields=dict(zip(names, values, strict=True)))
    return tuple(part.text(name) for name in names)


def pair(record: Record, find: Find) -> Asked:
    """A caption and its foil."""
    image = find(record, record.text("image"))
    return tuple(Match(image=image, text=record.text(field)) for field in ("caption", "foil")), (True, False)


def choice(record: Record, find: Find) -> Asked:
    """A caption and several foils."""
    image = find(record, record.text("image"))
    foils = texts(record, "foils")
    asked = tuple(Match(image=image, text=text) for text in (record.text("caption"), *foils))
    return asked, (True, *(False,) * len(foils))


def image_choice(record: Record, find: Find) -> Asked:
    """A caption, the image that it belongs to, and other images.

    Raises: DataError if the image is among the others.
    """
    names = record.text("image"), *texts(record, "other_images")
    if names[0] in names[1:]:
        raise record.error(f"image {names[0]!r} is also among other_images")
    caption = record.text("caption")
    return tuple(Match(image=find(record, name), text=caption) for name in names), (True, *(False,) * (len(names) - 1))


def statement(record: Record, find: Find) -> Asked:
    """A statement that is true or false.

    Raises: DataError if ``is_true`` is neither true nor false.
    """
    truth = record.fields.get("is_true")
    if type(truth) is not bool:
        record.reject("is_true", "true or false")
    return (Match(image=find(record, record.text("image")), text=record.text("statement")),), (truth,)


def quad(record: Record, find: Find) -> Asked:
    """Two images and a caption of each."""
    images = [find(record, name) for name in texts(record, "images", _TWO)]
    captions = texts(record, "captions", _TWO)
    return tuple(Match(image=p, text=text) for p in images for text in captions), (True, False, False, True)


def sentence_set(record: Record, find: Find) -> Asked:
    """Two true and two false sentences."""
    image = find(record, record.text("image"))
    sentences = (*texts(record, "true", _TWO), *texts(record, "false", _TWO))
    return tuple(Match(image=image, text=text) for text in sentences), (True, True, False, False)


def two_true(record: Record, find: Find) -> Asked:
    """Two true sentences and a false one."""
    image = find(record, record.text("image"))
    sentences = (*texts(record, "true", _TWO), record.text("false"))
    return tuple(Match(image=image, text=text) for text in sentences), (True, True, False)

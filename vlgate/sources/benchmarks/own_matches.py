"""The texts of a user's own cases: each function returns the requests of a line, and their truths."""

from __future__ import annotations

from vlgate.sources.benchmarks.own_questions import Asked, Find
from vlgate.sources.reading.quads import QUAD_TRUTHS, quad_requests
from vlgate.sources.reading.records import Record
from vlgate.types import Match


def pair(record: Record, find: Find) -> Asked:
    """A caption and its foil."""
    image = find(record, record.text("image"))
    return tuple(Match(image=image, text=record.text(field)) for field in ("caption", "foil")), (True, False)


def choice(record: Record, find: Find) -> Asked:
    """A caption and several foils."""
    image = find(record, record.text("image"))
    foils = record.texts("foils")
    asked = tuple(Match(image=image, text=text) for text in (record.text("caption"), *foils))
    return asked, (True, *(False,) * len(foils))


def image_choice(record: Record, find: Find) -> Asked:
    """A caption, the image that it belongs to, and other images.

    Raises: DataError if the image is among the others.
    """
    names = record.text("image"), *record.texts("other_images")
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
    images = [find(record, name) for name in record.texts("images", 2)]
    captions = record.texts("captions", 2)
    return quad_requests(images, captions), QUAD_TRUTHS


def sentence_set(record: Record, find: Find) -> Asked:
    """Two true and two false sentences."""
    image = find(record, record.text("image"))
    sentences = (*record.texts("true", 2), *record.texts("false", 2))
    return tuple(Match(image=image, text=text) for text in sentences), (True, True, False, False)


def two_true(record: Record, find: Find) -> Asked:
    """Two true sentences and a false one."""
    image = find(record, record.text("image"))
    sentences = (*record.texts("true", 2), record.text("false"))
    return tuple(Match(image=image, text=text) for text in sentences), (True, True, False)

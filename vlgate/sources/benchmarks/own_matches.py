"""The texts of a user's own cases: each function returns the requests of a line, and their truths."""

from __future__ import annotations

from vlgate.errors import short
from vlgate.sources.benchmarks.own_questions import Asked, Find, refuse_same, two_images
from vlgate.sources.reading.quads import QUAD_TRUTHS, quad_requests
from vlgate.sources.reading.records import Record
from vlgate.types import Match


def pair(record: Record, find: Find) -> Asked:
    """A caption and its foil.

    Raises: DataError if both are the same.
    """
    image, texts = find(record, record.text("image")), (record.text("caption"), record.text("foil"))
    refuse_same(record, "caption and foil are", texts[:1], texts[1:])
    return tuple(Match(image=image, text=text) for text in texts), (True, False)


def choice(record: Record, find: Find) -> Asked:
    """A caption and several foils.

    Raises: DataError if the caption is among the foils.
    """
    image = find(record, record.text("image"))
    caption, foils = record.text("caption"), record.texts("foils")
    refuse_same(record, "caption and foil are", (caption,), foils)
    asked = tuple(Match(image=image, text=text) for text in (caption, *foils))
    return asked, (True, *(False,) * len(foils))


def image_choice(record: Record, find: Find) -> Asked:
    """A caption, the image that it belongs to, and other images.

    Raises: DataError if the image is among the others.
    """
    names = record.text("image"), *record.texts("other_images")
    images = [find(record, name) for name in names]
    if images[0] in images[1:]:
        raise record.error(f"image {short(names[0])!r} is also among other_images")
    caption = record.text("caption")
    return tuple(Match(image=image, text=caption) for image in images), (True, *(False,) * (len(names) - 1))


def statement(record: Record, find: Find) -> Asked:
    """A statement that is true or false.

    Raises: DataError if ``is_true`` is neither true nor false.
    """
    truth = record.fields.get("is_true")
    if type(truth) is not bool:
        record.reject("is_true", "true or false")
    return (Match(image=find(record, record.text("image")), text=record.text("statement")),), (truth,)


def quad(record: Record, find: Find) -> Asked:
    """Two images and a caption of each.

    Raises: DataError if the images or the captions are the same.
    """
    images = two_images(record, find)
    captions = record.texts("captions", 2)
    refuse_same(record, "the captions are", captions[:1], captions[1:])
    return quad_requests(images, captions), QUAD_TRUTHS


def sentence_set(record: Record, find: Find) -> Asked:
    """Two true and two false sentences.

    Raises: DataError if one is true and false.
    """
    return _sentences(record, find, record.texts("true", 2), record.texts("false", 2))


def two_true(record: Record, find: Find) -> Asked:
    """Two true sentences and a false one.

    Raises: DataError if one is true and false.
    """
    return _sentences(record, find, record.texts("true", 2), (record.text("false"),))


def _sentences(record: Record, find: Find, true: tuple[str, ...], false: tuple[str, ...]) -> Asked:
    refuse_same(record, "a true and a false sentence are", true, false)
    image = find(record, record.text("image"))
    truths = (*(True for _ in true), *(False for _ in false))
    return tuple(Match(image=image, text=text) for text in (*true, *false)), truths

"""The questions of a user's own cases: single, original and perturbed, crossed, and those about twins."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from vlgate.errors import short
from vlgate.sources.reading.records import Record
from vlgate.types import Ask, LazyImage, Request

Find = Callable[[Record, str], LazyImage]
"""What returns the image of a record by its name."""
Asked = tuple[tuple[Request, ...], tuple[bool | str, ...]]
"""The requests of a case and their truths."""
YES_NO = ("yes", "no")
"""The choices of questions without choices whose right answers are all yes or no."""


def question_pair(record: Record, find: Find) -> Asked:
    """Return the requests and the truths of an original question and its perturbed partner.

    Raises: DataError if the answers do not fit their kind or their choices.
    """
    answers = _answer(record, "answer"), _answer(record, "perturbed_answer")
    choices = _choices(record, answers)
    plain = [plain_text(answer) for answer in answers]
    if (plain[0] == plain[1]) != (record.fields["kind"] == "invariance"):
        expected = "the same answer twice" if record.fields["kind"] == "invariance" else "two different answers"
        raise record.error(f"kind is {record.fields['kind']!r}, but the answers are {answers}; expected {expected}")
    image = record.text("image")
    second = record.text("perturbed_image") if "perturbed_image" in record.fields else image
    asked = ((image, record.text("question")), (second, record.text("perturbed")))
    return tuple(Ask(image=find(record, p), question=text, choices=choices) for p, text in asked), answers


def twins(record: Record, find: Find) -> Asked:
    """Return the requests and the truths of a question about an image that is not as usual, and about its twin.

    Raises: DataError if both answers are equal, or one is not among the choices.
    """
    answers = _answer(record, "prior"), _answer(record, "answer")
    if plain_text(answers[0]) == plain_text(answers[1]):
        raise record.error(f"answer and prior are both {answers[0]!r}; expected the answers of two different images")
    choices, question = _choices(record, answers), record.text("question")
    images = [find(record, record.text(field)) for field in ("twin", "image")]
    return tuple(Ask(image=image, question=question, choices=choices) for image in images), answers


def single(record: Record, find: Find) -> Asked:
    """Return the request and the truth of one question whose answer is yes or no.

    Raises: DataError if the answer is another one.
    """
    answer = plain_text(_answer(record, "answer"))
    if answer not in YES_NO:
        record.reject("answer", "yes or no, unless the line has a perturbed question too")
    image = find(record, record.text("image"))
    return (Ask(image=image, question=record.text("question"), choices=YES_NO),), (answer,)


def crossed(record: Record, find: Find) -> Asked:
    """Return the requests and the truths of two questions about two images.

    Raises: DataError if there are not two of each, the images are the same, an answer is not among the choices, or the
        answers are not crossed.
    """
    found, asked = two_images(record, find), record.texts("questions", 2)
    rows = record.fields.get("answers")
    if type(rows) is not list or len(rows) != len(found) or any(type(row) is not list for row in rows):
        record.reject("answers", "two lists, the answers about the first image and about the second")
    if any(type(answer) is bool for row in rows for answer in row):
        record.reject("answers", 'two lists of texts; write "yes" and "no" in quotes')
    answers = tuple(answer for row in rows for answer in replace(record, fields={"answers": row}).texts("answers", 2))
    choices = _choices(record, answers)
    _refuse_not_crossed(record, asked, answers)
    return tuple(Ask(image=one, question=text, choices=choices) for one in found for text in asked), answers


def _refuse_not_crossed(record: Record, asked: tuple[str, ...], answers: tuple[str, ...]) -> None:
    """Refuse answers that a model gets right that does not look, or that does not read the question."""
    plain = [plain_text(answer) for answer in answers]  # two about the first image, two about the second
    for place, question in enumerate(asked):
        if plain[place] == plain[place + 2]:
            raise record.error(f"both images have the answer {answers[place]!r} to {question!r}; cross the answers")
    for place, name in enumerate(record.texts("images", 2)):
        if plain[2 * place] == plain[2 * place + 1]:
            raise record.error(
                f"both questions have the answer {answers[2 * place]!r} about {name!r}; cross the answers"
            )


def two_images(record: Record, find: Find) -> list[LazyImage]:
    """Return the two images of a line.

    Raises: DataError if there are not two, or if they are the same.
    """
    names = record.texts("images", 2)
    images = [find(record, name) for name in names]
    if images[0] == images[1]:
        raise record.error(f"the images are both {short(names[0])!r}; expected two")
    return images


def plain_text(text: str) -> str:
    """Return a text as ``normal_answer`` does, in Unicode's form NFC: two that look alike are equal."""
    from vlgate.judging.answers import normal_answer

    return normal_answer(unicodedata.normalize("NFC", text))


def refuse_same(record: Record, what: str, texts: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Refuse texts that are also among others: case, spaces, closing punctuation and Unicode form make no difference.

    Raises: DataError, which names the text.
    """
    known = set(map(plain_text, others))
    for text in texts:
        if plain_text(text) in known:
            raise record.error(f"{what} both {text!r}, so no model can be right; expected two different texts")


def _answer(record: Record, field: str) -> str:
    """The text in a field of an answer; an error says what to write for true, a number or a list."""
    value = record.fields.get(field)
    if type(value) is bool:
        record.reject(field, f'a text; write "{"yes" if value else "no"}" in quotes')
    if type(value) in {int, float}:
        record.reject(field, f'a text; write "{value}" in quotes')
    if type(value) is list and value and type(value[0]) is str:
        record.reject(field, f"one text; write {json.dumps(short(value[0]), ensure_ascii=False)} without brackets")
    return record.text(field)


def _choices(record: Record, answers: tuple[str, ...]) -> tuple[str, ...]:
    """The choices of a question; yes and no if there are none and it is answered so."""
    choices = record.fields.get("choices", [])
    if type(choices) is not list or any(type(choice) is not str or not choice.strip() for choice in choices):
        record.reject("choices", "a list of strings")
    plain = {plain_text(answer) for answer in answers}
    if choices and not plain <= set(map(plain_text, choices)):
        raise record.error(f"answers {answers} are not all among the choices {choices}")
    if not choices and plain <= set(YES_NO):
        return YES_NO  # so that a model that only matches can answer, too
    return tuple(choices)

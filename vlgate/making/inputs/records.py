"""The records of the inputs, and the readers of captions, answered questions and dialogs, without unusable texts."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vlgate.errors import short
from vlgate.images.files import plain_path
from vlgate.perturb.foils import candidates
from vlgate.perturb.foils.candidates import Turn
from vlgate.perturb.foils.how_many import numeral
from vlgate.sources.reading.image_finder import is_plain
from vlgate.sources.reading.records import Record, lined_records, listed_records, record_of
from vlgate.sources.reading.text_files import read_cells, read_json, read_text

# The records of the inputs. A scene graph is ``vlgate.perturb.scene_graph.SceneGraph``.


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    id: str
    image: str
    text: str
    origin: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    id: str
    image: str
    question: str
    answer: str
    origin: str
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog(candidates.Dialog):
    id: str
    image: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A verb and who or what fills its roles in an image, as in SWiG: ``{"agent": "man", "place": "gym"}``."""

    # ``template`` is imSitu's sentence of the verb, and ``similar`` the name of its frame in FrameNet; both may be
    # empty. ``boxes`` are [x, y, w, h] of the roles that can be seen. ``size`` is the image's width and height.

    id: str
    image: str
    verb: str
    roles: Mapping[str, str]
    origin: str
    template: str = ""
    similar: str = ""
    boxes: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)
    size: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """What a person does to a thing, in HICO's words: "sit_on", "dining_table"."""

    # Left, upper, right and lower edge of the boxes of the person and of the thing.

    verb: str
    thing: str
    person: tuple[float, float, float, float]
    place: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactions:
    """What persons do to things in an image, as in HAKE; ``size`` is the image's width and height."""

    # Without ``boxed``, the boxes say nothing: the file only lists what is done in the image.

    id: str
    image: str
    done: tuple[Interaction, ...]
    origin: str
    size: tuple[int, int] | None = None
    boxed: bool = True


def whole(file: Path, remedy: str) -> Record:
    return record_of(file, "(the whole file)", read_json(file), remedy)


def listed(record: Record, field: str, name: str) -> Iterator[Record]:
    values = record.fields.get(field)
    if type(values) is not list:
        record.reject(field, "a list")
    for position, fields in enumerate(values):
        yield record_of(record.file, f"{name} {position}", fields, record.remedy)


def any_text(record: Record, field: str) -> str:
    """Return the string in ``field`` with single blanks; it may be empty: what people wrote is judged later."""
    value = record.fields.get(field)
    if type(value) is not str:
        record.reject(field, "a string")
    return " ".join(value.split())


def identity(record: Record, field: str) -> str:
    value: Any = record.fields.get(field)
    return str(value) if type(value) is int else record.text(field)


def image_name(record: Record, field: str = "image") -> str:
    return checked_image(record, record.text(field))


def checked_image(record: Record, name: str) -> str:
    if _ROOTED.match(name) or not is_plain(plain_path(name)):
        problem = f"the image's name is {short(name)!r}, expected a path within the folder of images"
        raise record.error(problem, "write it from the data folder on, or from that of --images on")
    return name


def lined_identity(record: Record) -> str:
    return identity(record, "id") if "id" in record.fields else f"{record.file.stem} {record.id}"


def origin(record: Record) -> str:
    return f"{record.file.name}, {record.id}"


LONGEST = 2_000
"""The most characters of a text; longer ones are not captions, and are not parsed."""

_ROOTED = re.compile(r"([A-Za-z][\w+.-]*:|~[^/\\]*)?[/\\]")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-z]{2,8});")


def unusable(text: str) -> str | None:
    if not text.strip():
        return "the text is empty"
    if len(text) > LONGEST:
        return f"the text has more than {LONGEST:,} characters"
    if _MARKUP.search(text):
        return "the text holds markup"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "the text holds half of a surrogate pair"
    if not any("a" <= character <= "z" for character in text.lower()):
        return "the text has no Latin letter"
    return None


# An answer may be a number in digits; the question must be a text.
_TEXTS: Mapping[type, str] = {Caption: "text", Answer: "question", Dialog: "caption"}


def screened(inputs: Sequence[Any], left_out: Counter[str]) -> list[Any]:
    kept = []
    told: dict[tuple[str, str], dict[int, str]] = {}
    for one in inputs:
        if isinstance(one, Answer) and (number := numeral(one.answer)) is not None:
            told.setdefault((one.image, plain(one.question)), {}).setdefault(number, one.answer)
    disputed = {asked: " and ".join(map(repr, said.values())) for asked, said in told.items() if len(said) > 1}
    for input_ in inputs:
        field_of_text = _TEXTS.get(type(input_))
        reason = unusable(getattr(input_, field_of_text)) if field_of_text else None
        if reason is None and isinstance(input_, Answer) and (input_.image, plain(input_.question)) in disputed:
            (image, _), both = next(iter(disputed.items()))
            reason = f"a question of an image has several answers, as {both} of {image}; keep the true one of them"
        if reason is None:
            kept.append(input_)
        else:
            left_out[reason] += 1
    return kept


# What is not a release's file is JSON lines, a JSON list or a table, whose cells of lists hold JSON. A blank cell of a
# text is an empty text.

NAMES = "for captions, name them 'image' and 'caption', for answered questions 'image', 'question' and 'answer'"
"""What to do about other fields or columns."""

_TABLE = f"save it as CSV in UTF-8, with its columns named in its first line ({NAMES})"
_LISTS = ("dialog", "wrong", "roles")


def is_table(file: Path, start: str) -> bool:
    return file.suffix.lower() in {".csv", ".tsv"} and not start.lstrip().startswith(("{", "["))


def table_rows(file: Path) -> Iterator[Record]:
    for line, cells in read_cells(file, "image", _TABLE, ("image", "caption", "question", "answer", "dialog")):
        fields: dict[str, Any] = dict(cells)
        for name in fields.keys() & _LISTS:
            with suppress(ValueError, RecursionError):
                fields[name] = json.loads(cells[name])
        yield Record(file, line, fields, _TABLE)


def rows(file: Path, remedy: str) -> Iterator[Record]:
    text = read_text(file, remedy)
    if is_table(file, text):
        return table_rows(file)
    return (listed_records if text.lstrip().startswith("[") else lined_records)(file, remedy)


# Captions: COCO's ``captions_*.json``, or rows of ``{"image", "caption"}``, perhaps with ``"id"``.

_COCO = "name a file of COCO's captions, with the lists images and annotations"
_CAPTION_LINES = 'write a line such as {"image": "1.jpg", "caption": "a dog left of a cat"}'


def plain(text: str) -> str:
    """The words of a text; a caption with the same words is the same caption again, and vouches for nothing."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def with_others(captions: Sequence[Caption]) -> list[Caption]:
    by_image: dict[str, dict[str, str]] = {}
    named = [(caption, caption.image, plain(caption.text)) for caption in captions]
    for caption, image, words in named:
        by_image.setdefault(image, {}).setdefault(words, caption.text)
    others: dict[tuple[str, str], tuple[str, ...]] = {}
    for image, texts in by_image.items():
        every = tuple(texts.values())
        others |= {(image, words): every[:place] + every[place + 1 :] for place, words in enumerate(texts)}
    return [replace(caption, others=others[image, words]) for caption, image, words in named]


def coco(file: Path) -> Iterator[Caption]:
    content = whole(file, _COCO)
    names: dict[int, str] = {
        record.count("id"): image_name(record, "file_name") for record in listed(content, "images", "image")
    }
    for record in listed(content, "annotations", "annotation"):
        image = record.count("image_id")
        if image not in names:
            raise record.error(f"image_id {image} is not listed in 'images'")
        name = identity(record, "id")
        yield Caption(id=name, image=names[image], text=any_text(record, "caption"), origin=f"{file.name}, id {name}")


def lined_captions(file: Path) -> Iterator[Caption]:
    for record in rows(file, _CAPTION_LINES):
        name = lined_identity(record)
        yield Caption(id=name, image=image_name(record), text=any_text(record, "caption"), origin=origin(record))


# Answered questions: Visual7W's ``dataset*.json``, or rows of ``{"image", "question", "answer"}``.
# Visual7W (Zhu et al. 2016, https://ai.stanford.edu/~yukez/visual7w/) lists images, each with its ``filename`` and
# ``qa_pairs``; the three wrong answers of a pair are its ``multiple_choices``. Rows may have ``id`` and ``wrong``.

_VISUAL7W = "name a file of Visual7W, with a list of images that have filename and qa_pairs"
_ANSWER_LINES = 'write a line such as {"image": "1.jpg", "question": "How many dogs are there?", "answer": "2"}'


def visual7w(file: Path) -> Iterator[Answer]:
    for image in listed(whole(file, _VISUAL7W), "images", "image"):
        name = image_name(image, "filename")
        for record in listed(image, "qa_pairs", f"{image.id}, question"):
            number = identity(record, "qa_id") if "qa_id" in record.fields else record.id
            yield _answer(record, image=name, name=number, wrong=_texts(record, "multiple_choices", []))


def lined_answers(file: Path) -> Iterator[Answer]:
    for record in rows(file, _ANSWER_LINES):
        name = lined_identity(record)
        yield _answer(record, image=image_name(record), name=name, wrong=_texts(record, "wrong", []))


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


# Dialogs: VisDial's ``visdial_*.json``, or rows of ``{"image", "caption", "dialog": [[question, answer]]}``.
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
    pools = {field: _texts(data, f"{field}s") for field in ("question", "answer")}
    for record in listed(data, "dialogs", "dialog"):
        number = record.count("image_id")
        turns = [
            Turn(**{field: _pooled(turn, field, pool) for field, pool in pools.items()})
            for turn in listed(record, "dialog", f"{record.id}, turn")
            if "answer" in turn.fields  # the last turn of the test part has none
        ]
        yield Dialog(
            id=str(number),
            image=f"{_IMAGES[split]}_{number:012d}.jpg",
            caption=any_text(record, "caption"),
            turns=tuple(turns),
            origin=f"{file.name}, image_id {number}",
        )


def _pooled(turn: Record, field: str, pool: Sequence[str]) -> str:
    index = turn.count(field)
    if index >= len(pool):
        turn.reject(field, f"a number below {len(pool)}, the number of {field}s")
    return pool[index]


def lined_dialogs(file: Path) -> Iterator[Dialog]:
    for record in rows(file, _DIALOG_LINES):
        turns = record.fields.get("dialog")
        if type(turns) is not list or not all(
            isinstance(turn, list) and [type(text) for text in turn] == [str, str] for turn in turns
        ):
            record.reject("dialog", "a list of [question, answer], both strings")
        yield Dialog(
            id=lined_identity(record),
            image=image_name(record),
            caption=any_text(record, "caption"),
            turns=tuple(Turn(question=question, answer=answer) for question, answer in turns),
            origin=origin(record),
        )

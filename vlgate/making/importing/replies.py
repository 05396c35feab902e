"""Recorded replies: what the rows of lmms-eval, VLMEvalKit, LLaVA, MME, inspect and plain tables say."""

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import OptionError, instead_of
from vlgate.images.files import EXTENSIONS
from vlgate.making.importing.files import CELL, Row, rows_of
from vlgate.making.importing.prompts import listed_options, normal

Fields = Mapping[str, Any]
_TABLE: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("fields.toml").read_text(encoding="utf-8"))
_REPLY, _QUESTION, _TRUTH, _IMAGE, _TEXT, _SCORE, _NUMBER, _HINT = (
    _TABLE["names"][name].split() for name in ("reply", "question", "truth", "image", "text", "score", "number", "hint")
)
_FAILED = "failed to obtain answer"  # VLMEvalKit writes it if a service or a model gave none
_LONGEST_NAME = 512  # a longer image is not a name, but the image in Base64


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One recorded reply, or a recorded score of an image and a text."""

    # ``numbers`` are what the harness numbers its records by, ``hints`` words of its category, ``truth`` its own right
    # answer, and ``match`` the model's own yes or no beside a score. ``problem`` says why the record has no reply.

    place: str
    prompts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    reply: str = ""
    score: float | None = None
    match: bool | None = None
    truth: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    file: Path
    form: str
    records: tuple[Recorded, ...]


def recordings(files: Sequence[Path], reply: str = "") -> list[Recording]:
    read = {file: [replace(row, fields=_lower(row.fields, row.place)) for row in rows_of(file)] for file in files}
    fields = {file: {name: row.fields[name] for row in rows for name in row.fields} for file, rows in read.items()}
    reply = _plain_name(reply)
    forms = {file: _form(file, some, reply) for file, some in fields.items()}
    bare = any(form == "LLaVA answers" for form in forms.values())
    questions: dict[str, list[Recorded]] = {}
    found = []
    for file, rows in read.items():
        if forms[file] == "questions" or (bare and forms[file] == "answers" and not reply):
            forms[file] = "questions"
            for row in rows:
                asked = _plain(row, "")
                questions.setdefault(asked.numbers.get("question_id", ""), []).append(asked)
        else:
            name = reply or _first(fields[file], _REPLY) or "answer"
            records = tuple(one for row in rows for one in _made(row, forms[file], name))
            found.append(Recording(file=file, form=forms[file], records=records))
    if not found:
        names = ", ".join(map(str, files))
        raise OptionError(f"{names}: holds questions without replies; name the file of the answers, too")
    return [replace(one, records=tuple(_completed(each, questions) for each in one.records)) for one in found]


def _completed(record: Recorded, questions: Mapping[str, Sequence[Recorded]]) -> Recorded:
    asked = questions.get(record.numbers.get("question_id", ""), [])
    if record.images or record.problem or not asked:
        return record
    same = [one for one in asked if not record.prompts or normal(one.prompts[0]) == normal(record.prompts[0])]
    if len({one.images for one in same}) != 1:
        why = "two questions have its question_id" if same else "the question of its question_id is another one"
        return replace(record, problem=why)
    one = same[0]
    return replace(record, images=one.images, prompts=record.prompts or one.prompts, hints=record.hints + one.hints)


def _plain_name(name: object) -> str:
    return str(name).strip().lower().replace(" ", "_")


def _lower(fields: Fields, place: str) -> dict[str, Any]:
    names: dict[str, str] = {}
    for name, value in fields.items():
        if value is not None and value == value:  # NaN  # noqa: PLR0124
            first = names.setdefault(_plain_name(name), name)
            if fields[first] != value:
                raise OptionError(f"{place}: {first!r} and {name!r} differ, but are one field here; rename one of them")
    return {plain: fields[name] for plain, name in names.items()}


def _form(file: Path, fields: Fields, reply: str) -> str:
    for kind in _TABLE["without_replies"]:
        if all(name in fields for name in kind["fields"]):
            raise OptionError(f"{file}: {kind['what']}, {kind['remedy']}")
    if reply:
        if reply not in fields:
            raise OptionError(f"{file}: has no field {reply!r} ({instead_of(reply, list(fields))})")
        return "replies"
    for form, is_form in _FORMS.items():
        if is_form(fields):
            return form
    listed = ", ".join(list(fields)[:12])
    raise OptionError(
        f"{file}: its fields are of no form that holds replies: {listed}; expected a question and its reply, as in "
        '{"image", "question", "prediction"}, or name the field with the reply with --reply'
    )


_FORMS: Mapping[str, Callable[[Fields], bool]] = MappingProxyType(
    {
        "lmms-eval samples": lambda f: "doc_id" in f and ("filtered_resps" in f or "resps" in f),
        "inspect samples": lambda f: "epoch" in f and "input" in f,
        "choices of captions": lambda f: isinstance(f.get("answer"), dict) and "multiple_choice_answer" in f["answer"],
        "LLaVA answers": lambda f: "question_id" in f and "text" in f and ("prompt" in f or "answer_id" in f),
        "VLMEvalKit table": lambda f: {"index", "question", "prediction"} <= set(f),
        "replies": lambda f: _first(f, _REPLY) != "" and _first(f, _QUESTION) != "",
        "scores": lambda f: all(_first(f, names) for names in (_IMAGE, _TEXT, _SCORE)),
        "answers": lambda f: isinstance(f.get("answer"), str) and _first(f, _QUESTION) != "",
        "questions": lambda f: "question_id" in f and _first(f, _QUESTION) != "",
    }
)  # the forms in the order in which they are tried, and how each is known by its fields


def _first(fields: Fields, names: Sequence[str]) -> str:
    return next((name for name in names if name in fields), "")


def _made(row: Row, form: str, reply: str) -> list[Recorded]:
    if row.problem:
        return [replace(_plain(row, ""), problem=row.problem)]
    try:
        if form == "choices of captions":
            return list(_captions(row))
        special = {"lmms-eval samples": _lmms_eval, "inspect samples": _inspect, "scores": _scored}.get(form)
        return [special(row) if special else _plain(row, "text" if form == "LLaVA answers" else reply)]
    except (AttributeError, IndexError, KeyError, TypeError):
        return [Recorded(place=row.place, problem="its fields are not those of the other records")]


def _plain(row: Row, reply: str) -> Recorded:
    fields = row.fields
    asked = [name for name in _QUESTION if name != reply and isinstance(fields.get(name), str)]
    prompts = tuple(fields[name] for name in asked[:2])
    options = tuple(_text(fields[letter]) for letter in "abcdefgh" if letter in fields)
    record = Recorded(
        place=row.place,
        prompts=prompts,
        images=_images(fields),
        truth=next((_text(fields[name]) for name in _TRUTH if name in fields and name != reply), ""),
        numbers=_numbers(fields),
        hints=_hints(fields),
        options=options if len(options) > 1 else next(filter(None, map(listed_options, prompts)), ()),
    )
    return _with_reply(record, fields.get(reply)) if reply else record


def _with_reply(record: Recorded, value: Any) -> Recorded:
    problem = "it has no reply" if value is None else ""
    if isinstance(value, list) and len({str(one) for one in value}) == 1:
        value = value[0]
    text = _text(value)
    if isinstance(value, list | dict):
        problem = "it has several replies" if isinstance(value, list) else "its reply is not a text"
    elif len(text) == CELL and ".xlsx, row" in record.place:
        problem = f"its reply was cut at {CELL:,} characters, the most that a cell holds"
    elif text.strip().lower().startswith(_FAILED):
        problem = "the harness got no reply"
    return replace(record, problem=problem) if problem else replace(record, reply=text)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _images(fields: Fields) -> tuple[str, ...]:
    """The names of a record's image, without images as Base64; that of LLaVA's MME is its ``question_id``."""
    names = []
    for name in (*_IMAGE, "question_id"):
        value = fields.get(name)
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        value = value.get("path") if isinstance(value, dict) else value
        text = _text(value) if isinstance(value, str | int | float) else ""
        is_name = name != "question_id" or text.rpartition(".")[2].lower() in EXTENSIONS
        if is_name and 0 < len(text) <= _LONGEST_NAME and not text.startswith(("data:", "attachment:")):
            names.append(text.removesuffix(".txt"))
    return tuple(dict.fromkeys(names))


def _numbers(fields: Fields) -> dict[str, str]:
    return {name: _text(fields[name]) for name in _NUMBER if isinstance(fields.get(name), str | int | float)}


def _hints(fields: Fields) -> tuple[str, ...]:
    return tuple(one for name in _HINT if isinstance(fields.get(name), str) for one in fields[name].split(","))


def _lmms_eval(row: Row) -> Recorded:
    fields = dict(row.fields)
    for metric in [value for value in fields.values() if isinstance(value, dict)]:
        fields = {**{name: metric[name] for name in (*_NUMBER, *_HINT) if name in metric}, **fields}
    doc = _lower(fields["doc"], row.place) if isinstance(fields.get("doc"), dict) else {}
    asked = fields.get("input", fields.get("arguments"))
    while isinstance(asked, list | dict) and asked:
        asked = next(iter(asked.values())) if isinstance(asked, dict) else asked[0]
    record = _plain(Row(place=row.place, fields={**fields, **doc, "target": fields.get("target", "")}), "")
    texts = [*[doc[name] for name in _QUESTION if isinstance(doc.get(name), str)][:1], asked]
    prompts = tuple(text for text in texts if isinstance(text, str))
    task = re.search(r"samples_(\w*?)(?:_\d{4}.*)?\.jsonl", row.place)
    hints = (*record.hints, *([task[1]] if task else []))
    record = replace(record, prompts=prompts, hints=hints, options=listed_options(str(asked)))
    replies = list(_leaves(fields.get("resps", fields.get("filtered_resps"))))
    if any(not isinstance(reply, str) for reply in replies):
        return replace(record, problem="it has log-likelihoods of choices, not a reply in words")
    return _with_reply(record, replies or None)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from (leaf for one in value for leaf in _leaves(one))
    else:
        yield value


def _inspect(row: Row) -> Recorded:
    fields = row.fields
    messages = fields["input"] if isinstance(fields["input"], list) else [{"role": "user", "content": fields["input"]}]
    contents = [message.get("content", "") for message in messages if message.get("role") == "user"]
    content_parts = [part for content in contents if isinstance(content, list) for part in content]
    prompts = [text for content in contents if (text := _said(content))]
    images = [part["image"] for part in content_parts if part.get("type") == "image" and "image" in part]
    metadata: Fields = fields["metadata"] if isinstance(fields.get("metadata"), dict) else {}
    target = fields.get("target", "")
    target = target[0] if isinstance(target, list) and len(target) == 1 else target
    given = {**_lower(metadata, row.place), "id": fields.get("id"), "image_file": images, "target": target}
    record = _plain(Row(place=row.place, fields=_lower(given, row.place)), "")
    options = listed_options(prompts[-1]) if prompts else ()
    record = replace(record, prompts=tuple(prompts[-1:]), options=options)
    if len(images) > 1:
        return replace(record, problem="it asks about several images at once")
    choices = (fields.get("output") or {}).get("choices") or []
    if fields.get("error") or not choices:
        return replace(record, problem="the sample ended in an error" if fields.get("error") else "it has no reply")
    return _with_reply(record, _said(choices[0].get("message", {}).get("content", "")))


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


def _captions(row: Row) -> Iterator[Recorded]:
    """A choice between a caption and a negative, as scores: the negative is above, below or level with the caption."""
    fields, chosen = row.fields, row.fields["answer"]["multiple_choice_answer"]
    caption, negative = str(fields.get("caption")), str(fields.get("negative_caption"))
    score = {caption: -1.0, negative: 1.0}.get(chosen, 0.0)
    for text, value in ((caption, 0.0), (negative, score)):
        yield Recorded(place=row.place, prompts=(text,), images=_images(fields), score=value)


def _scored(row: Row) -> Recorded:
    fields = row.fields
    record = Recorded(
        place=row.place,
        prompts=(str(fields.get(_first(fields, _TEXT), "")),),
        images=_images(fields),
        numbers=_numbers(fields),
        hints=_hints(fields),
        match=bool(fields["match"]) if fields.get("match") in (0, 1) else None,
    )
    try:
        score = float(str(fields.get(_first(fields, _SCORE))))
    except ValueError:
        score = math.nan
    return (
        replace(record, score=score) if math.isfinite(score) else replace(record, problem="its score is not a number")
    )

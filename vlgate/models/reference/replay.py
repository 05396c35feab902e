"""``replay:FILE``: a model that looks its replies up in a file, whose rows are read and checked."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from vlgate.errors import ModelLoadError, NoReplyError, nearest, short
from vlgate.images.files import image_key
from vlgate.models.checkpoints.fingerprint import digest_path, expanded
from vlgate.types import Ask, Compare, FloatArray, Match

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
SHAPES = (
    '{"image", "text", "score"[, "match"]}, {"image", "question", "answer"}, {"images", "question", "answer"} or '
    '{"text", "perplexity"}'
)

Row = Mapping[str, Any]
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    scores: dict[tuple[str, str], float] = field(default_factory=dict)  # by image and text
    accepted: dict[tuple[str, str], float] = field(default_factory=dict)  # yes (1.0) or no (0.0) by image and text
    answers: dict[tuple[str, str], str] = field(default_factory=dict)  # by image and question
    # Answers about several images, by the images in their order and the question.
    compared: dict[tuple[tuple[str, ...], str], str] = field(default_factory=dict)
    perplexities: dict[str, float] = field(default_factory=dict)


def read_rows(file: Path) -> Replies:
    if not file.is_file():  # reading a pipe would block for ever
        raise _bad(file, "", "it is not a regular file; name a file of replies")
    parquet = file.suffix.lower() == ".parquet"
    replies = Replies()
    number = 0
    for number, row in _parquet_rows(file) if parquet else _json_rows(file):
        problem = _take(replies, row)
        if problem is not None:
            raise _bad(file, f"{'row' if parquet else 'line'} {number}", problem)
    if not number:
        raise _bad(file, "", f"it has no rows; expected rows {SHAPES}; record the replies again")
    return replies


def _bad(file: Path, place: str, problem: str) -> ModelLoadError:
    return ModelLoadError(f"replay file {file}{', ' + place if place else ''}: {problem}")


def _json_rows(file: Path) -> Iterator[tuple[int, object]]:
    decode = json.JSONDecoder().decode
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                if text:
                    yield number, decode(text)
            except UnicodeDecodeError as error:
                raise _bad(file, f"line {number}", f"it is not UTF-8 ({error}); save the file as UTF-8") from error
            except RecursionError as error:
                nested = "it is nested too deeply; write one plain object per line"
                raise _bad(file, f"line {number}", nested) from error
            except ValueError as error:
                problem = f"this is not a JSON object ({error}); write one object per line"
                if line.lstrip().startswith(b"["):
                    problem = "a JSON array begins here; write one object per line (jq -c '.[]')"
                elif not line.endswith(b"\n"):
                    problem = f"the line is cut off ({error}); write the file again"
                raise _bad(file, f"line {number}", problem) from error


def _parquet_rows(file: Path) -> Iterator[tuple[int, Row]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file)
        names = table.column_names
        columns = [table.column(index).to_pylist() for index in range(len(names))]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _bad(file, "", f"it cannot be read as Parquet ({error}); write it again") from error
    for number, values in enumerate(zip(*columns, strict=True), 1):
        yield number, dict(zip(names, values, strict=True))


# The texts, the number or answer, and the store of each kind of row, by the names of its fields.
_KINDS: Mapping[frozenset[str], tuple[tuple[str, ...], str, str]] = {
    frozenset({"image", "text", "score"}): (("image", "text"), "score", "scores"),
    frozenset({"image", "text", "score", "match"}): (("image", "text"), "score", "scores"),
    frozenset({"image", "question", "answer"}): (("image", "question"), "answer", "answers"),
    frozenset({"images", "question", "answer"}): (("images", "question"), "answer", "compared"),
    frozenset({"text", "perplexity"}): (("text",), "perplexity", "perplexities"),
}


def _take(replies: Replies, row: object) -> str | None:
    if not isinstance(row, dict):
        return f"expected an object {SHAPES}, not a value of type {type(row).__name__}; write one object per line"
    kind = _KINDS.get(frozenset(row))
    if kind is None:
        row = {name: value for name, value in row.items() if value is not None}
        if "problem" in row:  # a request without a reply, in predictions.parquet of another run
            return None
        kind = _KINDS.get(frozenset(row))
    if kind is None:
        return f"the keys {sorted(row)} do not fit any of {SHAPES}; write exactly those keys"
    by, what, store = kind
    problem = _problem(row, by, what)
    if problem is not None:
        return problem
    parts = tuple(tuple(row[name]) if name == "images" else row[name] for name in by)
    key: Any = parts if len(parts) > 1 else parts[0]
    problem = _put(getattr(replies, store), key, row[what] if what == "answer" else float(row[what]), what)
    match = row.get("match")
    if problem is None and match not in (None, 0, 1):
        problem = f"match={match!r} must be true, false, 1 or 0; write the model's own yes or no, or leave match out"
    elif problem is None and match is not None:
        problem = _put(replies.accepted, key, float(match), "match")
    return problem


def _problem(row: Row, by: Sequence[str], what: str) -> str | None:
    images = row.get("images")
    if "images" in by and not (isinstance(images, list) and images and all(isinstance(image, str) for image in images)):
        return f"images={images!r} must be a list of the names of the images, in the order of the prompt"
    for name in (*by, what):
        if name in ("image", "text", "question", "answer") and not isinstance(row[name], str):
            return f"{name}={short(repr(row[name]))} must be a string; {_as_text(row[name])}"
    problem = None if what == "answer" else _not_number(row, what)
    if problem is None and what == "perplexity" and row[what] <= 0:
        problem = f"perplexity={row['perplexity']!r} must be above 0; record the perplexity, not its logarithm"
    return problem


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return f'write "{"yes" if value else "no"}"'
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"write {short(json.dumps(value[0], ensure_ascii=False))}, without the brackets"
    return "write one text" if isinstance(value, list | dict) or value is None else "put it in quotes"


def _not_number(row: Row, name: str) -> str | None:
    value = row[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{name}={value!r} must be a number; write it without quotes, or leave the row out"
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an int beyond float64
        finite = False
    return None if finite else f"{name}={value!r} must be finite; leave the row out if the model gave no {name}"


def _put(store: dict[Key, Value], key: Key, value: Value, what: str) -> str | None:
    old = store.setdefault(key, value)
    if old == value:
        return None
    return f"{short(repr(key), 200)} has the {what} {value!r} here and {old!r} in an earlier row; keep one of them"


Images = TypeVar("Images", str, tuple[str, ...])  # the names of one image, or of several
_NAMED = 3  # missing rows that a message shows


class Replay:
    image_names = True

    def __init__(self, file: Path, replies: Replies, fingerprint: str) -> None:
        self._file = file
        names = ("scores", "accepted", "answers", "compared")
        by_image: dict[str, Any] = {name: _also_by_key(getattr(replies, name)) for name in names}
        self._replies = replace(replies, **by_image)
        self.fingerprint = fingerprint

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        keys = [(pair.image.key, pair.text) for pair in pairs]
        return np.array(self._look_up(keys, self._replies.scores, "score"), dtype=np.float64)

    def accepts(self, pairs: Sequence[Match]) -> FloatArray:
        keys = [(pair.image.key, pair.text) for pair in pairs]
        return np.array([self._replies.accepted.get(key, math.nan) for key in keys], dtype=np.float64)

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        keys = [(question.image.key, question.question) for question in questions]
        return self._look_up(keys, self._replies.answers, "answer")

    def compare(self, questions: Sequence[Compare]) -> list[str]:
        keys = [(tuple(image.key for image in question.images), question.question) for question in questions]
        return self._look_up(keys, self._replies.compared, "answer about several images")

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        return np.array(self._look_up(texts, self._replies.perplexities, "perplexity"), dtype=np.float64)

    def _look_up(self, keys: Sequence[Key], rows: Mapping[Key, Value], what: str) -> list[Value]:
        missing = [index for index, key in enumerate(keys) if key not in rows]
        if missing:
            shown = ", ".join(short(repr(keys[place]), 200) for place in missing[:_NAMED])
            first = short(repr(next(iter(rows), None)), 200)
            has = f"the first of its {len(rows)} {what} rows is {first}" if rows else f"it has no {what} rows"
            count = f"{len(missing)} of {len(keys)} requests"
            raise NoReplyError(missing, f"{self._file} has no {what} for {count}, such as {shown}; {has}")
        return [rows[key] for key in keys]


def _also_by_key(rows: dict[tuple[Images, str], Value]) -> dict[tuple[Images, str], Value]:
    """The rows also under the keys that own cases give their images; none if they contradict."""
    plain: dict[tuple[Images, str], set[Value]] = {}
    for (images, text), value in rows.items():
        plain_images = image_key(images) if isinstance(images, str) else tuple(map(image_key, images))
        if (key := (plain_images, text)) not in rows:
            plain.setdefault(key, set()).add(value)
    return rows | {key: values.pop() for key, values in plain.items() if len(values) == 1} if plain else rows


def check(weights: str, folder: Path) -> None:
    _file(weights, folder)


def build(weights: str, folder: Path) -> Replay:
    file = _file(weights, folder)
    return Replay(file, read_rows(file), digest_path(file))


def _file(weights: str, folder: Path) -> Path:
    file = expanded(weights, folder)
    if file.suffix.lower() not in SUFFIXES:
        expected = f"expected a name that ends in one of {', '.join(SUFFIXES)}"
        raise ModelLoadError(f"replay file {file}: {expected}; rename or convert the file")
    if not file.is_file():
        beside = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        hint = nearest(file.name, sorted(name for name in beside if name.lower().endswith(SUFFIXES)))
        raise ModelLoadError(f"replay file {file} does not exist; {hint}")
    return file

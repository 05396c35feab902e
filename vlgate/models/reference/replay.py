"""``replay:FILE``: a model that looks its replies up in a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from vlgate.errors import ModelLoadError, NoReplyError, nearest, short
from vlgate.images.encoded import image_key
from vlgate.models.checkpoints.fingerprint import digest_path
from vlgate.models.reference.replay_rows import SUFFIXES, Replies, read_rows
from vlgate.types import Ask, Compare, FloatArray, Match

Key = TypeVar("Key")
Value = TypeVar("Value")
Images = TypeVar("Images", str, tuple[str, ...])  # the names of one image, or of several
_NAMED = 3  # missing rows that a message shows


class Replay:
    """A model with recorded replies, found by ``LazyImage.key`` and text. A request without a row has no reply."""

    image_names = True

    def __init__(self, file: Path, replies: Replies, fingerprint: str) -> None:
        self._file = file
        self._replies = replace(
            replies,
            scores=_also_by_key(replies.scores),
            accepted=_also_by_key(replies.accepted),
            answers=_also_by_key(replies.answers),
            compared=_also_by_key(replies.compared),
        )
        self.fingerprint = fingerprint

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Return the recorded scores, shape (n,).

        Raises: NoReplyError for the pairs without a row.
        """
        return np.array(self._look_up(_keys(pairs), self._replies.scores, "score"), dtype=np.float64)

    def accepts(self, pairs: Sequence[Match]) -> FloatArray:
        """Return the recorded yes (1.0) and no (0.0), NaN if a row has no ``match``; shape (n,)."""
        return np.array([self._replies.accepted.get(key, math.nan) for key in _keys(pairs)], dtype=np.float64)

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """Return the recorded answers.

        Raises: NoReplyError for the questions without a row.
        """
        keys = [(question.image.key, question.question) for question in questions]
        return self._look_up(keys, self._replies.answers, "answer")

    def compare(self, questions: Sequence[Compare]) -> list[str]:
        """Return the recorded answers to questions about several images.

        Raises: NoReplyError for the questions without a row.
        """
        keys = [(tuple(image.key for image in one.images), one.question) for one in questions]
        return self._look_up(keys, self._replies.compared, "answer about several images")

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """Return the recorded perplexities, shape (n,).

        Raises: NoReplyError for the texts without a row.
        """
        return np.array(self._look_up(texts, self._replies.perplexities, "perplexity"), dtype=np.float64)

    def _look_up(self, keys: Sequence[Key], rows: Mapping[Key, Value], what: str) -> list[Value]:
        missing = [place for place, key in enumerate(keys) if key not in rows]
        if missing:
            shown = ", ".join(short(repr(keys[place]), 200) for place in missing[:_NAMED])
            has = (
                f"the first of its {len(rows)} {what} rows is {short(repr(next(iter(rows))), 200)}"
                if rows
                else f"it has no {what} rows"
            )
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


def _keys(pairs: Sequence[Match]) -> list[tuple[str, str]]:
    return [(pair.image.key, pair.text) for pair in pairs]


def check(weights: str, folder: Path) -> None:
    """Check that the file exists and that its name ends in one of ``SUFFIXES``.

    Raises: ModelLoadError if not.
    """
    _file(weights, folder)


def build(weights: str, folder: Path) -> Replay:
    """Read a file of replies.

    Args:
        weights: the path of the file, JSON lines or Parquet; relative to ``folder``.
        folder: the folder that the user started in.

    Raises: ModelLoadError with the file, the line and what to do.
    """
    file = _file(weights, folder)
    return Replay(file, read_rows(file), digest_path(file))


def _file(weights: str, folder: Path) -> Path:
    file = folder / Path(weights).expanduser()
    if file.suffix.lower() not in SUFFIXES:
        expected = ", ".join(SUFFIXES)
        raise ModelLoadError(
            f"replay file {file}: expected a name that ends in one of {expected}; rename or convert the file"
        )
    if not file.is_file():
        beside = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        hint = nearest(file.name, sorted(name for name in beside if name.lower().endswith(SUFFIXES)))
        raise ModelLoadError(f"replay file {file} does not exist; {hint}")
    return file

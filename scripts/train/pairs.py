"""True and false texts about the same scenes, as tokens, for the text tower of ``tiny-clip``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.scenes import Scene

LENGTH = 48
"""The most tokens of a text."""
NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Texts as tokens (texts, length) and pairs of them.

    Each row of ``pairs`` (n, 3) has a scene, a text that is true of it, and one that is false, or ``NONE``.
    ``tokenizer`` is for more texts.
    """

    tokenizer: Any
    tokens: NDArray[np.int16]
    pairs: NDArray[np.int64]


def pairs_of(scenes: Sequence[Scene], tokenizer: Any) -> Pairs:
    """Pair the captions of scenes with their foils, and the right answers to questions with the wrong ones."""
    place: dict[str, int] = {"": NONE}
    rows = []
    for number, scene in enumerate(scenes):
        for true, false in (*_captions(scene), *_replies(scene)):
            rows.append((number, *(place.setdefault(text, len(place) - 1) for text in (true, false))))
    return Pairs(tokenizer=tokenizer, tokens=tokens_of([*place][1:], tokenizer), pairs=np.array(rows, np.int64))


def tokens_of(texts: Sequence[str], tokenizer: Any) -> NDArray[np.int16]:
    """Tokenize texts, shape (n, ``LENGTH``)."""
    read = tokenizer(list(texts), padding="max_length", truncation=True, max_length=LENGTH, return_tensors="np")
    return np.asarray(read["input_ids"], np.int16)


def _captions(scene: Scene) -> Iterator[tuple[str, str]]:
    """Each true text with the foil that stands beside it; a text that has none stands alone, and a foil is left out."""
    waiting = ("", False)
    for text, truth in scene.texts:
        if waiting[0] and waiting[1] != truth:
            yield (waiting[0], text) if waiting[1] else (text, waiting[0])
            waiting = ("", False)
            continue
        if waiting[1]:
            yield waiting[0], ""
        waiting = (text, truth)
    if waiting[1]:
        yield waiting[0], ""


def _replies(scene: Scene) -> Iterator[tuple[str, str]]:
    """Each question with its answer and with another choice, in the form in which a matcher is asked."""
    for (question, answer), choices in zip(scene.questions, scene.choices, strict=True):
        for choice in choices:
            if choice != answer:
                yield f"{question} {answer}", f"{question} {choice}"

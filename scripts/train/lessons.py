"""The lessons of LXMERT as tokens: texts with their truth, lists of names, some of them wrong, and questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.captions import NOUNS, with_article
from train.scenes import Scene
from vlgate.fixtures.scenes.shapes import ALL_COLOURS

LENGTH = 48
"""The most tokens of a text."""
LISTED = 8
"""Names in a list."""
MASKED = 0.3
"""The share of the words of a masked text that are hidden."""
MISMATCHED = 0.15
"""The share of the true texts that are shown with the image of another, and are false then."""
IGNORED = -100
PADDING = 0

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Texts as tokens (n, length) with the row of each text's scene (n,).

    ``truth`` (n,) is 1 for a true text or the number of an answer; ``words`` (n, length) holds a label of each token,
    or ``IGNORED``: 1 for a wrong word and 0 for a right one, or the word that is hidden there.
    """

    tokens: Numbers
    scene: Numbers
    truth: Numbers
    words: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """All that is taught about some scenes; ``names`` holds the (kind, colour) of the things of each."""

    texts: Batch
    questions: Batch
    answers: tuple[str, ...]
    names: tuple[tuple[tuple[str, str], ...], ...]
    tokenizer: Any

    def match(self, size: int, chance: np.random.Generator) -> Batch:
        """Draw texts, some of them with the image of another."""
        batch = _some(self.texts, size, chance)
        true = np.flatnonzero(batch.truth == 1)
        moved = true[chance.random(len(true)) < MISMATCHED]
        batch.scene[moved] = np.roll(batch.scene[moved], 1)
        batch.truth[moved] = 0
        batch.words[moved] = IGNORED
        return batch

    def mask(self, size: int, chance: np.random.Generator) -> Batch:
        """Draw texts and hide words of the true ones."""
        batch = _some(self.texts, size, chance)
        word = ~np.isin(batch.tokens, self.tokenizer.all_special_ids)
        hidden = word & (chance.random(batch.tokens.shape) < MASKED) & (batch.truth[:, None] == 1)
        tokens = np.where(hidden, self.tokenizer.mask_token_id, batch.tokens)
        words = np.where(hidden, batch.tokens, IGNORED)
        return Batch(tokens=tokens, scene=batch.scene, truth=batch.truth, words=words)

    def ask(self, size: int, chance: np.random.Generator) -> Batch:
        """Draw questions."""
        return _some(self.questions, size, chance)

    def name(self, size: int, chance: np.random.Generator) -> Batch:
        """Make lists of things, with a colour or without, about half of which are not in the image."""
        scene = chance.integers(len(self.names), size=size)
        rows = [self._list(self.names[row], chance) for row in scene]
        longest = max(len(tokens) for tokens, _ in rows)
        tokens = np.full((size, longest), PADDING, np.int64)
        words = np.full((size, longest), IGNORED, np.int64)
        for row, (ids, labels) in enumerate(rows):
            tokens[row, : len(ids)], words[row, : len(ids)] = ids, labels
        return Batch(tokens=tokens, scene=scene, truth=np.zeros(size, np.int64), words=words)

    def _list(self, shown: Sequence[tuple[str, str]], chance: np.random.Generator) -> tuple[list[int], list[int]]:
        tokens, labels = [self.tokenizer.cls_token_id], [IGNORED]
        for _ in range(LISTED):
            name, colour = _named(shown, chance)
            present = (name, colour) in shown if colour else any(name == kind for kind, _ in shown)
            ids = self.tokenizer(f"{with_article(f'{colour} {name}'.strip())},")["input_ids"][1:-1]
            tokens += ids  # the last is the comma; the label stands at the noun before it
            labels += [*[IGNORED] * (len(ids) - 2), int(not present), IGNORED]
        return [*tokens[: LENGTH - 1], self.tokenizer.sep_token_id], [*labels[: LENGTH - 1], IGNORED]


def _named(shown: Sequence[tuple[str, str]], chance: np.random.Generator) -> tuple[str, str]:
    """Choose a thing of a scene or another, with its colour, with another, or without."""
    name, colour = shown[int(chance.integers(len(shown)))]
    way = chance.random()
    if way < 0.25:
        return name, ""
    if way < 0.5:
        return NOUNS[int(chance.integers(len(NOUNS)))], ""
    if way < 0.75:
        return name, colour
    if way < 0.9:
        return name, tuple(ALL_COLOURS)[int(chance.integers(len(ALL_COLOURS)))]
    return NOUNS[int(chance.integers(len(NOUNS)))], colour


def lessons_of(scenes: Sequence[Scene], answers: Sequence[str], tokenizer: Any) -> Lessons:
    """Turn the texts and questions of scenes into tokens; ``answers`` are all that can be given."""
    number = {answer: index for index, answer in enumerate(answers)}
    texts = [(text, row, int(truth)) for row, scene in enumerate(scenes) for text, truth in scene.texts]
    asked = [(text, row, number[answer]) for row, scene in enumerate(scenes) for text, answer in scene.questions]
    return Lessons(
        texts=_batch(texts, tokenizer),
        questions=_batch(asked, tokenizer),
        answers=tuple(answers),
        names=tuple(tuple(map(_look, scene.graph["objects"].values())) for scene in scenes),
        tokenizer=tokenizer,
    )


def _look(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["name"], next((word for word in item["attributes"] if word in ALL_COLOURS), "")


def _batch(rows: Sequence[tuple[str, int, int]], tokenizer: Any) -> Batch:
    texts, scenes, truths = zip(*rows, strict=True)
    tokens = tokenizer(list(texts), padding=True, truncation=True, max_length=LENGTH, return_tensors="np")["input_ids"]
    scene, truth = np.array(scenes, np.int64), np.array(truths, np.int64)
    word = ~np.isin(tokens, tokenizer.all_special_ids)
    return Batch(tokens=tokens, scene=scene, truth=truth, words=_wrong(tokens, scene, truth, word))


def _wrong(tokens: Numbers, scene: Numbers, truth: Numbers, word: NDArray[np.bool_]) -> Numbers:
    """Mark the words of a foil that the true text beside it lacks: 1, and other words 0."""
    numbers = np.where(word & (truth == 1)[:, None], 0, IGNORED)
    for row in np.flatnonzero(truth == 0):
        beside = [one for one in (row - 1, row + 1) if 0 <= one < len(scene) and scene[one] == scene[row]]
        lacking = [~np.isin(tokens[row], tokens[one]) & word[row] for one in beside if truth[one] == 1]
        fewest = min(lacking, key=lambda words: int(words.sum()), default=np.zeros(0, bool))
        if fewest.any():
            numbers[row] = np.where(fewest, 1, np.where(word[row], 0, IGNORED))
    return numbers


def _some(batch: Batch, size: int, chance: np.random.Generator) -> Batch:
    rows = chance.integers(len(batch.scene), size=size)
    longest = int((batch.tokens[rows] != PADDING).sum(axis=1).max())
    return Batch(
        tokens=batch.tokens[rows, :longest],
        scene=batch.scene[rows],
        truth=batch.truth[rows],
        words=batch.words[rows, :longest],
    )

"""What a foil may need beside the parsed text: a protocol of one method for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vlgate.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A text with a gap: what stands before it and behind it, and how many tokens of the model may fill it."""

    before: str
    after: str
    lengths: tuple[int, ...] = (1, 2, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """A text that fills a gap, and the natural logarithm of the joint probability of its tokens."""

    text: str
    log_probability: float


class GapFiller(Protocol):
    """A masked language model, such as SpanBERT."""

    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filling]]:
        """Return at most ``top`` fillings of each length for each gap, the most probable first."""
        ...


class Entailment(Protocol):
    """A model of natural language inference."""

    def infer(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the probabilities of entailment, neutral and contradiction for (premise, hypothesis), shape (n, 3)."""
        ...


class Grammaticality(Protocol):
    """A judge of grammaticality, such as a classifier that was trained on CoLA."""

    def acceptability(self, texts: Sequence[str]) -> FloatArray:
        """Return a score in 0..1 for each text, shape (n,); higher is more grammatical."""
        ...


class TextEncoder(Protocol):
    """A model of sentence similarity."""

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors, shape (n, d); their products are cosines."""
        ...


class TextModel(Protocol):
    """A language model that scores texts without an image."""

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """Return perplexities, shape (n,); lower is more plausible."""
        ...


class WordTable(Protocol):
    """A table of numbers by word, such as frequencies or concreteness ratings."""

    def value(self, word: str) -> float | None:
        """Return the number of a word in lower case, or None if the table does not have it."""
        ...

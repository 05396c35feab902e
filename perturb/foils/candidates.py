"""What a maker of foils takes and gives: dialogs, tools beside the parse, candidates with their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from vlgate.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question of a dialog and its answer: "is she wearing a helmet", "yes, she is"."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    caption: str
    turns: tuple[Turn, ...]


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
    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filling]]:
        """At most ``top`` fillings of each length for each gap, the most probable first."""


class Entailment(Protocol):
    def infer(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """Probabilities of entailment, neutral and contradiction of (premise, hypothesis), shape (n, 3)."""


class Grammaticality(Protocol):
    def acceptability(self, texts: Sequence[str]) -> FloatArray:
        """A score in 0..1 for each text, shape (n,); higher is more grammatical."""


class TextEncoder(Protocol):
    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (n, d); their products are cosines."""


class TextModel(Protocol):
    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """Perplexities, shape (n,); lower is more plausible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foil:
    """A caption and its foil, which is false of the caption's image."""

    caption: str
    foil: str
    classes: tuple[str, str]  # what differs, the caption's and the foil's, as VALSE's ``classes`` and ``classes_foil``
    why: str  # how the foil was made and why it is false
    tags: Mapping[str, str] = field(default_factory=dict)  # slices of the metrics: {"direction": "sg2pl"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSet:
    """Two true and two false sentences about one image, as in BLA, each two in the release's order."""

    true: tuple[str, str]
    false: tuple[str, str]
    why: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Two captions of the same words in another order, as in Winoground: the first is true of the first image."""

    images: tuple[str, str]
    captions: tuple[str, str]
    why: str
    tags: Mapping[str, str] = field(default_factory=dict)


Candidate = Foil | SentenceSet | Swap


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbed:
    """The candidates made from one input, and a short reason for each part of it that gave none.

    Reasons are constant texts ("no noun phrase", "the noun has no plural"), so that they can be counted.
    """

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[str, ...] = ()

    @classmethod
    def of(cls, *outcomes: Candidate | str) -> Perturbed:
        """Sort what the parts of an input gave: a text is the reason why a part gave none."""
        return cls(
            candidates=tuple(outcome for outcome in outcomes if not isinstance(outcome, str)),
            refused=tuple(outcome for outcome in outcomes if isinstance(outcome, str)),
        )

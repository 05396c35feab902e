"""How alike two words are: by a model of sentence similarity, or by the ontology alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from vlgate.perturb.foils.tools import TextEncoder
from vlgate.types import FloatArray

LIMIT = 0.5
"""The cosine from which two words are too alike to replace each other (VL-CheckList, section 3.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Compares words by the cosines of their vectors; without an encoder no two words are too alike.

    Each word is encoded once; ``learn`` encodes many in one batch. Whether two names fit one thing is another
    question, which the ontology answers.
    """

    encoder: TextEncoder | None = None
    limit: float = LIMIT
    vectors: dict[str, FloatArray] = field(default_factory=dict)

    def learn(self, words: Iterable[str]) -> None:
        """Encode the words that are new."""
        new = sorted(set(words) - self.vectors.keys())
        if self.encoder is not None and new:
            self.vectors.update(zip(new, self.encoder.encode(new), strict=True))

    def too_alike(self, one: str, other: str) -> bool:
        """Return whether the cosine of two words is the limit or more."""
        if self.encoder is None:
            return False
        if one not in self.vectors or other not in self.vectors:
            self.learn((one, other))
        return float(np.dot(self.vectors[one], self.vectors[other])) >= self.limit

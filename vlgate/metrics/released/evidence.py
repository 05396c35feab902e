"""What a variant of a metric is computed from: the replies to the cases of a task, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.measures import Measure
from vlgate.types import FloatArray

Texts = NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The n judged cases of one task as arrays, in the task's order; those that the shape does not have are empty.

    ``scores``, shape (n, k), are the match scores. ``answers``, shape (n, k), are the answers to the questions of each
    case as the model gave them, None for a tie between choices, and ``truths``, of the same shape, the right answers.
    ``files``, shape (n,), is the file that each case was read from, in the order in which the task reads its files.
    ``groups`` numbers the groups of the cases by metric; see ``metrics.grouped``.
    """

    scores: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    answers: Texts = field(default_factory=lambda: np.empty((0, 2), dtype=object))
    truths: Texts = field(default_factory=lambda: np.empty((0, 2), dtype=object))
    files: NDArray[np.str_] = field(default_factory=lambda: np.empty(0, dtype=str))
    groups: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


Rule = Callable[[Evidence], Mapping[str, Measure]]
"""A function from the evidence of at least one case to measures, by the names of the metrics without the variant."""

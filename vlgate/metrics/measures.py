"""A metric before its interval is computed: the values of cases or of groups of cases, and how scores compare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import Clusters
from vlgate.metrics.macro import macro
from vlgate.metrics.stats import proportion
from vlgate.types import FloatArray, Metric, Shape, Ties

_TIE = {"strict": 0.0, "half": 0.5, "credit": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    # ``rows`` are the positions of the m cases that it is defined on. If it counts sets of cases, the case in ``rows``
    # stands for its set, and ``sets`` numbers the set of each of all cases, -1 for none. ``of`` computes the metric
    # from the clusters of the m cases, None if they are independent, and a confidence.

    rows: NDArray[np.intp]
    of: Callable[[Clusters | None, float], Metric]
    sets: NDArray[np.int64] | None = None


def mean_of(values: FloatArray, rows: NDArray[np.intp], sets: NDArray[np.int64] | None = None) -> Measure:
    """Return the metric that is the mean of one value per case, each in 0..1, shape (m,); a case may count twice."""
    cases = rows.size if bool((rows[1:] > rows[:-1]).all()) else np.unique(rows).size

    def proportion_of(groups: Clusters | None, confidence: float) -> Metric:
        if cases == rows.size:
            return proportion(values, groups, confidence)
        return replace(proportion(values, groups, confidence, rows), n=cases)

    return Measure(rows=rows, of=proportion_of, sets=sets)


def clusters_of(measure: Measure, groups: Clusters) -> Clusters:
    return (groups if measure.sets is None else groups.joined(measure.sets)).take(measure.rows)


def of_ties(tied: NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Return the fact ``tied`` of answers: 1 for a tie of choices and NaN for all else; no fact if there is no tie.

    >>> of_ties(np.array([False, False]))
    {}
    """
    return {"tied": np.where(tied, 1.0, np.nan)} if tied.any() else {}


def wins(better: FloatArray, worse: FloatArray, ties: Ties = "strict") -> FloatArray:
    """Return 1.0 if ``better`` is above ``worse``, shape (n,), 0.0 if it is below, and what a tie counts."""
    if bool(np.isnan(better).any() or np.isnan(worse).any()):
        raise ValueError("a score is NaN: expected numbers; leave out the cases without a score, which are unscored")
    return np.where(better == worse, _TIE[ties], (better > worse).astype(np.float64))


# Metrics over groups of cases: a case's tag of the metric's name names its group.
# ``pair_all`` and ``set_all`` are the shares of groups whose cases are all right (Kamath et al. 2023, What'sUp).
# ``macro`` and ``macro_all`` are means over groups of the share of right cases (Yuksekgonul et al. 2023, ARO); some
# releases leave groups out of the first, which the second keeps.

GROUPED: Mapping[str, Literal["all", "mean"]] = {
    "pair_all": "all",
    "set_all": "all",
    "macro": "mean",
    "macro_all": "mean",
}  # what becomes of a group's cases, by metric: are all right, or how large is the share of right ones?


def group_codes(tags: Sequence[Mapping[str, str]]) -> dict[str, NDArray[np.int64]]:
    """Return the number of each case's group by metric, shape (n,); -1 for a case that is in no group."""
    # A metric is absent if no case has a tag of its name. A tag may begin with the size of the group, as in "4 of cup
    # and table": a group of which fewer cases are here is none, if all of them must be right.
    named = {name for one in {id(tag): tag for tag in tags}.values() for name in one if name in GROUPED}
    found = {}
    for name in sorted(named):
        numbers: dict[str, int] = {}
        given = [tag.get(name) for tag in tags]
        there = Counter(given)
        sizes = {one: re.match(r"(\d+) of ", one) for one in there if one is not None}
        small = {one for one, size in sizes.items() if size is not None and there[one] < int(size[1])}
        without = {None, *(() if GROUPED[name] == "mean" else small)}
        codes = [-1 if one is None or one in without else numbers.setdefault(one, len(numbers)) for one in given]
        found[name] = np.array(codes, dtype=np.int64)
    return found


def group_measure(name: str, values: FloatArray, codes: NDArray[np.int64]) -> Measure | None:
    """Return a metric over groups.

    - ``values``: shape (n,), whether each case is right, in 0..1; NaN for a case that does not count.
    - ``codes``: shape (n,), the numbers of the groups; -1 for a case that is in none.

    Returns: the measure; None if no case counts. The shares of groups whose cases are all right leave out groups with a
        case that does not count or is not there.
    """
    known = np.isfinite(values)
    if GROUPED[name] == "mean":
        rows = np.flatnonzero(known & (codes >= 0))
        return Measure(rows=rows, of=partial(macro, values[rows], codes[rows])) if rows.size else None
    broken = set(codes[~known].tolist())
    rows = np.array([row for row, code in enumerate(codes.tolist()) if code >= 0 and code not in broken], dtype=np.intp)
    if not rows.size:
        return None
    order = rows[np.argsort(codes[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return mean_of(np.minimum.reduceat(values[order], starts), order[starts], codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The n judged cases of one task as arrays: ``scores`` and ``accepted`` of shape (n, k), the rest of shape (n,).

    A fact that a verdict does not have is NaN, and so are the scores behind the last one of a case that has fewer than
    others. ``images`` numbers their clusters, and ``groups`` their groups by metric; see ``measures.group_codes``.
    """

    shape: Shape
    scores: FloatArray
    accepted: FloatArray
    facts: Mapping[str, FloatArray]
    images: NDArray[np.int64]
    groups: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    def take(self, rows: NDArray[np.intp]) -> Columns:
        """Return the columns with these rows only."""
        if len(rows) == len(self.images) and bool((rows == np.arange(len(rows))).all()):
            return self
        facts = {name: values[rows] for name, values in self.facts.items()}
        groups = {name: codes[rows] for name, codes in self.groups.items()}
        scores, accepted = self.scores[rows], self.accepted
        none = not any(accepted.strides)  # one NaN for all, as it stays
        accepted = np.broadcast_to(accepted[:1], scores.shape) if none else accepted[rows]
        return replace(self, scores=scores, accepted=accepted, facts=facts, images=self.images[rows], groups=groups)

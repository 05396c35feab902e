"""From verdicts to metrics: means of the verdicts' facts, and two statistics of the scores, each with its interval."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import case_clusters, clusters, numbered
from vlgate.metrics.measures import GROUPED, Columns, Measure, clusters_of, group_codes, group_measure, mean_of
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Case, FloatArray, Metric, Shape, Verdict

_truths = attrgetter("truths")


def columns(shape: Shape, verdicts: Sequence[Verdict]) -> Columns:
    """Put judged verdicts into arrays.

    Raises: ValueError if a verdict is not judged.
    """
    if any(verdict.state != "judged" for verdict in verdicts):
        states = sorted({verdict.state for verdict in verdicts})
        raise ValueError(f"verdicts in the states {states}: expected judged ones only; leave out the others")
    replies = [reply for verdict in verdicts for reply in verdict.predictions]
    scores, accepted = numbers([reply.score for reply in replies]), numbers([reply.accepted for reply in replies])
    cases, facts = [verdict.case for verdict in verdicts], [verdict.facts for verdict in verdicts]
    return columns_of(shape, cases, facts, scores, accepted)


def columns_of(
    shape: Shape, cases: Sequence[Case], facts: Sequence[Mapping[str, float]], scores: FloatArray, accepted: FloatArray
) -> Columns:
    images = clusters(case_clusters(cases)).codes  # first, because it takes the most memory for a moment
    shared = dict(zip(map(id, facts), facts, strict=True))  # few, because cases share equal facts
    number = {key: row for row, key in enumerate(shared)}
    rows = np.array([number[id(fact)] for fact in facts], dtype=np.intp)
    names = dict.fromkeys(fact for one in shared.values() for fact in one)
    starts = starts_of(cases)
    return Columns(
        shape=shape,
        scores=in_rows(starts, scores),
        accepted=in_rows(starts, accepted),
        facts={name: numbers([one.get(name) for one in shared.values()])[rows] for name in names},
        images=images,
        groups=group_codes([case.tags for case in cases]),
    )


def metrics(cases: Columns, *, confidence: float = 0.95) -> dict[str, Metric]:
    """Compute all metrics of some judged cases, each with its interval.

    Args:
        cases: the columns of the cases; without cases there are no metrics.
        confidence: of the two-sided intervals.

    Returns: metrics by name, in the order of the shape's, then those over groups; metrics that do not apply to this
        model are absent.
    """
    return with_intervals(_measures(cases), cases, confidence)


def with_intervals(found: Mapping[str, Measure], cases: Columns, confidence: float = 0.95) -> dict[str, Metric]:
    groups = numbered(cases.images)
    return {name: measure.of(clusters_of(measure, groups), confidence) for name, measure in found.items()}


def at_confidence(cases: Columns, name: str) -> Callable[[float], Metric]:
    measure = _measures(cases)[name]
    return partial(measure.of, clusters_of(measure, numbered(cases.images)))


def at_most(cases: Columns, name: str, confidence: float = 0.95) -> Metric | None:
    """Compute a metric as if each case without an answer counted in full: a reply that could not be read, or a tie."""
    # A refusal is neither yes nor what a prior says, so it lowers ``yes_share`` and ``prior_rate``. A gate on the
    # ``max`` of these, of ``other_rate``, ``set_error`` or a preference of a set could be passed by refusing.
    which = SHAPES[cases.shape].silent
    if which is None or not (silent := which(cases, name)).any():
        return None
    values = np.where(silent, 1.0, cases.facts[name])
    return with_intervals({name: mean_of(values, np.arange(len(values)))}, cases, confidence)[name]


def _measures(cases: Columns) -> dict[str, Measure]:
    if not len(cases.images):
        return {}
    spec, found = SHAPES[cases.shape], dict[str, Measure]()
    others: dict[str, Measure | None] = dict(spec.statistics(cases)) if spec.statistics else {}
    every = np.arange(len(cases.images))
    right = cases.facts.get(spec.headline, np.full(len(cases.images), np.nan))
    others |= {name: group_measure(name, right, codes) for name, codes in cases.groups.items() if name in GROUPED}
    for name in (*spec.metrics, *GROUPED):
        if (other := others.get(name)) is not None:
            found[name] = other
        elif name in cases.facts and (rows := np.flatnonzero(np.isfinite(cases.facts[name]))).size:
            whole = rows.size == every.size  # then nothing is copied: there may be a million cases
            found[name] = mean_of(cases.facts[name], every) if whole else mean_of(cases.facts[name][rows], rows)
    return found


def starts_of(cases: Sequence[Case]) -> Sequence[int]:
    """Return the place of the first request of each case, and the place behind the last request."""
    return starts(np.fromiter(map(len, map(_truths, cases)), dtype=np.int32, count=len(cases)))  # one for each request


def starts(sizes: NDArray[Any]) -> Sequence[int]:
    """Return the place of the first value of each of n rows, and the place behind the last value."""
    width = int(sizes[0]) if len(sizes) else 1
    if width and (sizes == width).all():
        return range(0, width * len(sizes) + 1, width)
    return [0, *np.cumsum(sizes, dtype=np.int64).tolist()]


def in_rows(starts: Sequence[int], values: FloatArray) -> FloatArray:
    """Return one row per case, of shape (n, k), from the values of all requests; NaN behind the last one of a case."""
    if isinstance(starts, range):
        return values.reshape(len(starts) - 1, starts.step)
    sizes = np.diff(starts)
    rows = np.full((len(sizes), int(sizes.max(initial=0))), np.nan)
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = values
    return rows


def numbers(values: Sequence[float | bool | None]) -> FloatArray:
    """Return an array of floats in which None is NaN, and yes 1.0."""
    return np.array(values, dtype=np.float64)

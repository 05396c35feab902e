"""What a control measured on the cases of a task: columns of values, and figures over them with their intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from vlgate.metrics.clusters import clusters
from vlgate.metrics.paired import difference
from vlgate.metrics.stats import proportion
from vlgate.types import FloatArray, Metric

_SURELY = 20  # how much less than an interval of a figure may miss the one that leaves out a difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The mean of a column, or of its difference from ``before``, the one of ``others`` that makes it smallest."""

    column: str
    before: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ControlledTask:
    cases: tuple[str, ...]  # the ids of the n cases
    images: tuple[str, ...]  # the name of the cluster of each case; cases of one image are not independent
    # arrays of shape (n,) by name, each value in 0..1; NaN if a case has no value
    columns: Mapping[str, FloatArray] = field(repr=False)
    figures: Mapping[str, Figure]  # the figures over these columns, by name
    # how many cases of the task were not asked, or have no value in some column, by the reason
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what a reader of the figures must know, in sentences
    # known values that stand beside the figures, such as chance, by name
    beside: Mapping[str, float] = field(default_factory=dict)
    requests: int = 0  # how many distinct requests the control asked
    doubt: str = ""  # why its figures, however good, prove nothing; empty if they do. No gate on them can pass then

    def metric(self, name: str, confidence: float = 0.95) -> Metric | None:
        """Return a figure with its two-sided interval: a share in 0..1, or a difference in -1..1."""
        # A share has Wilson's interval, a difference that of ``paired.difference``; both count repeated images. The
        # interval of the smallest of k differences, without those that are surely larger, is from the smallest lower
        # end to the smallest upper end, the upper ones at the confidence ``1 - (1 - confidence) / k``: each end misses
        # the smallest true difference as seldom as that of a single one (Berger 1982, the intersection-union test;
        # Bonferroni). The value itself is too small by chance, the more so the more differences are nearly equal.
        figure = self.figures.get(name)
        if figure is None:
            return None
        found = self._of(figure.column, figure.before, confidence)
        if found is None or not figure.others:
            return found
        names = {self.columns[name].tobytes(): name for name in (*figure.others, figure.before)}.values()
        strict = 1 - (1 - confidence) / _SURELY
        apart = {name: self._of(figure.before, name, strict) for name in names if name != figure.before}
        rivals = [figure.before, *(name for name, one in apart.items() if one is not None and one.low <= 0.0)]
        wider = 1 - (1 - confidence) / len(rivals)
        lower, upper = ([self._of(figure.column, name, level) for name in rivals] for level in (confidence, wider))
        low, high = min(one.low for one in lower if one is not None), min(one.high for one in upper if one is not None)
        return replace(found, low=min(low, found.value), high=max(high, found.value))

    def _of(self, column: str, before: str, confidence: float) -> Metric | None:
        after = self.columns[column]
        values = self.columns[before] if before else np.zeros(after.size)
        rows = np.flatnonzero(np.isfinite(after) & np.isfinite(values))
        if not rows.size:
            return None
        groups = clusters([self.images[row] for row in rows.tolist()])
        if not before:
            return proportion(after[rows], groups, confidence)
        found = difference(values[rows], after[rows], groups, confidence)
        return Metric(value=found.value, low=found.low, high=found.high, n=found.n, deff=found.deff)

    @cached_property
    def _known(self) -> dict[float, dict[str, Metric]]:
        return {}

    def metrics(self, confidence: float = 0.95) -> dict[str, Metric]:
        """Return all figures that have a value, by name, each with its interval."""
        if confidence not in self._known:
            found = {name: self.metric(name, confidence) for name in self.figures}
            self._known[confidence] = {name: metric for name, metric in found.items() if metric is not None}
        return self._known[confidence]

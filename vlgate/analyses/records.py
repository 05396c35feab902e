"""What an analysis finds: tables of numbers, each with its interval and the number of cases that it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vlgate.types import Metric

SMALL = 30
"""A number from fewer cases than this is marked."""

DRAWN = "scenes/*"
"""The tasks that an analysis takes if no run has its benchmark."""

Detail = float | int | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A number of a table.

    Attributes:
        labels: what the number is about, one entry per label of the table.
        value: the number; None if it is not defined, for example the correlation of a constant.
        low: the lower end of its interval; None if it has none.
        high: the upper end.
        n: how many cases, sentences, pairs or models it is made from, as the table says.
        more: further numbers beside it, by the names in the table's ``more``.
    """

    labels: tuple[str, ...]
    value: float | None
    low: float | None
    high: float | None
    n: int
    more: Mapping[str, Detail] = field(default_factory=dict)

    @property
    def small(self) -> bool:
        """Whether the number is made from few cases."""
        return self.n < SMALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of an analysis.

    ``about`` says what is measured, of what ``n`` counts, and where the paper has it. ``labels`` head the labels of the
    rows, ``value`` heads the number, and ``more`` the further numbers.
    """

    title: str
    about: str
    labels: tuple[str, ...]
    value: str
    rows: tuple[Row, ...]
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The analysis of a paper: its tables, and notes on what is left out and why.

    ``tasks`` is the pattern of the tasks that it took.
    """

    name: str
    tasks: str
    runs: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def measured(labels: tuple[str, ...], metric: Metric, more: Mapping[str, Detail] | None = None) -> Row:
    """Return the row of a metric."""
    return Row(labels=labels, value=metric.value, low=metric.low, high=metric.high, n=metric.n, more=more or {})

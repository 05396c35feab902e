"""What an analysis finds: tables of numbers, and correlations, agreement and gaps with intervals by image."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from math import isfinite, nan, sqrt
from pathlib import Path
from statistics import NormalDist
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import DataError, OptionError
from vlgate.gates.p_values import incomplete_beta
from vlgate.metrics.clusters import Clusters, two_sided
from vlgate.metrics.stats import proportion
from vlgate.seeds import generator
from vlgate.types import Difference, FloatArray, Metric

SMALL = 30  # a number from fewer cases than this is marked
DRAWN = "scenes/*"  # the tasks that an analysis takes if no run has its benchmark
_MARK = "*"

Detail = float | int | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    labels: tuple[str, ...]
    value: float | None  # None if the number is not defined, for example the correlation of a constant
    low: float | None
    high: float | None
    n: int
    more: Mapping[str, Detail] = field(default_factory=dict)

    @property
    def small(self) -> bool:
        return self.n < SMALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    title: str
    about: str  # says what is measured, of what ``n`` counts, and where the paper has it
    labels: tuple[str, ...]  # the heads of the labels of the rows
    value: str  # the head of the number
    rows: tuple[Row, ...]
    more: tuple[str, ...] = ()  # the heads of the further numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    name: str
    tasks: str
    runs: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


@cache
def _heads() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


def table(name: str, rows: Iterable[Row], **given: object) -> Table:
    head = _heads()[name]
    title, about, value = (head[part].format(**given) for part in ("title", "about", "value"))
    labels, more = (tuple(text.format(**given) for text in head.get(part, ())) for part in ("labels", "more"))
    return Table(title=title, about=about, labels=labels, value=value, rows=tuple(rows), more=more)


def number_in(file: Path, line: int, name: str, cell: str | None, remedy: str) -> float:
    try:
        value = float(cell or "")
    except ValueError:
        value = nan
    if not isfinite(value):
        shown = cell if cell is None else cell[:20]
        raise DataError(file, f"on line {line}", f"{name}={shown!r}, expected a number", remedy)
    return value


def measured(
    labels: tuple[str, ...], metric: Metric | Difference | None, more: Mapping[str, Detail] | None = None
) -> list[Row]:
    if metric is None:
        return []
    return [Row(labels=labels, value=metric.value, low=metric.low, high=metric.high, n=metric.n, more=more or {})]


def markdown(analysis: Analysis, most: int | None = None) -> str:
    tasks = analysis.tasks
    if tasks == DRAWN:  # said, because the figures are not the benchmark's either
        tasks = f"{DRAWN}, the drawn scenes, because no run has {analysis.name}/*"
    lines = [f"# {analysis.name} on {tasks}: {', '.join(analysis.runs)}"]
    for table in analysis.tables:
        lines += ["", f"## {table.title}", "", f"{table.about[0].upper()}{table.about[1:]}.", "", *_lines(table, most)]
    if any(row.small for table in analysis.tables for row in table.rows):
        lines += ["", f"{_MARK} fewer than {SMALL}: too few to rely on"]
    if any("p" in table.more for table in analysis.tables):
        lines += ["", "p takes the cases as independent, as the paper does; intervals take those of an image together."]
    if analysis.notes:
        lines += ["", *(f"- {note}" for note in analysis.notes)]
    return "\n".join(lines) + "\n"


def record(analysis: Analysis) -> dict[str, Any]:
    tables = []
    for table in analysis.tables:
        rows = []
        for row in table.rows:
            labels = dict(zip(table.labels, row.labels, strict=True))
            numbers = {"value": row.value, "low": row.low, "high": row.high, "n": row.n, "small": row.small}
            rows.append({**labels, **numbers, **row.more})
        texts = {"title": table.title, "about": table.about, "labels": list(table.labels), "value": table.value}
        tables.append({**texts, "more": list(table.more), "rows": rows})
    head = {"analysis": analysis.name, "tasks": analysis.tasks, "runs": list(analysis.runs)}
    return {**head, "tables": tables, "notes": list(analysis.notes)}


def _lines(table: Table, most: int | None) -> list[str]:
    if not table.rows:
        return ["Nothing to show."]
    heads = (*table.labels, "n", table.value, "interval", *table.more)
    shown = table.rows[:most]
    lines = [_cells(heads), _cells(["---"] * len(table.labels) + ["---:"] * (len(heads) - len(table.labels)))]
    for row in shown:
        n = f"{row.n:,}{_MARK if row.small else ''}"
        interval = "-" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}"
        more = (_number(row.more.get(name)) for name in table.more)
        lines.append(_cells([*map(_plain, row.labels), n, _number(row.value), interval, *more]))
    left = len(table.rows) - len(shown)
    return [*lines, "", f"And {left:,} more rows; --json has all."] if left else lines


def _number(value: Detail) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0.0 else f"{value:.1e}"
    return "-" if value is None else _plain(str(value))


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split()).replace("|", "\\|")


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


RESAMPLES = 2000
_AT_ONCE = 2_000_000  # numbers in one block of weights
_FEWEST_IMAGES = 10  # resamples of fewer images differ too little
_FEWEST = 4  # the interval of Fisher's z needs more than three pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    value: float | None  # None, as all else but ``n``, if it is not defined
    low: float | None
    high: float | None
    p: float | None  # takes the pairs as independent
    n: int  # the number of pairs


def library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise OptionError(f"needs {error.name}, which is not installed; pip install 'vlgate[analysis]'") from None


def correlate(
    x: FloatArray, y: FloatArray, groups: Clusters | None = None, *, rank: bool = False, seed: int = 0
) -> Correlation:
    # It has no value if there are fewer than four pairs or one side is constant. The interval is that of Fisher's z if
    # the pairs are independent. If images repeat, and for ranks, it is the percentile interval of a bootstrap of whole
    # images.
    if x.shape != y.shape:
        raise ValueError(f"correlate of shapes {x.shape} and {y.shape}: expected equal ones")
    n = len(x)
    if n < _FEWEST or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return Correlation(value=None, low=None, high=None, p=None, n=n)
    if rank:
        x, y = _ranks(x), _ranks(y)
    x, y = x - x.mean(), y - y.mean()  # otherwise the sums of squares lose their digits
    value = float(np.clip(_unit(x) @ _unit(y), -1.0, 1.0))
    tail = incomplete_beta(n / 2 - 1, n / 2 - 1, max(float_info.min, (1 - abs(value)) / 2))
    p = max(float_info.min, 2 * tail)  # never 0: too small for a float is the smallest one
    if groups is None or groups.single:
        if not rank:
            with np.errstate(divide="ignore"):  # a correlation of 1 has an infinite z
                z, half = np.arctanh(value), NormalDist().inv_cdf(0.975) * np.sqrt(1 / (n - 3))
            return Correlation(value=value, low=float(np.tanh(z - half)), high=float(np.tanh(z + half)), p=p, n=n)
        groups = Clusters(codes=np.arange(n), sizes=np.ones(n))
    parts = np.stack([np.ones(n), x, y, x * x, y * y, x * y], axis=1)
    return _within(value, bootstrap(parts, groups, _correlations, seed=seed), p, n)


def _ranks(values: FloatArray) -> FloatArray:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean: FloatArray = np.cumsum(counts) - (counts - 1) / 2
    return mean[places]


def _unit(values: FloatArray) -> FloatArray:
    most = float(np.max(np.abs(values)))  # its square may be too large for a float
    return values / (most * float(np.linalg.norm(values / most)))


def correlated(labels: tuple[str, ...], found: Correlation, more: Mapping[str, Detail] | None = None) -> Row:
    further = {"p": found.p, **(more or {})}
    return Row(labels=labels, value=found.value, low=found.low, high=found.high, n=found.n, more=further)


def kappa(first: NDArray[np.bool_], second: NDArray[np.bool_], groups: Clusters, *, seed: int = 0) -> Correlation:
    # It has no value if the verdicts of one of the models are all equal.
    a, b = first.astype(np.float64), second.astype(np.float64)
    parts = np.stack([np.ones(len(a)), a, b, a * b], axis=1)
    if not len(a) or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return Correlation(value=None, low=None, high=None, p=None, n=len(a))
    value = float(_kappas(parts.sum(axis=0)[None])[0])
    return _within(value, bootstrap(parts, groups, _kappas, seed=seed), None, len(a))


def bootstrap(
    parts: FloatArray, groups: Clusters, statistic: Callable[[FloatArray], FloatArray], *, seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic of sums, from resamples of whole images."""
    # ``parts``, shape (n, k), is what each case adds to the k sums; ``statistic`` makes values of shape (b,) from sums
    # of shape (b, k), NaN if it is not defined. The ends are NaN with fewer than ten images, or if no resample has a
    # value.
    count = len(groups.sizes)
    if count < _FEWEST_IMAGES:
        return nan, nan
    sums = np.stack([np.bincount(groups.codes, weights=column, minlength=count) for column in parts.T], axis=1)
    random = generator(f"{seed}:analyses/bootstrap")
    step = max(1, _AT_ONCE // count)
    drawn = []
    for start in range(0, RESAMPLES, step):
        size = min(step, RESAMPLES - start)
        times = random.multinomial(count, np.full(count, 1 / count), size=size).astype(np.float64)
        drawn.append(statistic(times @ sums))
    values = np.concatenate(drawn)
    values = values[~np.isnan(values)]
    if not values.size:
        return nan, nan
    # The percentiles are further apart than 2.5 and 97.5 if images are few, as by Hesterberg (2015, The American
    # Statistician 69, section 4.1.3): resamples vary too little, and few images have a t for a z.
    share = NormalDist().cdf(-sqrt(count / (count - 1)) * two_sided(0.95, count - 1))
    low, high = np.quantile(values, [share, 1 - share])
    return float(low), float(high)


def gap(upper: Metric, lower: Metric) -> tuple[float, float, float]:
    return combined([(1.0, upper), (-1.0, lower)])


def combined(parts: Sequence[tuple[float, Metric]]) -> tuple[float, float, float]:
    """Return a weighted sum of means of different cases, which is in -1..1, and the ends of its interval."""
    # The interval is put together from those of the means, so that it holds for cases of shared images as they do: the
    # method of variance estimates recovery (Zou, Donner 2008), which is Newcombe's method 10 for a difference. The
    # means must be of different images; if they share some, the interval of a difference is too wide.
    value = sum(weight * metric.value for weight, metric in parts)
    ends = [sorted((weight * (one.low - one.value), weight * (one.high - one.value))) for weight, one in parts]
    down, up = (sqrt(sum(end[side] ** 2 for end in ends)) for side in (0, 1))
    return value, max(-1.0, value - down), min(1.0, value + up)


def share(values: NDArray[Any], groups: Clusters, rows: NDArray[np.bool_] | None = None) -> Metric | None:
    """Return the mean of one value in 0..1 per case over some ``rows``; NaN leaves a case out; None without cases."""
    given = np.asarray(values, dtype=np.float64)
    kept = ~np.isnan(given) if rows is None else rows & ~np.isnan(given)
    places = np.flatnonzero(kept)
    return proportion(given[places], groups.take(places)) if places.size else None


def _within(value: float, ends: tuple[float, float], p: float | None, n: int) -> Correlation:
    known = not any(map(np.isnan, ends))
    low, high = (min(ends[0], value), max(ends[1], value)) if known else (None, None)
    return Correlation(value=value, low=low, high=high, p=p, n=n)


def _correlations(sums: FloatArray) -> FloatArray:
    n, x, y, xx, yy, xy = sums.T
    spread = (xx - x * x / n) * (yy - y * y / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(spread > 0, (xy - x * y / n) / np.sqrt(spread), np.nan))


def _kappas(sums: FloatArray) -> FloatArray:
    n, a, b, both = sums.T
    same = (n - a - b + 2 * both) / n
    chance = (a * b + (n - a) * (n - b)) / (n * n)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(chance < 1, (same - chance) / (1 - chance), np.nan))

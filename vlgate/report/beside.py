"""A task's figures beside published ones: of the papers, and of the checkpoints that one study ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vlgate.gates.records import Gate
from vlgate.metrics.names import HEADLINE
from vlgate.published.checkpoints import Standing, compared, standing, study
from vlgate.published.figures import Figure, beside, source
from vlgate.types import Metric, Shape, Ties

FEW = Gate(task="", metric="").min_cases
"""A figure over fewer cases than a gate needs by default is marked."""

_NAMED = 2  # checkpoints with the same figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a run found of a task: its metrics, how many cases it judged, and how many of them a dispute corrected."""

    task: str
    shape: Shape
    metrics: Mapping[str, Metric]
    judged: int
    corrected: int = 0


def published_lines_of(shown: Shown) -> list[str]:
    """Return the task's headline figure beside the published ones; without any of that, its other published metrics."""
    headline = HEADLINE[shown.shape]
    lines = {name: line for name in shown.metrics if (line := _published(shown, name))}
    return [lines[headline]] if headline in lines else list(lines.values())


def _published(shown: Shown, name: str) -> str:
    groups: dict[str, list[Figure]] = {}
    for figure in sorted(beside(shown.task, name), key=lambda figure: -figure.value):
        groups.setdefault(_origin(figure), []).append(figure)
    if not groups:
        return ""
    metric = shown.metrics[name]
    few = f", over fewer than {FEW} cases" if metric.n < FEW else ""
    said = "; ".join(
        f"published ({origin}): {', '.join(f'{one.model} {one.value:.3f}' for one in found)}"
        for origin, found in groups.items()
    )
    return f"{shown.task}: {name} {metric.value:.3f} here (n = {metric.n}{few}); {said}"


def _origin(figure: Figure) -> str:
    """Where a figure is from: ``Winoground, 3`` is table 3 of the paper."""
    table = f"table {figure.table}" if figure.table[0].isdigit() else figure.table
    cases = "" if figure.cases is None else f", {figure.cases:,} cases"
    return f"{source(figure.paper).name}, {table}{cases}"


def standing_lines_of(shown: Shown, ties: Ties) -> list[str]:
    """Return lines about the rank of the task's figures among those of the checkpoints, if they can be compared.

    They cannot if ties count, or if more cases were judged than the study has.
    """
    if ties != "strict":
        return []
    found = {name: shown.metrics[name] for name in compared(shown.task) if name in shown.metrics}
    return [
        _standing(shown, name, metric, where)
        for name, metric in found.items()
        if (where := standing(shown.task, name, metric.value, (metric.low, metric.high))) is not None
        and shown.judged <= where.cases
    ]


def _standing(shown: Shown, name: str, metric: Metric, where: Standing) -> str:
    of = study().checkpoints
    part = f", on {shown.judged:,} of the {where.cases:,} cases" if shown.judged < where.cases else ""
    part += f", {shown.corrected:,} with a corrected label" if shown.corrected else ""
    note = f" ({where.note})" if where.note else ""
    return (
        f"{shown.task}: {name} {metric.value:.3f} ({metric.low:.3f} - {metric.high:.3f}{part}) stands "
        f"{_place(where)}: {where.below} of {of} checkpoints are below and {where.above} above{_same(where)}; the "
        f"interval holds {where.within} of them{note}"
    )


def _place(where: Standing) -> str:
    if where.under is None or where.over is None:
        name, value = where.under or where.over or ("", 0.0)
        side = "above" if where.over is None else "below"
        return f"{side} {name} ({value:.3f})"
    return f"between {where.under[0]} ({where.under[1]:.3f}) and {where.over[0]} ({where.over[1]:.3f})"


def _same(where: Standing) -> str:
    if not where.same:
        return ""
    more = f" and {len(where.same) - _NAMED} more" if len(where.same) > _NAMED else ""
    has = "has" if len(where.same) == 1 else "have"
    return f", {', '.join(where.same[:_NAMED])}{more} {has} the same figure"


def study_line() -> str:
    """Return the source of the checkpoints' figures."""
    known = study()
    return f"The figures are of {known.checkpoints} {known.about}: {known.citation}; {known.url}, {known.file}."

"""The page of the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from reference.markdown import code, description, inline, table
from vlgate.metrics import clusters, macro, measures, stats
from vlgate.metrics.measures import GROUPED
from vlgate.metrics.shapes import SHAPES, ShapeSpec
from vlgate.metrics.variants import VARIANTS, Definition, Variant

INTRODUCTION = """\
# Metrics

Each task has the metrics of the shape of its cases. All are fractions from 0 to 1. A metric is the mean of one value
per judged case, with Wilson's interval at the effective number of cases, or it is one of two statistics of pairs with
an interval of their own. The headline metric decides whether a case as a whole is right. The chance level is exact for
scores in random order without ties; "-" means that it depends on the data or on how often the model says yes. The
functions are in the [Python API](api.md).
"""
_ANALYTIC = {
    "min_pc_pf": "that of the smaller mean",
    "auroc": "DeLong, Obuchowski",
    "macro": "Wilson, weighted",
    "macro_all": "Wilson, weighted",
}
_INTERVALS: Mapping[str, Callable[..., object]] = {
    "Means": stats.proportion,
    "Smaller of two means": stats.smaller,
    "Area under the ROC curve": stats.area,
    "Area under the ROC curve, unpaired": stats.separation,
    "Means over classes": macro.macro,
    "Metrics over groups of cases": measures.group_measure,
    "Design effect": clusters.Clusters.effect,
}
GROUPS: Mapping[str, str] = {"all": "whether all its cases are right", "mean": "the share of its cases that are right"}
_AVERAGES: Mapping[str, Callable[..., object]] = {
    "VALSE's averages": macro.valse_averages,
    "VL-CheckList's averages": macro.checklist_rows,
    "VL-CheckList's gaps": macro.checklist_gaps,
}


def page() -> str:
    """The metrics by shape, then the variants, the intervals and the averages."""
    sections = [_groups(), _variants(), _section("Intervals", _INTERVALS), _section("Averages and gaps", _AVERAGES)]
    return "\n".join([INTRODUCTION, *map(_shape, SHAPES.values()), *sections])


def _shape(spec: ShapeSpec) -> str:
    rows = [
        (code(name), _chance(spec.chance.get(name)), _interval(name), "yes" if name == spec.headline else "")
        for name in spec.metrics
    ]
    listed = table(("metric", "chance", "interval", "headline"), rows)
    asked = f"Requests: {'; '.join(spec.roles)}."
    like = [f"The rule is that of [`{spec.like[0]}`](#{spec.like[0]}); {spec.like[1]}.", ""] if spec.like else []
    definitions = [part for rule in spec.definitions for part in (description(rule), "")]
    return "\n".join([f"## {spec.name}", "", spec.about, "", asked, "", listed, "", *like, *definitions])


def _chance(level: float | None) -> str:
    return "-" if level is None else str(Fraction(level).limit_denominator(100))


def _interval(name: str) -> str:
    return _ANALYTIC.get(name, "Wilson")


def _groups() -> str:
    """The section of the metrics that tasks of every shape can have."""
    rows = [(code(name), GROUPS[rule], _interval(name)) for name, rule in GROUPED.items()]
    listed = table(("metric", "of a group", "interval"), rows)
    about = "The chance level is that of cases that are guessed independently."
    return "\n".join(["## Groups of cases", "", description(measures), "", about, "", listed, ""])


def _variants() -> str:
    about = "`--protocol NAME` adds metrics as other code or other formulas define them, as `metric@NAME`."
    return "\n".join(["## Variants", "", about, "", *(_variant(name, variant) for name, variant in VARIANTS.items())])


def _variant(name: str, variant: Variant) -> str:
    about = f"{inline(variant.about[0].upper() + variant.about[1:])}."
    rules = [_definition(name, pattern, definition) for pattern, definition in variant.definitions.items()]
    return "\n".join([f"### {name}", "", about, "", *rules])


def _definition(variant: str, pattern: str, definition: Definition) -> str:
    metrics = ", ".join(code(f"{metric}@{variant}") for metric in definition.metrics)
    return f"On {code(pattern)}, {metrics}:\n\n{description(definition.rule)}\n"


def _section(name: str, parts: Mapping[str, Callable[..., object]]) -> str:
    return "\n".join([f"## {name}", "", *(f"### {part}\n\n{description(one)}\n" for part, one in parts.items())])

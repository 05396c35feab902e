"""The page of the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import ModuleType

from reference.markdown import code, description, inline, table
from vlgate.metrics import (
    bla,
    choice,
    clusters,
    grouped,
    hierarchy,
    question_quad,
    questions,
    ranking,
    single,
    stats,
    two_true,
    winoground,
)
from vlgate.metrics.grouped import GROUPED
from vlgate.metrics.macro import macro
from vlgate.metrics.names import CHANCE, HEADLINE, NAMES
from vlgate.metrics.variants import VARIANTS, Definition, Variant
from vlgate.types import Shape

INTRODUCTION = """\
# Metrics

Each task has the metrics of the shape of its cases. All are fractions from 0 to 1. A metric is the mean of one value
per judged case, with Wilson's interval at the effective number of cases, or it is one of two statistics of pairs with
an interval of their own. The headline metric decides whether a case as a whole is right. The chance level is exact for
scores in random order without ties; "-" means that it depends on the data or on how often the model says yes. The
functions are in the [Python API](api.md).
"""
_RULES: Mapping[Shape, tuple[ModuleType, tuple[Callable[..., object], ...]]] = {
    "pair": (ranking, (ranking.facts, ranking.statistics)),
    "quad": (winoground, (winoground.facts,)),
    "set": (bla, (bla.facts,)),
    "active_passive_set": (bla, ()),
    "questions": (questions, (questions.facts,)),
    "image_quad": (winoground, ()),
    "choice": (choice, (choice.facts,)),
    "image_choice": (choice, ()),
    "single": (single, (single.facts, single.statistics)),
    "question_quad": (question_quad, (question_quad.facts,)),
    "two_true": (two_true, (two_true.facts,)),
    "twin_questions": (questions, (questions.twin_facts,)),
    "twin_captions": (winoground, (winoground.twin_facts,)),
}
_SAME: Mapping[Shape, str] = {
    "active_passive_set": "The rule is that of [`set`](#set); the preferences have other names.",
    "image_quad": "The rule is that of [`quad`](#quad); another metric is the headline.",
    "image_choice": "The rule is that of [`choice`](#choice), for images.",
}
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
    "Means over classes": macro,
    "Metrics over groups of cases": grouped.measure,
    "Design effect": clusters.Clusters.effect,
}
GROUPS: Mapping[str, str] = {"all": "whether all its cases are right", "mean": "the share of its cases that are right"}
_AVERAGES: Mapping[str, Callable[..., object]] = {
    "VALSE's averages": hierarchy.valse_averages,
    "VL-CheckList's averages": hierarchy.checklist_rows,
    "VL-CheckList's gaps": hierarchy.checklist_gaps,
}


def page() -> str:
    """The metrics by shape, then the variants, the intervals and the averages."""
    sections = [_groups(), _variants(), _section("Intervals", _INTERVALS), _section("Averages and gaps", _AVERAGES)]
    return "\n".join([INTRODUCTION, *map(_shape, NAMES), *sections])


def _shape(shape: Shape) -> str:
    module, rules = _RULES[shape]
    rows = [(code(name), _chance(shape, name), _interval(name), _headline(shape, name)) for name in NAMES[shape]]
    listed = table(("metric", "chance", "interval", "headline"), rows)
    same = [] if rules else [_SAME[shape], ""]
    definitions = [part for rule in rules for part in (description(rule), "")]
    return "\n".join([f"## {shape}", "", description(module), "", listed, "", *same, *definitions])


def _chance(shape: Shape, name: str) -> str:
    found = CHANCE[shape].get(name)
    return "-" if found is None else str(Fraction(found).limit_denominator(100))


def _interval(name: str) -> str:
    return _ANALYTIC.get(name, "Wilson")


def _headline(shape: Shape, name: str) -> str:
    return "yes" if name == HEADLINE[shape] else ""


def _groups() -> str:
    """The section of the metrics that tasks of every shape can have."""
    rows = [(code(name), GROUPS[rule], _interval(name)) for name, rule in GROUPED.items()]
    listed = table(("metric", "of a group", "interval"), rows)
    about = "The chance level is that of cases that are guessed independently."
    return "\n".join(["## Groups of cases", "", description(grouped), "", about, "", listed, ""])


def _variants() -> str:
    about = "`--protocol NAME` adds metrics as other code or other formulas define them, as `metric@NAME`."
    return "\n".join(["## Variants", "", about, "", *(_variant(name, one) for name, one in VARIANTS.items())])


def _variant(name: str, variant: Variant) -> str:
    about = f"{inline(variant.about[0].upper() + variant.about[1:])}."
    rules = [_definition(name, pattern, one) for pattern, one in variant.definitions.items()]
    return "\n".join([f"### {name}", "", about, "", *rules])


def _definition(variant: str, pattern: str, one: Definition) -> str:
    metrics = ", ".join(code(f"{metric}@{variant}") for metric in one.metrics)
    return f"On {code(pattern)}, {metrics}:\n\n{description(one.rule)}\n"


def _section(name: str, parts: Mapping[str, Callable[..., object]]) -> str:
    return "\n".join([f"## {name}", "", *(f"### {part}\n\n{description(one)}\n" for part, one in parts.items())])

"""The page of the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from reference.markdown import code, description, inline, table
from vlgate.metrics import answer_rules, clusters, macro, measures, score_rules, stats
from vlgate.metrics.measures import GROUPED
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
_RULES: Mapping[Shape, tuple[Callable[..., object], ...]] = {
    "pair": (score_rules.pair_case_metrics, score_rules.pair_statistics),
    "quad": (score_rules.quad_case_metrics,),
    "set": (score_rules.set_case_metrics,),
    "active_passive_set": (),
    "questions": (answer_rules.question_pair_case_metrics,),
    "image_quad": (),
    "choice": (score_rules.choice_case_metrics,),
    "image_choice": (),
    "single": (answer_rules.single_case_metrics, answer_rules.single_statistics),
    "question_quad": (answer_rules.question_quad_case_metrics,),
    "two_true": (score_rules.two_true_case_metrics,),
    "twin_questions": (answer_rules.question_twin_case_metrics,),
    "twin_captions": (score_rules.quad_twin_case_metrics,),
}
_ABOUT: Mapping[Shape, str] = {
    "pair": "A caption and its foil, for one image (VALSE §4, VL-CheckList §4, SugarCrepe).",
    "quad": "Two images and two captions of the same words (Winoground §3, equations 1 to 3).",
    "set": "Two true and two false sentences, ranked for one image (BLA §5.3, §7.1).",
    "active_passive_set": "A set in the active and the passive voice (BLA §5.3, §7.1).",
    "questions": "An original question and its perturbed partner (CARETS §5).",
    "image_quad": "Two captions, an image and an edited copy of it.",
    "choice": (
        "One image with one true and several false texts (What'sUp's controlled sets: Kamath et al. 2023, section 3; "
        "SPEC's image-to-text half: Peng et al. 2024)."
    ),
    "image_choice": (
        "One text with one true and several false images (SPEC's text-to-image half; SVO-Probes: Hendricks and "
        "Nematzadeh 2021)."
    ),
    "single": "Single yes/no questions and statements (Li et al. 2023, POPE, section 5; Liu et al. 2023, VSR).",
    "question_quad": (
        "Two questions about two images whose answers are crossed (Li et al. 2024, NaturalBench, section 4)."
    ),
    "two_true": ("Two true captions and a false one, for one image (Dumpala et al. 2024, SugarCrepe++, section 3)."),
    "twin_questions": "One question about an image and about its counterfactual twin.",
    "twin_captions": "Two captions of an image and of its counterfactual twin.",
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
    return "\n".join([INTRODUCTION, *map(_shape, NAMES), *sections])


def _shape(shape: Shape) -> str:
    rules = _RULES[shape]
    rows = [(code(name), _chance(shape, name), _interval(name), _headline(shape, name)) for name in NAMES[shape]]
    listed = table(("metric", "chance", "interval", "headline"), rows)
    same = [] if rules else [_SAME[shape], ""]
    definitions = [part for rule in rules for part in (description(rule), "")]
    return "\n".join([f"## {shape}", "", _ABOUT[shape], "", listed, "", *same, *definitions])


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
    return "\n".join(["## Groups of cases", "", description(measures), "", about, "", listed, ""])


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

"""Remarks on the figures, in sentences: averages, flaws, shortcuts, priors, published figures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from vlgate.audit.blind_baseline import solved
from vlgate.audit.flaws import FATAL, Flaw
from vlgate.gates.error_rates import ErrorRates
from vlgate.gates.p_values import NAMES
from vlgate.gates.records import Gate
from vlgate.judging.verdicts import unread
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.variants import how_it_differs
from vlgate.record.results import RunResult
from vlgate.report.rows import named
from vlgate.sources.published.figures import Figure, beside, source
from vlgate.types import Metric, Shape

FEW = Gate(task="", metric="").min_cases  # a figure over fewer cases than a gate needs by default is marked


def published_lines_of(task: str, shape: Shape, metrics: Mapping[str, Metric]) -> list[str]:
    headline = SHAPES[shape].headline
    lines = {name: line for name, metric in metrics.items() if (line := _published(task, name, metric))}
    return [lines[headline]] if headline in lines else list(lines.values())


def _published(task: str, name: str, metric: Metric) -> str:
    groups: dict[str, list[Figure]] = {}
    for figure in sorted(beside(task, name), key=lambda figure: -figure.value):
        table = f"table {figure.table}" if figure.table[0].isdigit() else figure.table
        cases = "" if figure.cases is None else f", {figure.cases:,} cases"
        groups.setdefault(f"{source(figure.paper).name}, {table}{cases}", []).append(figure)
    if not groups:
        return ""
    few = f", over fewer than {FEW} cases" if metric.n < FEW else ""
    published = "; ".join(
        f"published ({origin}): {', '.join(f'{figure.model} {figure.value:.3f}' for figure in same)}"
        for origin, same in groups.items()
    )
    return f"{task}: {name} {metric.value:.3f} here (n = {metric.n}{few}); {published}"


_NAMED_SLICES = 3  # slices that a line names


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorSplit:
    task: str
    part: str
    n: int
    normal: float  # the share of normal images about which the reply is right
    right: float  # what the image shows
    prior: float  # what the normal image would have
    other: float  # another wrong answer, or a tie
    unread: float  # an answer that could not be read
    low: float  # the interval of ``prior``
    high: float


def recorded_splits(tasks: Mapping[str, Any]) -> list[PriorSplit]:
    parts = [(name, *part) for name, task in tasks.items() for part in (("", task["metrics"]), *task["slices"].items())]
    return [split for part in parts if (split := _split(*part)) is not None]


def prior_lines(run: RunResult) -> list[str]:
    lines = []
    for result in run.results:
        whole = _split(result.task.id, "", _plain(result.metrics))
        if whole is None:
            continue
        parts = [_split(result.task.id, part, _plain(metrics)) for part, metrics in result.slices.items()]
        strong = sorted((part for part in parts if part and part.prior > 0), key=lambda part: -part.prior)
        most = ", ".join(f"{part.part} {part.prior:.3f}" for part in strong[:_NAMED_SLICES])
        lines.append(
            f"{whole.task}: of {whole.n:,} counterfactual images, {whole.right:.3f} right, {whole.prior:.3f} "
            f"({whole.low:.3f} - {whole.high:.3f}) as the normal image would be, {whole.other:.3f} wrong in another "
            f"way, {whole.unread:.3f} unread; of the normal images, {whole.normal:.3f} right"
            + (f"; the prior is strongest in {most}" if most else "")
        )
    return lines


def _plain(metrics: Mapping[str, Metric]) -> dict[str, dict[str, Any]]:
    return {name: asdict(metric) for name, metric in metrics.items()}


def _split(task: str, part: str, metrics: Mapping[str, Mapping[str, Any]]) -> PriorSplit | None:
    # The split of some figures; None for a task without counterfactual images
    if "prior_rate" not in metrics or "acc_counterfactual" not in metrics:
        return None
    prior, right = metrics["prior_rate"], metrics["acc_counterfactual"]["value"]
    unread = metrics["unread_rate"]["value"] if "unread_rate" in metrics else 0.0
    shares = {"normal": metrics["acc_normal"]["value"], "right": right, "prior": prior["value"], "unread": unread}
    other = max(0.0, 1 - right - prior["value"] - unread)
    shares |= {name: prior[name] for name in ("n", "low", "high")}
    return PriorSplit(task=task, part=part, other=other, **shares)


# what the error rates of the gates stand on
ASSUMED = (
    "simulated; assumes independent gates, and new samples of as many cases; in brackets: the rates of 80 % of the "
    "models that may be the measured one"
)

_EXAMPLES = 3
_LEAST, _MOST = 1, 99  # hundredths of samples: simulation shows no rate of 0 or 1
_LONGEST = 80  # characters of a quoted answer


def average_lines(run: RunResult) -> list[str]:
    lines = []
    for name, mean in run.averages.items():
        place, _, metric = name.rpartition(":")
        under = (f"{place}/", f"{place}_")
        results = [one for one in run.results if one.task.id == place or one.task.id.startswith(under)]
        few = sum(metric in result.metrics and result.metrics[metric].n < FEW for result in results)
        within = f" (over fewer than {FEW} cases in {few} of them)" if few else ""
        lines.append(f"{name}: mean {mean.value:.3f} over {mean.tasks} of {mean.of} tasks{within}")
    return [*lines, *(f"{name}: {gap.value:+.3f} over {gap.tasks} pairs of tasks" for name, gap in run.gaps.items())]


def variant_lines(run: RunResult) -> list[str]:
    return [
        f"{result.task.id}: {name} {metric.value:.3f} ({metric.low:.3f} - {metric.high:.3f}), another definition of "
        f"{name.partition('@')[0]}: {how_it_differs(name, result.task.id)}"
        for result in run.results
        for name, metric in result.metrics.items()
        if "@" in name
    ]


def shortcut_lines(run: RunResult) -> list[str]:
    return [
        f"{result.task.id}: the text-only rule {best.name!r} reaches {best.value:.3f} without the image, so a model's "
        "score here does not show that it sees"
        for result in run.results
        if (best := solved(result.probes)) is not None
    ]


def flaw_lines(run: RunResult) -> list[str]:
    flaws = ((result.task.id, flaw) for result in run.results for flaw in result.flaws)
    return [f"{task}: {one.count} x {one.name} ({one.why}), for example {one.examples[0]}" for task, one in flaws]


def fatal_lines(run: RunResult) -> list[str]:
    return grouped_flaws({r.task.id: [flaw for flaw in r.flaws if flaw.name in FATAL] for r in run.results})


def grouped_flaws(flaws: Mapping[str, Sequence[Flaw]]) -> list[str]:
    """Return the flaws of tasks, by id, those of the same kind in one line.

    >>> grouped_flaws({"mine/pairs": [Flaw(name="duplicate", count=2, examples=("1", "2"), why="asked before")]})
    ['flaw of the data: 2 x duplicate in mine/pairs: asked before; for example 1']
    """
    by_name: dict[str, list[tuple[str, Flaw]]] = {}
    for task, given in flaws.items():
        for flaw in given:
            by_name.setdefault(flaw.name, []).append((task, flaw))
    lines = []
    for name, same in by_name.items():
        tasks, first = [task for task, _ in same], same[0][1]
        only = "" if len({flaw.why for _, flaw in same}) == 1 else f"in {tasks[0]}, "
        count = f"{sum(flaw.count for _, flaw in same):,} x {name} in {named(tasks)}"
        lines.append(f"flaw of the data: {count}: {only}{first.why}; for example {first.examples[0]}")
    return lines


def unread_lines(run: RunResult) -> list[str]:
    lines = []
    for result in (one for one in run.results if one.unread):
        found = ((v.case.id, r.answer or "") for v in result.verdicts if v.state == "judged" for r in unread(v))
        shown = ((case, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...") for case, text in found)
        answers = "; ".join(f"{text!r} ({case})" for case, text in islice(shown, _EXAMPLES))
        count = f"{result.task.id}: {result.unread} of {result.coverage.judged} judged cases"
        example = f". For example {answers}" if answers else ""
        lines.append(f"{count} have an answer that names none of the choices, or several; it is wrong{example}")
    return lines


def error_rate_lines(rates: ErrorRates | None) -> list[str]:
    r"""Return how often the gates give a false alarm, and whether an unchanged model passes again, as lines.

    >>> shares = dict(unchanged_passes=0.61, unchanged_passes_low=0.2, unchanged_passes_high=0.93)
    >>> rates = ErrorRates(gates=14, correction="none", threshold_fails=0.298, unchanged_fails=0.03, **shares)
    >>> print("\n".join(error_rate_lines(rates)))
    false alarms: a model exactly on the thresholds of all 14 gates sees at least one fail in 30 % of samples
    another sample: a model as good as measured passes all of them in about 61 % (20 to 93 %), and sees a fail in 3 %
    """
    if rates is None:
        return []
    gates, them = ("its gate", "it") if rates.gates == 1 else (f"all {rates.gates} gates", "all of them")
    after = f" (corrected after {NAMES[rates.correction]})" if rates.correction != "none" else ""
    alarms = f"sees at least one fail in {_percent(rates.threshold_fails)} of samples{after}"
    ends = rates.unchanged_passes_low, rates.unchanged_passes, rates.unchanged_passes_high
    low, share, high = (min(_MOST, max(_LEAST, round(100 * end))) for end in ends)
    passes = f"about {share} % ({low} to {high} %)" if low < high else _percent(rates.unchanged_passes)
    fails = _percent(rates.unchanged_fails)
    return [
        f"false alarms: a model exactly on the thresholds of {gates} {alarms}",
        f"another sample: a model as good as measured passes {them} in {passes}, and sees a fail in {fails}",
    ]


def _percent(share: float) -> str:
    hundredths = round(100 * share)
    if hundredths < _LEAST:
        return f"under {_LEAST} %"
    return f"over {_MOST} %" if hundredths > _MOST else f"{hundredths} %"


def published_lines(run: RunResult) -> list[str]:
    apart = (one for one in run.results if not one.task.together)  # as published: of one image at a time
    return [line for one in apart for line in published_lines_of(one.task.id, one.task.shape, one.metrics)]

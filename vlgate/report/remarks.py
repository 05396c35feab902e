"""Remarks on the figures, in sentences: averages, flaws, shortcuts, priors, published figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult, TaskResult
from vlgate.report.rows import named
from vlgate.sources.published.figures import Figure, beside, source
from vlgate.types import Metric, Shape

FEW = Gate(task="", metric="").min_cases  # a figure over fewer cases than a gate needs by default is marked


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
    headline = SHAPES[shown.shape].headline
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
    table = f"table {figure.table}" if figure.table[0].isdigit() else figure.table
    cases = "" if figure.cases is None else f", {figure.cases:,} cases"
    return f"{source(figure.paper).name}, {table}{cases}"


# Prior against image: what a model said about counterfactual images, by task and slice.

_NAMED_SLICES = 3  # slices that a line names


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorSplit:
    """The replies about the ``n`` counterfactual images of a task, or of a slice of it, as shares that add up to 1.

    ``right`` is what the image shows, ``prior`` what the normal image would have, ``other`` another wrong answer or a
    tie, ``unread`` an answer that could not be read. ``low`` and ``high`` are the interval of ``prior``. ``normal`` is
    the share of normal images about which the reply is right.
    """

    task: str
    part: str
    n: int
    normal: float
    right: float
    prior: float
    other: float
    unread: float
    low: float
    high: float


def recorded_splits(tasks: Mapping[str, Any]) -> tuple[PriorSplit, ...]:
    """Return the splits of the tasks of ``metrics.json``, each task followed by its slices."""
    return tuple(
        split
        for name, task in tasks.items()
        for part, found in (("", task["metrics"]), *task["slices"].items())
        if (split := _split(name, part, found)) is not None
    )


def prior_lines(run: RunResult) -> list[str]:
    """Return a line for each task with counterfactual images, with the slices in which the prior is strongest."""
    return [line for result in run.results for line in _lines(result.task.id, result.metrics, result.slices)]


def _lines(task: str, metrics: Mapping[str, Any], slices: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    whole = _split(task, "", _plain(metrics))
    if whole is None:
        return
    parts = [_split(task, part, _plain(found)) for part, found in slices.items()]
    strong = sorted((part for part in parts if part is not None and part.prior > 0), key=lambda one: -one.prior)
    most = ", ".join(f"{one.part} {one.prior:.3f}" for one in strong[:_NAMED_SLICES])
    yield (
        f"{task}: of {whole.n:,} counterfactual images, {whole.right:.3f} right, {whole.prior:.3f} "
        f"({whole.low:.3f} - {whole.high:.3f}) as the normal image would be, {whole.other:.3f} wrong in another way, "
        f"{whole.unread:.3f} unread; of the normal images, {whole.normal:.3f} right"
        + (f"; the prior is strongest in {most}" if most else "")
    )


def _plain(metrics: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    names: Iterable[str] = ("value", "low", "high", "n")
    return {metric: {name: getattr(found, name) for name in names} for metric, found in metrics.items()}


def _split(task: str, part: str, metrics: Mapping[str, Mapping[str, Any]]) -> PriorSplit | None:
    # The split of some figures; None for a task without counterfactual images
    if "prior_rate" not in metrics or "acc_counterfactual" not in metrics:
        return None
    prior, right = metrics["prior_rate"], metrics["acc_counterfactual"]["value"]
    unread = metrics["unread_rate"]["value"] if "unread_rate" in metrics else 0.0
    return PriorSplit(
        task=task,
        part=part,
        n=prior["n"],
        normal=metrics["acc_normal"]["value"],
        right=right,
        prior=prior["value"],
        other=max(0.0, 1 - right - prior["value"] - unread),
        unread=unread,
        low=prior["low"],
        high=prior["high"],
    )


# what the error rates of the gates stand on
ASSUMED = (
    "simulated; assumes independent gates, and new samples of as many cases; in brackets: the rates of 80 % of the "
    "models that may be the measured one"
)

_EXAMPLES = 3
_LEAST, _MOST = 1, 99  # hundredths of samples: simulation shows no rate of 0 or 1
_LONGEST = 80  # characters of a quoted answer


def average_lines(run: RunResult) -> list[str]:
    """Return the averages and gaps of the benchmarks, with the number of tasks that they are over."""
    means = [
        f"{name}: mean {mean.value:.3f} over {mean.tasks} of {mean.of} tasks{_few_within(run, name)}"
        for name, mean in run.averages.items()
    ]
    gaps = [f"{name}: {gap.value:+.3f} over {gap.tasks} pairs of tasks" for name, gap in run.gaps.items()]
    return means + gaps


def _few_within(run: RunResult, average: str) -> str:
    place, _, metric = average.rpartition(":")
    under = (f"{place}/", f"{place}_")
    counts = [
        result.metrics[metric].n
        for result in run.results
        if metric in result.metrics and (result.task.id == place or result.task.id.startswith(under))
    ]
    few = sum(count < FEW for count in counts)
    return f" (over fewer than {FEW} cases in {few} of them)" if few else ""


def variant_lines(run: RunResult) -> list[str]:
    """Return the metrics with another definition, which ``--protocol`` asked for."""
    return [
        f"{result.task.id}: {name} {metric.value:.3f} ({metric.low:.3f} - {metric.high:.3f}), another definition of "
        f"{name.partition('@')[0]}: {how_it_differs(name, result.task.id)}"
        for result in run.results
        for name, metric in result.metrics.items()
        if "@" in name
    ]


def shortcut_lines(run: RunResult) -> list[str]:
    """Return the tasks that a text-only rule solves, so that a score does not show that a model sees."""
    found = [(result.task.id, solved(result.probes)) for result in run.results]
    return [
        f"{name}: the text-only rule {best.name!r} reaches {best.value:.3f} without the image, so a model's score here "
        "does not show that it sees"
        for name, best in found
        if best is not None
    ]


def flaw_lines(run: RunResult) -> list[str]:
    return [
        f"{result.task.id}: {flaw.count} x {flaw.name} ({flaw.why}), for example {flaw.examples[0]}"
        for result in run.results
        for flaw in result.flaws
    ]


def fatal_lines(run: RunResult) -> list[str]:
    """Return the flaws with which no model can be right in every case, those of the same kind in one line."""
    return grouped_flaws({r.task.id: [flaw for flaw in r.flaws if flaw.name in FATAL] for r in run.results})


def grouped_flaws(flaws: Mapping[str, Sequence[Flaw]]) -> list[str]:
    """Return the flaws of tasks, by id, those of the same kind in one line.

    >>> grouped_flaws({"mine/pairs": [Flaw(name="duplicate", count=2, examples=("1", "2"), why="asked before")]})
    ['flaw of the data: 2 x duplicate in mine/pairs: asked before; for example 1']
    """
    found: dict[str, list[tuple[str, Flaw]]] = {}
    for task, given in flaws.items():
        for flaw in given:
            found.setdefault(flaw.name, []).append((task, flaw))
    return [_grouped(name, same) for name, same in found.items()]


def _grouped(name: str, found: Sequence[tuple[str, Flaw]]) -> str:
    first, flaw = found[0]
    only = "" if len({one.why for _, one in found}) == 1 else f"in {first}, "
    total = sum(one.count for _, one in found)
    example = f"for example {flaw.examples[0]}"
    return f"flaw of the data: {total:,} x {name} in {named([task for task, _ in found])}: {only}{flaw.why}; {example}"


def unread_lines(run: RunResult) -> list[str]:
    """Return how many cases of each task have an unread answer, with the first of these answers."""
    return [
        f"{result.task.id}: {result.unread} of {result.coverage.judged} judged cases have an answer that names none of "
        f"the choices, or several; it is wrong{_for_example(result)}"
        for result in run.results
        if result.unread
    ]


def _for_example(result: TaskResult) -> str:
    answers = "; ".join(_unread_answers(result))
    return f". For example {answers}" if answers else ""


def _unread_answers(result: TaskResult) -> list[str]:
    found = ((v.case.id, r.answer or "") for v in result.verdicts if v.state == "judged" for r in unread(v))
    shown = ((case, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...") for case, text in found)
    return [f"{text!r} ({case})" for case, text in islice(shown, _EXAMPLES)]


def error_rate_lines(rates: ErrorRates | None) -> list[str]:
    r"""Return how often the gates give a false alarm, and whether an unchanged model passes again, as lines.

    >>> rates = ErrorRates(
    ...     gates=14,
    ...     correction="none",
    ...     threshold_fails=0.298,
    ...     unchanged_fails=0.03,
    ...     unchanged_passes=0.61,
    ...     unchanged_passes_low=0.2,
    ...     unchanged_passes_high=0.93,
    ... )
    >>> print("\n".join(error_rate_lines(rates)))
    false alarms: a model exactly on the thresholds of all 14 gates sees at least one fail in 30 % of samples
    another sample: a model as good as measured passes all of them in about 61 % (20 to 93 %), and sees a fail in 3 %
    """
    if rates is None:
        return []
    gates, them = ("its gate", "it") if rates.gates == 1 else (f"all {rates.gates} gates", "all of them")
    after = f" (corrected after {NAMES[rates.correction]})" if rates.correction != "none" else ""
    alarms = f"sees at least one fail in {_percent(rates.threshold_fails)} of samples{after}"
    passes, fails = _roughly(rates), _percent(rates.unchanged_fails)
    return [
        f"false alarms: a model exactly on the thresholds of {gates} {alarms}",
        f"another sample: a model as good as measured passes {them} in {passes}, and sees a fail in {fails}",
    ]


def _percent(share: float) -> str:
    hundredths = round(100 * share)
    if hundredths < _LEAST:
        return f"under {_LEAST} %"
    return f"over {_MOST} %" if hundredths > _MOST else f"{hundredths} %"


def _roughly(rates: ErrorRates) -> str:
    low, passes, high = (
        min(_MOST, max(_LEAST, round(100 * share)))
        for share in (rates.unchanged_passes_low, rates.unchanged_passes, rates.unchanged_passes_high)
    )
    return f"about {passes} % ({low} to {high} %)" if low < high else _percent(rates.unchanged_passes)


def check_lines(model: ModelCard) -> list[str]:
    return [f"{check.name}: {check.outcome}: {check.why}" for check in model.checks]


def published_lines(run: RunResult) -> list[str]:
    return [line for result in run.results for line in published_lines_of(shown_of(result))]


def shown_of(result: TaskResult) -> Shown:
    """Return what is set beside published figures: nothing of cases that are asked with their images together."""
    coverage = result.coverage
    return Shown(
        task=result.task.id,
        shape=result.task.shape,
        metrics={} if result.task.together else result.metrics,
        judged=coverage.judged,
        corrected=coverage.corrected,
    )

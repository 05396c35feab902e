"""Remarks on the figures, in sentences: averages, flaws of the data, shortcuts, published figures."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from vlgate.gates.correcting import NAMES
from vlgate.gates.error_rates import ErrorRates
from vlgate.gates.records import Gate
from vlgate.health.flaws import FATAL, Flaw
from vlgate.health.probes import solved
from vlgate.judging.verdicts import unread
from vlgate.metrics.names import HEADLINE
from vlgate.published.figures import beside
from vlgate.report.rows import named
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult, TaskResult

FEW = Gate(task="", metric="").min_cases
"""A figure over fewer cases than a gate needs by default is marked."""

ASSUMED = "simulated; assumes independent gates, and new samples of as many cases"
"""What the error rates of the gates stand on."""

_EXAMPLES = 3
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
    """A mark if an average, ``<place>:<metric>``, includes tasks of fewer than ``FEW`` cases."""
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
        f"{name.partition('@')[0]}"
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
    """Return the flaws of the data, each with its first example."""
    return [
        f"{result.task.id}: {flaw.count} x {flaw.name} ({flaw.why}), for example {flaw.examples[0]}"
        for result in run.results
        for flaw in result.flaws
    ]


def fatal_lines(run: RunResult) -> list[str]:
    """Return the flaws with which no model can be right in every case, those of the same kind in one line."""
    tasks: dict[str, list[str]] = {}
    found: dict[str, list[Flaw]] = {}
    for result in run.results:
        for flaw in result.flaws:
            if flaw.name in FATAL:
                tasks.setdefault(flaw.name, []).append(result.task.id)
                found.setdefault(flaw.name, []).append(flaw)
    return [
        f"flaw of the data: {sum(flaw.count for flaw in flaws):,} x {name} in {named(tasks[name])}: {flaws[0].why}; "
        f"for example {flaws[0].examples[0]}"
        for name, flaws in found.items()
    ]


def unread_lines(run: RunResult) -> list[str]:
    """Return how many cases of each task have an unread answer, with the first of these answers."""
    return [
        f"{result.task.id}: {result.unread} of {result.coverage.judged} judged cases have an answer that names none of "
        f"the choices, or several; it is wrong. For example {'; '.join(_unread_answers(result))}"
        for result in run.results
        if result.unread
    ]


def _unread_answers(result: TaskResult) -> list[str]:
    found = ((v.case.id, r.answer or "") for v in result.verdicts if v.state == "judged" for r in unread(v))
    shown = ((case, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...") for case, text in found)
    return [f"{text!r} ({case})" for case, text in islice(shown, _EXAMPLES)]


def error_rate_lines(rates: ErrorRates | None) -> list[str]:
    r"""Return how often the gates give a false alarm, and whether an unchanged model passes again, as lines.

    >>> rates = ErrorRates(
    ...     gates=14, correction="none", threshold_fails=0.298, unchanged_fails=0.0, unchanged_passes=0.61
    ... )
    >>> print("\n".join(error_rate_lines(rates)))
    false alarms: a model exactly on the thresholds of all 14 gates sees at least one fail in 30 % of samples
    another sample: a model as good as measured passes all of them in 61 %, and sees a fail in 0 %
    """
    if rates is None:
        return []
    gates, them = ("its gate", "it") if rates.gates == 1 else (f"all {rates.gates} gates", "all of them")
    after = f" (corrected after {NAMES[rates.correction]})" if rates.correction != "none" else ""
    alarms = f"sees at least one fail in {_percent(rates.threshold_fails)} of samples{after}"
    passes, fails = _percent(rates.unchanged_passes), _percent(rates.unchanged_fails)
    return [
        f"false alarms: a model exactly on the thresholds of {gates} {alarms}",
        f"another sample: a model as good as measured passes {them} in {passes}, and sees a fail in {fails}",
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def check_lines(model: ModelCard) -> list[str]:
    """Return what the checks of the model found."""
    return [f"{check.name}: {check.outcome}: {check.why}" for check in model.checks]


def published_lines(run: RunResult) -> list[str]:
    """Return the headline figure of each task next to the published ones."""
    return [line for result in run.results if (line := _published(result)) is not None]


def _published(result: TaskResult) -> str | None:
    name = HEADLINE[result.task.shape]
    printed: Mapping[str, float] = {figure.model: figure.value for figure in beside(result.task.id, name)}
    metric = result.metrics.get(name)
    if not printed or metric is None:
        return None
    others = ", ".join(f"{model} {value:.3f}" for model, value in sorted(printed.items(), key=lambda pair: -pair[1]))
    few = f", over fewer than {FEW} cases" if metric.n < FEW else ""
    return f"{result.task.id}: {name} {metric.value:.3f} here (n = {metric.n}{few}); published: {others}"

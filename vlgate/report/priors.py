"""Prior against image: what a model said about counterfactual images, by task and slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vlgate.run.results import RunResult

_MOST = 3  # slices that a line names


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
    most = ", ".join(f"{one.part} {one.prior:.3f}" for one in strong[:_MOST])
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
    """The split of some figures; None for a task without counterfactual images."""
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

"""The comparison of a run with its baseline, from ``metrics.json``: counts by task, and cards of newly broken cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from vlgate.metrics.names import HEADLINE
from vlgate.report.page.cards import anchor
from vlgate.report.page.records import Card, ChangedTask, Changes
from vlgate.report.rows import difference_words

MOST = 60
"""The most newly broken cases that stand at the top of a page."""
_HEADLINES = tuple(dict.fromkeys(HEADLINE.values()))


def quota(comparison: Mapping[str, Any] | None) -> int:
    """Return the most newly broken cases of a task on a page: at least two, and 60 on the whole page if that fits."""
    broken = sum(bool(task["broken"]) for task in comparison["tasks"].values()) if comparison else 0
    return max(2, MOST // max(1, broken))


def changes(comparison: Mapping[str, Any], name: str, cards: Mapping[str, Sequence[Card]], problem: str) -> Changes:
    """Return what a page shows of a comparison.

    Args:
        comparison: ``baseline`` of ``metrics.json``.
        name: the name of the earlier run on the page.
        cards: cards of newly broken cases, by task.
        problem: why the replies of the earlier run are not shown; empty if they are.
    """
    tasks = [_task(task, change) for task, change in comparison["tasks"].items()]
    changed = sorted((one for one in tasks if one.broken or one.fixed), key=lambda one: (-one.broken, -len(one.fixed)))
    rounds = zip_longest(*(cards.get(one.task, ()) for one in changed))
    shown = [card for turn in rounds for card in turn if card is not None]
    broken = sum(one.broken for one in tasks)
    notes = [f"{said[:1].upper()}{said[1:]}." for said in comparison["unlike"]]
    if comparison["left_out"]:
        notes.append(f"Not compared, because only one of the runs has them: {', '.join(comparison['left_out'])}.")
    if len(shown) < broken:
        more = "of each task the worst two and a sample; metrics.json names all of them"
        notes.append(f"{len(shown):,} of {broken:,} newly broken cases are shown: {more}.")
    notes += [f"What the earlier run replied is not shown: {problem}."] if problem else []
    return Changes(
        baseline=name,
        model=comparison["model"],
        broken=broken,
        fixed=sum(len(one.fixed) for one in tasks),
        still_wrong=sum(one.still_wrong for one in tasks),
        unchanged=sum(one.unchanged for one in tasks),
        churned=sum(change["churned"] for change in comparison["tasks"].values()),
        n=sum(one.n for one in tasks),
        cards=tuple(shown),
        tasks=tuple(changed),
        same=len(tasks) - len(changed),
        notes=tuple(notes),
    )


def value_before(comparison: Mapping[str, Any] | None, task: str, metric: str, now: Mapping[str, Any]) -> float | None:
    """Return the value of a metric in the earlier run; None if the runs judged different cases of the task.

    Args:
        comparison: ``baseline`` of ``metrics.json``, if there is one.
        task: the id of the task.
        metric: the name of the metric.
        now: the metric in ``metrics.json``.
    """
    change = {} if comparison is None else comparison["tasks"].get(task, {}).get("differences", {}).get(metric, {})
    return float(now["value"] - change["value"]) if change and change["n"] == now["n"] else None


def _task(name: str, change: Mapping[str, Any]) -> ChangedTask:
    known = (change.get("metric"), *_HEADLINES)  # runs of earlier versions do not name it
    headline = next((metric for metric in known if metric in change["differences"]), "")
    found = change["differences"].get(headline)
    value, interval = difference_words(found["value"], found["low"], found["high"]) if found else ("", "")
    fixed, broken = tuple(change["fixed"]), len(change["broken"])
    return ChangedTask(
        task=name,
        anchor=anchor(name),
        n=change["n"],
        broken=broken,
        fixed=fixed,
        still_wrong=change["still_wrong"],
        unchanged=change["n"] - broken - len(fixed) - change["still_wrong"],
        difference=f"{headline} {value} ({interval})" if found else "",
        p=change["p"],
    )

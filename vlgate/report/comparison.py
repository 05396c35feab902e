"""A comparison with an earlier run, in lines for the terminal and ``summary.md``, and as a record for programs."""

from __future__ import annotations

from dataclasses import asdict

from vlgate.comparing.pairing import Comparison, TaskChange

MOST_NAMED = 10
"""The most newly broken cases that the terminal names; the files name all."""


def comparison_lines(comparison: Comparison, most: int | None = MOST_NAMED) -> list[str]:
    """Return the comparison as lines: the counts, what differs besides the replies, each changed task, and the cases.

    Args:
        comparison: the comparison.
        most: the most newly broken cases to name; None for all.
    """
    tasks = list(comparison.tasks.values())
    broken, fixed = sum(len(one.broken) for one in tasks), sum(len(one.fixed) for one in tasks)
    total, churned = sum(one.n for one in tasks), sum(one.churned for one in tasks)
    wrong = sum(one.still_wrong for one in tasks)
    earlier = comparison.earlier
    counts = f"{broken:,} newly broken, {fixed:,} fixed, {wrong:,} still wrong of {total:,} cases"
    others = f"{churned:,} have another answer or verdict"
    lines = [f"compared with {earlier.folder} ({earlier.model}): {counts}; {others}"]
    lines += [f"unlike: {said}" for said in comparison.unlike]
    if comparison.left_out:
        lines.append(f"not compared, because only one of the runs has them: {', '.join(comparison.left_out)}")
    lines += [_task_line(one) for one in tasks if one.churned or one.added or one.unjudged]
    named = [f"{one.task}:{case}" for one in tasks for case in one.broken]
    shown = named if most is None else named[:most]
    lines += [f"newly broken: {name}" for name in shown]
    return [*lines, f"and {len(named) - len(shown):,} more"] if len(named) > len(shown) else lines


def comparison_record(comparison: Comparison) -> dict[str, object]:
    """Return what ``metrics.json`` has of a comparison."""
    return {
        "folder": str(comparison.earlier.folder),
        "model": comparison.earlier.model,
        "fingerprint": comparison.earlier.fingerprint,
        "unlike": list(comparison.unlike),
        "left_out": list(comparison.left_out),
        "tasks": {name: _record(change) for name, change in comparison.tasks.items()},
    }


def p_words(p: float) -> str:
    """Return a p-value with its sign.

    >>> p_words(0.6251), p_words(0.0004)
    ('= 0.625', '< 0.001')
    """
    return f"= {p:.3f}" if p >= 0.0005 else "< 0.001"


def _record(change: TaskChange) -> dict[str, object]:
    return {
        "n": change.n,
        "broken": list(change.broken),
        "fixed": list(change.fixed),
        "still_wrong": change.still_wrong,
        "churned": change.churned,
        "added": len(change.added),
        "unjudged": change.unjudged,
        "p": change.p,
        "metric": change.headline,
        "differences": {name: asdict(values.difference()) for name, values in change.values.items()},
    }


def _task_line(change: TaskChange) -> str:
    line = f"{change.task}: {len(change.broken)} broken, {len(change.fixed)} fixed of {change.n}"
    if change.headline in change.values:
        found = change.values[change.headline].difference()
        line += f", {change.headline} {found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
        line += f", {change.test} {p_words(change.p)}"
    line += f"; {change.churned} with another answer or verdict" if change.churned else ""
    line += f"; {len(change.added)} new cases" if change.added else ""
    return line + (f"; {change.unjudged} not judged in one of the runs" if change.unjudged else "")

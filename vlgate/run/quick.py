"""``--quick``: a first look at a model, from a small sample of each task that decides no gate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vlgate.gates.records import Decision
from vlgate.seeds import generator
from vlgate.types import Task

QUICK_CASES = 30
"""The cases per task, the fewest that a gate needs by default."""
NO_PASS = f"--quick asks at most {QUICK_CASES} cases of each task, so no gate can pass; run without --quick"


def quick_sample(task: Task, name: str, most: int = QUICK_CASES) -> Task:
    """Draw at most ``most`` cases of a task, with a case of each of its slices as long as there is room.

    Slices are covered from the smallest to the largest; the other cases are drawn from all that are left, so that each
    slice has about its share.

    Args:
        task: the task.
        name: seeds the draw.
        most: the number of cases.

    Returns: the task with the cases in their order; its ``left_out`` counts the others.
    """
    n = len(task.cases)
    if n <= most:
        return task
    order = generator(name).permutation(n).tolist()
    slices: dict[tuple[str, str], list[int]] = {}
    for rank, place in enumerate(order):
        for part in task.cases[place].tags.items():
            slices.setdefault(part, []).append(rank)
    chosen: set[int] = set()
    covered: set[tuple[str, str]] = set()
    for part in sorted(slices, key=lambda part: (len(slices[part]), slices[part][0])):
        if len(chosen) < most and part not in covered:
            chosen.add(slices[part][0])
            covered.update(task.cases[order[slices[part][0]]].tags.items())
    chosen.update([rank for rank in range(n) if rank not in chosen][: most - len(chosen)])
    kept = sorted(order[rank] for rank in chosen)
    left_out = {**task.left_out, "beyond --quick": n - most}
    return replace(task, cases=tuple(task.cases[place] for place in kept), left_out=left_out)


def without_passes(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return decisions in which every gate that would pass is inconclusive; one that fails still does."""
    return tuple(
        replace(one, outcome="inconclusive", why=NO_PASS) if one.outcome == "pass" else one for one in decisions
    )

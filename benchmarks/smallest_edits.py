"""How near the smallest edit that a search finds comes to that of an exhaustive search, over drawn scenes.

Each case that the model gets right is searched for its smallest edit of a scene with budgets of calls, and all edits of
its scenes are tried. A ratio is the size of the edit that was found, divided by the smallest size of any edit::

    python benchmarks/smallest_edits.py --model defect:centre-only --cases 5 --budget 200 --budget 4000
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vlgate.judging.verdicts import judge
from vlgate.probes.shrink import Family
from vlgate.probes.shrink.moves import perturbed
from vlgate.probes.shrink.search import smallest_change
from vlgate.probes.shrink.space import space
from vlgate.record.options import Options
from vlgate.run.loading import load_model
from vlgate.run.planning import make_plan, subjects
from vlgate.types import Batch, Predictor

FAMILIES: tuple[Family, ...] = ("scene",)
SUITE = ("scenes/foil-it", "scenes/existence", "scenes/relations", "scenes/attributes")
NEAR = 1.1
"""A find counts as near if its size is at most this many times the smallest one."""


def main() -> None:
    """Print one line per budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="defect:centre-only")
    parser.add_argument("--suite", default=",".join(SUITE))
    parser.add_argument("--cases", type=int, default=5, help="the cases per task")
    parser.add_argument("--budget", type=int, action="append", default=[])
    given = parser.parse_args()
    options = Options(
        folder=Path(),
        model=given.model,
        thresholds=None,
        results=Path(),
        suite=tuple(given.suite.split(",")),
        shrink_cases=given.cases,
    )
    plan = make_plan(options)
    model = load_model(options, plan.tasks)[1]
    batches = list(subjects(plan, options).values())
    known = [(batch, *exhaustive(batch, model)) for batch in batches]
    edits = [number for _, number, _ in known if number]
    found = [(batch, least) for batch, _, least in known if least is not None]
    print(
        f"{given.model}: {len(batches)} cases, {len(edits)} of them right, with {min(edits, default=0)} to "
        f"{max(edits, default=0)} edits; {len(found)} can be broken by one edit"
    )
    for budget in given.budget or [100, 200, 400, 4000]:
        print(line(budget, found, model))


def line(budget: int, found: Sequence[tuple[Batch, float]], model: Predictor) -> str:
    """Search each case with a budget, and say how near the finds come."""
    ratios: list[float] = []
    calls = 0
    for batch, least in found:
        search = smallest_change(batch, model, budget=budget, families=FAMILIES)
        calls += search.calls
        single = search.find is not None and len(search.find.moves) == 1
        ratios += [search.find.distance / least] if search.find is not None and single else []
    ratios.sort()
    near = sum(ratio <= NEAR + 1e-9 for ratio in ratios)
    middle = ratios[len(ratios) // 2] if ratios else float("nan")
    return (
        f"budget {budget}: {len(ratios)} of {len(found)} broken by one edit, {near} within a tenth of the smallest; "
        f"ratio: median {middle:.2f}, largest {max(ratios, default=float('nan')):.2f}; "
        f"{calls / max(1, len(found)):.0f} calls per case"
    )


def exhaustive(batch: Batch, model: Predictor) -> tuple[int, float | None]:
    """Try all edits of a case: how many there are, and the smallest size that breaks it; 0 edits if it is wrong."""
    [case] = batch.cases
    [verdict] = judge(batch, dict(model.predict(case.requests)))
    if verdict.state != "judged" or not verdict.right:
        return 0, None
    moves = sorted((move for moves in space(case, FAMILIES).parts for move in moves), key=lambda move: move.distance)
    changed = [perturbed(case, (move,)) for move in moves]
    replies = model.predict([request for one in changed for request in one.requests])
    for move, one in zip(moves, changed, strict=True):
        alone = replace(batch, task=replace(batch.task, cases=(one,)), positions=(0,))
        [verdict] = judge(alone, replies)
        if verdict.state == "judged" and not verdict.right:
            return len(moves), move.distance
    return len(moves), None


if __name__ == "__main__":
    main()

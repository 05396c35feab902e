"""``--quick``: a first look at a model, from a small sample of each task that decides no gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vlgate.gates.records import Decision
from vlgate.metrics.grouped import GROUPED
from vlgate.seeds import generator
from vlgate.types import UNDRAWN, Case, Task

QUICK_CASES = 30
"""The cases per task, the fewest that a gate needs by default."""
KEPT = 10
"""A tag with more values than this has its share in the sample, but not a case for each of its values."""
NO_PASS = f"--quick asks at most {QUICK_CASES} cases of each task, so no gate can pass; run without --quick"

_Part = tuple[str, str]


def quick_sample(task: Task, name: str, most: int = QUICK_CASES) -> Task:
    """Draw at most ``most`` cases of a task, in which each slice has its share of the cases, and at least one case.

    The cases are sorted by their tags, and single questions by their truth too, and every (n / most)-th one is drawn
    from a random start (Kish 1965, section 4.1), so that each slice has its share. A slice without a case then gets
    one, in place of a case of slices with several, if its tag has at most ``KEPT`` values. Cases of rare slices are
    therefore likelier than others, and a figure over all cases leans towards them if there are many rare slices.

    Args:
        task: the task.
        name: seeds the draw.
        most: the number of cases.

    Returns: the task with the cases in their order; its ``left_out`` counts the others.
    """
    n = len(task.cases)
    if n <= most:
        return task
    random = generator(name)
    order = random.permutation(n).tolist()
    strata = _strata(task)
    spread = sorted(order, key=lambda place: strata[place])
    start = random.random()
    chosen = [spread[min(n - 1, int((start + step) * n / most))] for step in range(most)]
    kept = sorted(_completed(chosen, order, task.cases))
    left_out = {**task.left_out, f"{UNDRAWN}quick": n - most}
    return replace(task, cases=tuple(task.cases[place] for place in kept), left_out=left_out)


def without_passes(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return decisions in which every gate that would pass is inconclusive; one that fails still does."""
    return tuple(
        replace(one, outcome="inconclusive", why=NO_PASS) if one.outcome == "pass" else one for one in decisions
    )


def _strata(task: Task) -> list[tuple[str, ...]]:
    """What each case is sorted by: its tags, those with the fewest values first, and the truth of a single question."""
    values: dict[str, set[str]] = {}
    for case in task.cases:
        for tag, value in case.tags.items():
            if GROUPED.get(tag) != "all":
                values.setdefault(tag, set()).add(value)
    tags = sorted(values, key=lambda tag: (len(values[tag]), tag))
    single = task.shape == "single"
    return [
        (*(case.tags.get(tag, "") for tag in tags), *(map(str, case.truths) if single else ())) for case in task.cases
    ]


def _completed(chosen: Sequence[int], order: Sequence[int], cases: Sequence[Case]) -> set[int]:
    """The chosen places, with one for each slice that has none, as long as a case can be spared."""
    found = list(chosen)
    slices: dict[_Part, list[int]] = {}
    for place in order:
        for part in _parts(cases[place]):
            slices.setdefault(part, []).append(place)
    values = Counter(tag for tag, _ in slices)
    for part in sorted(slices, key=lambda part: (len(slices[part]), part)):
        if values[part[0]] > KEPT:
            continue
        counts = Counter(part for place in found for part in _parts(cases[place]))
        if counts[part]:
            continue
        spare = next((place for place in found if all(counts[one] > 1 for one in _parts(cases[place]))), None)
        if spare is not None:
            found[found.index(spare)] = slices[part][0]
    return set(found)


def _parts(case: Case) -> list[_Part]:
    """The slices of a case, as in a run's results."""
    return [(tag, value) for tag, value in case.tags.items() if tag not in GROUPED]

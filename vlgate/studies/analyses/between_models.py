"""Two models on the same cases: how often they agree, and what text alone reaches beside the image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from vlgate.metrics.clusters import numbered
from vlgate.metrics.paired import difference
from vlgate.record.cases import CaseTable
from vlgate.studies.analyses.resampling import kappa, share
from vlgate.studies.analyses.runs import Run, chosen, chosen_of, shared
from vlgate.studies.analyses.tables import Row, Table, measured, table


def agreement_table(runs: Sequence[Run], pattern: str, headline: str) -> Table:
    """Compare the verdicts of each two runs on the cases that both have."""
    rows: list[Row] = []
    for one, other in combinations(runs, 2):
        for task, first, second in _both(one, other, pattern, headline):
            a, b = first.case_metrics[headline] == 1.0, second.case_metrics[headline] == 1.0
            # Cohen's kappa is the agreement beyond that of two models that are right as often, but independently.
            beyond = kappa(a, b, first.groups)
            more = {
                "kappa": beyond.value,
                "kappa low": beyond.low,
                "kappa high": beyond.high,
                "both right": int((a & b).sum()),
                "both wrong": int((~a & ~b).sum()),
            }
            rows += measured((task, one.name, other.name), share(a == b, first.groups), more)
    return table("agreement", rows, headline=headline)


def coverage_table(runs: Sequence[Run], pattern: str, headline: str, metrics: Sequence[str], of: str) -> Table:
    """Show which share of what the other model has right a model has right, too."""
    rows: list[Row] = []
    for one, other in permutations(runs, 2):
        for task, first, second in _both(one, other, pattern, headline):
            mine, theirs = (
                np.concatenate([cases.case_metrics[name] == 1.0 for name in metrics]) for cases in (first, second)
            )
            groups = numbered(np.tile(first.groups.codes, len(metrics)))
            rows += measured((task, one.name, other.name), share(mine, groups, theirs))
    return table("coverage", rows, of=of)


def _both(one: Run, other: Run, pattern: str, headline: str) -> Iterator[tuple[str, CaseTable, CaseTable]]:
    there = chosen(other, pattern, headline)
    for task, cases in chosen(one, pattern, headline).items():
        if task in there:
            first, second = shared(cases, there[task])
            if first.ids:
                yield task, first, second


def blind_table(runs: Sequence[Run], pattern: str, headline: str, metrics: Sequence[str]) -> Table:
    """Put the figures of the text-only model, which a run trains on the texts of its tasks, beside those of the run."""
    rows: list[Row] = []
    for run, task, _ in chosen_of(runs, pattern, headline):
        found = run.figures["tasks"][task]["metrics"]
        for metric in metrics:
            whole = found.get(metric, {})
            blind = whole.get("blind")
            if blind is not None:
                more = {
                    "chance": whole.get("chance"),
                    "text only": float(blind["value"]),
                    "beyond text": float(whole["value"]) - float(blind["value"]),
                }
                figures = {name: whole[name] for name in ("value", "low", "high", "n")}
                rows.append(Row(labels=(run.name, task, metric), **figures, more=more))
    return table("blind", rows)


def reader_table(runs: Sequence[Run], reader: Run, pattern: str, headline: str, source: str) -> Table:
    """Compare runs with that of a language model on the same cases: how much more the models have right."""
    rows: list[Row] = []
    there = chosen(reader, pattern, headline)
    for run, task, cases in chosen_of(runs, pattern, headline):
        if task not in there:
            continue
        first, second = shared(there[task], cases)
        if len(first):
            before, after = first.case_metrics[headline], second.case_metrics[headline]
            more = {headline: float(after.mean()), reader.name: float(before.mean())}
            rows += measured((run.name, task), difference(before, after, first.groups), more)
    return table("reader", rows, headline=headline, reader=reader.name, source=source)

"""Two models on the same cases: how often they agree, and what text alone reaches beside the image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vlgate.metrics.clusters import numbered
from vlgate.metrics.paired import difference
from vlgate.record.cases import CaseTable
from vlgate.studies.analyses.resampling import kappa, share
from vlgate.studies.analyses.runs import Run, chosen, chosen_of, pairs, shared
from vlgate.studies.analyses.tables import Row, Table, measured

# Two models on the same cases: how often they agree, and which of the other's right cases each has right, too.


def agreement_table(runs: Sequence[Run], pattern: str, headline: str) -> Table:
    """Compare the verdicts of each two runs on the cases that both have.

    Cohen's kappa is the agreement beyond that of two models that are right as often, but independently of each other.
    """
    rows: list[Row] = []
    for one, other in pairs(runs):
        for task, first, second in _both(one, other, pattern, headline):
            rows += _agreement((task, one.name, other.name), first, second, headline)
    return Table(
        title="Agreement between models",
        about=f"share of the n cases of both runs on which both models have the same verdict ({headline})",
        labels=("task", "model", "other model"),
        value="same verdict",
        rows=tuple(rows),
        more=("kappa", "kappa low", "kappa high", "both right", "both wrong"),
    )


def coverage_table(runs: Sequence[Run], pattern: str, headline: str, metrics: Sequence[str], of: str) -> Table:
    """Show which share of what the other model has right a model has right, too.

    Returns: a row per task and ordered pair of runs; ``n`` counts what the other model has right.
    """
    rows: list[Row] = []
    for one in runs:
        for other in (run for run in runs if run is not one):
            for task, first, second in _both(one, other, pattern, headline):
                rows += covered((task, one.name, other.name), first, second, metrics)
    labels = ("task", "model", "has right of what this one has")
    about = f"share of the n {of} that the other model has right and this one, too"
    return Table(title=f"Coverage between models: {of}", about=about, labels=labels, value="coverage", rows=tuple(rows))


def covered(labels: tuple[str, ...], first: CaseTable, second: CaseTable, metrics: Sequence[str]) -> list[Row]:
    """Return the share of the second model's right values that are right in the first, too; no row if none is right."""
    has = np.concatenate([first.case_metrics[name] == 1.0 for name in metrics])
    other = np.concatenate([second.case_metrics[name] == 1.0 for name in metrics])
    return measured(labels, share(has, numbered(np.tile(first.groups.codes, len(metrics))), other))


def _both(one: Run, other: Run, pattern: str, headline: str) -> Iterator[tuple[str, CaseTable, CaseTable]]:
    there = chosen(other, pattern, headline)
    for task, cases in chosen(one, pattern, headline).items():
        if task in there:
            first, second = shared(cases, there[task])
            if first.ids:
                yield task, first, second


def _agreement(labels: tuple[str, ...], first: CaseTable, second: CaseTable, headline: str) -> list[Row]:
    a, b = first.case_metrics[headline] == 1.0, second.case_metrics[headline] == 1.0
    beyond = kappa(a, b, first.groups)
    more = {
        "kappa": beyond.value,
        "kappa low": beyond.low,
        "kappa high": beyond.high,
        "both right": int((a & b).sum()),
        "both wrong": int((~a & ~b).sum()),
    }
    return measured(labels, share(a == b, first.groups), more)


# What text alone reaches, beside what a model reaches with the image.


def blind_table(runs: Sequence[Run], pattern: str, headline: str, metrics: Sequence[str]) -> Table:
    """Put the figures of the text-only model, which a run trains on the texts of its tasks, beside those of the run."""
    rows: list[Row] = []
    for run in runs:
        for task in chosen(run, pattern, headline):
            found = run.figures["tasks"][task]["metrics"]
            for metric in metrics:
                blind = found.get(metric, {}).get("blind")
                if blind is not None:
                    whole = found[metric]
                    more = {
                        "chance": whole.get("chance"),
                        "text only": float(blind["value"]),
                        "beyond text": float(whole["value"]) - float(blind["value"]),
                    }
                    figures = {name: whole[name] for name in ("value", "low", "high", "n")}
                    rows.append(Row(labels=(run.name, task, metric), **figures, more=more))
    return Table(
        title="Against text alone",
        about="value of n cases, beside that of the text-only model of the run, which sees no image",
        labels=("model", "task", "metric"),
        value="value",
        rows=tuple(rows),
        more=("chance", "text only", "beyond text"),
    )


def reader_table(runs: Sequence[Run], reader: Run, pattern: str, headline: str, source: str) -> Table:
    """Compare runs with that of a language model on the same cases: how much more the models have right."""
    rows: list[Row] = []
    there = chosen(reader, pattern, headline)
    for run, task, cases in chosen_of(runs, pattern, headline):
        first, second = shared(there[task], cases) if task in there else (cases.take([]), cases.take([]))
        if len(first):
            before, after = first.case_metrics[headline], second.case_metrics[headline]
            more = {headline: float(after.mean()), reader.name: float(before.mean())}
            rows += measured((run.name, task), difference(before, after, first.groups), more)
    return Table(
        title="Against a language model",
        about=f"difference of {headline} from that of {reader.name}, which reads, on the n cases of both ({source})",
        labels=("model", "task"),
        value="difference",
        rows=tuple(rows),
        more=(headline, reader.name),
    )

"""Two models on the same cases: how often they agree, and what text alone reaches beside the image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vlgate.metrics.clusters import numbered
from vlgate.metrics.paired import difference
from vlgate.studies.analyses.resampling import kappa, share
from vlgate.studies.analyses.runs import Cases, Run, chosen, pairs, shared
from vlgate.studies.analyses.tables import Row, Table, measured

# Two models on the same cases: how often they agree, and which of the other's right cases each has right, too.


def agreement_table(runs: Sequence[Run], pattern: str, headline: str) -> Table:
    """Compare the verdicts of each two runs on the cases that both have.

    Cohen's kappa is the agreement beyond that of two models that are right as often, but independently of each other.
    """
    rows = tuple(
        _agreement((task, one.name, other.name), first, second, headline)
        for one, other in pairs(runs)
        for task, first, second in _both(one, other, pattern, headline)
    )
    return Table(
        title="Agreement between models",
        about=f"share of the n cases of both runs on which both models have the same verdict ({headline})",
        labels=("task", "model", "other model"),
        value="same verdict",
        rows=rows,
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
                row = covered((task, one.name, other.name), first, second, metrics)
                rows += [row] if row is not None else []
    labels = ("task", "model", "has right of what this one has")
    about = f"share of the n {of} that the other model has right and this one, too"
    return Table(title=f"Coverage between models: {of}", about=about, labels=labels, value="coverage", rows=tuple(rows))


def covered(labels: tuple[str, ...], first: Cases, second: Cases, metrics: Sequence[str]) -> Row | None:
    """Return the share of the second model's right values that are right in the first, too; None if none is right."""
    has = np.concatenate([first.facts[name] == 1.0 for name in metrics])
    other = np.concatenate([second.facts[name] == 1.0 for name in metrics])
    found = share(has, numbered(np.tile(first.groups.codes, len(metrics))), other)
    return None if found is None else measured(labels, found)


def _both(one: Run, other: Run, pattern: str, headline: str) -> Iterator[tuple[str, Cases, Cases]]:
    there = chosen(other, pattern, headline)
    for task, cases in chosen(one, pattern, headline).items():
        if task in there:
            first, second = shared(cases, there[task])
            if first.ids:
                yield task, first, second


def _agreement(labels: tuple[str, ...], first: Cases, second: Cases, headline: str) -> Row:
    a, b = first.facts[headline] == 1.0, second.facts[headline] == 1.0
    beyond = kappa(a, b, first.groups)
    more = {
        "kappa": beyond.value,
        "kappa low": beyond.low,
        "kappa high": beyond.high,
        "both right": int((a & b).sum()),
        "both wrong": int((~a & ~b).sum()),
    }
    found = share(a == b, first.groups)
    if found is None:
        raise ValueError(f"{labels}: no case is in both runs")
    return measured(labels, found, more)


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
                    one = found[metric]
                    more = {"chance": one.get("chance"), "text only": float(blind["value"])}
                    beyond = float(one["value"]) - float(blind["value"])
                    rows.append(
                        Row(
                            labels=(run.name, task, metric),
                            value=one["value"],
                            low=one["low"],
                            high=one["high"],
                            n=one["n"],
                            more={**more, "beyond text": beyond},
                        )
                    )
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
    for run in runs:
        for task, cases in chosen(run, pattern, headline).items():
            first, second = shared(there[task], cases) if task in there else (cases.take(()), cases.take(()))
            if first.ids:
                before, after = first.facts[headline], second.facts[headline]
                found = difference(before, after, first.groups)
                more = {headline: float(after.mean()), reader.name: float(before.mean())}
                row = Row(
                    labels=(run.name, task), value=found.value, low=found.low, high=found.high, n=found.n, more=more
                )
                rows.append(row)
    return Table(
        title="Against a language model",
        about=f"difference of {headline} from that of {reader.name}, which reads, on the n cases of both ({source})",
        labels=("model", "task"),
        value="difference",
        rows=tuple(rows),
        more=(headline, reader.name),
    )

"""What text alone reaches, beside what a model reaches with the image."""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.analyses.records import Row, Table
from vlgate.analyses.runs import Run, chosen, shared
from vlgate.metrics.paired import difference


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
    """Compare runs with that of a language model on the same cases: how much more the models have right.

    Args:
        runs: the runs of models.
        reader: the run of a language model, which prefers the text with the lower perplexity.
        pattern: of the tasks.
        headline: the headline metric of the tasks.
        source: the tables of the paper that compare them.
    """
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

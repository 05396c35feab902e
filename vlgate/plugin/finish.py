"""The end of a run: the blind model beside the figures, the decisions, the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from vlgate.errors import OptionError
from vlgate.health import examine, true_texts
from vlgate.judging import judge
from vlgate.model_card import ModelCard
from vlgate.options import Options
from vlgate.planning import sample
from vlgate.plugin.loading import blind_scorer
from vlgate.probes import probe
from vlgate.report.environment import write_environment
from vlgate.report.metrics_json import write_metrics
from vlgate.report.parquet import write_cases, write_predictions
from vlgate.report.shrunk import write_shrunk
from vlgate.report.summary import write_summary
from vlgate.results import RunResult, TableResult, averages, decisions, tabulate
from vlgate.scoring import score
from vlgate.sources.registry import shapes
from vlgate.thresholds import Thresholds
from vlgate.types import Batch, Decision, Gate, Table, Verdict

UNEXAMINED = "the tables were not examined for flaws and shortcuts, being large: --health on does it"
EXAMINED_CASES = 20_000  # in all: above it the text-only probes would take longer than the run of a quick model
PROBED_CASES = 5_000  # a table: a probe's share is then within 0.014 of that of all cases, 19 times in 20
BLIND_CASES = 20_000  # a table: the blind figure is then within 0.007 of that of all cases, 19 times in 20


FILES = ("metrics.json", "cases.parquet", "predictions.parquet", "summary.md", "environment.json", "shrunk.jsonl")


def empty_results(folder: Path) -> None:
    """Make the results folder; files of an earlier run must not be taken for this one's if it dies.

    Raises: OptionError where it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise OptionError(f"--results {folder}: cannot be written ({error.strerror}); name another") from None


def conclude(
    tables: Sequence[Table],
    verdicts: Mapping[str, Sequence[Verdict]],
    thresholds: Thresholds,
    options: Options,
    objections: Sequence[Decision] = (),
) -> RunResult:
    """Make the figures of all tables that have verdicts, and decide the gates.

    Args:
        tables: of the plan.
        verdicts: by table id, of the selected cases in the table's order; a table without any is not in the run.
        thresholds: the gates.
        options: of the run.
        objections: decisions against the run as a whole, which come before the gates.

    Returns: the run's result.
    """
    asked = [table for table in tables if verdicts.get(table.id)]
    blind = _blind(asked, verdicts, options)
    figures = tuple(
        tabulate(table, verdicts[table.id], blind[table.id], options.ties, options.protocols) for table in asked
    )
    results = _examined(figures, options)
    made = decisions(thresholds, results, options.ties)
    rows, gaps = averages(results, shapes(options.data))
    return RunResult(
        tables=results,
        decisions=(*objections, *_missing(thresholds, tables, options), *made),
        notes=(UNEXAMINED,) if results is figures and options.health == "auto" else (),
        averages=rows,
        gaps=gaps,
    )


def unjudged(thresholds: Thresholds, options: Options) -> RunResult:
    """The result of a run that asked for no figures: every gate is listed as not run."""
    return RunResult(tables=(), decisions=decisions(thresholds, (), options.ties))


def write_files(result: RunResult, card: ModelCard, options: Options, workers: int) -> None:
    """Write the run's folder; without tables there are no figures, and no files that could be taken for some."""
    folder = options.results
    folder.mkdir(parents=True, exist_ok=True)
    write_summary(folder / "summary.md", result, card, options)
    write_environment(folder / "environment.json", options, workers)
    if result.shrunk:
        write_shrunk(folder / "shrunk.jsonl", result.shrunk)
    if not result.tables:
        return
    write_cases(folder / "cases.parquet", result)
    write_predictions(folder / "predictions.parquet", result)
    write_metrics(folder / "metrics.json", result, card, options)  # last: where it is, all others are


def reversed_score(card: ModelCard) -> list[Decision]:
    """A decision against a model whose match score seems to be reversed: none of its figures would mean anything."""
    return [
        Decision(gate=Gate(table="model", metric="polarity"), outcome="fail", why=str(check["why"]))
        for check in card.checks
        if check["name"] == "polarity" and check["outcome"] == "suspect"
    ]


def _examined(results: tuple[TableResult, ...], options: Options) -> tuple[TableResult, ...]:
    """The results with their tables' flaws and text-only shortcuts, unless that is off or would take long."""
    cases = sum(result.coverage.cases for result in results)
    if options.health == "off" or (options.health == "auto" and cases > EXAMINED_CASES):
        return results
    known = {name: true_texts(r.table for r in results if r.table.benchmark == name) for name in _benchmarks(results)}
    return tuple(
        replace(
            result, flaws=examine(result.table, known[result.table.benchmark]), probes=probe(result.table, PROBED_CASES)
        )
        for result in results
    )


def _benchmarks(results: Sequence[TableResult]) -> set[str]:
    return {result.table.benchmark for result in results}


def _blind(
    tables: Sequence[Table], verdicts: Mapping[str, Sequence[Verdict]], options: Options
) -> dict[str, tuple[Verdict, ...]]:
    """The text-only model's verdicts of the judged cases; of a seeded sample of them where there are very many."""
    judged = {
        table.id: [verdict.case for verdict in verdicts[table.id] if verdict.state == "judged"] for table in tables
    }
    reduced = [
        sample(replace(table, cases=tuple(judged[table.id])), BLIND_CASES, f"{options.seed}:blind:{table.id}")
        for table in tables
    ]
    scorer = blind_scorer(options, reduced)
    batches = [Batch(table=table, positions=tuple(range(len(table.cases))), ties=options.ties) for table in reduced]
    return {batch.table.id: judge(batch, score(scorer, batch)) for batch in batches}


def _missing(thresholds: Thresholds, tables: Sequence[Table], options: Options) -> list[Decision]:
    """Tables that a full run must hold, and that this full run does not."""
    if options.suite:
        return []
    here = {table.id for table in tables}
    needed = [t for t in shapes(options.data) if t not in here and any(fnmatchcase(t, p) for p in thresholds.require)]
    why = f"{thresholds.file.name} requires it in a full run, and its data are not in the data folders"
    return [Decision(gate=Gate(table=table, metric="required"), outcome="fail", why=why) for table in needed]

"""The cases of finished runs, as the analyses take them: requests, replies, verdicts, verbs, perplexity."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.errors import OptionError
from vlgate.metrics.clusters import numbered
from vlgate.metrics.paired import difference
from vlgate.metrics.shapes import headlines
from vlgate.record.cases import CaseTable, case_tables, rows_at
from vlgate.record.folder import RecordedRun, read_run, refuse_incomplete
from vlgate.studies.analyses.tables import DRAWN, Analysis, Row, Table, kappa, measured, share, table


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    name: str
    figures: Mapping[str, Any] = field(repr=False)
    tasks: Mapping[str, CaseTable] = field(repr=False)


def read_runs(folders: Sequence[Path]) -> tuple[Run, ...]:
    found = []
    for folder in folders:
        run = read_run(folder, str(folder))
        refuse_incomplete(run)
        found.append((run, _judged(run)))
    names = [run.model for run, _ in found]
    return tuple(
        Run(name=name if names.count(name) == 1 else f"{name} ({run.folder.name})", figures=run.figures, tasks=tasks)
        for name, (run, tasks) in zip(names, found, strict=True)
    )


def part_of(run: RecordedRun, table: Any, benchmark: str) -> Run:
    names = table.column("task").to_pylist()
    places = np.array([index for index, name in enumerate(names) if name.startswith(f"{benchmark}/")], dtype=np.int64)
    return Run(name=run.model, figures=run.figures, tasks=_judged(run, rows_at(table, places)))


def headline_of(cases: CaseTable) -> str | None:
    return next((name for name in headlines() if name in cases.case_metrics), None)


def keys_of(cases: CaseTable) -> tuple[tuple[str, str], ...]:
    return tuple(zip(cases.ids, cases.asked, strict=True))


def shared(first: CaseTable, second: CaseTable) -> tuple[CaseTable, CaseTable]:
    places = {key: row for row, key in enumerate(keys_of(second))}
    rows = [(row, places[key]) for row, key in enumerate(keys_of(first)) if key in places]
    return first.take([row for row, _ in rows]), second.take([row for _, row in rows])


def _judged(run: RecordedRun, rows: Any = None) -> dict[str, CaseTable]:
    # The analyses are of captions and scores, so tasks whose images were asked about together are left out.
    tables = {task: cases.judged for task, cases in case_tables(run, rows).items() if not cases.together}
    return {task: cases for task, cases in tables.items() if len(cases)}


FEWEST = 20  # sets of a verb that has a row of its own; those of the others are put together (Chen 2022, §7.1.3)


def verbs_of(cases: CaseTable, fewest: int = FEWEST) -> list[str]:
    verbs = [tags.get("verb", "") for tags in cases.tags]
    counts = Counter(verbs)
    return [verb if counts[verb] >= fewest or not verb else "other" for verb in verbs]


def perplexities(reader: Run) -> dict[str, float]:
    if "minus the perplexity" not in reader.figures["model"].get("adapters", {}).get("Match", ""):
        model = f"{reader.name} does not score texts by their perplexity"
        raise OptionError(f"--perplexity: {model}; name the run of a language model, such as --model=gpt2")
    found: dict[str, float] = {}
    for cases in reader.tasks.values():
        if headline_of(cases):
            for texts, scores in zip(cases.texts, cases.scores.tolist(), strict=True):
                found |= {text: -score for text, score in zip(texts, scores, strict=True) if score < 0}
    return found


Named = Sequence[tuple[str, str, CaseTable]]  # the names of runs and tasks, and the cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    benchmark: str
    headline: str  # the metric that each of its tasks has
    runs: Sequence[Run]
    pattern: str  # of the names of its tasks

    def of(self, run: Run) -> dict[str, CaseTable]:
        there = ((task, cases) for task, cases in run.tasks.items() if fnmatchcase(task, self.pattern))
        return {task: cases for task, cases in there if headline_of(cases) == self.headline}

    def _every(self) -> Iterator[tuple[Run, str, CaseTable]]:
        return ((run, task, cases) for run in self.runs for task, cases in self.of(run).items())

    def named(self) -> Named:
        return [(run.name, task, cases) for run, task, cases in self._every()]

    def analysis(self, tables: Sequence[Table], notes: Sequence[str]) -> Analysis:
        names = tuple(run.name for run in self.runs)
        return Analysis(name=self.benchmark, tasks=self.pattern, runs=names, tables=tuple(tables), notes=tuple(notes))

    def agreement(self) -> Table:
        rows: list[Row] = []
        for one, other in combinations(self.runs, 2):
            for task, first, second in self._both(one, other):
                a, b = (cases.case_metrics[self.headline] == 1.0 for cases in (first, second))
                # Cohen's kappa is the agreement beyond that of two models that are right as often, but independently.
                beyond = kappa(a, b, first.groups)
                known = {"kappa": beyond.value, "kappa low": beyond.low, "kappa high": beyond.high}
                more = {**known, "both right": int((a & b).sum()), "both wrong": int((~a & ~b).sum())}
                rows += measured((task, one.name, other.name), share(a == b, first.groups), more)
        return table("agreement", rows, headline=self.headline)

    def coverage(self, metrics: Sequence[str], of: str) -> Table:
        rows: list[Row] = []
        for one, other in permutations(self.runs, 2):
            for task, first, second in self._both(one, other):
                both = (first.case_metrics, second.case_metrics)
                mine, theirs = (np.concatenate([own[name] == 1.0 for name in metrics]) for own in both)
                groups = numbered(np.tile(first.groups.codes, len(metrics)))
                rows += measured((task, one.name, other.name), share(mine, groups, theirs))
        return table("coverage", rows, of=of)

    def _both(self, run: Run, other: Run) -> Iterator[tuple[str, CaseTable, CaseTable]]:
        there = self.of(other)
        for task, cases in self.of(run).items():
            if task in there:
                first, second = shared(cases, there[task])
                if first.ids:
                    yield task, first, second

    def blind(self, metrics: Sequence[str]) -> Table:
        rows: list[Row] = []
        for run, task, _ in self._every():
            found = run.figures["tasks"][task]["metrics"]
            for metric in metrics:
                whole = found.get(metric, {})
                blind = whole.get("blind")
                if blind is not None:
                    alone = float(blind["value"])
                    beyond = float(whole["value"]) - alone
                    more = {"chance": whole.get("chance"), "text only": alone, "beyond text": beyond}
                    figures = {name: whole[name] for name in ("value", "low", "high", "n")}
                    rows.append(Row(labels=(run.name, task, metric), **figures, more=more))
        return table("blind", rows)

    def beside(self, reader: Run, source: str) -> Table:
        rows: list[Row] = []
        there = self.of(reader)
        for run, task, cases in self._every():
            if task not in there:
                continue
            first, second = shared(there[task], cases)
            if len(first):
                before, after = (some.case_metrics[self.headline] for some in (first, second))
                more = {self.headline: float(after.mean()), reader.name: float(before.mean())}
                rows += measured((run.name, task), difference(before, after, first.groups), more)
        return table("reader", rows, headline=self.headline, reader=reader.name, source=source)


def studied(runs: Sequence[Run], benchmark: str, headline: str, given: str | None) -> Study:
    patterns = (given,) if given else (f"{benchmark}/*", DRAWN)
    for pattern in patterns:
        study = Study(benchmark=benchmark, headline=headline, runs=runs, pattern=pattern)
        if any(map(study.of, runs)):
            return study
    problem = f"no task {' or '.join(map(repr, patterns))} with judged cases with the metric {headline} in the runs"
    raise OptionError(f"{problem}; name a run on {benchmark} or on the scenes, or the tasks with --suite GLOB")

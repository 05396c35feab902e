"""The cases of finished runs, as the analyses take them: requests, replies, verdicts, verbs, perplexity."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import OptionError
from vlgate.metrics.clusters import Clusters, clusters, recorded_clusters
from vlgate.metrics.shapes import headlines
from vlgate.record.cases import digest_of, fact_names, read_cases, rows_at
from vlgate.record.folder import RecordedRun, read_run, refuse_incomplete
from vlgate.studies.analyses.tables import DRAWN
from vlgate.types import FloatArray

# The cases of finished runs, as the analyses take them: what was asked, what was replied, and how it was judged.

_COLUMNS = ("task", "case", "state", "images", "texts", "truths", "scores", "answers", "tags")


@dataclass(frozen=True, kw_only=True)
class Cases:
    """The n judged cases of a task.

    Attributes:
        ids: their ids.
        images: the keys of the images of their requests; None for a request without an image.
        texts: the texts or questions of their requests.
        truths: ``true`` or ``false`` for each text, the right answer for each question.
        scores: the scores of their requests, shape (n, k); NaN for a question.
        answers: the answers to their requests; None for a text, and for a tie.
        tags: their tags.
        facts: what each case contributes to the metrics, by name, shape (n,); NaN if it does not have it.
    """

    ids: tuple[str, ...]
    images: tuple[tuple[str | None, ...], ...] = field(repr=False)
    texts: tuple[tuple[str, ...], ...] = field(repr=False)
    truths: tuple[tuple[str, ...], ...] = field(repr=False)
    scores: FloatArray = field(repr=False)
    answers: tuple[tuple[str | None, ...], ...] = field(repr=False)
    tags: tuple[Mapping[str, str], ...] = field(repr=False)
    facts: Mapping[str, FloatArray] = field(repr=False)

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """The name of the cluster of each case; see ``metrics.clusters.recorded_clusters``."""
        return recorded_clusters(self.ids, self.images, together=False)

    @cached_property
    def groups(self) -> Clusters:
        """The clusters of the cases."""
        return clusters(self.clusters)

    @cached_property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """What identifies each case in another run: its id, and a digest of what it asks."""
        rows = zip(self.ids, self.images, self.texts, self.truths, strict=True)
        return tuple((name, digest_of(images, texts, truths)) for name, images, texts, truths in rows)

    @property
    def shape(self) -> str | None:
        """The headline metric that the cases have, which tells their shape; None if they have none."""
        return next((name for name in headlines() if name in self.facts), None)

    def take(self, rows: Sequence[int] | NDArray[Any]) -> Cases:
        """Return the cases at these places."""
        places = [int(row) for row in rows]
        return Cases(
            ids=tuple(self.ids[row] for row in places),
            images=tuple(self.images[row] for row in places),
            texts=tuple(self.texts[row] for row in places),
            truths=tuple(self.truths[row] for row in places),
            scores=self.scores[places],
            answers=tuple(self.answers[row] for row in places),
            tags=tuple(self.tags[row] for row in places),
            facts={name: values[places] for name, values in self.facts.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run: the name that the tables give it, the content of its ``metrics.json``, and its judged cases."""

    name: str
    figures: Mapping[str, Any] = field(repr=False)
    tasks: Mapping[str, Cases] = field(repr=False)


def read_runs(folders: Sequence[Path]) -> tuple[Run, ...]:
    """Read finished runs. Runs of the same model have the names of their folders in brackets."""
    found = [_read(folder) for folder in folders]
    names = [run.model for run, _ in found]
    return tuple(
        Run(name=name if names.count(name) == 1 else f"{name} ({run.folder.name})", figures=run.figures, tasks=tasks)
        for name, (run, tasks) in zip(names, found, strict=True)
    )


def cases_of(table: Any) -> dict[str, Cases]:
    """Put the rows of ``cases.parquet``, a table of pyarrow, into the judged cases of each task."""
    facts = fact_names(table)
    columns = {name: table.column(name).to_pylist() for name in (*_COLUMNS, *facts)}
    rows: dict[str, list[int]] = {}
    for row, (task, state) in enumerate(zip(columns["task"], columns["state"], strict=True)):
        if state == "judged":
            rows.setdefault(task, []).append(row)
    return {task: _cases(columns, facts, places) for task, places in rows.items()}


def part_of(run: RecordedRun, table: Any, benchmark: str) -> Run:
    """Return the tasks of a benchmark in a run, with its rows as ``read_cases`` returns them."""
    names = table.column("task").to_pylist()
    places = np.array([place for place, name in enumerate(names) if name.startswith(f"{benchmark}/")], dtype=np.int64)
    return Run(name=run.model, figures=run.figures, tasks=_apart(run, cases_of(rows_at(table, places))))


def chosen(run: Run, pattern: str, headline: str) -> dict[str, Cases]:
    """Return the tasks of a run that fit a pattern and have a headline metric, by id."""
    return {task: cases for task, cases in run.tasks.items() if cases.shape == headline and fnmatchcase(task, pattern)}


def pattern_of(runs: Sequence[Run], benchmark: str, headline: str, given: str | None) -> str:
    """Return the pattern of the tasks to analyse: the given one, that of the benchmark, or that of the drawn scenes."""
    wanted = (given,) if given else (f"{benchmark}/*", DRAWN)
    found = next((pattern for pattern in wanted if any(chosen(run, pattern, headline) for run in runs)), None)
    if found is None:
        said = " or ".join(map(repr, wanted))
        problem = f"no task {said} with judged cases with the metric {headline} in the runs"
        raise OptionError(f"{problem}; name a run on {benchmark} or on the scenes, or the tasks with --tasks GLOB")
    return found


def shared(first: Cases, second: Cases) -> tuple[Cases, Cases]:
    """Return the cases that are in both runs and ask the same, in the order of the first."""
    places = {key: row for row, key in enumerate(second.asked)}
    rows = [(row, places[key]) for row, key in enumerate(first.asked) if key in places]
    return first.take([row for row, _ in rows]), second.take([row for _, row in rows])


def pairs(runs: Sequence[Run]) -> Iterator[tuple[Run, Run]]:
    """Return each two different runs, in their order."""
    return ((one, other) for number, one in enumerate(runs) for other in runs[number + 1 :])


def _read(folder: Path) -> tuple[RecordedRun, dict[str, Cases]]:
    run = read_run(folder, str(folder))
    refuse_incomplete(run)
    return run, _apart(run, cases_of(read_cases(run)))


def _apart(run: RecordedRun, tasks: Mapping[str, Cases]) -> dict[str, Cases]:
    """The tasks without those whose images were asked about together: the analyses are of captions and scores."""
    return {task: cases for task, cases in tasks.items() if run.figures["tasks"].get(task, {}).get("ask") != "together"}


def _cases(columns: Mapping[str, Sequence[Any]], facts: Sequence[str], rows: Sequence[int]) -> Cases:
    def _all(name: str) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(columns[name][row]) for row in rows)

    values = {name: np.array([columns[name][row] for row in rows], dtype=np.float64) for name in facts}
    written = [columns["tags"][row] for row in rows]
    tags: dict[str, Mapping[str, str]] = {one: json.loads(one) for one in set(written)}
    return Cases(
        ids=tuple(columns["case"][row] for row in rows),
        images=_all("images"),
        texts=_all("texts"),
        truths=_all("truths"),
        scores=np.array(_all("scores"), dtype=np.float64),
        answers=_all("answers"),
        tags=tuple(tags[one] for one in written),
        facts={name: found for name, found in values.items() if not np.isnan(found).all()},
    )


# The verbs of sets of sentences.

FEWEST = 20
"""Sets of a verb that has a row of its own; those of the others are put together (Chen 2022, §7.1.3)."""


def verbs_of(cases: Cases, fewest: int = FEWEST) -> list[str]:
    """Return the verb of each set: ``other`` if fewer than ``fewest`` sets have it, and empty if it has no tag."""
    verbs = [tags.get("verb", "") for tags in cases.tags]
    counts = Counter(verbs)
    return [verb if counts[verb] >= fewest or not verb else "other" for verb in verbs]


# The perplexity of each text, from the run of a language model on the same tasks.


def perplexities(reader: Run) -> dict[str, float]:
    """Return the perplexity of each text that the run of a language model scored."""
    if "minus the perplexity" not in reader.figures["model"].get("adapters", {}).get("Match", ""):
        model = f"{reader.name} does not score texts by their perplexity"
        raise OptionError(f"--perplexity: {model}; name the run of a language model, such as --model=gpt2")
    found: dict[str, float] = {}
    for cases in reader.tasks.values():
        if cases.shape:
            for texts, scores in zip(cases.texts, cases.scores.tolist(), strict=True):
                found |= {text: -score for text, score in zip(texts, scores, strict=True) if score < 0}
    return found

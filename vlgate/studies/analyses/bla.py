"""The analyses of BLA (Chen 2022, §7, appendix A): preferences, verbs, agreement, a linear model of scores."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, log, nan
from pathlib import Path
from statistics import fmean

import numpy as np

from vlgate.errors import DataError
from vlgate.metrics.measures import wins
from vlgate.metrics.shapes import SHAPES
from vlgate.perturb.foils.candidates import WordTable
from vlgate.record.cases import CaseTable
from vlgate.sources.published.figures import beside
from vlgate.sources.reading.text_files import read_text
from vlgate.studies.analyses.between_models import agreement_table, reader_table
from vlgate.studies.analyses.resampling import library, share
from vlgate.studies.analyses.runs import FEWEST, Run, chosen, chosen_of, keys_of, pattern_of, verbs_of
from vlgate.studies.analyses.tables import Analysis, Row, Table, measured
from vlgate.types import FloatArray

# What is known of sentences: their words' concreteness and frequency, and what a file says of each.

_REMEDY = "name a file with commas between the cells and the titles text, perhaps image, and those of its numbers"
_KEYS = ("text", "image")
_STOP_WORDS = """
a an the and or but if of at by for with about to from in on off up down over under is are was were be been being am do
does did has have had having who whom which that this these those he she it they him her them his its their i you we me
us my your our not no than then so too very there here as into
"""
_STOP = frozenset(_STOP_WORDS.split())
"""Words that are not averaged (§7.2 removes stop words, and does not say which)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the linear model may use besides lengths, voices and verbs.

    Attributes:
        concreteness: the ratings of words, from 1 to 5; None without them.
        frequency: the counts of words; None without them.
        given: numbers of sentences by name, by (image, text), or by ("", text) for any image.
        names: the names of these numbers.
    """

    concreteness: WordTable | None = None
    frequency: WordTable | None = None
    given: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict, repr=False)
    names: tuple[str, ...] = ()

    @property
    def lacking(self) -> tuple[str, ...]:
        """Sentences about what the linear model leaves out."""
        found = [
            f"linear model: without {name}; give {option}"
            for name, option, there in (
                ("word concreteness", "--concreteness FILE", self.concreteness is not None),
                ("word frequency", "--frequency FILE", self.frequency is not None),
                (
                    "sizes and grammar",
                    "--features FILE, a CSV with the columns image, text and the numbers",
                    self.names,
                ),
            )
            if not there
        ]
        return tuple(found)

    def of(self, image: str | None, text: str) -> dict[str, float]:
        """Return the numbers of a sentence by name; NaN for a number that is not known."""
        found = {}
        if self.concreteness is not None:
            found["avg_concreteness"] = average(text, self.concreteness)
        if self.frequency is not None:
            found["avg_freq"] = average(text, self.frequency, logarithm=True)
        given = self.given.get((image or "", text), self.given.get(("", text), {}))
        return found | {name: given.get(name, nan) for name in self.names}


def average(text: str, table: WordTable, *, logarithm: bool = False) -> float:
    """Return the mean of a table's numbers over the words of a text except stop words; NaN if it has none."""
    words = [word for word in map(_word, text.split()) if word and word not in _STOP]
    values = [value for value in map(table.value, words) if value is not None and (value > 0 or not logarithm)]
    return fmean(map(log, values) if logarithm else values) if values else nan


def read_features(file: Path) -> tuple[dict[tuple[str, str], dict[str, float]], tuple[str, ...]]:
    """Read numbers of sentences from a file with commas between its cells.

    The first line has the titles: ``text``, ``image`` if the numbers depend on it, and a name for each number.

    Returns: the numbers by image and text, and their names.
    """
    rows = csv.reader(read_text(file, _REMEDY).splitlines())
    titles = next(rows, [])
    names = tuple(title for title in titles if title not in _KEYS)
    if "text" not in titles or not names or len(set(titles)) < len(titles):
        raise DataError(file, None, f"has the titles {', '.join(titles)[:60]!r}", _REMEDY)
    found: dict[tuple[str, str], dict[str, float]] = {}
    for number, cells in enumerate(rows, 2):
        row = _named(file, number, titles, cells)
        found[row.get("image", ""), row["text"]] = {name: _number(file, number, name, row[name]) for name in names}
    return found, names


def _named(file: Path, number: int, titles: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    if len(cells) != len(titles):
        raise DataError(file, f"on line {number}", f"has {len(cells)} cells, expected {len(titles)}", _REMEDY)
    return dict(zip(titles, cells, strict=True))


def _number(file: Path, line: int, name: str, text: str) -> float:
    try:
        value = float(text) if text.strip() else nan
    except ValueError:
        value = float("inf")
    if isfinite(value) or not text.strip():
        return value
    raise DataError(file, f"on line {line}", f"{name}={text[:20]!r}, expected a number", _REMEDY)


def _word(text: str) -> str:
    return text.lower().strip(".,;:!?\"'()")


# The linear model of BLA's statistical analysis (Chen 2022, §7.2, appendix A): what a sentence's score depends on.

SIGNIFICANT = 0.01
"""A predictor counts if its p-value is below this (§7.2)."""

_PASSIVE = (0.0, 1.0, 0.0, 1.0)  # of the four sentences of a set of two voices


def linear_table(model: str, task: str, cases: CaseTable, known: Features) -> Table:
    """Fit the score of each sentence of a task by least squares, ``score ~ length + voice + ... + verb``.

    Sentences that lack a number are left out. A predictor that is constant, or that follows from those before it, has
    no coefficient. The p-value is that of the paper, for independent sentences; the interval and the sign take the
    sentences of an image together (the cluster sandwich).
    """
    scores, columns, images = sentences(cases, known)
    rows = fitted(scores, columns, images) if len(scores) else []
    about = (
        f"change of the score of {model} per unit, from n sentences of {task}; the paper's sign is + or - if "
        f"p < {SIGNIFICANT} (Chen 2022, Tables 7.5 and 7.6)"
    )
    more = ("p", "paper's sign", "p by image", "images")
    return Table(
        title=f"Linear model: {model}, {task}",
        about=about,
        labels=("predictor",),
        value="coefficient",
        rows=tuple(rows),
        more=more,
    )


def sentences(cases: CaseTable, known: Features) -> tuple[FloatArray, dict[str, FloatArray], FloatArray]:
    """Return the scores of the sentences of some sets, their predictors by name, and the numbers of their images.

    ``len_sentence`` is the number of words; ``voice/passive`` and ``verb/...`` are 1 or 0. The first verb in the order
    of the alphabet is what the others are compared with, as in R.

    Returns: arrays of shape (n,), without the sentences that lack a number.
    """
    n, k = cases.scores.shape
    found: dict[str, FloatArray] = {"len_sentence": _words(cases)}
    if "ta_tp" in cases.case_metrics:
        found["voice/passive"] = np.tile(_PASSIVE, n)
    numbers = [
        known.of(image, text)
        for images, texts in zip(cases.images, cases.texts, strict=True)
        for image, text in zip(images, texts, strict=True)
    ]
    for name in numbers[0] if numbers else ():
        found[name] = np.array([row[name] for row in numbers])
    verbs = verbs_of(cases)
    for verb in sorted({*verbs} - {""}, key=lambda one: (one == "other", one))[1:]:
        found[f"verb/{verb}"] = np.repeat([float(one == verb) for one in verbs], k)
    scores = cases.scores.reshape(-1)
    there = np.isfinite(scores) & np.all([np.isfinite(values) for values in found.values()], axis=0)
    images = np.repeat(cases.groups.codes, k)[there]
    return scores[there], {name: values[there] for name, values in found.items()}, images.astype(np.float64)


def fitted(scores: FloatArray, columns: Mapping[str, FloatArray], images: FloatArray) -> list[Row]:
    """Fit scores by least squares.

    Args:
        scores: shape (n,).
        columns: the predictors by name, shape (n,) each.
        images: the numbers of the images of the sentences, shape (n,).

    Returns: a row per predictor, with a value only if the predictor has a coefficient.
    """
    kept = independent(columns)
    count = len(np.unique(images))
    if len(scores) <= len(kept) + 1 or not kept:
        return [_row(name, len(scores), count, None) for name in columns]
    models = library("statsmodels.api")
    design = models.add_constant(np.stack([columns[name] for name in kept], axis=1), has_constant="add")
    plain = models.OLS(scores, design).fit()
    grouped = plain.get_robustcov_results("cluster", groups=images, use_t=True) if count > 1 else None
    ends = None if grouped is None else grouped.conf_int()
    rows = []
    for name in columns:
        place = 1 + kept.index(name) if name in kept else None
        numbers = None
        if place is not None:
            by_image = (None, None, None) if ends is None or grouped is None else (*ends[place], grouped.pvalues[place])
            numbers = (plain.params[place], plain.pvalues[place], *by_image)
        rows.append(_row(name, len(scores), count, numbers))
    return rows


def independent(columns: Mapping[str, FloatArray]) -> list[str]:
    """Return the names of the columns that are neither constant nor follow from those before them, with a constant.

    >>> independent({"a": np.array([1.0, 2, 3]), "b": np.array([2.0, 4, 6]), "c": np.array([1.0, 0, 1])})
    ['a', 'c']
    """
    kept: list[str] = []
    design: list[FloatArray] = []
    for name, values in columns.items():
        spread = values - values.mean() if len(values) else values
        if len(values) and float(np.abs(spread).max()) > 0.0:
            tried = [*design, spread / np.linalg.norm(spread)]
            if np.linalg.matrix_rank(np.stack(tried, axis=1), tol=1e-8) == len(tried):
                design, kept = tried, [*kept, name]
    return kept


def _row(name: str, n: int, images: int, numbers: Sequence[float | None] | None) -> Row:
    value, p, low, high, p_image = (None if one is None else float(one) for one in numbers or [None] * 5)
    sign = "no coefficient" if value is None or p is None else "x" if p >= SIGNIFICANT else "+" if value > 0 else "-"
    more = {"p": p, "paper's sign": sign, "p by image": p_image, "images": images}
    return Row(labels=(name,), value=value, low=low, high=high, n=n, more=more)


def _words(cases: CaseTable) -> FloatArray:
    return np.array([len(text.split()) for texts in cases.texts for text in texts], dtype=np.float64)


# The analyses of BLA (Chen 2022, §7): preferences, verbs, what the scores depend on, agreement between models.

HEADLINE = "set_acc"
_SOURCE = "Chen 2022"
_PAPER = ("CLIP", "ViLBERT", "LXMERT", "GPT2")


def analyse(
    runs: Sequence[Run], features: Features | None = None, reader: Run | None = None, tasks: str | None = None
) -> Analysis:
    """Analyse the sets of four sentences of some runs.

    - ``features``: what is known of the words and sentences, for the linear model; None for their lengths alone.
    - ``tasks``: a pattern of task ids; None for those of BLA, or all sets if no run has these.
    """
    pattern = pattern_of(runs, "bla", HEADLINE, tasks)
    known = features or Features()
    tables = [_preferences(runs, pattern), _voices(runs, pattern), _by_verb(runs, pattern)]
    tables += [linear_table(run.name, task, cases, known) for run, task, cases in chosen_of(runs, pattern, HEADLINE)]
    notes = [*known.lacking]
    if len(runs) > 1:
        tables += [agreement_table(runs, pattern, HEADLINE), _all_of_them(runs, pattern)]
    else:
        notes.append("agreement between models: left out; name two or more runs")
    if reader is not None:
        tables.append(reader_table(runs, reader, pattern, HEADLINE, f"{_SOURCE}, Table 6.3"))
    return Analysis(
        name="bla", tasks=pattern, runs=tuple(run.name for run in runs), tables=tuple(tables), notes=tuple(notes)
    )


def preferences(cases: CaseTable) -> tuple[str, ...]:
    """Return the names of the six preferences that the sets have."""
    return next(
        spec.undirected for spec in SHAPES.values() if spec.undirected and spec.undirected[-1] in cases.case_metrics
    )


def passive_preference(cases: CaseTable) -> FloatArray | None:
    """Return, for each set, in how many of its four pairs of two voices the passive sentence scores higher, as a share.

    Returns: shape (n,); None if the sets are not of two voices.
    """
    if "ta_tp" not in cases.case_metrics:
        return None
    active_true, passive_true, active_false, passive_false = cases.scores.T
    pairs = [(passive, active) for passive in (passive_true, passive_false) for active in (active_true, active_false)]
    return np.asarray(np.mean([wins(passive, active) for passive, active in pairs], axis=0))


def noun_orders(cases: CaseTable) -> FloatArray | None:
    """Return, for each set, whether the same order of the two nouns is preferred in both voices.

    A model that goes by the order of the nouns prefers the true active to the false one, and the false passive to the
    true one, or the other way round. A model that knows who does what never does so.

    Returns: shape (n,), 1.0 or 0.0; None if the sets are not of two voices.
    """
    if "ta_tp" not in cases.case_metrics:
        return None
    active_true, passive_true, active_false, passive_false = cases.scores.T
    agent_first = wins(active_true, active_false) * wins(passive_false, passive_true)
    return agent_first + wins(active_false, active_true) * wins(passive_true, passive_false)


def _preferences(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        for name in preferences(cases):
            printed = {figure.model: figure.value for figure in beside(task, name)}
            more = {model: printed.get(model) for model in _PAPER}
            rows += measured((run.name, task, name), share(cases.case_metrics[name], cases.groups), more)
    return Table(
        title="Preferences",
        about=f"share of the n sets in which the sentence named first scores higher ({_SOURCE}, Tables 7.1 and 7.4)",
        labels=("model", "task", "preference"),
        value="share",
        rows=tuple(rows),
        more=_PAPER,
    )


def _voices(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        for name, values in (("passive", passive_preference(cases)), ("same noun order", noun_orders(cases))):
            if values is not None:
                rows += measured((run.name, task, name), share(values, cases.groups))
    return Table(
        title="Voices and the order of the nouns",
        about="over n sets: share of the pairs of an active and a passive sentence in which the passive one scores "
        f"higher; share of sets in which the same order of the nouns is preferred in both voices ({_SOURCE}, §7.1)",
        labels=("model", "task", "preferred"),
        value="share",
        rows=tuple(rows),
    )


def _by_verb(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        verbs = np.array(verbs_of(cases))
        for verb in sorted({*verbs.tolist()} - {""}, key=lambda one: (one == "other", one)):
            for metric in ("sen_acc", "set_acc", "set_error", *preferences(cases)):
                rows += measured(
                    (run.name, task, verb, metric), share(cases.case_metrics[metric], cases.groups, verbs == verb)
                )
    return Table(
        title="By verb",
        about=f"of the n sets with a verb; verbs of fewer than {FEWEST} sets are other ({_SOURCE}, Tables 7.2 and 7.3)",
        labels=("model", "task", "verb", "metric"),
        value="value",
        rows=tuple(rows),
    )


def _all_of_them(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for task, cases in chosen(runs[0], pattern, HEADLINE).items():
        others = [chosen(run, pattern, HEADLINE).get(task) for run in runs[1:]]
        there = [dict(zip(keys_of(one), range(len(one)), strict=True)) for one in others if one is not None]
        kept = [row for row, key in enumerate(keys_of(cases)) if all(key in places for places in there)]
        if not kept or len(there) < len(runs) - 1:
            continue
        first = cases.take(kept)
        for metric in (HEADLINE, "set_error"):
            every = first.case_metrics[metric] == 1.0
            for one, places in zip(others, there, strict=True):
                if one is not None:
                    every &= one.case_metrics[metric][[places[key] for key in keys_of(first)]] == 1.0
            rows += measured((task, metric), share(every, first.groups), {"sets": int(every.sum())})
    return Table(
        title="Sets that are right, or wrong, in all models",
        about=f"share of the n sets of all runs in which each model has set_acc, or set_error ({_SOURCE}, §7.3)",
        labels=("task", "in all models"),
        value="share",
        rows=tuple(rows),
        more=("sets",),
    )

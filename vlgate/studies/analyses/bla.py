"""The analyses of BLA (Chen 2022, §7, appendix A): preferences, verbs, agreement, a linear model of scores."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, nan
from pathlib import Path
from statistics import fmean

import numpy as np

from vlgate.errors import DataError
from vlgate.metrics.measures import wins
from vlgate.metrics.shapes import SHAPES
from vlgate.record.cases import CaseTable
from vlgate.sources.published.figures import beside
from vlgate.sources.reading.text_files import read_text
from vlgate.studies.analyses.runs import FEWEST, Named, Run, Study, keys_of, studied, verbs_of
from vlgate.studies.analyses.tables import Analysis, Row, Table, library, measured, number_in, share, table
from vlgate.types import FloatArray

_REMEDY = "name a file with commas between the cells and the titles text, perhaps image, and those of its numbers"
_KEYS = ("text", "image")
_STOP = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())
"""Words that are not averaged (§7.2 removes stop words, and does not say which)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    concreteness: Callable[[str], float | None] | None = None  # the ratings of words, from 1 to 5
    frequency: Callable[[str], float | None] | None = None  # the counts of words
    # Numbers of sentences by name, by (image, text), or by ("", text) for any image.
    given: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict, repr=False)
    names: tuple[str, ...] = ()  # of these numbers

    @property
    def lacking(self) -> tuple[str, ...]:
        features = "--features FILE, a CSV with the columns image, text and the numbers"
        sources = (
            ("word concreteness", "--concreteness FILE", self.concreteness),
            ("word frequency", "--frequency FILE", self.frequency),
            ("sizes and grammar", features, self.names or None),
        )
        return tuple(f"linear model: without {name}; give {option}" for name, option, of in sources if of is None)

    def of(self, image: str | None, text: str) -> dict[str, float]:
        numbers = {}
        if self.concreteness is not None:
            numbers["avg_concreteness"] = average(text, self.concreteness)
        if self.frequency is not None:
            numbers["avg_freq"] = average(text, self.frequency, logarithm=True)
        given = self.given.get((image or "", text), self.given.get(("", text), {}))
        return numbers | {name: given.get(name, nan) for name in self.names}


def average(text: str, table: Callable[[str], float | None], *, logarithm: bool = False) -> float:
    words = [word.strip(".,;:!?\"'()") for word in text.lower().split()]
    values = [table(word) for word in words if word and word not in _STOP]
    known = [value for value in values if value is not None and (value > 0 or not logarithm)]
    return fmean(map(log, known) if logarithm else known) if known else nan


def read_features(file: Path) -> tuple[dict[tuple[str, str], dict[str, float]], tuple[str, ...]]:
    rows = csv.reader(read_text(file, _REMEDY).splitlines())
    titles = next(rows, [])
    names = tuple(title for title in titles if title not in _KEYS)
    if "text" not in titles or not names or len(set(titles)) < len(titles):
        raise DataError(file, None, f"has the titles {', '.join(titles)[:60]!r}", _REMEDY)
    numbers: dict[tuple[str, str], dict[str, float]] = {}
    for line, cells in enumerate(rows, 2):
        if len(cells) != len(titles):
            raise DataError(file, f"on line {line}", f"has {len(cells)} cells, expected {len(titles)}", _REMEDY)
        row = dict(zip(titles, cells, strict=True))
        numbers[row.get("image", ""), row["text"]] = {
            name: number_in(file, line, name, row[name], _REMEDY) if row[name].strip() else nan for name in names
        }
    return numbers, names


SIGNIFICANT = 0.01  # a predictor counts if its p-value is below this (§7.2)

_PASSIVE = (0.0, 1.0, 0.0, 1.0)  # of the four sentences of a set of two voices


def linear_table(model: str, task: str, cases: CaseTable, known: Features) -> Table:
    """Fit the score of each sentence of a task by least squares, ``score ~ length + voice + ... + verb``."""
    # Sentences that lack a number are left out. A predictor that is constant, or that follows from those before it, has
    # no coefficient. The p-value is that of the paper, for independent sentences; the interval and the sign take the
    # sentences of an image together (the cluster sandwich).
    scores, columns, images = sentences(cases, known)
    rows = fitted(scores, columns, images) if len(scores) else []
    return table("bla-linear", rows, model=model, task=task, significant=SIGNIFICANT)


def sentences(cases: CaseTable, known: Features) -> tuple[FloatArray, dict[str, FloatArray], FloatArray]:
    """Return the n scores of the sentences of some sets, their predictors by name, and the numbers of their images."""
    # ``len_sentence`` is the number of words; ``voice/passive`` and ``verb/...`` are 1 or 0. The first verb in the
    # order of the alphabet is what the others are compared with, as in R. Sentences that lack a number are left out.
    n, k = cases.scores.shape
    lengths = [len(text.split()) for texts in cases.texts for text in texts]
    found: dict[str, FloatArray] = {"len_sentence": np.array(lengths, dtype=np.float64)}
    if "ta_tp" in cases.case_metrics:
        found["voice/passive"] = np.tile(_PASSIVE, n)
    pairs = (zip(*both, strict=True) for both in zip(cases.images, cases.texts, strict=True))
    numbers = [known.of(image, text) for pair in pairs for image, text in pair]
    for name in numbers[0] if numbers else ():
        found[name] = np.array([row[name] for row in numbers])
    verbs = verbs_of(cases)
    for verb in _ordered(verbs)[1:]:
        found[f"verb/{verb}"] = np.repeat([float(of_set == verb) for of_set in verbs], k)
    scores = cases.scores.reshape(-1)
    there = np.isfinite(scores) & np.all([np.isfinite(values) for values in found.values()], axis=0)
    images = np.repeat(cases.groups.codes, k)[there]
    return scores[there], {name: values[there] for name, values in found.items()}, images.astype(np.float64)


def fitted(scores: FloatArray, columns: Mapping[str, FloatArray], images: FloatArray) -> list[Row]:
    kept = independent(columns)
    n, count = len(scores), len(np.unique(images))
    numbers: dict[str, list[float | None]] = {}
    if n > len(kept) + 1 and kept:
        models = library("statsmodels.api")
        design = models.add_constant(np.stack([columns[name] for name in kept], axis=1), has_constant="add")
        plain = models.OLS(scores, design).fit()
        parts = [plain.params, plain.pvalues]
        if count > 1:
            grouped = plain.get_robustcov_results("cluster", groups=images, use_t=True)
            parts += [*grouped.conf_int().T, grouped.pvalues]
        for index, name in enumerate(kept, 1):
            own = [float(part[index]) for part in parts]
            numbers[name] = [*own, *[None] * (5 - len(own))]
    rows = []
    for name in columns:
        value, p, low, high, by_image = numbers.get(name, [None] * 5)
        sign = "no coefficient"
        if value is not None and p is not None:
            sign = "x" if p >= SIGNIFICANT else "+" if value > 0 else "-"
        more = {"p": p, "paper's sign": sign, "p by image": by_image, "images": count}
        rows.append(Row(labels=(name,), value=value, low=low, high=high, n=n, more=more))
    return rows


def independent(columns: Mapping[str, FloatArray]) -> list[str]:
    kept: list[str] = []
    design: list[FloatArray] = []
    for name, values in columns.items():
        spread = values - values.mean() if len(values) else values
        if len(values) and float(np.abs(spread).max()) > 0.0:
            tried = [*design, spread / np.linalg.norm(spread)]
            if np.linalg.matrix_rank(np.stack(tried, axis=1), tol=1e-8) == len(tried):
                design, kept = tried, [*kept, name]
    return kept


HEADLINE = "set_acc"
_PAPER = ("CLIP", "ViLBERT", "LXMERT", "GPT2")


def analyse(
    runs: Sequence[Run], features: Features | None = None, reader: Run | None = None, tasks: str | None = None
) -> Analysis:
    study = studied(runs, "bla", HEADLINE, tasks)
    known = features or Features()
    sets = study.named()
    tables = [
        table("bla-preferences", _preferences(sets)),
        table("bla-voices", _voices(sets)),
        table("bla-verbs", _by_verb(sets), fewest=FEWEST),
        *(linear_table(model, task, cases, known) for model, task, cases in sets),
    ]
    notes = [*known.lacking]
    if len(runs) > 1:
        tables += [study.agreement(), table("bla-all", _all_of_them(study))]
    else:
        notes.append("agreement between models: left out; name two or more runs")
    if reader is not None:
        tables.append(study.beside(reader, "Chen 2022, Table 6.3"))
    return study.analysis(tables, notes)


def preferences(cases: CaseTable) -> tuple[str, ...]:
    known = (spec.undirected for spec in SHAPES.values() if spec.undirected)
    return next(names for names in known if names[-1] in cases.case_metrics)


def passive_preference(cases: CaseTable) -> FloatArray | None:
    if "ta_tp" not in cases.case_metrics:
        return None
    active_true, passive_true, active_false, passive_false = cases.scores.T
    pairs = [(passive, active) for passive in (passive_true, passive_false) for active in (active_true, active_false)]
    return np.asarray(np.mean([wins(passive, active) for passive, active in pairs], axis=0))


def noun_orders(cases: CaseTable) -> FloatArray | None:
    # A model that goes by the order of the nouns prefers the true active to the false one, and the false passive to the
    # true one, or the other way round. A model that knows who does what never does so.
    if "ta_tp" not in cases.case_metrics:
        return None
    active_true, passive_true, active_false, passive_false = cases.scores.T
    agent_first = wins(active_true, active_false) * wins(passive_false, passive_true)
    return agent_first + wins(active_false, active_true) * wins(passive_true, passive_false)


def _preferences(sets: Named) -> Iterator[Row]:
    for model, task, cases in sets:
        for name in preferences(cases):
            printed = {figure.model: figure.value for figure in beside(task, name)}
            more = {paper: printed.get(paper) for paper in _PAPER}
            yield from measured((model, task, name), share(cases.case_metrics[name], cases.groups), more)


def _voices(sets: Named) -> Iterator[Row]:
    for model, task, cases in sets:
        for name, values in (("passive", passive_preference(cases)), ("same noun order", noun_orders(cases))):
            if values is not None:
                yield from measured((model, task, name), share(values, cases.groups))


def _by_verb(sets: Named) -> Iterator[Row]:
    for model, task, cases in sets:
        verbs = np.array(verbs_of(cases))
        for verb in _ordered(verbs.tolist()):
            for metric in ("sen_acc", "set_acc", "set_error", *preferences(cases)):
                right = share(cases.case_metrics[metric], cases.groups, verbs == verb)
                yield from measured((model, task, verb, metric), right)


def _ordered(verbs: Iterable[str]) -> list[str]:
    return sorted({*verbs} - {""}, key=lambda verb: (verb == "other", verb))


def _all_of_them(study: Study) -> Iterator[Row]:
    for task, cases in study.of(study.runs[0]).items():
        others = [study.of(run).get(task) for run in study.runs[1:]]
        there = [dict(zip(keys_of(other), range(len(other)), strict=True)) for other in others if other is not None]
        kept = [row for row, key in enumerate(keys_of(cases)) if all(key in places for places in there)]
        if not kept or len(there) < len(others):
            continue
        first = cases.take(kept)
        for metric in (HEADLINE, "set_error"):
            every = first.case_metrics[metric] == 1.0
            for other, places in zip(others, there, strict=True):
                if other is not None:
                    every &= other.case_metrics[metric][[places[key] for key in keys_of(first)]] == 1.0
            yield from measured((task, metric), share(every, first.groups), {"sets": int(every.sum())})

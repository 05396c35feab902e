"""The shortcut score of each case by each probe, cross-fitted by image, and its file ``shortcuts.parquet``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vlgate.audit.blind_baseline import SOLVED
from vlgate.audit.choices import BoolArray, Choices, Findings, at_random, choices, likelihoods
from vlgate.audit.shortcut_probes import form_features, ngram_features, word_features
from vlgate.errors import NoReplyError
from vlgate.metrics.clusters import case_clusters, clusters
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.stats import proportion
from vlgate.metrics.text_learning import FOLDS, IntArray, tied_images
from vlgate.types import FloatArray, LanguageModel, Metric, Task

# The shortcut score of each case: how likely each probe holds the truth to be, without having seen the image's texts.
# There are three probes. ``words`` is the text-only baseline of every run (naive Bayes of words and their neighbours),
# ``form`` knows lengths, rare words, numbers, negations and slips only, and ``likelihood`` compares the texts by a
# causal language model. All are cross-fitted: a case is scored by what was learnt from the other folds of images, and
# the weights that turn the findings of a probe into probabilities are learnt there, too, from findings that do not
# know the fold (nested cross-validation). So a probe that finds nothing gives each candidate the same probability, and
# solves no case by luck.

PROBES = ("words", "form", "likelihood")  # the names of the probes, in the order of their columns

_NULL_CASES = 2_000  # random truths are drawn until they are of as many cases, at most _NULL_DRAWS times
_NULL_DRAWS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcuts:
    """What the probes reach on the n cases of a task; if they could not be run, ``note`` says why."""

    # ``scores``, shape (n, 3), are the probabilities of the truth; those of a case with several choices are of its
    # least certain one. ``sure`` says whether a probe holds one candidate of a choice to be at least ``SOLVED`` likely,
    # right or wrong. ``right`` is what the case contributes to the share that the probe gets right; a tie counts what
    # guessing among the tied gives. ``images`` names the cluster of each case.

    task: str
    cases: tuple[str, ...] = field(repr=False)
    images: tuple[str, ...] = field(repr=False)
    scores: FloatArray = field(repr=False)
    sure: BoolArray = field(repr=False)
    right: FloatArray = field(repr=False)
    note: str = ""

    @property
    def solved_blind(self) -> IntArray:
        """How many probes solve each case, shape (n,): they hold the truth to be at least ``SOLVED`` likely."""
        return np.asarray((self.scores >= SOLVED).sum(axis=1), dtype=np.int64)

    @property
    def unsolved(self) -> BoolArray:
        return np.asarray(self.solved_blind == 0)

    @property
    def unsure(self) -> BoolArray:
        """Whether no probe is sure of each case, rightly or wrongly, shape (n,)."""
        return np.asarray(~self.sure.any(axis=1))

    def reached(self, probe: str) -> Metric | None:
        if self.note or not self.cases:
            return None
        return proportion(self.right[:, PROBES.index(probe)], clusters(list(self.images)))

    def share(self, kept: BoolArray) -> Metric | None:
        return None if self.note else proportion(kept.astype(np.float64), clusters(list(self.images)))


def shortcuts(task: Task, lm: LanguageModel | None = None) -> Shortcuts:
    """Score every case of a task by its texts alone; the order of the cases makes no difference."""
    # Without a causal language model ``lm``, the probe ``likelihood`` has trigrams of the true texts of the other
    # folds. The probes are not run on a task of fewer images than folds, nor on one without a choice.
    known, n = choices(task), len(task.cases)
    note, groups = "", len(set(tied_images(task.cases).values()))
    if not len(known.cases):
        note = "not run: no case has a true and a false text of an image, or an answer among its choices"
    elif groups < FOLDS:
        note = f"not run: {FOLDS} folds need {FOLDS} images, and there are {groups}"
    scores = right = np.full((n, len(PROBES)), np.nan)
    sure = np.zeros((n, len(PROBES)), dtype=np.bool_)
    if not note:
        guess = None if known.questions else SHAPES[task.shape].chance.get(SHAPES[task.shape].headline)
        by_probe = (
            word_features(known),
            form_features(known),
            ngram_features(known) if lm is None else _model_features(known, lm),
        )
        judged = [_judged(known, likelihoods(known, *features), n, guess) for features in by_probe]
        scores, sure, right = (np.stack(part, axis=1) for part in zip(*judged, strict=True))
    return Shortcuts(
        task=task.id,
        cases=tuple(case.id for case in task.cases),
        images=case_clusters(task.cases),
        scores=scores,
        sure=sure,
        right=right,
        note=note,
    )


def by_luck(task: Task, lm: LanguageModel | None = None) -> float:
    # Small tasks are drawn several times. The draws depend on the id of the task only.
    n = len(task.cases)
    draws = max(1, min(_NULL_DRAWS, _NULL_CASES // max(1, n)))
    remembered = None if lm is None else _Remembered(lm)
    found = [shortcuts(at_random(task, f"shortcuts:{task.id}:{draw}"), remembered) for draw in range(draws)]
    return float("nan") if found[0].note else float(np.mean([1 - one.unsolved.mean() for one in found]))


def _model_features(found: Choices, lm: LanguageModel) -> Findings:
    texts = found.whole()
    distinct = list(dict.fromkeys(texts))
    known = dict(zip(distinct, mean_logs(distinct, lm).tolist(), strict=True))
    means = np.array([known[text] for text in texts], dtype=np.float64)
    logs = np.stack([means, means * [len(text.split()) for text in texts]], axis=1)
    return (lambda _: logs), None


def mean_logs(texts: Sequence[str], lm: LanguageModel) -> FloatArray:
    """Mean log-probabilities of the words of texts, shape (n,); NaN for a text that is too short for the model."""
    try:
        return -np.log(np.asarray(lm.perplexity(texts), dtype=np.float64))
    except NoReplyError as error:
        kept = [index for index in range(len(texts)) if index not in error.positions]
        means = np.full(len(texts), np.nan)
        if kept and len(kept) < len(texts):
            means[kept] = mean_logs([texts[place] for place in kept], lm)
        return means


class _Remembered:
    def __init__(self, lm: LanguageModel) -> None:
        self._lm = lm
        self._known: dict[str, float] = {}

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, np.exp(-mean_logs(new, self._lm)).tolist(), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float64)


def _judged(
    found: Choices, likely: FloatArray, n: int, guess: float | None
) -> tuple[FloatArray, BoolArray, FloatArray]:
    """The score of each case, whether the probe is sure of a candidate, and whether it gets the case right."""
    # A case cannot be solved if one of its choices was left out. A case without any preference counts ``guess``: a
    # random order of four texts, whose comparisons depend on one another, is right in all in 1/6 and not 1/16.
    true, starts = likely[found.true], found.starts
    highest = np.maximum.reduceat(likely, starts)
    tied = np.add.reduceat((likely == highest[found.owners]).astype(np.float64), starts)
    scores, right, sure = np.ones(n), np.ones(n), np.zeros(n, dtype=np.bool_)
    np.minimum.at(scores, found.cases, true)
    np.multiply.at(right, found.cases, np.where(true == highest, 1 / tied, 0.0))
    np.logical_or.at(sure, found.cases, highest >= SOLVED)
    if guess is not None:
        even = np.ones(n, dtype=np.bool_)
        np.logical_and.at(even, found.cases, tied == np.bincount(found.owners))
        right = np.where(even, guess, right)
    numbers = np.bincount(found.cases, minlength=n)
    lacking = numbers < (numbers.max() if found.questions else 1)
    return np.where(lacking, 0.0, scores), sure, np.where(lacking, 0.0, right)


def write_shortcuts(file: Path, found: Sequence[Shortcuts]) -> None:
    import pyarrow as pa
    from pyarrow.parquet import write_table

    rows = [
        (task.task, case, *([None] * (len(PROBES) + 2) if task.note else (*scores, count, not unsure)))
        for task in found
        for case, scores, count, unsure in zip(
            task.cases, task.scores.tolist(), task.solved_blind.tolist(), task.unsure.tolist(), strict=True
        )
    ]
    types = {"task": pa.string(), "case": pa.string(), **dict.fromkeys(PROBES, pa.float64())}
    schema = pa.schema({**types, "solved_blind": pa.int64(), "sure": pa.bool_()})
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    write_table(pa.table(arrays, schema=schema), file, use_dictionary=["task"])

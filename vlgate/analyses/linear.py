"""The linear model of BLA's statistical analysis (Chen 2022, §7.2, appendix A): what a sentence's score depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vlgate.analyses.features import Features
from vlgate.analyses.records import Row, Table
from vlgate.analyses.resampling import library
from vlgate.analyses.runs import Cases
from vlgate.analyses.verbs import verbs_of
from vlgate.types import FloatArray

SIGNIFICANT = 0.01
"""A predictor counts if its p-value is below this (§7.2)."""

_PASSIVE = (0.0, 1.0, 0.0, 1.0)  # of the four sentences of a set of two voices


def linear_table(model: str, task: str, cases: Cases, known: Features) -> Table:
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


def sentences(cases: Cases, known: Features) -> tuple[FloatArray, dict[str, FloatArray], FloatArray]:
    """Return the scores of the sentences of some sets, their predictors by name, and the numbers of their images.

    ``len_sentence`` is the number of words; ``voice/passive`` and ``verb/...`` are 1 or 0. The first verb in the order
    of the alphabet is what the others are compared with, as in R.

    Returns: arrays of shape (n,), without the sentences that lack a number.
    """
    n, k = cases.scores.shape
    found: dict[str, FloatArray] = {"len_sentence": _words(cases)}
    if "ta_tp" in cases.facts:
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


def _words(cases: Cases) -> FloatArray:
    return np.array([len(text.split()) for texts in cases.texts for text in texts], dtype=np.float64)

"""The cases of a task as choices among texts, and the conditional logit model (McFadden 1974) that decides them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vlgate.audit.flaws import text_pairs
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.text_learning import IntArray, stratified_folds
from vlgate.seeds import generator
from vlgate.types import Ask, Case, FloatArray, Match, Shape, Task

BoolArray = NDArray[np.bool_]
_COMMON = 20  # how many of the most common answers compete for a question without choices


Features = Callable[[int], FloatArray]
"""The features of all m candidates, shape (m, f), by a fold that is left out.

Those of a candidate in the fold are learnt from all other folds. Those of another candidate are learnt from the folds
other than its own and the one left out: so weights of the features that are learnt from them know nothing of the fold.
"""
Findings = tuple[Features, BoolArray | None]
"""The features of a probe, and which, shape (f,), may speak for a candidate and never against it; None for no such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The k choices of a task, with m candidates in all."""

    # ``texts`` are the candidates, ``owners`` (m,) their choices in ascending order, and ``true`` (m,) marks the right
    # one of each choice. ``questions`` are those of the choices, empty if the candidates are texts of an image.
    # ``cases`` (k,) and ``folds`` (k,) are the case and the fold of each choice, ``places`` (k,) that of the right
    # request in its case, and ``images`` (k,) the key of its image. Choices with a common image have a common fold.

    texts: tuple[str, ...]
    owners: IntArray
    true: BoolArray
    questions: tuple[str, ...]
    cases: IntArray
    places: IntArray
    images: tuple[str, ...]
    folds: IntArray

    @property
    def starts(self) -> IntArray:
        return np.searchsorted(self.owners, np.arange(len(self.cases))).astype(np.int64)

    def whole(self) -> list[str]:
        """Return each candidate as a text of its own: an answer follows its question."""
        if not self.questions:
            return list(self.texts)
        return [f"{self.questions[owner]} {text}" for owner, text in zip(self.owners, self.texts, strict=True)]


def choices(task: Task) -> Choices:
    """Return the choices of a task, without those whose right answer is not among its candidates."""
    folds = stratified_folds(task.cases)
    asked = any(isinstance(request, Ask) for case in task.cases[:1] for request in case.requests)
    drawn = list(_answers(task.cases) if asked else _texts(task.cases, task.shape))
    sizes = [len(one.texts) for one in drawn]
    return Choices(
        texts=tuple(text for one in drawn for text in one.texts),
        owners=np.repeat(np.arange(len(drawn)), sizes).astype(np.int64),
        true=np.array([index == one.right for one in drawn for index in range(len(one.texts))], dtype=np.bool_),
        questions=tuple(one.question for one in drawn) if asked else (),
        cases=np.array([one.case for one in drawn], dtype=np.int64),
        places=np.array([one.place for one in drawn], dtype=np.int64),
        images=tuple(one.image for one in drawn),
        folds=np.array([folds[one.image] for one in drawn], dtype=np.int64),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    case: int
    place: int
    image: str
    texts: tuple[str, ...]
    right: int = 0
    question: str = ""


def _texts(cases: Sequence[Case], shape: Shape) -> Iterator[_Choice]:
    if shape != "choice":
        for number, right, true, false in text_pairs(cases, shape):
            yield _Choice(case=number, place=right, image=true.image.key, texts=(true.text, false.text))
        return
    for number, case in enumerate(cases):
        pairs = [request for request in case.requests if isinstance(request, Match)]
        yield _Choice(case=number, place=0, image=pairs[0].image.key, texts=tuple(pair.text for pair in pairs))


def _answers(cases: Sequence[Case]) -> Iterator[_Choice]:
    asked = [
        (number, index, request, plain(str(truth)))
        for number, case in enumerate(cases)
        for index, (request, truth) in enumerate(zip(case.requests, case.truths, strict=True))
        if isinstance(request, Ask)
    ]
    ranked = sorted(Counter(truth for *_, truth in asked).items(), key=lambda item: (-item[1], item[0]))
    common = tuple(answer for answer, _ in ranked[:_COMMON])
    for number, place, request, truth in asked:
        offered = tuple(dict.fromkeys(map(plain, request.choices))) or common
        if truth in offered:
            image, right = request.image.key, offered.index(truth)
            yield _Choice(case=number, place=place, image=image, texts=offered, right=right, question=request.question)


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


def at_random(task: Task, name: str) -> Task:
    """Return a task with the same texts whose truths are drawn anew, seeded by ``name``: no text gives them away."""
    # Each side of a case is true with the same probability, and so is each candidate answer of a question.
    random, known = generator(name), choices(task)
    if not known.questions:
        return replace(task, cases=tuple(_reordered(case, task.shape, random) for case in task.cases))
    truths = [list(case.truths) for case in task.cases]
    ends = [*known.starts[1:].tolist(), len(known.texts)]
    drawn = random.random(len(known.cases))
    for number, (start, end) in enumerate(zip(known.starts.tolist(), ends, strict=True)):
        truths[known.cases[number]][known.places[number]] = known.texts[start + int(drawn[number] * (end - start))]
    cases = zip(task.cases, truths, strict=True)
    return replace(task, cases=tuple(replace(case, truths=tuple(given)) for case, given in cases))


def _reordered(case: Case, shape: Shape, random: np.random.Generator) -> Case:
    if exchanged := SHAPES[shape].exchanged:
        order = exchanged if random.random() < 0.5 else tuple(range(len(case.requests)))
    else:
        order = tuple(random.permutation(len(case.requests)).tolist())
    return replace(case, requests=tuple(case.requests[place] for place in order))


# A conditional logit model (McFadden 1974), cross-fitted: how likely each candidate of a choice is the right one.
# A candidate has features, and the probability of each candidate of a choice is the softmax of a weighted sum of them.
# For two candidates this is a logistic regression of the difference of their features, without a constant: a model
# that has learnt nothing gives both the same probability.

_RIDGE = 4.0  # the precision of a normal prior of the weights, for features of variance 1: small tasks overfit with 1
_STEPS = 50  # of Newton's method, which needs fewer than twenty
_SMALL = 1e-6
_MARGIN = 1.0  # of log-likelihood: 40 cases whose foils have commoner words by chance have less
_ROUNDING = 1e-9  # of a feature: far more than the error of a mean, far less than what tells two texts apart
_LARGEST = 30.0  # of a weighted sum, beyond which exp() says nothing more


def likelihoods(found: Choices, features: Features, rising: BoolArray | None = None) -> FloatArray:
    """Return the probability of each candidate, learnt from the choices of the other folds, shape (m,)."""
    # ``features`` gives those of the candidates by the fold that is left out; NaN counts as the mean of the choice.
    # Those marked in ``rising``, shape (f,), may speak for a candidate and never against it.
    #
    # The probabilities are equal if the choices teach no more than chance does: if the weights raise the log-likelihood
    # of the choices that they are learnt from by no more than 1 beyond their number (Akaike 1974), on average over the
    # folds. One fold does not decide for itself: what the others teach of a task that is balanced exactly is the
    # opposite of what is true in it.
    chance = 1 / np.bincount(found.owners, minlength=len(found.cases))
    even = chance[found.owners].astype(np.float64)
    result, surplus = even.copy(), []
    folds = found.folds[found.owners]
    for fold in np.unique(found.folds).tolist():
        inside = folds == fold
        if inside.all():
            continue
        rows = centred(features(fold), found)
        # Scaled by the root mean square over the choices that a feature divides, so that a rare mark stays small.
        outside = rows[~inside]
        scale = np.sqrt((outside**2).sum(axis=0) / np.maximum((outside != 0).sum(axis=0), 1))
        rows /= np.where(scale > 0, scale, 1.0)
        weights, more = _rising(rows[~inside], found.owners[~inside], found.true[~inside], rising)
        surplus.append(more)
        result[inside] = _softmax(rows[inside] @ weights, found.owners[inside])
    return result if surplus and np.mean(surplus) > _MARGIN else even


def _rising(rows: FloatArray, owners: IntArray, true: BoolArray, rising: BoolArray | None) -> tuple[FloatArray, float]:
    """Return weights, shape (f,), and by how much they are worth more than their number, as ``_fitted`` does."""
    # A feature that may only speak for a candidate has the weight 0 if it would speak against it.
    if rising is None:
        return _fitted(rows, owners, true)
    used, weights, surplus = np.ones(rows.shape[1], dtype=np.bool_), np.zeros(rows.shape[1]), 0.0
    while used.any():
        weights[used], surplus = _fitted(rows[:, used], owners, true)
        against = used & rising & (weights < 0)
        if not against.any():
            return weights, surplus
        used &= ~against
        weights[:] = 0.0
    return weights, 0.0


def centred(features: FloatArray, found: Choices) -> FloatArray:
    """Return features with mean 0 within each choice, shape (m, f); NaN is 0."""
    known = np.isfinite(features)
    counted = np.where(known, features, 0.0)
    numbers = np.add.reduceat(known.astype(np.float64), found.starts, axis=0)
    means = np.add.reduceat(counted, found.starts, axis=0) / np.maximum(numbers, 1.0)
    result = np.where(known, features - means[found.owners], 0.0)
    # An error of rounding is 0: it depends on the order of the candidates, and so on which of them is right.
    return np.where(np.abs(result) > _ROUNDING * np.abs(counted), result, 0.0)


def _fitted(rows: FloatArray, owners: IntArray, true: BoolArray) -> tuple[FloatArray, float]:
    """The weights with the highest posterior probability, shape (f,), by Newton's method with halved steps."""
    # Also by how much they raise the log-likelihood beyond their number, corrected for few choices (Hurvich, Tsai
    # 1989).
    weights = np.zeros(rows.shape[1])
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    number = np.cumsum(np.diff(owners, prepend=-1) != 0) - 1

    def likelihood(found: FloatArray) -> float:
        return float(np.log(_softmax(rows @ found, owners)[true]).sum())

    def posterior(found: FloatArray) -> float:
        return likelihood(found) - float(_RIDGE / 2 * found @ found)

    best = start = posterior(weights)
    curve = _RIDGE * np.eye(len(weights))
    for _ in range(_STEPS):
        likely = _softmax(rows @ weights, owners)
        slope = rows.T @ (true - likely) - _RIDGE * weights
        means = np.add.reduceat(rows * likely[:, None], starts, axis=0)
        away = rows - means[number]
        curve = (away * likely[:, None]).T @ away + _RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        while (now := posterior(weights + step)) < best and np.abs(step).max() > _SMALL:
            step /= 2
        weights, best = weights + step, now
        if np.abs(step).max() < _SMALL:
            break
    numbers = len(weights) - _RIDGE * float(np.trace(np.linalg.inv(curve)))
    spare = len(starts) - numbers - 1
    corrected = numbers * (1 + (numbers + 1) / spare) if spare > 0 else np.inf
    return weights, likelihood(weights) - start - corrected


def _softmax(values: FloatArray, owners: IntArray) -> FloatArray:
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    number = np.cumsum(np.diff(owners, prepend=-1) != 0) - 1
    highest = np.maximum.reduceat(values, starts)
    powers = np.exp(np.maximum(values - highest[number], -_LARGEST))
    return np.asarray(powers / np.add.reduceat(powers, starts)[number], dtype=np.float64)

"""Asks the trials of all charts by adaptive staircases, a round of every chart at once; says the cost before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import OptionError
from vlgate.metrics.perception import FACULTIES, Acuity, Fit, Grid, Word, fit_of, fits, grid, most_telling, weights_of
from vlgate.metrics.stats import wilson
from vlgate.seeds import generator, quick_generator
from vlgate.studies.acuity.trials import Trial, trial
from vlgate.types import FloatArray, Prediction, Predictor

ROUND = 20  # trials of a chart that are asked together
TRIALS = 240  # trials of a chart; twice as many calls
LEAST = 60  # the fewest trials after which a chart can end early, and the fewest that a limit must leave
_FIRST_EASY, _EASY = 8, 0.2  # of the first round, and the share of later ones: the best of a model is seen there
_HOPELESS = 1.0  # so little likelier than chance that more trials will hardly tell

Positions = NDArray[np.int64]


@dataclass(slots=True, kw_only=True)
class Staircase:
    observers: Grid
    asked: Positions  # how many trials so far at each of the places of a range, shape (n,)
    right: Positions  # how many of these
    log_likelihood: FloatArray  # of the replies for each observer of the grid, shape (k,)

    @classmethod
    def over(cls, places: FloatArray) -> Staircase:
        observers, nothing = grid(places), np.zeros(len(places), np.int64)
        unsaid = np.zeros(len(observers.thresholds))
        return cls(observers=observers, asked=nothing, right=nothing.copy(), log_likelihood=unsaid)

    def following(self, number: int) -> Positions:
        # The first round spreads over the range, with a part at the easy end; later ones ask the places that tell most,
        # and a fifth of them at the easy end: without a best there is no midpoint.
        last = len(self.asked) - 1
        if not self.asked.any():
            over = np.linspace(0, last, max(number - _FIRST_EASY, 1)).round().astype(np.int64)
        else:
            weights = weights_of(self.observers, self.log_likelihood)
            over = most_telling(self.observers, weights, number - int(_EASY * number))
        return np.concatenate([over, np.full(number - len(over), last)])

    def add(self, positions: Positions, right: NDArray[np.bool_]) -> None:
        np.add.at(self.asked, positions, 1)
        np.add.at(self.right, positions[right], 1)
        self.log_likelihood += self.observers.log_right[positions[right]].sum(axis=0)
        self.log_likelihood += self.observers.log_wrong[positions[~right]].sum(axis=0)

    def fit(self) -> Fit:
        return fit_of(self.observers, self.log_likelihood, int(self.asked.sum()))

    @property
    def decided(self) -> bool:
        if int(self.asked.sum()) < LEAST:
            return False
        fit = self.fit()
        return fit.high < 0 or fit.low > 1 or fit.likelier < _HOPELESS


CALLS = 2  # requests of a trial: the true text and the false one
PACE = 8  # trials of each of the two samples, the first to warm up, the second to measure the time of a call
_LEAST_FIT = 0.01  # the least p-value of a fit that a threshold is given with


def cost(faculties: Sequence[str], limit: int | None = None) -> tuple[int, int]:
    """Return the most calls, and the most trials of each chart."""
    pace = 2 * PACE * CALLS
    trials = TRIALS if limit is None else min(TRIALS, (limit - pace) // (CALLS * len(faculties)))
    if trials < LEAST:
        least = LEAST * CALLS * len(faculties) + pace
        need, remedy = f"{len(faculties)} charts need", "raise --limit, or draw fewer of them with --faculty"
        if len(faculties) == 1:
            need, remedy = "1 chart needs", "raise --limit"
        raise OptionError(f"--limit {limit}: {need} at least {least:,} calls; {remedy}")
    return trials * CALLS * len(faculties) + pace, trials


def seconds_per_call(predictor: Predictor, faculties: Sequence[str], seed: int) -> float:
    for name in ("warm", "pace"):
        trials = []
        for number in range(PACE):
            faculty = faculties[number % len(faculties)]
            levels = FACULTIES[faculty].levels()
            trials.append(trial(faculty, float(levels[-1]), len(levels) - 1, f"{seed}/{name}/{number}/{faculty}"))
        start = perf_counter()
        predictor.predict(request for one in trials for request in one.requests)
    return (perf_counter() - start) / (PACE * CALLS)


@dataclass(slots=True, kw_only=True)
class _Chart:
    faculty: str
    staircase: Staircase
    seed: int
    made: int = 0
    ties: int = 0
    unscored: int = 0

    def round(self, number: int) -> list[Trial]:
        levels = FACULTIES[self.faculty].levels()
        trials = []
        for place in self.staircase.following(number).tolist():
            name = f"{self.seed}/{self.faculty}/{self.made:03d}"
            trials.append(trial(self.faculty, float(levels[place]), place, name))
            self.made += 1
        return trials

    def take(self, trials: Sequence[Trial], replies: dict[Trial, tuple[Prediction, Prediction]]) -> None:
        """Judge the replies to trials; a seeded coin decides a tie, because the model has no preference."""
        places, right = [], []
        for one in trials:
            true, false = (reply.score for reply in replies[one])
            if true is None or false is None:
                self.unscored += 1
                continue
            self.ties += true == false
            won = true > false if true != false else quick_generator(f"tie/{one.image.key}").random() < 0.5
            places.append(one.place)
            right.append(won)
        self.staircase.add(np.array(places, np.int64), np.array(right, np.bool_))

    def result(self) -> Acuity:
        stairs, fit = self.staircase, self.staircase.fit()
        return Acuity(
            faculty=self.faculty,
            word=self._word(fit),
            place=fit.threshold,
            **{name: getattr(fit, name) for name in ("low", "high", "best", "best_low", "best_high")},
            asked=tuple(stairs.asked.tolist()),
            right=tuple(stairs.right.tolist()),
            ties=self.ties,
            unscored=self.unscored,
        )

    def _word(self, fit: Fit) -> Word:
        if self.unscored:
            return "unscored"
        stairs = self.staircase
        asked = max(int(stairs.asked.sum()), 1)
        if wilson(int(stairs.right.sum()) / asked, asked, 0.99)[1] < 0.5:
            return "below chance"
        chance = generator(f"fit/{self.seed}/{self.faculty}")
        if fits(stairs.observers, stairs.right, stairs.asked, chance) < _LEAST_FIT:
            return "no fit"
        if not fit.above_chance:
            return "at chance"
        if fit.threshold < 0:
            return "beyond the range"
        return "out of reach" if fit.threshold > 1 else "threshold"


def charts(predictor: Predictor, faculties: Sequence[str], trials: int, seed: int = 0) -> Iterator[Acuity]:
    begun = [_Chart(faculty=name, staircase=Staircase.over(FACULTIES[name].places()), seed=seed) for name in faculties]
    while undecided := [chart for chart in begun if chart.made < trials and not chart.staircase.decided]:
        rounds = [chart.round(min(ROUND, trials - chart.made)) for chart in undecided]
        replies = predictor.predict(request for some in rounds for one in some for request in one.requests)
        for chart, some in zip(undecided, rounds, strict=True):
            chart.take(some, {one: (replies[one.requests[0]], replies[one.requests[1]]) for one in some})
    yield from (chart.result() for chart in begun)

"""The psychometric function, against the same sums in plain Python, and on observers whose threshold is known."""

from math import exp, log

import numpy as np
import pytest

from vlgate.metrics.perception import FACULTIES, band, fits, fitted, grid, most_telling, posterior, share

PLACES = np.array([0.0, 0.3, 0.5, 0.8, 1.0])
ASKED = np.array([4, 6, 10, 5, 8])
RIGHT = np.array([2, 3, 7, 5, 8])


def slow_share(place, threshold, spread, best):
    return 0.5 + (best - 0.5) / (1 + exp(-max(-60.0, min(60.0, (place - threshold) / spread))))


def test_the_posterior_is_the_product_of_the_likelihoods_and_the_prior():
    observers = grid(PLACES)
    weights = posterior(observers, RIGHT, ASKED)
    assert weights.sum() == pytest.approx(1)
    rng = np.random.default_rng(0)
    some = rng.choice(len(weights), 40, replace=False)
    logs = []
    for one in some:
        value = observers.log_prior[one]
        for place, right, asked in zip(PLACES, RIGHT, ASKED, strict=True):
            found = slow_share(place, observers.thresholds[one], observers.spreads[one], observers.bests[one])
            value += right * log(found) + (asked - right) * log(1 - found)
        logs.append(value)
    expected = np.exp(np.array(logs) - max(logs))
    assert weights[some] / weights[some].max() == pytest.approx(expected, rel=1e-6)


def test_the_prior_is_flat_in_the_threshold():
    observers = grid(PLACES)
    mass = np.bincount(np.unique(observers.thresholds, return_inverse=True)[1], weights=np.exp(observers.log_prior))
    assert mass == pytest.approx(np.full(len(mass), 1 / len(mass)))


def test_the_first_trial_is_the_one_whose_reply_says_most_about_the_threshold():
    observers = grid(PLACES)
    weights = posterior(observers, RIGHT, ASKED)
    target = np.clip(observers.thresholds, 0, 1)
    mean = float(weights @ target)
    gains = []
    for shares in observers.shares:
        p = float(weights @ shares)  # of a right reply; the posterior mean after each reply, in full
        after = [float((weights * one) @ target) / chance for one, chance in ((shares, p), (1 - shares, 1 - p))]
        gains.append(p * (after[0] - mean) ** 2 + (1 - p) * (after[1] - mean) ** 2)
    assert most_telling(observers, weights, 1).tolist() == [int(np.argmax(gains))]


def test_a_second_trial_is_not_worth_as_much_at_a_place_that_is_well_known():
    observers = grid(FACULTIES["noun"].places())
    nothing = np.zeros(33, int)
    chosen = most_telling(observers, posterior(observers, nothing, nothing), 12)
    assert len(set(chosen.tolist())) > 3


@pytest.mark.parametrize(("threshold", "spread", "best"), [(0.3, 0.02, 1.0), (0.6, 0.05, 0.9)])
def test_many_trials_find_the_threshold_and_the_best(threshold, spread, best):
    places = np.linspace(0, 1, 33)
    asked = np.full(33, 400)
    shares = share(places, *map(np.array, (threshold, spread, best)))
    found = fitted(grid(places), np.random.default_rng(1).binomial(asked, shares), asked)
    assert found.low < threshold < found.high
    assert found.high - found.low < 0.05
    assert found.best == pytest.approx(best, abs=0.02)
    assert found.above_chance


def test_guesses_are_not_above_chance_and_a_fall_where_it_is_easy_fits_no_curve():
    places = np.linspace(0, 1, 9)
    asked = np.full(9, 20)
    observers = grid(places)
    assert not fitted(observers, np.random.default_rng(2).binomial(asked, 0.5), asked).above_chance
    falls = np.array([20, 20, 20, 18, 10, 10, 9, 5, 1])
    assert fits(observers, falls, asked, np.random.default_rng(0)) < 0.01
    below = np.array([0, 1, 9, 10, 10, 18, 20, 20, 20])
    assert fits(observers, below, asked, np.random.default_rng(0)) < 0.01
    rises = np.array([10, 9, 11, 10, 15, 19, 20, 20, 20])
    assert fits(observers, rises, asked, np.random.default_rng(0)) > 0.05
    low, middle, high = band(observers, posterior(observers, rises, asked))
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert (np.diff(middle) >= -1e-9).all()


@pytest.mark.parametrize("faculty", FACULTIES.values(), ids=FACULTIES)
def test_levels_and_places_are_the_same_thing_from_hard_to_easy(faculty):
    levels, places = faculty.levels(), faculty.places()
    assert (levels[0], levels[-1]) == pytest.approx((faculty.hard, faculty.easy))
    assert (places[0], places[-1]) == pytest.approx((0, 1))
    assert (np.diff(places) > 0).all()
    assert faculty.at(places) == pytest.approx(levels)


def test_a_curve_as_shallow_as_the_range_does_not_look_better_than_it_is():
    places, random = FACULTIES["noun"].places(), np.random.default_rng(3)
    asked, better = np.full(len(places), 200 // len(places) + 1), []
    for threshold in random.uniform(0.2, 0.8, 40):
        right = random.binomial(asked, share(places, np.array(threshold), np.array(0.35), np.array(0.95)))
        better.append(fitted(grid(places), right, asked).high < threshold)
    assert np.mean(better) <= 0.1

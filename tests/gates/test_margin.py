"""Thresholds with a margin: new samples of the same model pass them, by the rule that decides a gate."""

from functools import cache
from math import comb

import numpy as np
import pytest

from vlgate.gates.decide import Coverage, decide
from vlgate.gates.error_rates import threshold_with_margin
from vlgate.gates.records import Gate
from vlgate.metrics.clusters import numbered
from vlgate.metrics.stats import proportion

SIZES = (40, 60, 100, 200, 400)
SHARES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)


def passes(threshold, values, groups):
    """Whether a run with these cases passes the gate."""
    coverage = Coverage(cases=len(values), judged=len(values), unscored=0, skipped=0)
    gate = Gate(task="mine/task", metric="acc_r", min=float(threshold))
    return decide(gate, coverage, {"acc_r": proportion(values, groups)}).outcome == "pass"


def each(n):
    return numbered(np.arange(n))


@cache
def fewest(n, threshold):
    """The fewest right cases of n that pass."""
    return next((k for k in range(n + 1) if passes(threshold, (np.arange(n) < k).astype(float), each(n))), n + 1)


def rate(n, share, threshold):
    """How often new samples of n cases pass, exactly."""
    least = fewest(n, threshold)
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(least, n + 1))


@pytest.mark.slow
@pytest.mark.parametrize("misses", [0.05, 0.01])
def test_the_same_model_passes_in_new_samples(misses):
    random = np.random.default_rng(5)
    found = {}
    for n in SIZES:
        for share in SHARES:
            firsts = random.binomial(n, share, 8)
            made = [threshold_with_margin((np.arange(n) < k).astype(float), each(n), misses, f"{k}") for k in firsts]
            found[n, share] = np.mean([rate(n, share, threshold) for threshold, _ in made])
    assert np.mean(list(found.values())) >= 1 - misses
    for share in SHARES:  # for weak and for strong models alike
        assert np.mean([found[n, share] for n in SIZES]) >= 1 - 2 * misses, share


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[4] * 25, [20] * 4 + [1] * 60])
def test_it_passes_if_images_repeat_and_their_cases_are_alike(sizes):
    random, groups = np.random.default_rng(7), numbered(np.repeat(np.arange(len(sizes)), sizes))

    def sample(share, alike):
        spread = (1 - alike) / alike
        of = random.beta(share * spread, (1 - share) * spread, len(sizes))
        return (random.random(sum(sizes)) < np.repeat(of, sizes)).astype(float)

    held = []
    for share in (0.7, 0.9):
        for _ in range(8):
            threshold, _ = threshold_with_margin(sample(share, 0.3), groups, 0.05, "mine")
            held += [passes(threshold, sample(share, 0.3), groups) for _ in range(40)]
    assert np.mean(held) >= 0.95


def test_the_rate_beside_a_threshold_is_that_of_the_predictive_distribution():
    n, k = 40, 36
    threshold, told = threshold_with_margin((np.arange(n) < k).astype(float), each(n), 0.05, "mine")
    shares = np.random.default_rng(1).beta(k + 0.5, n - k + 0.5, 4_000)
    assert told == pytest.approx(np.mean([rate(n, share, threshold) for share in shares]), abs=0.02)
    assert told >= 0.95


def test_a_threshold_is_at_most_the_measured_end_and_not_far_below():
    for n, k in ((40, 40), (40, 30), (400, 380)):
        values = (np.arange(n) < k).astype(float)
        threshold, _ = threshold_with_margin(values, each(n), 0.05, "mine")
        low = proportion(values, each(n)).low
        assert low - 0.2 < float(threshold) <= low
    assert (
        threshold_with_margin(values, each(n), 0.05, "mine")[0] >= threshold_with_margin(values, each(n), 0.001, "")[0]
    )

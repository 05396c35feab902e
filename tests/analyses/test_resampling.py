import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import confint_proportions_2indep

from vlgate.errors import OptionError
from vlgate.metrics.clusters import clusters
from vlgate.metrics.stats import proportion
from vlgate.studies.analyses import resampling
from vlgate.studies.analyses.resampling import correlate, gap, kappa, share


def sample(seed, n):
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    return x, x + random.normal(size=n)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(5, 60))
def test_a_correlation_of_independent_pairs_is_pearsons_with_the_interval_of_fishers_z(seed, n):
    x, y = sample(seed, n)
    found = correlate(x, y)
    r = np.corrcoef(x, y)[0, 1]
    half = stats.norm.ppf(0.975) / np.sqrt(n - 3)
    assert found.value == pytest.approx(r)
    assert (found.low, found.high) == pytest.approx((np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)))
    assert found.n == n


def test_a_correlation_of_ranks_is_spearmans():
    x, y = sample(1, 40)
    found = correlate(np.exp(x), y, rank=True)
    assert found.value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.low < found.value < found.high


@pytest.mark.parametrize(("x", "y"), [([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]), ([1, 2, 3], [1, 2, 3]), ([], [])])
def test_a_correlation_that_is_not_defined_has_no_value_but_its_n(x, y):
    found = correlate(np.array(x, dtype=float), np.array(y, dtype=float))
    assert (found.value, found.low, found.high, found.p, found.n) == (None, None, None, None, len(x))


def test_pairs_that_repeat_an_image_do_not_narrow_the_interval():
    x, y = sample(2, 40)
    alone = correlate(x, y)
    repeated = correlate(np.tile(x, 9), np.tile(y, 9), clusters([str(row) for row in range(40)] * 9))
    assert repeated.value == pytest.approx(alone.value)
    assert repeated.high - repeated.low == pytest.approx(alone.high - alone.low, rel=0.25)


def test_the_bootstrap_by_image_covers_as_often_as_it_says():
    missed, clusters_of, truth = 0, clusters([str(row // 4) for row in range(240)]), 0.5**0.5
    for seed in range(60):
        random = np.random.default_rng(seed)
        x = np.repeat(random.normal(size=60), 4)
        y = x + np.repeat(random.normal(size=60), 4)
        found = correlate(x, y, clusters_of)
        missed += not found.low <= truth <= found.high
    assert missed <= 8  # 3 are expected, and more than 8 have a probability of 0.4 %; independent pairs miss half


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(30, 200))
def test_kappa_is_that_of_statsmodels(seed, n):
    random = np.random.default_rng(seed)
    first, second = random.random((2, n)) < 0.6
    table = [[(first & second).sum(), (first & ~second).sum()], [(~first & second).sum(), (~first & ~second).sum()]]
    expected = cohens_kappa(np.array(table))
    found = kappa(first, second, clusters([str(row) for row in range(n)]))
    assert found.value == pytest.approx(expected.kappa)
    assert found.high - found.low == pytest.approx(expected.kappa_upp - expected.kappa_low, rel=0.35)


@pytest.mark.parametrize("wrong", [0, 10])
def test_kappa_with_a_model_that_is_always_right_is_not_defined(wrong):
    found = kappa(np.ones(40, bool), np.arange(40) >= wrong, clusters([str(row) for row in range(40)]))
    assert (found.value, found.low, found.n) == (None, None, 40)


@given(st.integers(0, 40), st.integers(0, 25))
def test_a_gap_of_independent_cases_has_newcombes_interval(first, second):
    upper, lower = (proportion(np.arange(n) < right) for right, n in ((first, 40), (second, 25)))
    value, low, high = gap(
        *(proportion((np.arange(n) < right).astype(float)) for right, n in ((first, 40), (second, 25)))
    )
    expected = confint_proportions_2indep(first, 40, second, 25, method="newcomb", compare="diff")
    assert value == pytest.approx(upper.value - lower.value)
    assert (low, high) == pytest.approx(expected, abs=1e-9)


def test_a_share_leaves_out_what_is_not_known():
    groups = clusters(["a", "b", "c", "d"])
    found = share(np.array([1.0, 0.0, np.nan, 1.0]), groups, np.array([True, True, True, False]))
    assert (found.value, found.n) == (0.5, 2)
    assert share(np.array([np.nan] * 4), groups) is None


def test_a_package_that_is_not_installed_is_named_with_the_remedy():
    with pytest.raises(OptionError, match=r"needs no_such_package.*pip install 'vlgate\[analysis\]'"):
        resampling.library("no_such_package.stats")


@pytest.mark.parametrize(("images", "known"), [(1, False), (9, False), (10, True)])
def test_few_images_give_no_interval(images, known):
    found = correlate(*sample(3, 40), clusters([str(row % images) for row in range(40)]))
    assert found.value is not None
    assert (found.low is not None, found.high is not None) == (known, known)


def test_a_bootstrap_of_few_pairs_covers_the_truth():
    """Ten pairs, by rank; the plain percentiles cover 89 %."""
    random, held = np.random.default_rng(10), []
    for run in range(300):
        x, y = random.normal(size=(2, 10))
        found = correlate(x, 0.5 * x + np.sqrt(0.75) * y, rank=True, seed=run)
        held.append(found.low <= 6 / np.pi * np.arcsin(0.25) <= found.high)
    assert np.mean(held) >= 0.92


def test_a_p_value_is_above_0_and_many_images_change_no_percentile():
    x = np.arange(400.0)
    assert 0.0 < correlate(x, x).p < 1e-300
    parts = np.random.default_rng(1).normal(size=(4000, 1))
    ones = clusters([str(row) for row in range(4000)])
    low, high = resampling.bootstrap(parts, ones, lambda sums: sums[:, 0])
    assert (high - low) / 2 == pytest.approx(1.96 * np.sqrt(4000), rel=0.06)

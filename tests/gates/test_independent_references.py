"""Decisions on rows without repeated images, against implementations of others and slow ones."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from vlgate.gates.decide import Coverage, decide
from vlgate.gates.p_values import beyond
from vlgate.gates.records import Gate
from vlgate.metrics.clusters import clusters
from vlgate.metrics.paired import cases_for_margin, difference, mcnemar
from vlgate.metrics.stats import proportion

NEAR = 1e-7
bounds = st.integers(1, 99).map(lambda percent: percent / 100)
confidences = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def outcome(low, high, least):
    return "pass" if low >= least else "fail" if high < least else "inconclusive"


@given(st.integers(1, 400), st.data(), bounds, confidences)
@settings(deadline=None)
def test_a_gate_decides_as_the_wilson_intervals_of_scipy_and_statsmodels_do(n, data, least, confidence):
    right = data.draw(st.integers(0, n))
    ends = [tuple(stats.binomtest(right, n).proportion_ci(confidence, method="wilson"))]
    ends.append(
        pytest.importorskip("statsmodels.stats.proportion").proportion_confint(right, n, 1 - confidence, "wilson")
    )
    assume(all(abs(end - least) > NEAR for both in ends for end in both))
    gate = Gate(task="a/b", metric="acc_r", min=least, confidence=confidence, min_cases=1)
    metric = proportion((np.arange(n) < right).astype(float), confidence=confidence)
    found = decide(gate, Coverage(cases=n, judged=n, unscored=0, skipped=0), {"acc_r": metric})
    expected = {outcome(low, high, least) for low, high in ends}
    if "binomial" in found.why:  # near 0 and 1 a fail is also one of the exact test
        assert expected == {"fail"}
        assert (n * min(least, 1 - least), stats.binom.cdf(right, n, least)) <= (10.001, 1.0)
        assert stats.binom.cdf(right, n, least) > (1 - confidence) / 2
        expected = {"inconclusive"}
    assert expected == {found.outcome}


def likeliest(broken, fixed, n, drop):
    """The statistic of a drop, with the likeliest share of broken cases found by search."""

    def loss(lost):
        parts = ((broken, lost), (fixed, lost - drop), (n - broken - fixed, 1 - 2 * lost + drop))
        return -sum(count * np.log(max(share, 1e-300)) for count, share in parts if count)

    ends = max(0.0, drop), (1 + drop) / 2
    lost = optimize.minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
    variance = n * (2 * lost - drop - drop * drop)
    return (fixed - broken + n * drop) / sqrt(max(variance, 1e-300))


@given(st.integers(5, 300), st.data(), st.sampled_from([0.02, 0.05, 0.2]), confidences)
@settings(deadline=None, max_examples=60)
def test_a_drop_is_decided_as_the_score_test_with_a_searched_likelihood_does(n, data, most, confidence):
    broken = data.draw(st.integers(0, n))
    fixed = data.draw(st.integers(0, n - broken))
    z, statistic = stats.norm.ppf(0.5 + confidence / 2), likeliest(broken, fixed, n, most)
    assume(abs(abs(statistic) - z) > 1e-3)
    change = np.repeat([-1.0, 1.0, 0.0], [broken, fixed, n - broken - fixed])
    found = difference((change < 0).astype(float), (change > 0).astype(float), confidence=confidence)
    gate = Gate(task="a/b", metric="acc_r", kind="max_drop", max=most, confidence=confidence)
    assert beyond(gate, found) == (statistic < -z)
    assert (found.low >= -most) == (statistic > z)


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_is_that_of_statsmodels(broken, fixed):
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    exact = tables.mcnemar([[7, broken], [fixed, 9]], exact=True).pvalue
    assert mcnemar(broken, fixed, exact=True) == pytest.approx(min(1.0, exact))


@given(st.integers(0, 9), st.integers(0, 9))
def test_mcnemar_is_the_count_of_all_outcomes_of_a_fair_coin_for_each_changed_case(broken, fixed):
    total = broken + fixed
    counts = [sum(sides) for sides in product((0, 1), repeat=min(total, 12))] if total <= 12 else None
    assume(counts is not None)
    far = abs(broken - fixed)
    beyond_it = sum(abs(total - 2 * count) > far for count in counts)
    itself = sum(abs(total - 2 * count) == far for count in counts)
    assert mcnemar(broken, fixed, exact=True) == pytest.approx((beyond_it + itself) / len(counts))
    expected = (beyond_it + itself / 2) / len(counts) if total else 1.0
    assert mcnemar(broken, fixed) == pytest.approx(expected)


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4, 8, 100]), confidences)
@settings(max_examples=40)
def test_a_difference_of_many_varied_fractions_has_nearly_students_interval(seed, parts, confidence):
    random = np.random.default_rng(seed)
    before, after = (random.integers(0, parts + 1, 200) / parts for _ in range(2))
    change = after - before
    low, high = stats.ttest_1samp(change, 0).confidence_interval(confidence)
    found = difference(before, after, confidence=confidence)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.08 * (high - low))
    assert (found.broken, found.fixed) == ((change < 0).sum(), (change > 0).sum())


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=8, max_size=40), st.integers(2, 5), confidences)
def test_copies_of_a_case_with_one_image_are_worth_no_more_than_the_case(pairs, copies, confidence):
    before, after = (np.array([float(pair[side]) for pair in pairs]) for side in (0, 1))
    alone = difference(before, after, confidence=confidence)
    images = clusters([str(row // copies) for row in range(copies * len(pairs))])
    found = difference(np.repeat(before, copies), np.repeat(after, copies), images, confidence)
    assert found.value == pytest.approx(alone.value)
    assert found.deff >= copies * (1 - 1e-9)
    assert found.high - found.low >= (alone.high - alone.low) * (1 - 1e-9)


@given(st.sampled_from([0.01, 0.02, 0.05, 0.1]), st.sampled_from([0.02, 0.1, 0.3]), confidences)
def test_a_smaller_margin_more_changes_and_more_confidence_need_more_cases(margin, changing, confidence):
    needed = cases_for_margin(margin, changing, confidence)
    assert cases_for_margin(margin / 2, changing, confidence) > needed
    assert cases_for_margin(margin, min(1.0, changing * 2), confidence) > needed
    assert cases_for_margin(margin, changing, (1 + confidence) / 2) > needed

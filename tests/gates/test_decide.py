import re
import tomllib
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb, sqrt
from pathlib import Path

import numpy as np
import pytest
from builders import table, tabled
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from vlgate.gates.decide import Coverage, decide
from vlgate.gates.error_rates import threshold_with_margin
from vlgate.gates.p_values import beyond
from vlgate.gates.records import Gate
from vlgate.metrics.clusters import numbered
from vlgate.metrics.macro import macro
from vlgate.metrics.paired import difference
from vlgate.metrics.stats import proportion
from vlgate.types import Metric

NONE_MISSING = Coverage(cases=100, judged=100, unscored=0, skipped=0)
fractions = st.integers(0, 20).map(lambda twentieth: twentieth / 20)  # equal to a bound often enough


def metric(low, value, high, n=100):
    return Metric(value=value, low=low, high=high, n=n)


def gate(**keys):
    return Gate(task="valse/existence", metric="acc_r", **keys)


metrics = st.builds(
    lambda three, n: metric(*sorted(three), n=n), st.tuples(fractions, fractions, fractions), st.integers(1, 60)
)
coverages = st.builds(
    lambda judged, unscored, skipped, deselected: Coverage(
        cases=judged + unscored + skipped, judged=judged, unscored=unscored, skipped=skipped, deselected=deselected
    ),
    st.integers(0, 3),
    st.integers(0, 1),
    st.integers(0, 1),
    st.integers(0, 1),
)
rules = st.builds(
    gate,
    min=st.none() | fractions,
    max=st.none() | fractions,
    basis=st.sampled_from(["lower", "value"]),
    min_cases=st.integers(1, 60),
)


@tabled
def test_a_metric_that_the_model_does_not_have_is_answered_with_one_that_it_has(has, instead):
    wanted = Gate(task="valse/existence", metric="acc", min=0.6)
    counts = Coverage(cases=100, judged=100, unscored=0, skipped=0)
    decision = decide(wanted, counts, {name: metric(0.8, 0.9, 1.0) for name in has})
    assert (decision.outcome, decision.why) == (
        "inconclusive",
        f"the model has no acc, because it does not say yes or no{instead}",
    )


@pytest.mark.parametrize("row", table(Path(__file__).with_name("decisions.tsv")))
def test_a_decision_and_its_reason(row):
    keys, found, coverage, ties, outcome, why = row
    parsed = [tomllib.loads(cell.replace("; ", "\n")) for cell in (keys, coverage)]
    rule, counts = Gate(task="valse/existence", **{"metric": "acc_r", **parsed[0]}), replace(NONE_MISSING, **parsed[1])
    metrics = {}
    if found is not None:
        low, value, high, n = map(float, found.split())
        metrics = {"acc_r": metric(low, value, high, int(n))}
    decision = decide(rule, counts, metrics, ties)
    assert (decision.gate, decision.metric, decision.outcome) == (rule, metrics.get(rule.metric), outcome)
    assert re.match(why or ".", decision.why)


@given(rules, coverages, metrics)
def test_a_pass_needs_all_that_is_asked(rule, coverage, found):
    decision = decide(rule, coverage, {"acc_r": found})
    ends = (found.low, found.high) if rule.basis == "lower" else (found.value, found.value)
    asked = (
        not coverage.deselected
        and not coverage.unscored
        and coverage.skipped <= rule.max_skipped * coverage.cases
        and found.n >= coverage.judged
        and found.n >= rule.min_cases
        and (rule.min is None or ends[0] >= rule.min)
        and (rule.max is None or ends[1] <= rule.max)
    )
    assert (decision.outcome == "pass") == asked
    assert decision.why


@given(rules, coverages, metrics, fractions, st.integers(0, 60))
def test_asking_for_more_never_turns_what_did_not_pass_into_a_pass(rule, coverage, found, higher, more):
    harder = replace(rule, min=max(higher, rule.min or 0.0), min_cases=rule.min_cases + more)
    if decide(rule, coverage, {"acc_r": found}).outcome != "pass":
        assert decide(harder, coverage, {"acc_r": found}).outcome != "pass"
    if decide(rule, coverage, {"acc_r": found}).outcome == "fail":
        assert decide(replace(harder, min_cases=rule.min_cases), coverage, {"acc_r": found}).outcome == "fail"


@given(rules, coverages, metrics)
def test_judging_the_interval_is_never_more_lenient_than_judging_the_point(rule, coverage, found):
    by_interval, by_value = (
        decide(replace(rule, basis=basis), coverage, {"acc_r": found}).outcome for basis in ("lower", "value")
    )
    assert by_value == "pass" or by_interval != "pass"
    assert by_value == "fail" or by_interval != "fail"


def on_the_threshold(found, bound):
    """The outcomes of a minimum and a maximum that are the metric, as a person writes them."""
    by_value = ({key: bound, "basis": "value"} for key in ("min", "max"))
    return [decide(gate(**keys), NONE_MISSING, {"acc_r": replace(found, n=100)}).outcome for keys in by_value]


def random_classes(random):
    """Right cases in 2 to 8 classes whose mean of means is a number of two digits."""
    while True:
        sizes = random.choice([2, 4, 5, 8, 10, 20, 25], size=random.integers(2, 9))
        right = np.array([random.integers(0, size + 1) for size in sizes])
        exact = sum(Fraction(int(r), int(n)) for r, n in zip(right, sizes, strict=True)) / len(sizes)
        if (exact * 100).denominator == 1:
            values = np.concatenate([np.arange(n) < r for r, n in zip(right, sizes, strict=True)]).astype(float)
            return values, np.repeat(np.arange(len(sizes)), sizes), float(f"{float(exact):.2f}")


def test_a_mean_of_classes_and_a_share_exactly_on_a_threshold_hold_it_and_the_next_does_not():
    values = np.concatenate([np.arange(n) < r for r, n in ((1, 5), (3, 5), (9, 10), (2, 5), (0, 4))]).astype(float)
    found = macro(values, np.repeat(np.arange(5), [5, 5, 10, 5, 4]))
    assert found.value == 0.42
    assert on_the_threshold(found, 0.42) == ["pass", "pass"]
    random = np.random.default_rng(0)
    for _ in range(1402):
        values, classes, bound = random_classes(random)
        assert macro(values, classes).value == bound
    for n in range(1, 400):
        for hundredths in range(101):
            k, rest = divmod(hundredths * n, 100)
            if not rest and (n < 101 or hundredths % 7 == 0):
                found = metric(0.0, k / n, 1.0)
                assert proportion((np.arange(n) < k).astype(float)).value == k / n
                assert on_the_threshold(found, hundredths / 100) == ["pass", "pass"]
    assert on_the_threshold(metric(0.0, 94 / 100, 1.0), 0.95) == ["fail", "pass"]


@pytest.mark.parametrize("parts", [2, 3, 6, 24, 96])
def test_means_and_differences_of_parts_are_decided_as_fractions(parts):
    random = np.random.default_rng(parts)
    for _ in range(60):
        n = 100
        counts = random.integers(0, parts + 1, n)
        counts[0] = (counts[0] - counts.sum()) % parts  # a whole sum, so a mean of two digits
        counts[0] += parts * (counts.sum() < 0)
        found = proportion(counts / parts)
        assert found.value == round(counts.sum() / parts) / 100
        assert on_the_threshold(found, float(f"{found.value:.2f}")) == ["pass", "pass"]
        changed = difference(np.ones(n), counts / parts)
        assert changed.value == round(counts.sum() / parts - 100) / 100


SIZES = (40, 60, 100, 200, 400)
SHARES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)


def passes(threshold, found):
    """Whether a run with this share of right cases passes the gate."""
    coverage = Coverage(cases=found.n, judged=found.n, unscored=0, skipped=0)
    gate = Gate(task="mine/task", metric="acc_r", min=float(threshold))
    return decide(gate, coverage, {"acc_r": found}).outcome == "pass"


def each(n):
    return numbered(np.arange(n))


@cache
def shares(n):
    """The metric of 0 to n right cases of n."""
    return [proportion((np.arange(n) < k).astype(float), each(n)) for k in range(n + 1)]


@cache
def fewest(n, threshold):
    """The fewest right cases of n that pass."""
    return next((k for k, found in enumerate(shares(n)) if passes(threshold, found)), n + 1)


@cache
def margin(n, k, misses):
    return threshold_with_margin((np.arange(n) < k).astype(float), each(n), misses, f"{k}")[0]


def rate(n, share, threshold):
    least = fewest(n, threshold)
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(least, n + 1))


@pytest.mark.slow
@pytest.mark.parametrize("misses", [0.05, 0.01])
def test_the_same_model_passes_in_new_samples(misses):
    random = np.random.default_rng(5)
    found = {}
    for n in SIZES:
        for share in SHARES:
            made = [margin(n, int(k), misses) for k in random.binomial(n, share, 8)]
            found[n, share] = np.mean([rate(n, share, threshold) for threshold in made])
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
            held += [passes(threshold, proportion(sample(share, 0.3), groups)) for _ in range(40)]
    assert np.mean(held) >= 0.95


def test_a_threshold_is_near_the_measured_end_with_the_rate_of_the_predictive_distribution():
    n, k = 40, 36
    threshold, told = threshold_with_margin((np.arange(n) < k).astype(float), each(n), 0.05, "mine")
    shares = np.random.default_rng(1).beta(k + 0.5, n - k + 0.5, 4_000)
    assert told == pytest.approx(np.mean([rate(n, share, threshold) for share in shares]), abs=0.02)
    assert told >= 0.95
    for n, k in ((40, 40), (40, 30), (400, 380)):
        values = (np.arange(n) < k).astype(float)
        threshold, _ = threshold_with_margin(values, each(n), 0.05, "mine")
        low = proportion(values, each(n)).low
        assert low - 0.2 < float(threshold) <= low
    assert threshold >= threshold_with_margin(values, each(n), 0.001, "")[0]


NEAR = 1e-7
bounds = st.integers(1, 99).map(lambda percent: percent / 100)
confidences = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def outcome(low, high, least):
    return "pass" if low >= least else "fail" if high < least else "inconclusive"


@given(st.integers(1, 400), st.data(), bounds, confidences)
@settings(deadline=None)
def test_a_gate_decides_as_the_wilson_intervals_of_scipy_and_statsmodels_do(n, data, least, confidence):
    right = data.draw(st.integers(0, n))
    statsmodels = pytest.importorskip("statsmodels.stats.proportion")
    ends = [tuple(stats.binomtest(right, n).proportion_ci(confidence, method="wilson"))]
    ends.append(statsmodels.proportion_confint(right, n, 1 - confidence, "wilson"))
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

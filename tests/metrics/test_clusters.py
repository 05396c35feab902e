"""Intervals of cases that share images: against slow references, and by how often they hold the truth."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, norm
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score

from benchmarks.coverage import Setting, coverage, exact_coverage
from vlgate.metrics.clusters import clusters, two_sided
from vlgate.metrics.stats import area, proportion, smaller, wilson

few_scores = st.integers(-2, 2).map(float)  # many ties
images = st.integers(0, 5)


def ends(metric):
    return metric.low, metric.value, metric.high


def slow_area(positive, negative, names):
    """The area and its variance as Obuchowski (1997) prints them, sums over all pairs of texts; O(n^2)."""
    n = len(positive)
    wins = np.array([[1.0 if p > q else 0.5 if p == q else 0.0 for q in negative] for p in positive])
    value = wins.mean()
    groups = [[row for row in range(n) if names[row] == name] for name in sorted(set(names))]
    true = [sum(wins[row].mean() - value for row in rows) for rows in groups]
    false = [sum(wins[:, row].mean() - value for row in rows) for rows in groups]
    factor = len(groups) / (len(groups) - 1)
    s10, s01 = (factor / n * sum(part**2 for part in parts) for parts in (true, false))
    s11 = factor * sum(a * b for a, b in zip(true, false, strict=True))
    return value, s10 / n + s01 / n + 2 * s11 / n**2


@given(st.floats(0.5, 0.9999), st.integers(1, 5000))
def test_the_quantile_of_student_is_that_of_scipy(confidence, freedom):
    assert two_sided(confidence, freedom) == pytest.approx(student.ppf(0.5 + confidence / 2, freedom), rel=1e-7)


@pytest.mark.parametrize(("confidence", "freedom"), [(0.95, 0), (0.0, 3), (1.0, 3)])
def test_a_quantile_without_freedom_or_of_no_probability_raises(confidence, freedom):
    with pytest.raises(ValueError, match=rf"confidence={confidence!r}, freedom={freedom!r}"):
        two_sided(confidence, freedom)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=60), st.floats(0.5, 0.9999))
def test_cases_with_an_image_each_keep_the_interval_of_independent_cases(values, confidence):
    own = clusters([f"{row}.jpg" for row in range(len(values))])
    metric = proportion(np.array(values), own, confidence)
    assert metric == proportion(np.array(values), confidence=confidence)
    assert metric.deff == 1.0


@given(st.lists(st.tuples(st.booleans(), images), min_size=2, max_size=80))
def test_the_design_effect_lies_between_1_and_that_of_cases_that_are_all_alike(cases):
    values, names = np.array([float(right) for right, _ in cases]), [str(image) for _, image in cases]
    groups = clusters(names)
    metric = proportion(values, groups)
    assert metric.deff >= 1.0
    assert 0.0 <= metric.low <= metric.value <= metric.high <= 1.0
    free = proportion(values)
    assert metric.low <= free.low + 1e-12
    assert metric.high >= free.high - 1e-12


def slow_effect(contributions, names, independent):
    """The design effect and the factor of the variance in an interval, one cluster at a time."""
    groups = [[u for u, own in zip(contributions, names, strict=True) if own == name] for name in sorted(set(names))]
    deviations, sizes = [sum(group) for group in groups], [len(group) for group in groups]
    n, c = sum(sizes), len(sizes)
    z = norm.ppf(0.975)
    largest = sum(m**2 for m in sizes) / n
    found = sum(d**2 for d in deviations) / independent / (1 - sum((m / n) ** 2 for m in sizes))
    kurtosis = (sum(d**4 for d in deviations) / c) / (sum(d**2 for d in deviations) / c) ** 2
    freedom = c - 1 if kurtosis <= 1 + 1e-9 else min(c - 1, 2 * c / (kurtosis - 1))  # Satterthwaite's
    weight = (c / kurtosis) ** 3
    wide = found * (student.ppf(0.975, max(1, round(freedom))) / z) ** 2
    widest = largest * (student.ppf(0.975, c - 1) / z) ** 2
    averages = [(weight * one + 2 * other) / (weight + 2) for one, other in ((found, largest), (wide, widest))]
    expected = sum(u * u for u in contributions) / n
    like = sum(
        d * d + m * sum(expected - u * u for u in group) for d, m, group in zip(deviations, sizes, groups, strict=True)
    )
    like /= independent * (1 - sum((m / n) ** 2 for m in sizes))
    large = sum(m**2 for m in sizes) ** 2 / sum(m**4 for m in sizes)
    prior = 0.2 * (1 - large / c)
    least = [
        (large**2 * max(1.0, one) + prior * other) / (large**2 + prior)
        for one, other in ((like, largest), (like * widest / largest, widest))
    ]
    return [max(both) for both in zip(least, averages, strict=True)]


@given(st.lists(st.tuples(st.booleans(), images), min_size=2, max_size=60))
def test_the_interval_of_a_mean_is_that_of_plain_lines(cases):
    names = sorted({image for _, image in cases})
    value = sum(right for right, _ in cases) / len(cases)
    deviations = [sum(right - value for right, image in cases if image == name) for name in names]
    assume(1 < len(names) < len(cases) and 0 < value < 1 and max(map(abs, deviations)) > 1e-3)
    metric = proportion(np.array([float(right) for right, _ in cases]), clusters([str(image) for _, image in cases]))
    parts = [right - value for right, _ in cases]
    deff, widening = slow_effect(parts, [image for _, image in cases], len(cases) * value * (1 - value))
    assert metric.deff == pytest.approx(deff, rel=1e-9)
    assert ends(metric)[::2] == pytest.approx(wilson(value, max(1.0, len(cases) / widening)), abs=1e-9)


def test_the_interval_of_an_area_of_few_images_of_unequal_size_is_that_of_plain_lines():
    random = np.random.default_rng(11)
    sizes = [9, 1, 4, 2, 6, 1, 3]
    names = np.repeat(np.arange(7), sizes)
    positive, negative = random.normal(size=26) + random.normal(size=7)[names] + 1, random.normal(size=26)
    metric = area(positive, negative, clusters(names.astype(str)))
    wins = (positive[:, None] > negative[None, :]).astype(float)
    value = wins.mean()
    parts = wins.mean(axis=1) + wins.mean(axis=0) - 2 * value
    independent = (parts**2).sum() * 26 / 25
    deff, widening = slow_effect(list(parts), list(names), independent)
    half = norm.ppf(0.975) * math.sqrt(widening * independent) / 26 / (value * (1 - value))
    centre = math.log(value / (1 - value))
    expected = [1 / (1 + math.exp(-(centre + side * half))) for side in (-1, 1)]
    assert metric.deff == pytest.approx(deff, rel=1e-9)
    assert ends(metric)[::2] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_images_that_are_all_right_or_all_wrong_count_once_each(value):
    metric = proportion(np.full(60, value), clusters([str(row // 3) for row in range(60)]))
    assert metric.deff == 3.0
    few = student.ppf(0.975, 19) / student.ppf(0.975, 10**9)
    assert ends(metric)[::2] == pytest.approx(wilson(value, 20 / few**2), abs=1e-6)


shared = st.lists(st.tuples(few_scores, few_scores, images), min_size=3, max_size=40)


@given(shared.filter(lambda cases: len({image for *_, image in cases}) > 1))
def test_the_area_is_that_of_scikit_learn(cases):
    positive, negative, names = (np.array(column) for column in zip(*cases, strict=True))
    metric = area(positive, negative, clusters(names.astype(str)))
    value, _ = slow_area(positive, negative, list(names))
    labels = [1] * len(positive) + [0] * len(negative)
    assert metric.value == pytest.approx(value, abs=1e-12)
    assert metric.value == pytest.approx(roc_auc_score(labels, np.concatenate([positive, negative])), abs=1e-12)
    assert 0.0 <= metric.low <= metric.value <= metric.high <= 1.0


def test_the_interval_of_an_area_over_many_images_is_obuchowskis_in_logits():
    random = np.random.default_rng(5)
    names = np.repeat(np.arange(60), 4).astype(str)
    positive, negative = (random.normal(size=60).repeat(4) + random.normal(size=240) for _ in range(2))
    positive += 1.5
    metric = area(positive, negative, clusters(names))
    value, variance = slow_area(positive, negative, list(names))
    half = student.ppf(0.975, 59) * math.sqrt(variance) / (value * (1 - value))
    centre = math.log(value / (1 - value))
    expected = [1 / (1 + math.exp(-(centre + side * half))) for side in (-1, 1)]
    assert [metric.low, metric.high] == pytest.approx(expected, abs=2e-3)
    assert metric.deff > 1.5


def newcombe(value, n, ratio):
    """Newcombe's method 5 for n true and n false texts, by root finding."""
    z = norm.ppf(0.975)

    def beyond(area):
        half = n - 1
        factor = 1 + half * (1 - area) / (2 - area) + half * area / (1 + area)
        return (value - area) ** 2 - z * z * ratio * area * (1 - area) * factor / n**2

    return [brentq(beyond, 1e-9, value), brentq(beyond, value, 1 - 1e-9)]


@pytest.mark.parametrize("apart", [0.0, 1.0, 3.0])
def test_an_area_of_pairs_with_an_image_each_has_the_wider_of_two_intervals(apart):
    random = np.random.default_rng(7)
    positive, negative = random.normal(size=80) + apart, random.normal(size=80)
    metric = area(positive, negative, clusters([str(row) for row in range(80)]))
    value, variance = slow_area(positive, negative, list(range(80)))
    half = 1.959963985 * math.sqrt(variance) / (value * (1 - value))
    centre = math.log(value / (1 - value))
    delong = [1 / (1 + math.exp(-(centre + side * half))) for side in (-1, 1)]
    wins = np.sign(positive[:, None] - negative[None, :]) / 2 + 0.5
    unpaired = (wins.mean(axis=1).var(ddof=1) + wins.mean(axis=0).var(ddof=1)) / 80
    score = newcombe(value, 80, variance / unpaired)
    expected = [min(delong[0], score[0]), max(delong[1], score[1])]
    assert [metric.low, metric.high] == pytest.approx(expected, abs=1e-9)
    assert metric.deff == 1.0


@pytest.mark.parametrize(("gap", "value"), [(9.0, 1.0), (-9.0, 0.0), (0.0, 0.5)])
def test_scores_without_any_spread_are_not_certain(gap, value):
    metric = area(np.full(30, gap), np.zeros(30))
    assert ends(metric)[::2] == wilson(value, 30)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), images), min_size=1, max_size=40))
def test_the_smaller_of_two_means_has_the_interval_of_that_mean(cases):
    first, second = (np.array([float(case[place]) for case in cases]) for place in (0, 1))
    groups = clusters([str(case[2]) for case in cases])
    found, both = smaller(first, second, groups), [proportion(values, groups) for values in (first, second)]
    assert found in both
    assert found.value == min(one.value for one in both)
    assert smaller(second, first, groups) == found


@given(st.lists(st.tuples(few_scores, few_scores, images), min_size=2, max_size=60), st.randoms())
@settings(max_examples=50)
def test_the_order_of_the_cases_changes_no_digit_of_an_interval(cases, random):
    found = []
    for order in (cases, random.sample(cases, len(cases))):
        first, second = (np.array([case[place] for case in order]) for place in (0, 1))
        groups = clusters([str(case[2]) for case in order])
        found.append((area(first, second, groups), proportion((first > second).astype(float), groups)))
    assert found[0] == found[1]


GRID = [
    Setting(statistic="mean", cases=n, truth=p, per_image=m, correlation=rho)
    for n, m in ((100, 1), (1000, 1), (100, 2), (600, 5), (1200, 12))
    for rho in ((0.0, 0.1, 0.5) if m > 1 else (0.0,))
    for p in (0.05, 0.5, 0.9)
]
GRID += [
    Setting(statistic="mean", cases=n, truth=p, per_image=5, correlation=rho, equal=False)
    for n in (100, 300, 1000)
    for rho in (0.0, 0.1, 0.5)
    for p in (0.1, 0.5, 0.9)
]
GRID += [
    Setting(statistic=name, cases=n, truth=p, per_image=m, correlation=rho)
    for name, truths in (("auroc", (0.6, 0.9)), ("min_pc_pf", (0.7,)))
    for n, m in ((100, 1), (120, 2), (300, 5))
    for rho in ((0.1, 0.5) if m > 1 else (0.0,))
    for p in truths
]


@pytest.mark.slow
@pytest.mark.parametrize("setting", GRID, ids=str)
def test_a_95_percent_interval_holds_the_truth_93_to_98_times_in_100(setting):
    # 400 runs know a coverage of 0.95 to 0.011; the seeds are fixed.
    assert 0.93 - 0.01 <= coverage(setting, runs=400) <= 0.98 + 0.01


@pytest.mark.parametrize(("cases", "lowest", "average"), [(30, 0.929, 0.952), (100, 0.933, 0.950), (300, 0.941, 0.950)])
def test_the_coverage_of_independent_cases_is_summed_over_the_binomial_distribution(cases, lowest, average):
    truths = tuple(percent / 100 for percent in range(2, 99))
    found = exact_coverage(cases, truths)
    right = np.arange(cases + 1)
    held = np.array([binomtest(int(k), cases).proportion_ci(method="wilson") for k in right])
    for truth, share in zip(truths[::16], found[::16], strict=True):
        inside = (held[:, 0] <= truth) & (truth <= held[:, 1])
        assert share == pytest.approx(binom.pmf(right, cases, truth)[inside].sum(), abs=1e-9)
    assert min(found) == pytest.approx(lowest, abs=2e-3)
    assert np.mean(found) == pytest.approx(average, abs=2e-3)


NAN = math.nan
confidences = st.floats(0.5, 0.9999)


@st.composite
def counts(draw):
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


@given(counts(), confidences)
def test_wilson_is_the_interval_that_scipy_gives(count, confidence):
    k, n = count
    expected = binomtest(k, n).proportion_ci(confidence_level=confidence, method="wilson")
    low, high = wilson(k / n, n, confidence)
    assert low == pytest.approx(expected.low, abs=1e-9)
    assert high == pytest.approx(expected.high, abs=1e-9)


@given(st.floats(0.0, 1.0), st.integers(1, 10**7), confidences)
def test_the_value_lies_in_its_interval_and_the_interval_in_0_to_1(value, n, confidence):
    low, high = wilson(value, n, confidence)
    assert 0.0 <= low <= value <= high <= 1.0


@pytest.mark.parametrize(("value", "n"), [(0.5, 0), (0.5, -1), (1.01, 5), (-0.01, 5), (NAN, 5), (math.inf, 5)])
def test_wilson_of_a_value_outside_0_to_1_raises_and_names_it(value, n):
    with pytest.raises(ValueError, match=rf"value={value!r}, n={n!r}"):
        wilson(value, n)


@given(st.lists(st.booleans(), min_size=1, max_size=200), confidences)
def test_a_proportion_is_the_mean_with_wilsons_interval_over_its_cases(right, confidence):
    metric = proportion(np.array(right, dtype=np.float64), confidence=confidence)
    assert metric.value == sum(right) / len(right)
    assert metric.n == len(right)
    assert (metric.low, metric.high) == wilson(sum(right) / len(right), len(right), confidence)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=200))
def test_for_half_credits_the_interval_is_no_narrower_than_their_own_variance_requires(values):
    n, values = len(values), np.array(values)
    low, high = wilson(float(values.mean()), n)
    z2 = norm.ppf(0.975) ** 2
    half = math.sqrt(z2 * values.var() / n + z2 * z2 / (4 * n * n)) / (1 + z2 / n)  # Wilson's, with the true variance
    assert high - low >= 2 * half - 1e-9


@pytest.mark.parametrize("values", [[], [NAN], [0.5, NAN], [-0.1], [1.1, 0.0], [math.inf]])
def test_a_proportion_without_values_or_of_other_numbers_raises(values):
    with pytest.raises(ValueError, match=rf"proportion of {len(values)} values"):
        proportion(np.array(values, dtype=np.float64))

"""Differences between two runs on the same cases, against scipy and slow references."""

from math import sqrt

import numpy as np
import pytest
from builders import tabled
from scipy import optimize, stats

from vlgate.metrics.clusters import clusters
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.paired import cases_for_bound, cases_for_margin, chance_of_change, difference, mcnemar, tango
from vlgate.metrics.stats import proportion, wilson

COUNTS = [(0, 0), (0, 1), (3, 3), (1, 7), (7, 1), (12, 30), (200, 150)]
Z = stats.norm.ppf(0.975)


def restricted(broken, fixed, n, delta):
    """The largest likelihood's share of broken cases if the difference is ``delta``, found by search."""
    kept = n - broken - fixed

    def loss(lost):
        won, same = lost + delta, 1 - 2 * lost - delta
        parts = [(broken, lost), (fixed, won), (kept, same)]
        return -sum(count * np.log(max(share, 1e-300)) for count, share in parts if count)

    low, high = max(0.0, -delta), (1 - delta) / 2
    return optimize.minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x


def score(broken, fixed, n, delta):
    lost = restricted(broken, fixed, n, delta)
    variance = n * (2 * lost + delta - delta * delta)
    return (fixed - broken - n * delta) / sqrt(max(variance, 1e-300))


@pytest.mark.parametrize(("broken", "fixed"), COUNTS)
def test_mcnemar_is_the_binomial_test_and_its_mid_p_version(broken, fixed):
    total = broken + fixed
    exact = stats.binomtest(broken, total).pvalue if total else 1.0
    assert mcnemar(broken, fixed, exact=True) == pytest.approx(exact)
    itself = stats.binom.pmf(broken, total, 0.5)
    mid = exact - (itself / 2 if broken == fixed else itself)
    assert mcnemar(broken, fixed) == pytest.approx(mid if total else 1.0)
    assert mcnemar(broken, fixed) == mcnemar(fixed, broken)


def test_mid_p_rejects_an_unchanged_model_less_often_than_one_time_in_twenty():
    """Of the pairs of counts with n discordant cases; the exact test rejects far less often."""
    for total in (6, 10, 25, 60):
        weights = stats.binom.pmf(np.arange(total + 1), total, 0.5)
        shares = [
            sum(w for k, w in enumerate(weights) if mcnemar(k, total - k, exact=exact) < 0.05)
            for exact in (True, False)
        ]
        assert shares[0] <= shares[1] <= 0.055


def test_a_p_value_is_1_if_nothing_changed_and_above_0_for_any_table():
    same = np.array([1.0, 0, 1, 0])
    assert mcnemar(0, 0) == mcnemar(0, 0, exact=True) == chance_of_change(same, same) == 1.0
    assert 0.0 < mcnemar(3, 20_000) < 1e-300
    assert mcnemar(9_000, 9_400) == pytest.approx(stats.binomtest(9_000, 18_400).pvalue, abs=1e-4)


def equal_models(images, per_image, rho, random):
    """Each case breaks or is fixed with 10 % each; a part ``rho`` of the changes is common to an image."""
    codes = np.repeat(np.arange(images), per_image)
    kind = np.where(random.random(codes.size) < rho, random.random(images)[codes], random.random(codes.size))
    before = np.where(kind < 0.1, 1.0, np.where(kind < 0.2, 0.0, (random.random(codes.size) < 0.5).astype(float)))
    after = np.where(kind < 0.1, 0.0, np.where(kind < 0.2, 1.0, before))
    return before, after, clusters([str(code) for code in codes])


@pytest.mark.slow
@pytest.mark.parametrize(("images", "per_image"), [(60, 2), (40, 5), (50, 20)])
@pytest.mark.parametrize("rho", [0.3, 0.7])
def test_the_p_value_of_equal_models_counts_images_and_agrees_with_the_interval(images, per_image, rho):
    random, excluded = np.random.default_rng(images + per_image), []
    for run in range(300):
        pair = equal_models(images, per_image, rho, random)
        found = difference(*pair)
        excluded.append(found.low > 0 or found.high < 0)
        if excluded[-1] or run % 20 == 0:
            assert (chance_of_change(*pair) < 0.05) == excluded[-1]
    assert np.mean(excluded) <= 0.075  # 5 %, and twice the error of 300 runs


def test_the_p_value_of_independent_cases_is_that_of_mcnemar_unless_halves_change():
    before, after = np.array([1.0] * 9 + [0, 0]), np.array([0.0] * 8 + [1, 1, 0])
    assert chance_of_change(before, after) == mcnemar(8, 1)
    assert chance_of_change(before, after, clusters(list("abcdefghijk"))) == mcnemar(8, 1)
    random = np.random.default_rng(8)
    for _ in range(40):
        first, second = (random.choice([0, 0.5, 1], size=30) for _ in range(2))
        found = difference(first, second)
        assert (chance_of_change(first, second) < 0.05) == (found.low > 0 or found.high < 0)


@tabled
def test_tango_is_where_the_score_statistic_is_the_quantile(broken, fixed, n):
    low, high = tango(broken, fixed, n)
    value = (fixed - broken) / n
    assert -1 <= low <= value <= high <= 1
    if low > -1:
        assert score(broken, fixed, n, low) == pytest.approx(Z, abs=2e-4)
    if high < 1:
        assert score(broken, fixed, n, high) == pytest.approx(-Z, abs=2e-4)
    mirrored = tango(fixed, broken, n)
    assert (low, high) == pytest.approx((-mirrored[1], -mirrored[0]))


def test_without_a_changed_case_the_interval_is_that_of_the_cases():
    low, high = tango(0, 0, 60)
    assert (low, high) == pytest.approx((-(Z**2) / (60 + Z**2), Z**2 / (60 + Z**2)))


def test_published_intervals_are_met():
    """Fagerland, Lydersen, Laake 2014, Statistics in Medicine 33, table V: 21 children."""
    assert tango(7, 1, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)


@pytest.mark.parametrize("changing", [0.02, 0.10, 0.30])
def test_tango_covers_the_truth_where_wald_does_not(changing):
    random, n, runs = np.random.default_rng(5), 60, 800
    drop = changing / 2
    p = [changing / 2 + drop / 2, changing / 2 - drop / 2]
    counts = random.multinomial(n, [*p, 1 - sum(p)], size=runs)
    truth = p[1] - p[0]
    held = [low - 1e-12 <= truth <= high + 1e-12 for low, high in (tango(b, f, n) for b, f, _ in counts)]
    assert np.mean(held) >= 0.93


def test_a_difference_counts_broken_and_fixed_cases():
    before, after = np.array([1.0, 1, 1, 0, 0]), np.array([1.0, 0, 0, 1, 0])
    found = difference(before, after)
    assert (found.broken, found.fixed, found.n, found.value) == (2, 1, 5, pytest.approx(-0.2))
    assert (found.low, found.high) == pytest.approx(tango(2, 1, 5))
    assert found.deff == 1.0


def test_repeated_images_widen_the_interval_and_order_changes_nothing():
    random = np.random.default_rng(2)
    images = np.repeat(np.arange(40), 5)
    lost = np.repeat(random.random(40) < 0.2, 5).astype(float)
    before, after = np.ones(200), 1 - lost
    alone, together = difference(before, after), difference(before, after, clusters([str(i) for i in images]))
    assert together.value == alone.value
    assert together.deff == pytest.approx(5, rel=0.15)
    assert together.high - together.low > 1.8 * (alone.high - alone.low)
    order = random.permutation(200)
    assert difference(before[order], after[order], clusters([str(i) for i in images[order]])) == together


def test_a_clustered_interval_covers_the_truth():
    random, held = np.random.default_rng(3), []
    for _ in range(200):
        broken = np.repeat(random.random(60) < 0.10, 4) & (random.random(240) < 0.9)
        found = difference(np.ones(240), 1.0 - broken, clusters([str(i) for i in np.repeat(np.arange(60), 4)]))
        held.append(found.low <= -0.09 <= found.high)
    assert np.mean(held) >= 0.93


def test_the_number_of_cases_for_a_margin_has_the_stated_power():
    n = cases_for_margin(0.05, 0.10)
    counts = np.random.default_rng(4).multinomial(n, [0.05, 0.05, 0.90], size=800)
    held = np.mean([tango(b, f, n)[0] >= -0.05 for b, f, _ in counts])
    assert held == pytest.approx(0.80, abs=0.045)


@pytest.mark.parametrize(("value", "bound"), [(0.60, 0.50), (0.95, 0.90), (0.45, 0.60)])
def test_the_number_of_cases_for_a_bound_decides_with_the_stated_power(value, bound):
    n = cases_for_bound(value, bound)
    right = np.random.default_rng(6).binomial(n, value, size=3000)
    ends = [wilson(k / n, n) for k in right]
    decided = np.mean([low > bound if value > bound else high < bound for low, high in ends])
    assert decided == pytest.approx(0.80, abs=0.05)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mcnemar(-1, 0),
        lambda: tango(3, 3, 5),
        lambda: difference(np.array([]), np.array([])),
        lambda: difference(np.ones(2), np.ones(3)),
        lambda: cases_for_margin(0.0, 0.1),
    ],
)
def test_what_makes_no_sense_is_refused(call):
    with pytest.raises(ValueError, match="expected"):
        call()


AFTER = np.array([1.0, 1.0, 0.0, 1.0, np.nan, 1.0])
BEFORE = np.array([0.0, 1.0, 0.0, np.nan, 0.0, 0.0])
IMAGES = ("a", "a", "b", "c", "c", "d")


def measured(**figures):
    return ControlledTask(
        cases=tuple("123456"), images=IMAGES, columns={"after": AFTER, "before": BEFORE}, figures=figures
    )


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_a_difference_is_that_of_the_cases_with_both_values(confidence):
    found = measured(gain=Figure(column="after", before="before")).metric("gain", confidence)
    expected = difference(BEFORE[[0, 1, 2, 5]], AFTER[[0, 1, 2, 5]], clusters(["a", "a", "b", "d"]), confidence)
    assert (found.value, found.n) == (0.5, 4)
    assert (found.low, found.high, found.deff) == (expected.low, expected.high, expected.deff)


def test_a_share_is_that_of_the_cases_with_a_value():
    found = measured(share=Figure(column="after")).metric("share")
    expected = proportion(AFTER[[0, 1, 2, 3, 5]], clusters(["a", "a", "b", "c", "d"]))
    assert found == expected


def test_what_has_no_case_has_no_metric():
    empty = ControlledTask(
        cases=("1",), images=("a",), columns={"after": np.array([np.nan])}, figures={"share": Figure(column="after")}
    )
    assert empty.metric("share") is None
    assert empty.metric("other") is None
    assert empty.metrics() == {}


CONDITIONS = ("grey", "blank", "other", "told")


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 100, 300])
@pytest.mark.parametrize("kept", [(0.5, 0.5, 0.5, 0.5), (0.5, 0.45, 0.45, 0.45), (0.6, 0.4, 0.4, 0.4)])
def test_the_interval_of_the_smallest_gain_allows_for_its_choice(n, kept):
    random, true, ends = np.random.default_rng(n), 0.75 - max(kept), []
    for _ in range(400):
        alike, shared = random.random((4, n)) < 0.5, random.random(n)
        columns = dict(
            zip(CONDITIONS, np.where(alike, shared, random.random((4, n))) < np.array(kept)[:, None], strict=True)
        )
        columns = {name: values.astype(float) for name, values in columns.items()}
        columns["image"] = (random.random(n) < 0.75).astype(float)
        before = max(CONDITIONS, key=lambda name: columns[name].mean())
        names = tuple(map(str, range(n)))
        figure = Figure(column="image", before=before, others=CONDITIONS)
        gain = ControlledTask(cases=names, images=names, columns=columns, figures={"gain": figure}).metric("gain")
        assert gain.low <= gain.value <= gain.high
        ends.append((gain.high < true, gain.low > true))
    false_alarms, false_passes = np.mean(ends, axis=0)
    assert false_alarms <= 0.03 + 0.012  # and the error of 400 runs
    assert false_passes <= 0.025 + 0.012


def test_conditions_that_are_equal_or_clearly_no_rivals_do_not_widen_the_smallest_gain():
    random = np.random.default_rng(3)
    image, other = (random.random(80) < 0.9).astype(float), (random.random(80) < 0.6).astype(float)
    columns = {"image": image, "other": other, "same": other.copy(), "grey": np.zeros(80)}
    names = tuple(map(str, range(80)))
    gains = {
        "alone": Figure(column="image", before="other"),
        "gain": Figure(column="image", before="other", others=("grey", "same", "other")),
    }
    found = ControlledTask(cases=names, images=names, columns=columns, figures=gains).metrics()
    assert found["gain"] == found["alone"]

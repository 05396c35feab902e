"""P-values of failed gates, their correction for the number of gates, and the error rates of gates as they stand."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from builders import tabled
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import special, stats

from vlgate.errors import ThresholdsError
from vlgate.gates.decide import Coverage, Judged, decide
from vlgate.gates.error_rates import error_rates
from vlgate.gates.p_values import SMALLEST, at_most, beyond, corrected, exact, stays, tail
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.metrics.clusters import clusters
from vlgate.metrics.paired import cases_for_margin, difference, tango
from vlgate.metrics.stats import area, proportion, worth
from vlgate.record.comparison import Comparison, FinishedRun, PairedValues, TaskChange
from vlgate.record.run_gates import change_decisions, refuse_blunt
from vlgate.report.remarks import error_rate_lines
from vlgate.types import Difference

fractions = st.integers(1, 19).map(lambda twentieth: twentieth / 20)
confidences = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def values(right, n):
    return (np.arange(n) < right).astype(float)


def all_judged(n):
    return Coverage(cases=n, judged=n, unscored=0, skipped=0)


def images_of(codes):
    return clusters([str(code) for code in codes])


def decision(right, n, **keys):
    gate = Gate(task="a/b", metric="acc_r", min_cases=1, **keys)
    found = proportion(values(right, n), confidence=gate.confidence)
    made = decide(gate, all_judged(n), {"acc_r": found})
    if made.outcome == "fail" and made.tested:
        made = replace(made, p=tail(gate, lambda confidence: proportion(values(right, n), confidence=confidence)))
    return made


@given(st.integers(5, 200), st.data(), fractions, confidences)
@settings(deadline=None, max_examples=60)
def test_the_p_value_of_a_metric_is_that_of_the_score_test_and_at_least_the_exact_one(n, data, bound, confidence):
    right = data.draw(st.integers(0, n))
    error = (bound * (1 - bound) / n) ** 0.5
    level = (1 - confidence) / 2
    z = (right / n - bound) / error
    for keys, p, binomial in (
        ({"min": bound}, stats.norm.cdf(z), stats.binom.cdf(right, n, bound)),
        ({"max": bound, "kind": "limit"}, stats.norm.sf(z), stats.binom.sf(right - 1, n, bound)),
    ):
        found = decision(right, n, confidence=confidence, **keys)
        assume(abs(p - level) > 1e-9 and abs(binomial - level) > 1e-5)
        assert (found.outcome == "fail") == (p < level and (binomial < level or n * min(bound, 1 - bound) > 10.01))
        if found.outcome == "fail":
            assert found.p == pytest.approx(max(p, binomial, SMALLEST), rel=1e-3)


@pytest.mark.parametrize(
    ("n", "bound"), [(30, 0.95), (50, 0.98), (50, 0.99), (100, 0.98), (100, 0.99), (150, 0.99), (30, 0.9), (33, 0.99)]
)
def test_a_model_on_a_threshold_near_1_or_0_fails_in_at_most_one_of_forty_samples(n, bound):
    assert chances(n, bound, min=bound).get("fail", 0) <= 0.025
    assert chances(n, round(1 - bound, 2), max=round(1 - bound, 2)).get("fail", 0) <= 0.025


def test_a_share_whose_interval_alone_lies_below_the_threshold_is_inconclusive_with_the_p_value():
    found = decision(47, 50, min=0.98)
    assert found.metric.high < 0.98
    assert found.outcome == "inconclusive"
    assert found.why.endswith("p = 0.078 by the exact binomial test, so a decision needs more cases")
    assert decision(46, 50, min=0.98).outcome == "fail"
    limit = decision(3, 50, max=0.02, kind="limit")
    assert limit.metric.low > 0.02
    assert (limit.outcome, "p = 0.078 by the exact" in limit.why) == ("cannot", True)


@pytest.mark.parametrize(("m", "n", "bound"), [(14, 50, 0.98), (14, 100, 0.95), (5, 30, 0.95), (14, 100, 0.8)])
@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_the_correction_keeps_false_fails_of_all_gates_at_the_level(m, n, bound, correction):
    """All gates on their thresholds; with any false fail, the smallest p-value is one of them."""
    made = [decision(right, n, min=bound) for right in range(n + 1)]
    family = [decision(n, n, min=bound)] * (m - 1)
    first = [one.outcome == "fail" and corrected([one, *family], correction)[0].outcome == "fail" for one in made]
    alone = stats.binom.pmf(np.arange(n + 1), n, bound)[first].sum()
    assert 1 - (1 - alone) ** m <= 0.026


@given(st.integers(1, 400), st.data(), st.floats(0.001, 0.999))
@settings(deadline=None, max_examples=60)
def test_the_binomial_tail_is_that_of_scipy(n, data, share):
    k = data.draw(st.integers(0, n))
    assert at_most(k, n, share) == pytest.approx(stats.binom.cdf(k, n, share), abs=1e-10)
    part = data.draw(st.floats(0, n - 0.01))
    assert at_most(part, n, share) == pytest.approx(special.betainc(n - part, part + 1, 1 - share), abs=1e-10)
    assert (at_most(0, n, 1.0), at_most(n, n, 1.0), at_most(0, n, 0.0)) == (0.0 if n else 1.0, 1.0, 1.0)
    assert at_most(0, n, 1e-300) == 1.0  # 1 minus this is 1


@given(st.integers(10, 120), st.data(), st.sampled_from([0.02, 0.1, 0.3]))
@settings(deadline=None, max_examples=40)
def test_the_p_value_of_a_drop_is_below_each_level_at_which_the_gate_fails(n, data, most):
    broken = data.draw(st.integers(0, n))
    fixed = data.draw(st.integers(0, n - broken))
    change = np.repeat([-1.0, 1.0, 0.0], [broken, fixed, n - broken - fixed])
    before, after = (change < 0).astype(float), (change > 0).astype(float)
    gate = Gate(task="a/b", metric="acc_r", kind="max_drop", max=most, confidence=0.6)
    assume(beyond(gate, difference(before, after, confidence=0.6)))
    p = tail(gate, lambda confidence: difference(before, after, confidence=confidence))
    for confidence in (0.8, 0.95, 0.99):
        assume(abs(p - (1 - confidence) / 2) > 1e-9)
        assert (tango(broken, fixed, n, confidence)[1] < -most) == (p < (1 - confidence) / 2)


@pytest.mark.parametrize("kind", ["mean", "area"])
def test_the_p_value_counts_repeated_images_and_holds_for_areas(kind):
    random = np.random.default_rng(1)
    groups = images_of(np.arange(80) // 4)
    shared = np.repeat(random.normal(size=20), 4)

    def at(confidence, groups=groups):
        if kind == "mean":
            return proportion((shared > 0.6).astype(float), groups, confidence)
        return area(shared + 0.1, random_scores, groups, confidence)

    random_scores = shared + random.normal(size=80)
    metric = "acc_r" if kind == "mean" else "auroc"
    gate = Gate(task="a/b", metric=metric, min=min(0.99, at(0.8).high + 0.02), confidence=0.8)
    p = tail(gate, at)
    for confidence in (0.8, 0.85, 0.9, 0.95, 0.99, 0.999):
        below = at(confidence).high < gate.min
        assert below == (p < (1 - confidence) / 2) or (below and p == exact(gate, at(0.8)))
    assert p > tail(gate, lambda confidence: at(confidence, None))


p_values = st.lists(st.sampled_from([0.0001, 0.001, 0.004, 0.01, 0.02, 0.024, 0.2, 0.9]), min_size=1, max_size=8)


@pytest.mark.slow
@given(p_values, st.sampled_from(["holm", "bh"]))
def test_the_correction_is_that_of_statsmodels(found, correction):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    method = {"holm": "holm", "bh": "fdr_bh"}[correction]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gc.collect", int)  # theirs at each call takes a second among thousands of tests
        expected = multitest.multipletests(found, alpha=0.025, method=method)[0]
    assert stays(np.array([found]) / 0.025, correction)[0].tolist() == expected.tolist()


def slow_fails(p, alpha, correction):
    """After the definitions, gate by gate."""
    m, ranked = len(p), sorted(p)
    if correction == "holm":
        steps = [rank for rank, one in enumerate(ranked) if one * (m - rank) > alpha]
        return set(ranked[: min(steps, default=m)])
    last = max((rank for rank, one in enumerate(ranked, 1) if one <= alpha * rank / m), default=0)
    return set(ranked[:last])


def failed(p, place=0):
    """A decision with a p-value; it fails if that is below 0.025."""
    gate = Gate(task=f"a/{place}", metric="acc_r", min=0.5)
    metric = proportion(values(60, 100))
    return Decision(gate=gate, outcome="fail" if p < 0.025 else "inconclusive", why="", metric=metric, p=p)


@given(p_values, st.sampled_from(["holm", "bh"]))
def test_a_correction_makes_fails_inconclusive_and_nothing_else(found, correction):
    before = [failed(p, index) for index, p in enumerate(found)]
    before += [Decision(gate=Gate(task="run", metric="must_hold"), outcome="fail", why="a case is wrong")]
    after = corrected(before, correction)
    expected = slow_fails(found, 0.025, correction)
    for one, other, p in zip(before, after, [*found, None], strict=True):
        if one.outcome == "fail" and p is not None and p not in expected:
            assert other.outcome == "inconclusive"
            assert "may be chance" in other.why
        else:
            assert other is one


def test_counts_and_values_are_not_corrected():
    count = Gate(task="a/b", metric="acc_r", kind="max_broken", max=0)
    change = Difference(value=-0.1, low=-0.2, high=0.0, n=100, broken=10, fixed=0)
    found = [
        Decision(gate=count, outcome="fail", why="", difference=change, counted=(10, 100)),
        replace(failed(0.9), outcome="fail", gate=Gate(task="a/b", metric="acc_r", min=0.7, basis="value"), p=None),
        *(failed(0.02, index) for index in range(3)),
    ]
    assert [one.outcome for one in corrected(found, "holm")] == ["fail", "fail", *["inconclusive"] * 3]
    assert corrected(found, "none") == tuple(found)
    with pytest.raises(ValueError, match="without a p-value"):
        corrected([replace(failed(0.01), p=None)], "holm")


def chances(n, share, **keys):
    """The chance of each outcome of a gate over n independent cases, summed over the binomial distribution."""
    weights = stats.binom.pmf(np.arange(n + 1), n, share)
    found = {}
    for right, weight in enumerate(weights.tolist()):
        outcome = decision(right, n, **keys).outcome
        found[outcome] = found.get(outcome, 0.0) + weight
    return found


@tabled
def test_the_error_rates_of_a_gate_are_those_of_its_decisions_over_all_samples(n, right, keys):
    found = error_rates([decision(right, n, **keys)])
    again = chances(n, min(max(right / n, 0.5 / (n + 1)), (n + 0.5) / (n + 1)), **keys)
    bar = chances(n, keys.get("min", keys.get("max")), **keys)
    assert found.gates == 1
    assert found.unchanged_passes == pytest.approx(again.get("pass", 0) + again.get("cannot", 0), abs=0.015)
    assert found.unchanged_fails == pytest.approx(again.get("fail", 0), abs=0.015)
    assert found.threshold_fails == pytest.approx(bar.get("fail", 0), abs=0.015)


def test_the_error_rates_of_a_drop_are_those_of_its_decisions_over_all_samples():
    n, most, broken, fixed = 30, 0.2, 4, 3
    low, high = tango(broken, fixed, n)
    change = Difference(value=-1 / 30, low=low, high=high, n=n, broken=broken, fixed=fixed)
    gate = Gate(task="a/b", metric="acc_r", kind="max_drop", max=most)
    found = error_rates([Decision(gate=gate, outcome="pass", why="", difference=change)])
    bar = (7 / 30 + most) / 2, (7 / 30 - most) / 2
    exact = {"pass": 0.0, "fail": 0.0}
    for b, f in product(range(n + 1), repeat=2):
        if b + f <= n:
            low, high = tango(b, f, n)
            exact["pass"] += (low >= -most) * stats.multinomial.pmf([b, f, n - b - f], n, [4 / 30, 3 / 30, 23 / 30])
            exact["fail"] += (high < -most) * stats.multinomial.pmf([b, f, n - b - f], n, [*bar, 1 - sum(bar)])
    assert found.unchanged_passes == pytest.approx(exact["pass"], abs=0.015)
    assert found.threshold_fails == pytest.approx(exact["fail"], abs=0.015)


@pytest.mark.parametrize(("most", "passes"), [(6, 0.60), (0.06, 0.60), (10, 0.96)])
def test_the_error_rates_of_a_count_are_binomial(most, passes):
    gate = Gate(task="a/b", metric="acc_r", kind="max_broken", max=most)
    change = Difference(value=-0.06, low=-0.1, high=0.0, n=100, broken=6, fixed=0)
    found = error_rates([Decision(gate=gate, outcome="pass", why="", difference=change, counted=(6, 100))])
    limit = most if most > 1 else 100 * most
    assert found.unchanged_passes == pytest.approx(stats.binom.cdf(limit, 100, 0.06), abs=0.015)
    assert found.unchanged_passes == pytest.approx(passes, abs=0.02)


def test_false_alarms_add_up_and_a_correction_keeps_them_at_the_level():
    """Fourteen gates at one-sided 2.5 % raise a false alarm in 30 % of samples, if they are independent."""
    made = decision(800, 1000, min=0.78)
    gates = [replace(made, gate=Gate(task=f"a/{index}", metric="acc_r", min=0.78)) for index in range(14)]
    found = {name: error_rates(gates, name) for name in ("none", "holm", "bh")}
    assert found["none"].threshold_fails == pytest.approx(1 - 0.975**14, abs=0.03)
    assert found["holm"].threshold_fails <= found["bh"].threshold_fails == pytest.approx(0.025, abs=0.01)
    assert len({one.unchanged_passes for one in found.values()}) == 1
    assert found["none"].unchanged_passes < error_rates(gates[:1]).unchanged_passes


def test_gates_without_figures_and_gates_not_run_have_no_error_rates():
    held = Decision(gate=Gate(task="run", metric="must_hold"), outcome="fail", why="")
    idle = replace(decision(5, 10, min=0.5), outcome="not run")
    few = decision(29, 29, min=0.5)
    assert error_rates([few]).unchanged_passes == 1
    assert error_rates([replace(few, gate=replace(few.gate, min_cases=30))]).unchanged_passes == 0
    assert error_rates([held, idle]) is None
    assert error_rates([held, decision(5, 10, min=0.5)]).gates == 1


def by_image(codes, random):
    """Rows of a sample of whole images, with the images of each, drawn again."""
    rows = [np.flatnonzero(codes == image) for image in np.unique(codes)]
    drawn = [rows[image] for image in random.integers(0, len(rows), len(rows))]
    return np.concatenate(drawn), clusters([str(index) for index, some in enumerate(drawn) for _ in some])


def drops_again(pair, codes, gate, runs=300):
    """How often a drop is judged a pass and a fail in new samples of the images, and what is printed of that."""
    values = PairedValues(before=pair[0], after=pair[1], images=images_of(codes))
    found = error_rates([Decision(gate=gate, outcome="pass", why="", difference=values.difference(), part=values.part)])
    random, made = np.random.default_rng(0), []
    for _ in range(runs):
        rows, images = by_image(codes, random)
        change = difference(pair[0][rows], pair[1][rows], images)
        low, high = (change.value, change.value) if gate.basis == "value" else (change.low, change.high)
        made.append((low >= -gate.max, high < -gate.max))
    return found, *np.mean(made, axis=0)


@pytest.mark.parametrize("basis", ["lower", "value"])
@pytest.mark.parametrize(("n", "halves", "wholes"), [(250, 15, 0), (400, 24, 0), (400, 16, 6)])
def test_the_stability_of_a_drop_counts_halves_as_halves(n, halves, wholes, basis):
    """Fifteen of five hundred answers newly wrong: a drop of 0.03 that varies half as much as that of whole cases."""
    after = np.ones(n)
    after[:halves], after[halves : halves + wholes] = 0.5, 0.0
    gate = Gate(task="a/b", metric="acc", kind="max_drop", max=0.05, basis=basis)
    found, passes, fails = drops_again((np.ones(n), after), np.arange(n), gate)
    assert found.unchanged_passes == pytest.approx(passes, abs=0.08)
    assert found.unchanged_fails == pytest.approx(fails, abs=0.08)
    assert found.unchanged_passes_low < found.unchanged_passes < found.unchanged_passes_high


@tabled
def test_the_stability_of_a_drop_counts_images_and_their_degrees_of_freedom(images, per_image, seed, margin):
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(images), per_image)
    kind = np.where(random.random(codes.size) < 0.5, random.random(images)[codes], random.random(codes.size))
    before, after = (kind < 0.82).astype(float), ((kind >= 0.18) & (kind < 1)).astype(float)
    low = difference(before, after, images_of(codes)).low
    gate = Gate(task="a/b", metric="acc_r", kind="max_drop", max=round(margin - low, 3))
    found, passes, fails = drops_again((before, after), codes, gate)
    assert found.unchanged_passes == pytest.approx(passes, abs=0.09)
    assert found.unchanged_fails == pytest.approx(fails, abs=0.05)


@pytest.mark.parametrize(("images", "per_image"), [(20, 10), (40, 5), (12, 10)])
@pytest.mark.parametrize("keys", [{"min": 0.65}, {"min": 0.78, "basis": "value"}, {"max": 0.9}])
def test_the_stability_of_a_share_counts_images_and_their_degrees_of_freedom(images, per_image, keys):
    random = np.random.default_rng(images)
    codes = np.repeat(np.arange(images), per_image)
    right = (random.random(codes.size) < random.beta(1.2, 0.3, images)[codes]).astype(float)
    gate = Gate(task="a/b", metric="acc_r", min_cases=1, **keys)
    metric = proportion(right, images_of(codes))
    found = error_rates([Decision(gate=gate, outcome="pass", why="", metric=metric)])
    made = []
    for _ in range(300):
        rows, drawn = by_image(codes, random)
        made.append(decide(gate, all_judged(rows.size), {"acc_r": proportion(right[rows], drawn)}).outcome)
    assert found.unchanged_passes == pytest.approx(made.count("pass") / 300, abs=0.08)
    assert found.unchanged_fails == pytest.approx(made.count("fail") / 300, abs=0.08)


def test_the_range_of_the_stability_holds_the_true_one_for_most_samples():
    """A plug-in alone says 0.1 or 0.9 by chance: three hundred cases, 0.80 true, at least 0.75 asked."""
    gate = {"min": 0.75}
    true = chances(300, 0.8, **gate)["pass"]
    found = [error_rates([decision(right, 300, **gate)]) for right in np.random.default_rng(0).binomial(300, 0.8, 60)]
    assert np.ptp([one.unchanged_passes for one in found]) > 0.7
    held = [one.unchanged_passes_low <= true <= one.unchanged_passes_high for one in found]
    assert 0.68 <= np.mean(held) <= 0.95


@pytest.mark.parametrize(("right", "least", "most"), [(2, 0.2, 0.75), (30, 0.85, 0.75), (300, 0.9, 1.0)])
def test_all_right_is_no_certainty(right, least, most):
    found = error_rates([decision(right, right, min=least)])
    assert found.unchanged_passes <= most
    (line,) = (rate_line for rate_line in error_rate_lines(found) if rate_line.startswith("another sample"))
    assert "100 %" not in line


def more(why):
    return int(re.search(r"about ([\d,]+) more", why)[1].replace(",", ""))


@pytest.mark.parametrize(("right", "n", "bound"), [(36, 60, 0.5), (57, 60, 0.9), (44, 80, 0.6), (300, 500, 0.57)])
def test_the_number_of_further_cases_decides_with_the_stated_power(right, n, bound):
    why = decision(right, n, min=bound).why
    random, size = np.random.default_rng(right), n + more(why)
    drawn, counts = np.unique(random.binomial(size, right / n, 2000), return_counts=True)
    decided = [decision(k, size, min=bound).outcome != "inconclusive" for k in drawn]
    assert counts[decided].sum() / 2000 == pytest.approx(0.80, abs=0.05)


def test_the_number_of_further_cases_counts_repeated_images():
    random = np.random.default_rng(3)

    def drawn(images):
        right = np.repeat(random.random(images) < 0.6, 4) ^ (random.random(4 * images) < 0.05)
        return proportion(right.astype(float), images_of(np.arange(4 * images) // 4))

    gate = Gate(task="a/b", metric="acc_r", min=0.52)
    found = drawn(40)
    while abs(found.value - 94 / 160) > 1e-9:
        found = drawn(40)
    alone = decision(94, 160, min=0.52)
    why = decide(gate, all_judged(160), {"acc_r": found}).why
    assert more(why) > 2 * more(alone.why)
    images = (160 + more(why)) // 4
    outcomes = [decide(gate, all_judged(4 * images), {"acc_r": drawn(images)}).outcome for _ in range(150)]
    assert 0.72 <= np.mean([outcome != "inconclusive" for outcome in outcomes]) <= 0.95


def test_both_bounds_within_an_interval_are_named_and_the_harder_one_counts():
    assert "none decides" in decision(30, 60, min=0.5).why  # a metric on its threshold
    both = decision(30, 60, min=0.45, max=0.6)
    assert "min = 0.45 and max = 0.6" in both.why
    assert more(both.why) == more(decision(30, 60, min=0.45).why)


@given(st.integers(2, 5000), st.data())
def test_a_mean_of_independent_cases_is_worth_its_number(n, data):
    right = data.draw(st.integers(0, n))
    assert worth(proportion(values(right, n))) == pytest.approx(n, rel=1e-6)


def comparison(before, after, codes):
    values = PairedValues(before=before, after=after, images=images_of(codes))
    counts = {"n": before.size, "still_wrong": 0, "churned": 0, "unjudged": 0, "broken": (), "fixed": (), "added": ()}
    change = TaskChange(task="a/b", values={"acc": values}, headline="c_acc", **counts)
    return Comparison(earlier=FinishedRun, tasks={"a/b": change})


def drop_gate(most, metric="acc", **keys):
    rule = Gate(task="a/b", metric=metric, kind="max_drop", max=most, **keys)
    return Thresholds(file=Path("thresholds.toml"), rules=(), require=(), changes=(rule,))


@pytest.mark.parametrize(("part", "per_image", "most"), [(1.0, 1, 0.04), (0.5, 1, 0.02), (0.5, 4, 0.02)])
def test_the_number_of_further_cases_of_a_drop_has_the_stated_power(part, per_image, most):
    """A tenth of the cases change, by a half or wholly; the cases of an image change together."""
    random = np.random.default_rng(7)

    def drawn(n):
        codes = np.arange(n) // per_image
        kind = random.random(n)[codes]
        return np.where(kind < 0.05, 1 - part, 1.0), np.where(kind > 0.95, 1 - part, 1.0), codes

    n = 120 * per_image
    before, after, codes = np.ones(n), np.ones(n), np.arange(n) // per_image
    before[: n // 20] = after[-n // 20 :] = 1 - part
    tasks = {"a/b": Judged(shape="questions", coverage=all_judged(n))}
    (made,) = change_decisions(drop_gate(most), comparison(before, after, codes), tasks)
    assert (made.outcome, made.part) == ("inconclusive", part)
    n = (n + more(made.why)) // per_image * per_image
    samples = (drawn(n) for _ in range(150))
    passes = [difference(one, other, images_of(codes)).low >= -most for one, other, codes in samples]
    assert np.mean(passes) == pytest.approx(0.80, abs=0.1)


@pytest.mark.parametrize(
    ("metric", "needed"), [("acc", cases_for_margin(0.1, 0.2)), ("c_acc", cases_for_margin(0.05, 0.1))]
)
def test_a_drop_of_a_metric_that_counts_two_answers_a_case_needs_half_as_many_cases(metric, needed):
    rules = drop_gate(0.05, metric, expected_churn=0.1)
    refuse_blunt(rules, {"a/b": ("questions", needed)}, quick=False)
    with pytest.raises(ThresholdsError, match=f"it takes {needed} cases"):
        refuse_blunt(rules, {"a/b": ("questions", needed - 1)}, quick=False)

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.gates.decide import Coverage, decide, idle
from vlgate.gates.records import Gate
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


def outcome(rule, found, coverage=NONE_MISSING):
    decision = decide(rule, coverage, {"acc_r": found})
    assert decision.gate is rule
    assert decision.metric is found
    return decision.outcome


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


@pytest.mark.parametrize(
    ("low", "value", "high", "by_interval", "by_value"),
    [
        (0.60, 0.65, 0.70, "pass", "pass"),
        (0.61, 0.65, 0.70, "pass", "pass"),
        (0.59, 0.65, 0.70, "inconclusive", "pass"),
        (0.55, 0.60, 0.65, "inconclusive", "pass"),
        (0.50, 0.55, 0.60, "inconclusive", "fail"),
        (0.50, 0.55, 0.59, "fail", "fail"),
    ],
)
def test_a_minimum_is_held_by_the_whole_interval_or_by_the_point(low, value, high, by_interval, by_value):
    found = metric(low, value, high)
    assert outcome(gate(min=0.60, basis="lower"), found) == by_interval
    assert outcome(gate(min=0.60, basis="value"), found) == by_value


@pytest.mark.parametrize(
    ("low", "value", "high", "by_interval", "by_value"),
    [
        (0.20, 0.25, 0.30, "pass", "pass"),
        (0.20, 0.25, 0.31, "inconclusive", "pass"),
        (0.25, 0.30, 0.35, "inconclusive", "pass"),
        (0.30, 0.35, 0.40, "inconclusive", "fail"),
        (0.31, 0.35, 0.40, "fail", "fail"),
    ],
)
def test_a_maximum_is_held_by_the_whole_interval_or_by_the_point(low, value, high, by_interval, by_value):
    found = metric(low, value, high)
    assert outcome(gate(max=0.30, basis="lower"), found) == by_interval
    assert outcome(gate(max=0.30, basis="value"), found) == by_value


def test_both_ends_must_hold():
    rule = gate(min=0.4, max=0.6)
    assert outcome(rule, metric(0.45, 0.5, 0.55)) == "pass"
    assert outcome(rule, metric(0.35, 0.5, 0.55)) == "inconclusive"
    assert outcome(rule, metric(0.45, 0.5, 0.65)) == "inconclusive"
    assert outcome(rule, metric(0.1, 0.2, 0.3)) == "fail"
    assert outcome(rule, metric(0.7, 0.8, 0.9)) == "fail"


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


def test_a_gate_over_unscored_cases_cannot_pass_but_can_fail():
    coverage = Coverage(cases=103, judged=100, unscored=3, skipped=0)
    passing = decide(gate(min=0.5), coverage, {"acc_r": metric(0.6, 0.7, 0.8)})
    assert passing.outcome == "inconclusive"
    assert passing.why == "3 of 103 cases are unscored"
    assert outcome(gate(min=0.9), metric(0.6, 0.7, 0.8), coverage) == "fail"


def test_a_gate_over_too_few_cases_cannot_pass_but_can_fail():
    few = Coverage(cases=29, judged=29, unscored=0, skipped=0)
    decision = decide(gate(min=0.5, min_cases=30), few, {"acc_r": metric(0.6, 0.7, 0.8, n=29)})
    assert decision.outcome == "inconclusive"
    assert "29 cases" in decision.why
    assert "min_cases = 30" in decision.why
    enough = Coverage(cases=30, judged=30, unscored=0, skipped=0)
    assert outcome(gate(min=0.5, min_cases=30), metric(0.6, 0.7, 0.8, n=30), enough) == "pass"
    assert outcome(gate(min=0.9, min_cases=30), metric(0.6, 0.7, 0.8, n=29)) == "fail"


@pytest.mark.parametrize("n", [10, 499])
def test_a_metric_of_some_of_the_judged_cases_cannot_pass(n):
    coverage = Coverage(cases=500, judged=500, unscored=0, skipped=0)
    decision = decide(gate(min=0.5, min_cases=5), coverage, {"acc_r": metric(0.6, 0.7, 0.8, n=n)})
    assert decision.outcome == "inconclusive"
    assert f"{n} of 500 judged cases" in decision.why


def test_a_gate_over_few_skipped_cases_can_pass_and_over_many_cannot():
    found = metric(0.6, 0.7, 0.8)
    assert outcome(gate(min=0.5), found, Coverage(cases=105, judged=100, unscored=0, skipped=5)) == "pass"
    many = Coverage(cases=106, judged=100, unscored=0, skipped=6)
    decision = decide(gate(min=0.5), many, {"acc_r": found})
    assert decision.outcome == "inconclusive"
    assert decision.why == "6 of 106 cases are skipped, more than max_skipped = 0.05"
    assert outcome(gate(min=0.5, max_skipped=0.1), found, many) == "pass"
    assert outcome(gate(min=0.9), found, many) == "fail"


def test_copies_of_a_case_are_not_more_cases():
    copies = Coverage(cases=100, judged=100, unscored=0, skipped=0, distinct=29)
    decision = decide(gate(min=0.5), copies, {"acc_r": metric(0.6, 0.7, 0.8)})
    assert decision.outcome == "inconclusive"
    assert "29 of 100 cases" in decision.why
    assert "min_cases = 30" in decision.why
    assert outcome(gate(min=0.5, min_cases=29), metric(0.6, 0.7, 0.8), copies) == "pass"


def test_the_rule_for_ties_is_named_and_credit_cannot_pass():
    found = {"acc_r": metric(0.6, 0.7, 0.8)}
    assert "ties" not in decide(gate(min=0.5), NONE_MISSING, found).why
    half = decide(gate(min=0.5), NONE_MISSING, found, "half")
    assert (half.outcome, "--ties half" in half.why) == ("pass", True)
    credit = decide(gate(min=0.5), NONE_MISSING, found, "credit")
    assert (credit.outcome, "--ties credit" in credit.why) == ("inconclusive", True)
    failing = decide(gate(min=0.9), NONE_MISSING, found, "credit")
    assert (failing.outcome, "--ties credit" in failing.why) == ("fail", True)


def test_a_metric_that_the_model_does_not_give_is_inconclusive():
    rule = Gate(task="valse/existence", metric="auroc", min=0.5)
    decision = decide(rule, NONE_MISSING, {"acc_r": metric(0.6, 0.7, 0.8)})
    assert (decision.outcome, decision.metric) == ("inconclusive", None)
    assert "no auroc" in decision.why


def test_a_gate_without_judged_cases_is_inconclusive_and_counts_the_others():
    decision = decide(gate(min=0.0), Coverage(cases=7, judged=0, unscored=4, skipped=3), {})
    assert (decision.outcome, decision.metric) == ("inconclusive", None)
    assert decision.why == "none of 7 cases was judged (4 unscored, 3 skipped, 0 deselected)"


@pytest.mark.parametrize("found", [metric(0.9, 0.95, 1.0), metric(0.0, 0.05, 0.1)])
def test_a_gate_over_a_part_of_its_task_is_inconclusive_whatever_the_part_says(found):
    coverage = Coverage(cases=60, judged=60, unscored=0, skipped=0, deselected=40)
    decision = decide(gate(min=0.5), coverage, {"acc_r": found})
    assert decision.outcome == "inconclusive"
    assert decision.why == "40 of the task's 100 cases were deselected"


def test_a_rule_without_a_task_is_listed_as_not_run():
    rule = gate(min=0.5)
    assert (idle(rule).gate, idle(rule).outcome, idle(rule).metric) == (rule, "not run", None)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (gate(min=0.5), "acc_r is 0.6690 (95 % interval 0.6270 to 0.7090), within min = 0.5"),
        (gate(min=0.5, max=0.9), "acc_r is 0.6690 (95 % interval 0.6270 to 0.7090), within min = 0.5 and max = 0.9"),
        (gate(min=0.65), "acc_r is 0.6690 (95 % interval 0.6270 to 0.7090): the interval contains min = 0.65"),
        (gate(max=0.65), "acc_r is 0.6690 (95 % interval 0.6270 to 0.7090): the interval contains max = 0.65"),
        (gate(min=0.71), "acc_r is 0.6690 (95 % interval 0.6270 to 0.7090), below min = 0.71"),
        (gate(max=0.125), "acc_r is 0.6690 (95 % interval 0.6270 to 0.7090), above max = 0.125"),
        (gate(min=0.67, basis="value"), "acc_r is 0.6690, below min = 0.67"),
    ],
)
def test_the_reason_contains_the_figures(rule, says):
    assert decide(rule, NONE_MISSING, {"acc_r": metric(0.627, 0.669, 0.709)}).why.startswith(says)


@pytest.mark.parametrize(
    ("confidence", "said"), [(0.5, "50 %"), (0.9, "90 %"), (0.975, "97.5 %"), (0.995, "99.5 %"), (0.999, "99.9 %")]
)
def test_the_confidence_of_an_interval_is_not_rounded_to_certainty(confidence, said):
    decision = decide(gate(min=0.5, confidence=confidence), NONE_MISSING, {"acc_r": metric(0.6, 0.7, 0.8)})
    assert f"({said} interval" in decision.why


@pytest.mark.parametrize(("n", "says"), [(1, "there is only 1 case, fewer"), (2, "there are only 2 cases, fewer")])
def test_the_number_of_cases_is_said_in_grammatical_english(n, says):
    assert decide(
        gate(min=0.5), Coverage(cases=n, judged=n, unscored=0, skipped=0), {"acc_r": metric(1.0, 1.0, 1.0, n=n)}
    ).why.startswith(says)


@pytest.mark.parametrize(
    ("unread", "said"),
    [
        (100, "no case has answers that could all be read"),
        (40, "40 of 100 cases have an answer that could not be read"),
    ],
)
def test_a_gate_that_does_not_pass_says_how_many_answers_could_not_be_read(unread, said):
    coverage = replace(NONE_MISSING, unread=unread)
    for found, outcome_ in ((metric(0.0, 0.1, 0.2), "fail"), (metric(0.4, 0.5, 0.6), "inconclusive")):
        decision = decide(gate(min=0.5), coverage, {"acc_r": found})
        assert decision.outcome == outcome_
        assert said in decision.why
        assert "could" not in decide(gate(min=0.5), NONE_MISSING, {"acc_r": found}).why
    assert "could" not in decide(gate(min=0.5), coverage, {"acc_r": metric(0.6, 0.7, 0.8)}).why


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


def test_a_mean_of_classes_exactly_on_a_threshold_holds_it():
    values = np.concatenate([np.arange(n) < r for r, n in ((1, 5), (3, 5), (9, 10), (2, 5), (0, 4))]).astype(float)
    found = macro(values, np.repeat(np.arange(5), [5, 5, 10, 5, 4]))
    assert found.value == 0.42
    assert on_the_threshold(found, 0.42) == ["pass", "pass"]
    random = np.random.default_rng(0)
    for _ in range(1402):
        values, classes, bound = random_classes(random)
        assert macro(values, classes).value == bound


def test_a_share_exactly_on_a_threshold_holds_it_and_the_next_one_does_not():
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


@pytest.mark.parametrize("hundredths", [7, 14, 28, 29, 55, 57, 58])
def test_as_many_skipped_cases_as_allowed_are_allowed(hundredths):
    rule = gate(min=0.1, max_skipped=hundredths / 100, min_cases=1)
    for skipped, expected in ((hundredths, "pass"), (hundredths + 1, "inconclusive")):
        judged = 100 - skipped
        coverage = Coverage(cases=100, judged=judged, unscored=0, skipped=skipped)
        assert outcome(rule, metric(0.5, 0.6, 0.7, n=judged), coverage) == expected

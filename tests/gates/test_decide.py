import re
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from builders import table
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


def test_a_rule_without_a_task_is_listed_as_not_run():
    rule = gate(min=0.5)
    assert (idle(rule).gate, idle(rule).outcome, idle(rule).metric) == (rule, "not run", None)


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

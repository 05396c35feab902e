import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from vlgate.metrics.stats import proportion, wilson

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


def test_the_default_confidence_is_95_percent():
    values = np.array([1.0, 1.0, 0.0])
    assert proportion(values) == proportion(values, confidence=0.95)


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

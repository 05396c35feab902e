"""Figures of controls: shares and paired differences over the cases that have a value, clustered by image."""

import numpy as np
import pytest

from vlgate.metrics.clusters import clusters
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.paired import difference
from vlgate.metrics.stats import proportion

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

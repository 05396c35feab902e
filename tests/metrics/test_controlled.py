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

"""The page of error rates: its text is that of the code, its sums those of scipy, and its rates near their levels."""

import re

import numpy as np
import pytest
from scipy import stats


@pytest.fixture(scope="module")
def script(scripts):
    return scripts("write_error_rates")


@pytest.fixture(scope="module")
def page(script):
    return script.PAGE.read_text(encoding="utf-8")


def rows_of(page, title):
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", section, re.MULTILINE)
    ]
    return rows[2:]


def test_the_page_is_what_the_code_says(script, page):
    """Tables that are sums are computed again; those that are simulated take ten seconds, and numpy may draw anew."""
    head = script.TEXT.partition("{gates}")[0].partition("## Gates")[2]
    assert head in page
    assert rows_of(page, "Known limits") == [list(row) for row in script.limits()]
    assert rows_of(page, "McNemar's test") == [list(row) for row in script.tests()]


@pytest.mark.parametrize(("n", "least"), [(30, 0.6), (300, 0.9)])
def test_the_rates_of_a_gate_are_those_of_scipys_wilson_intervals(page, n, least):
    ends = [stats.binomtest(k, n).proportion_ci(0.95, method="wilson") for k in range(n + 1)]

    def rate(share, held):
        return stats.binom.pmf([k for k, end in enumerate(ends) if held(end)], n, share).sum()

    expected = (
        rate(least, lambda end: end.high < least),
        rate(least, lambda end: end.low >= least),
        1 - rate(least - 0.1, lambda end: end.high < least),
        1 - rate(min(1.0, least + 0.1), lambda end: end.low >= least),
    )
    (row,) = (row for row in rows_of(page, "Gates") if row[:2] == [f"{n:,}", f"min = {least:.2f}"])
    assert [float(cell) for cell in row[2:6]] == pytest.approx([100 * one for one in expected], abs=0.06)


def test_false_alarms_false_passes_and_coverage_are_near_their_levels(page):
    gates = np.array([[float(cell) for cell in row[2:4]] for row in rows_of(page, "Gates")])
    assert gates.max() <= 4.0
    drops = np.array([[float(cell) for cell in row[1:3]] for row in rows_of(page, "Gates on a drop")])
    assert drops.max() <= 3.5
    lowest = [float(row[4]) for row in rows_of(page, "Intervals of a difference")]
    assert min(lowest) >= 94.0
    assert max(float(row[1]) for row in rows_of(page, "McNemar's test")) <= 5.4


def test_an_unchanged_model_passes_as_often_as_the_power_says(script, page):
    """With the number of cases that the door asks for."""
    needed = int(re.search(r"below ([\d,]+) cases", page)[1].replace(",", ""))
    passes = (script._drop_statistics(needed, 0.0, 0.05) >= script.Z).mean()
    assert passes == pytest.approx(0.80, abs=0.03)

"""The tasks that a radar has room for."""

import pytest

from vlgate.report.page.page import FEWEST_AXES, MOST_AXES, radar, short
from vlgate.report.page.sections import Section


def section(name):
    figure = {"value": 0.5, "low": 0.5, "high": 0.5, "n": 9, "chance": 0.5}
    figures = {"capability": "foil", "metrics": {"acc_r": figure}}
    return Section(task=name, figures=figures, headline="acc_r", tags={})


@pytest.mark.parametrize(
    ("number", "there"), [(FEWEST_AXES - 1, False), (FEWEST_AXES, True), (MOST_AXES, True), (MOST_AXES + 1, False)]
)
def test_too_few_or_too_many_tasks_have_no_radar(number, there):
    assert bool(radar([section(f"mine/{name}") for name in range(number)])) is there


def test_a_long_name_keeps_its_end():
    assert short("counting-adversarial", 12) == "…adversarial"
    assert short("relations") == "relations"

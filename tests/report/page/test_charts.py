"""The charts of the figures: the place of a value, and the tasks that a radar has room for."""

import re

import pytest

from vlgate.report.page.charts import FEWEST_AXES, MOST_AXES, chart, radar, short
from vlgate.report.page.sections import Section


def section(name, value, *, baseline=None, published=()):
    figure = {"value": value, "low": value, "high": value, "n": 9, "chance": 0.5}
    return Section(
        task=name,
        figures={"capability": "foil", "metrics": {"acc_r": figure}},
        headline="acc_r",
        published=published,
        baseline=baseline,
        tags={},
    )


def line(drawn, kind):
    found = re.search(rf'<polygon class="line {kind}" points="(.*?)"', drawn)
    return found and [tuple(map(float, place.split(","))) for place in found[1].split()]


def test_a_radar_has_an_axis_for_each_task_clockwise_from_the_top():
    drawn = radar([section(f"mine/{name}", value) for name, value in zip("abcd", (1, 0.5, 0, 1), strict=True)])
    centre = 320.0
    assert line(drawn, "model") == [(centre, 140.0), (410.0, centre), (centre, centre), (140.0, centre)]
    assert line(drawn, "chance") == [(centre, 230.0), (410.0, centre), (centre, 410.0), (230.0, centre)]
    assert re.findall(r'<a href="#(.*?)">', drawn) == [f"mine/{name}" for name in "abcd"]


def test_a_line_leaves_out_tasks_without_a_value_and_needs_three():
    tasks = [section(f"mine/{name}", 1, baseline=0.5) for name in "abc"]
    assert len(line(radar([*tasks, section("mine/d", 1)]), "baseline")) == 3
    assert line(radar([*tasks[:2], section("mine/d", 1)]), "baseline") is None
    assert line(radar(tasks), "blind") is None


@pytest.mark.parametrize(
    ("number", "there"), [(FEWEST_AXES - 1, False), (FEWEST_AXES, True), (MOST_AXES, True), (MOST_AXES + 1, False)]
)
def test_too_few_or_too_many_tasks_have_no_radar(number, there):
    assert bool(radar([section(f"mine/{name}", 0.5) for name in range(number)])) is there


def test_published_figures_and_the_baseline_are_marked_by_name():
    papers = (("human", 0.9), ("CLIP <3>", 0.6), ("chance", 0.5))
    tasks = [section(f"mine/{name}", 0.5, baseline=0.25, published=papers) for name in "abc"]
    for drawn in (radar(tasks), chart(tasks)):
        assert drawn.count("<title>CLIP &lt;3&gt; 0.600</title>") == 3
        assert drawn.count("<title>people 0.900</title>") == 3
        assert "<title>chance 0.500</title>" not in radar(tasks)
    assert chart(tasks).count("<title>baseline 0.250</title>") == 3


def test_a_long_name_keeps_its_end():
    assert short("counting-adversarial", 12) == "…adversarial"
    assert short("relations") == "relations"

"""The checkpoints of one study: the figures of the file, and where a figure stands among them."""

import csv
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from vlgate.metrics.names import applies
from vlgate.sources.published.checkpoints import BENCHMARKS, compared, standing, study
from vlgate.sources.published.figures import beside
from vlgate.sources.registry import shapes

RELEASED = Path(__file__).resolve().parents[3] / "shared/data/more/vl_compo/individual_results.csv"
WHOLE = (0.0, 1.0)


def content():
    found = tomllib.loads(
        (resources.files("vlgate.sources.published") / "checkpoints.toml").read_text(encoding="utf-8")
    )
    return found["columns"], [line.split(",") for line in found["rows"].strip().splitlines()]


def figures_of(task, metric):
    columns, rows = content()
    [place] = [number for number, one in enumerate(columns, 1) if (one["task"], one["metric"]) == (task, metric)]
    return {row[0]: int(row[place]) / 10_000 for row in rows}


def test_every_checkpoint_has_one_name_and_a_figure_in_each_column():
    columns, rows = content()
    assert len({row[0] for row in rows}) == len(rows) == study().checkpoints == 202
    assert {len(row) for row in rows} == {1 + len(columns)}
    assert all(0 <= int(figure) <= 10_000 for row in rows for figure in row[1:])
    assert study().url.startswith("https://")


def test_the_columns_are_metrics_of_tasks_that_there_are_and_shares_of_their_cases():
    columns, rows = content()
    known = shapes()
    assert len({one["task"].partition("/")[0] for one in columns}) == 7
    for place, one in enumerate(columns, 1):
        assert applies(one["metric"], known[one["task"]])
        if one["metric"] == "macro":
            continue
        for row in rows:
            right = round(int(row[place]) * one["cases"] / 10_000)
            assert round(10_000 * right / one["cases"]) == int(row[place]), (one, row[0])


@pytest.mark.parametrize("metric", ["text", "image"])
def test_a_group_is_right_no_more_often_than_its_parts(metric):
    for task in ("colorswap/test", "mmvp/vlm", "winoground/all"):
        group, part = figures_of(task, "group"), figures_of(task, metric)
        assert all(value <= part[name] for name, value in group.items())


@pytest.mark.parametrize("value", [0.0, 0.0733, 0.12, 0.5, 1.0])
@pytest.mark.parametrize("task", ["colorswap/test", "winoground/all"])
def test_a_figure_stands_where_plain_lines_put_it(task, value):
    known = figures_of(task, "group")
    found = standing(task, "group", value, (0.1, 0.2))
    below = {name: one for name, one in known.items() if one < value}
    above = {name: one for name, one in known.items() if one > value}
    assert (found.below, found.above) == (len(below), len(above))
    assert set(found.same) == {name for name, one in known.items() if one == value}
    assert found.within == sum(0.1 <= one <= 0.2 for one in known.values())
    assert (found.under is None) == (not below)
    assert (found.over is None) == (not above)
    if found.under:
        assert found.under[1] == max(below.values()) == below[found.under[0]]
    if found.over:
        assert found.over[1] == min(above.values()) == above[found.over[0]]


def test_a_run_of_a_checkpoint_has_the_same_figure_as_its_own():
    """110 of 300 are 0.366666..., and the file has hundredths of a percent."""
    for right, cases in ((107, 300), (36, 300)):
        found = standing("colorswap/test", "text", right / cases, WHOLE)
        assert bool(found.same) == (right == 107)
    assert "ViT-B-32 openai" in standing("colorswap/test", "text", 107 / 300, WHOLE).same


def test_the_benchmarks_of_the_study_are_those_of_its_columns():
    assert {column["task"].partition("/")[0] for column in content()[0]} == BENCHMARKS


def test_only_metrics_that_the_study_has_are_compared():
    assert compared("whatsup/a") == ("top1_text",)
    assert compared("aro/relation") == ("macro",)
    assert standing("aro/relation", "acc_r", 0.5, WHOLE) is None
    assert standing("vl-checklist/attribute/color/vg", "acc_r", 0.5, WHOLE) is None


def test_the_study_and_the_papers_agree_about_models_that_both_have():
    """The same weights, other code: within a point and a half, and ARO's to the digit that its issue prints."""
    for task, metric, name, model, off in (
        ("aro/relation", "macro", "ViT-B-32 openai", "CLIP (ViT-B/32)", 0.0005),
        ("aro/attribution", "macro", "ViT-B-32 openai", "CLIP (ViT-B/32)", 0.0005),
        ("winoground/all", "group", "ViT-B-32 openai", "CLIP (ViT-B/32)", 0.0076),
        ("mmvp/vlm", "image", "ViT-L-14 openai", "OpenAI ViT-L-14 (224)", 0.0155),
    ):
        [printed] = [one.value for one in beside(task, metric) if one.model == model]
        assert abs(figures_of(task, metric)[name] - printed) <= off, (task, name)


@pytest.mark.skipif(not RELEASED.is_file(), reason="needs vl_compo in ../shared/data/more")
def test_the_figures_are_those_of_the_release():
    with RELEASED.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for (task, metric), column in {
        ("colorswap/test", "group"): ["colorswap::group"],
        ("mmvp/vlm", "image"): [name for name in rows[0] if name.startswith("mmvp_vlm::") and name.endswith("image")],
        ("whatsup/gqa-two", "acc_r"): ["whatsup::VG_QA_TWO"],
        ("valse/counting-balanced", "acc_r"): ["valse::counting-hard"],
        ("aro/attribution", "macro"): ["aro::VG_Attribute"],
    }.items():
        released = sorted(round(100 * sum(float(row[name]) for name in column) / len(column)) for row in rows)
        assert sorted(round(10_000 * value) for value in figures_of(task, metric).values()) == released

from pathlib import Path

import pytest
from builders import json_table
from hypothesis import given
from hypothesis import strategies as st

from vlgate.metrics.macro import Gap, Mean, checklist_gaps, checklist_rows, valse_averages
from vlgate.sources.registry import shapes_of

VALSE, CHECKLIST = shapes_of("valse", ()), shapes_of("vl-checklist", ())

PLACES = (
    *(f"object/size/{size}" for size in ("large", "medium", "small")),
    *(f"object/location/{place}" for place in ("center", "mid", "margin")),
    *(f"attribute/{name}" for name in ("color", "material", "size", "state", "action")),
    *("relation/action", "relation/spatial"),
)

TABLES = Path(__file__).with_suffix(".tsv")
# Tables 2, 3, 5 and 6 of the paper: a model's sub-aspects in the order of PLACES; Object, Attribute, Relation, Average.
PUBLISHED = {model: published for model, *published in json_table(TABLES, "vl-checklist")}


def filled(figures):
    """Every task of the benchmark, with its sub-aspect's published figure: equal tasks do not move a mean."""
    places = dict(zip((f"vl-checklist/{place}/" for place in PLACES), figures, strict=True))
    return {task: next(value for place, value in places.items() if task.startswith(place)) for task in CHECKLIST}


@pytest.mark.parametrize("model", PUBLISHED)
def test_the_published_means_follow_from_the_published_sub_aspects(model):
    figures, expected = PUBLISHED[model]
    rows = checklist_rows(filled(figures), CHECKLIST)
    found = [rows[f"vl-checklist/{aspect}"].value for aspect in ("object", "attribute", "relation")]
    assert [*found, rows["vl-checklist"].value] == pytest.approx(expected, abs=0.0101)
    for name, figure in zip(PLACES, figures, strict=True):
        assert rows[f"vl-checklist/{name}"].value == pytest.approx(figure)


def test_the_published_gaps():
    gaps = {model: checklist_gaps(filled(figures)) for model, (figures, _) in PUBLISHED.items()}
    assert gaps["CLIP"].keys() == {"vl-checklist/object/location:center-margin", "vl-checklist/object/size:large-small"}
    assert [gap.value for gap in gaps["CLIP"].values()] == pytest.approx([11.87, 13.13])
    assert {gap.tasks for gap in gaps["CLIP"].values()} == {7}
    assert gaps["LXMERT"]["vl-checklist/object/location:center-margin"].value == pytest.approx(84.56 - 79.77)


def by_task(sets):
    return {f"vl-checklist/{place}/{name}": value for place, of in sets.items() for name, value in of.items()}


def test_files_then_datasets_then_levels():
    values = by_task(
        {
            "object/location/center": {"swig_agent": 0.2, "swig_tool": 0.4, "vg_obj": 0.5, "vg_subj": 0.9, "hake": 0.8},
            "object/location/mid": {"hake": 0.6},
            "object/size/large": {"hake": 0.4},
            "attribute/color": {"vg": 1.0, "vaw": 0.5},
        }
    )
    center = (0.3 + 0.7 + 0.8) / 3
    location = (center + 0.6) / 2
    rows = checklist_rows(values | {"valse/existence": 0.0}, CHECKLIST)
    assert len(rows) == 9
    assert list(rows) == sorted(rows)
    assert rows["vl-checklist/object/location/center"] == Mean(value=pytest.approx(center), tasks=5, of=7)
    assert rows["vl-checklist/object/location"] == Mean(value=pytest.approx(location), tasks=6, of=21)
    assert rows["vl-checklist/object"] == Mean(value=pytest.approx((location + 0.4) / 2), tasks=7, of=42)
    assert rows["vl-checklist/attribute"] == Mean(value=0.75, tasks=2, of=10)
    assert rows["vl-checklist"] == Mean(value=pytest.approx(((location + 0.4) / 2 + 0.75) / 2), tasks=9, of=56)


def test_a_sub_aspect_is_not_one_whose_name_begins_alike():
    values = {"vl-checklist/object/size/large/vg_obj": 0.5, "vl-checklist/object/size/larger/vg_obj": 1.0}
    assert checklist_rows(values, values)["vl-checklist/object/size/large"] == Mean(value=0.5, tasks=1, of=1)


@given(st.dictionaries(st.sampled_from(sorted(CHECKLIST)), st.floats(0, 1), min_size=1))
def test_rows_are_within_their_values_and_count_them(values):
    rows = checklist_rows(values, CHECKLIST)
    assert rows["vl-checklist"].tasks == len(values)
    for place, row in rows.items():
        below = [value for task, value in values.items() if task.startswith(f"{place}/")]
        assert row.tasks == len(below) <= row.of
        assert min(below) - 1e-12 <= row.value <= max(below) + 1e-12


def test_a_gap_is_over_what_both_ends_have():
    values = by_task(
        {
            "object/location/center": {"swig_agent": 0.9, "swig_tool": 0.5, "vg_obj": 1.0, "hake": 0.75},
            "object/location/margin": {"swig_agent": 0.5, "swig_tool": 0.25, "hake": 0.25, "vg_subj": 0.0},
            "object/size/large": {"hake": 1.0},
            "object/size/small": {"vg_obj": 0.0},
        }
    )
    expected = Gap(value=pytest.approx((0.7 + 0.75) / 2 - (0.375 + 0.25) / 2), tasks=3)
    assert checklist_gaps(values) == {"vl-checklist/object/location:center-margin": expected}


def test_without_values_there_are_no_rows():
    assert checklist_rows({"valse/existence": 0.5}, CHECKLIST) == {}
    assert checklist_gaps({"valse/existence": 0.5}) == {}
    assert valse_averages({"vl-checklist/relation/spatial/vg": {"acc_r": 0.5}}, VALSE) == {}


@pytest.mark.parametrize(("metric", "figures", "expected"), json_table(TABLES, "valse"))
def test_the_published_averages_of_valse(metric, figures, expected):
    """Table 4 of the VALSE paper, without its misprinted figures: the instruments in the task's order, and Avg."""
    rows = valse_averages({task: {metric: figure} for task, figure in zip(VALSE, figures, strict=True)}, VALSE)
    assert rows == {metric: Mean(value=pytest.approx(expected, abs=0.0501), tasks=11, of=11)}


def test_a_metric_that_some_instruments_lack():
    metrics = {
        "valse/existence": {"acc_r": 0.5, "auroc": 0.25},
        "valse/plurality": {"acc_r": 1.0},
        "bla/coordination": {"acc_r": 0.0},
    }
    assert valse_averages(metrics, [*VALSE, "bla/coordination"]) == {
        "acc_r": Mean(value=0.75, tasks=2, of=11),
        "auroc": Mean(value=0.25, tasks=1, of=11),
    }

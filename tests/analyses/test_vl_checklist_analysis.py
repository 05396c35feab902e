"""VL-CheckList's analyses, by hand."""

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from tests.analyses.made import judged_pairs, rows, run
from vlgate.errors import DataError
from vlgate.metrics.macro import checklist_gaps
from vlgate.studies.analyses import vl_checklist
from vlgate.studies.analyses.vl_checklist import classes_of, read_boxes

CENTER, MARGIN = "vl-checklist/object/location/center/hake", "vl-checklist/object/location/margin/hake"
TITLES = "task,case,x,y,w,h,width,height\n"


def pairs(right, n, prefix=""):
    """``right`` of n pairs are right; their images are not those of another prefix."""
    scores = [[1, 0]] * right + [[0, 1]] * (n - right)
    return judged_pairs(scores, images=[f"{prefix}{row}" for row in range(n)])


def test_the_gap_of_one_file_has_newcombes_interval():
    analysis = vl_checklist.analyse([run(**{CENTER: pairs(45, 50, "c"), MARGIN: pairs(24, 40, "m")})])
    classes = rows(analysis, "Location and size of the object")
    assert [(labels[2], row.n, row.value) for labels, row in classes.items()] == [
        ("center", 50, 0.9),
        ("margin", 40, 0.6),
    ]
    row = rows(analysis, "Gaps")["model", "center - margin"]
    assert row.value == pytest.approx(0.3)
    expected = confint_proportions_2indep(45, 50, 24, 40, method="newcomb", compare="diff")
    assert (row.low, row.high) == pytest.approx(expected)
    assert (row.n, row.more) == (90, {"n of each": "50 and 40", "files": 1})


def test_the_gap_is_the_papers_mean_over_files_that_have_both_ends():
    place = "vl-checklist/object/size"
    tasks = {
        f"{place}/large/hake": pairs(90, 100, "a"),
        f"{place}/small/hake": pairs(8, 10, "b"),
        f"{place}/large/swig_agent": pairs(10, 50, "c"),
        f"{place}/small/swig_agent": pairs(0, 50, "d"),
        f"{place}/large/swig_tool": pairs(30, 50, "e"),
        f"{place}/small/swig_tool": pairs(20, 50, "f"),
        f"{place}/large/vg_obj": pairs(1, 50, "g"),
    }
    row = rows(vl_checklist.analyse([run(**tasks)]), "Gaps")["model", "large - small"]
    values = {task: cases.case_metrics["acc_r"].mean() for task, cases in tasks.items()}
    assert row.value == pytest.approx(checklist_gaps(values)["vl-checklist/object/size:large-small"].value)
    assert row.value == pytest.approx((0.1 + (0.2 + 0.2) / 2) / 2)
    assert (row.n, row.more) == (310, {"n of each": "200 and 110", "files": 3})
    assert row.low < row.value < row.high


def test_a_gap_without_a_file_that_has_both_ends_is_left_out():
    tasks = {CENTER: pairs(45, 50), MARGIN.replace("hake", "vg_obj"): pairs(24, 40)}
    assert rows(vl_checklist.analyse([run(**tasks)]), "Gaps") == {}


def test_types_are_pooled_and_averaged_over_files():
    tasks = {"vl-checklist/relation/action/vg": pairs(30, 60), "vl-checklist/relation/action/swig": pairs(20, 20, "s")}
    row = rows(vl_checklist.analyse([run(**tasks)]), "By type")["model", "vl-checklist/relation/action"]
    assert (row.n, row.value, row.more["mean over files"], row.more["tasks"]) == (80, 50 / 80, 0.75, 2)


def test_boxes_are_classed_by_place_and_area(tmp_path):
    file = tmp_path / "boxes.csv"
    file.write_text(
        f"{TITLES}t,c0,45,45,10,10,100,100\n"  # its centre is that of the image, 100 square pixels
        "t,c1,0,0,96,96,1000,1000\n"  # 0.90 of the way to the corner, 9,216 square pixels
        "t,c2,10,45,10,1000,100,100\n"  # far below, 10,000 square pixels
        "t,c3,140,45,10,10,200,100\n"  # 0.40 of the way
    )
    found = read_boxes(file)
    assert [tuple(found["t", f"c{row}"].values()) for row in range(4)] == [
        ("center", "small"),
        ("margin", "medium"),
        ("margin", "large"),
        ("mid", "small"),
    ]
    cases = judged_pairs([[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]])
    classes = vl_checklist.by_class({"t": cases}, "location", found)
    assert {name: (metric.n, metric.value) for name, metric in classes.items()} == {
        "center": (1, 1.0),
        "mid": (1, 1.0),
        "margin": (2, 0.5),
    }


def test_the_size_of_an_attribute_is_not_that_of_an_object():
    assert classes_of("scenes/object-size", {"size": "small"}) == {"size": "small"}
    assert classes_of("scenes/attribute-size", {"size": "small"}) == {}
    assert classes_of("vl-checklist/attribute/size/vg", {}) == {}


def test_images_that_repeat_widen_the_intervals():
    right = [[1, 0]] * 30 + [[0, 1]] * 30
    alone, repeated = judged_pairs(right), judged_pairs(right, images=[row // 6 for row in range(60)])
    narrow, wide = (
        rows(vl_checklist.analyse([run(**{"vl-checklist/relation/action/vg": one})]), "By type")
        for one in (alone, repeated)
    )
    assert all(
        np.ptp([wide[key].low, wide[key].high]) > np.ptp([row.low, row.high]) * 1.5 for key, row in narrow.items()
    )


def test_without_boxes_it_is_said_how_to_give_them():
    notes = vl_checklist.analyse([run(**{"vl-checklist/relation/action/vg": pairs(3, 6)})]).notes
    assert "location and size: no task says them; give the boxes of the objects with --boxes FILE" in notes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("case,x\n", "has the titles 'case, x'"),
        (f"{TITLES}t,c,1,1,0,1,9,9\n", "on line 2: a width or height is not above 0"),
        (f"{TITLES}t,c,1,a,1,1,9,9\n", "on line 2: y='a', expected a number"),
        (f"{TITLES}t,c,1\n", "on line 2: y=None, expected a number"),
    ],
)
def test_a_file_of_boxes_that_cannot_be_used_is_named(text, said, tmp_path):
    file = tmp_path / "boxes.csv"
    file.write_text(text)
    with pytest.raises(DataError) as caught:
        read_boxes(file)
    assert said in str(caught.value)


def test_the_interval_of_a_mean_gap_covers_as_often_as_it_says():
    missed, random = 0, np.random.default_rng(0)
    chances = {"large/hake": 0.9, "small/hake": 0.7, "large/vg_obj": 0.6, "small/vg_obj": 0.5}
    for _ in range(200):
        tasks = {
            f"vl-checklist/object/size/{name}": pairs(int(random.binomial(40, chance)), 40, name)
            for name, chance in chances.items()
        }
        row = vl_checklist.gap_of(tasks, "size", {})
        missed += not row.low <= 0.15 <= row.high
    assert missed <= 19  # 10 are expected, and 20 or more have a probability of 0.3 %

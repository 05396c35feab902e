"""The analyses of Winoground, against its Tables 6 and 7, and of VL-CheckList, by hand."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from builders import table
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from tests.analyses.made import judged_pairs, judged_quads, rows, run
from vlgate.errors import DataError, OptionError
from vlgate.metrics.macro import checklist_gaps
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses import vl_checklist, winoground
from vlgate.studies.analyses.vl_checklist import classes_of, read_boxes
from vlgate.studies.analyses.winoground import Size, given_sizes, published_scores, sizes

# Thrush et al. 2022, without CLIP; all p-values are printed as 0.00
TABLE_7 = dict(
    zip(product(("images", "captions"), ("text", "image", "group")), (0.84, 0.76, 0.75, 0.77, 0.75, 0.71), strict=True)
)
PERPLEXITY = "adapter: the score is minus the perplexity of the text; the image is not used"


def quads(n=40, seed=0, **columns):
    random = np.random.default_rng(seed)
    texts = [[f"{'word ' * (row % 7)}a", f"{'word ' * (row % 7)}b"] * 2 for row in range(n)]
    return judged_quads(random.normal(size=(n, 4)), texts=texts, **columns)


def test_the_correlations_with_pretraining_size_are_those_of_table_7():
    found = rows(winoground.analyse([run(winoground__all=quads())]), "Pretraining size: the paper's models")
    assert {labels: row.n for labels, row in found.items()} == dict.fromkeys(TABLE_7, 16)
    for labels, printed in TABLE_7.items():
        assert found[labels].value == pytest.approx(printed, abs=0.0051)
        assert found[labels].more["p"] < 0.005
        assert found[labels].small


def test_the_sizes_are_those_of_the_papers_models_and_clip_is_left_out():
    models = {figure.model for figure in figures("winoground") if figure.table == "3"} - {"human", "chance"}
    assert set(sizes()) == models
    assert set(published_scores()) == models - {"CLIP (ViT-B/32)"}


@pytest.mark.parametrize(
    ("model", "perplexity", "p_perplexity", "length", "p_length"),
    table(Path(__file__).with_name("winoground_table_6.tsv")),
)
def test_table_6_is_over_1600_scores_of_pairs_and_400_examples(model, perplexity, p_perplexity, length, p_length):
    """What n counts is not printed; these p-values fit no other count of scores."""

    for r, p, n in ((perplexity, p_perplexity, 1600), (length, p_length, 400)):
        printed = [abs(float(r)) + 0.005, max(0, abs(float(r)) - 0.005)]
        least, most = (2 * stats.t.sf(x * np.sqrt((n - 2) / (1 - x * x)), n - 2) for x in printed)
        assert least - 0.005 <= float(p) <= most + 0.005, model


def test_the_perplexity_of_each_caption_goes_with_its_four_scores():
    cases, reader_scores = quads(), np.tile(-np.random.default_rng(5).uniform(10, 90, (40, 2)), 2)
    reader = run("gpt2", adapter=PERPLEXITY, winoground__all=judged_quads(reader_scores, texts=cases.texts))
    row = rows(winoground.analyse([run(winoground__all=cases)], reader), "Perplexity")["model", "winoground/all"]
    known = dict(zip(np.ravel(cases.texts), -reader_scores.reshape(-1), strict=True))
    x = [known[text] for texts in cases.texts for text in texts]
    assert row.value == pytest.approx(np.corrcoef(x, cases.scores.reshape(-1))[0, 1])
    assert (row.n, row.more["images"]) == (160, 40)
    assert row.low < row.value < row.high


def test_a_run_without_perplexities_or_without_quads_is_named():
    said = "--perplexity: model does not score texts by their perplexity; name the run of"
    with pytest.raises(OptionError, match=said):
        winoground.analyse([run(winoground__all=quads())], run(winoground__all=quads()))
    with pytest.raises(
        OptionError, match=r"no task 'winoground/\*' or 'scenes/\*' with judged cases with the metric group"
    ):
        winoground.analyse([run()])


def test_the_caption_length_is_the_mean_of_both_captions():
    both = ("one two", "one two three four"), ("one", "two"), ("one two three", "one"), ("one", "one two")
    texts = [[*captions] * 2 for captions in both]
    cases = judged_quads([[2, 1, 1, 2], [1, 2, 2, 1], [2, 1, 1, 2], [1, 2, 2, 1]], texts=texts)
    expected = np.corrcoef([3, 1, 2, 1.5], [1, 0, 1, 0])[0, 1]
    assert winoground.length_correlation(cases).value == pytest.approx(expected)


def test_tags_are_slices_with_peoples_score_where_it_is_printed():
    tags = [{"collapsed_tag": "Object"}] * 3 + [{"collapsed_tag": "Both"}] * 2
    cases = judged_quads([[2, 1, 1, 2], [1, 2, 2, 1], [2, 1, 1, 2], [2, 1, 1, 2], [1, 2, 2, 1]], tags=tags)
    found = rows(winoground.analyse([run(winoground__all=cases)]), "By tag")
    row = found["model", "winoground/all", "collapsed_tag=Object", "group"]
    assert (row.n, row.value, row.more["people"]) == (3, pytest.approx(2 / 3), pytest.approx(0.8865))


def test_the_runs_join_the_papers_models_if_their_sizes_are_given():
    analysis = winoground.analyse([run(winoground__all=quads())], given={"model": Size(images=5.0, captions=10.0)})
    found = rows(analysis, "Pretraining size: the paper's models and the runs")
    assert found["images", "group"].n == 17
    assert rows(analysis, "Pretraining size: the runs on winoground/all")["images", "group"].value is None


@pytest.mark.parametrize(
    "text", ["clip", "clip=1", "clip=1,2,3", "=1,2", "clip=0,1", "clip=a,b", "clip=nan,1", "clip=inf,1"]
)
def test_a_size_that_cannot_be_read_is_named(text):
    assert given_sizes(["lxmert=0.18,9.18"]) == {"lxmert": Size(images=0.18, captions=9.18)}
    with pytest.raises(OptionError, match=r"--pretraining .*expected NAME=IMAGES,CAPTIONS in millions"):
        given_sizes([text])


CENTER, MARGIN = "vl-checklist/object/location/center/hake", "vl-checklist/object/location/margin/hake"
TITLES = "task,case,x,y,w,h,width,height\n"


def pairs(right, n, prefix=""):
    """``right`` of n pairs are right; their images are not those of another prefix."""
    scores = [[1, 0]] * right + [[0, 1]] * (n - right)
    return judged_pairs(scores, images=[f"{prefix}{row}" for row in range(n)])


def test_the_gap_of_one_file_has_newcombes_interval():
    analysis = vl_checklist.analyse([run(**{CENTER: pairs(45, 50, "c"), MARGIN: pairs(24, 40, "m")})])
    classes = rows(analysis, "Location and size of the object")
    expected = [("center", 50, 0.9), ("margin", 40, 0.6)]
    assert [(labels[2], row.n, row.value) for labels, row in classes.items()] == expected
    row = rows(analysis, "Gaps")["model", "center - margin"]
    assert row.value == pytest.approx(0.3)
    expected = confint_proportions_2indep(45, 50, 24, 40, method="newcomb", compare="diff")
    assert (row.low, row.high) == pytest.approx(expected)
    assert (row.n, row.more) == (90, {"n of each": "50 and 40", "files": 1})


def test_the_gap_is_the_papers_mean_over_files_that_have_both_ends():
    right = {
        "large/hake": (90, 100), "small/hake": (8, 10), "large/swig_agent": (10, 50), "small/swig_agent": (0, 50),
        "large/swig_tool": (30, 50), "small/swig_tool": (20, 50), "large/vg_obj": (1, 50),
    }  # fmt: skip
    tasks = {f"vl-checklist/object/size/{name}": pairs(*some, name) for name, some in right.items()}
    row = rows(vl_checklist.analyse([run(**tasks)]), "Gaps")["model", "large - small"]
    values = {task: cases.case_metrics["acc_r"].mean() for task, cases in tasks.items()}
    assert row.value == pytest.approx(checklist_gaps(values)["vl-checklist/object/size:large-small"].value)
    assert row.value == pytest.approx((0.1 + (0.2 + 0.2) / 2) / 2)
    assert (row.n, row.more) == (310, {"n of each": "200 and 110", "files": 3})
    apart = {CENTER: pairs(45, 50), MARGIN.replace("hake", "vg_obj"): pairs(24, 40)}
    assert rows(vl_checklist.analyse([run(**apart)]), "Gaps") == {}
    assert row.low < row.value < row.high


def test_types_are_pooled_and_averaged_over_files():
    tasks = {"vl-checklist/relation/action/vg": pairs(30, 60), "vl-checklist/relation/action/swig": pairs(20, 20, "s")}
    row = rows(vl_checklist.analyse([run(**tasks)]), "By type")["model", "vl-checklist/relation/action"]
    assert (row.n, row.value, row.more["mean over files"], row.more["tasks"]) == (80, 50 / 80, 0.75, 2)
    notes = vl_checklist.analyse([run(**tasks)]).notes
    assert "location and size: no task says them; give the boxes of the objects with --boxes FILE" in notes


def test_boxes_are_classed_by_place_and_area(tmp_path):
    file = tmp_path / "boxes.csv"
    file.write_text(
        f"{TITLES}t,c0,45,45,10,10,100,100\n"  # its centre is that of the image, 100 square pixels
        "t,c1,0,0,96,96,1000,1000\n"  # 0.90 of the way to the corner, 9,216 square pixels
        "t,c2,10,45,10,1000,100,100\n"  # far below, 10,000 square pixels
        "t,c3,140,45,10,10,200,100\n"  # 0.40 of the way
    )
    found = read_boxes(file)
    expected = [("center", "small"), ("margin", "medium"), ("margin", "large"), ("mid", "small")]
    assert [tuple(found["t", f"c{row}"].values()) for row in range(4)] == expected
    cases = judged_pairs([[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]])
    classes = vl_checklist.by_class({"t": cases}, "location", found)
    expected = {"center": (1, 1.0), "mid": (1, 1.0), "margin": (2, 0.5)}
    assert {name: (metric.n, metric.value) for name, metric in classes.items()} == expected


def test_the_size_of_an_attribute_is_not_that_of_an_object():
    assert classes_of("scenes/object-size", {"size": "small"}) == {"size": "small"}
    assert classes_of("scenes/attribute-size", {"size": "small"}) == {}
    assert classes_of("vl-checklist/attribute/size/vg", {}) == {}


def test_images_that_repeat_widen_the_intervals():
    right = [[1, 0]] * 30 + [[0, 1]] * 30
    alone, repeated = judged_pairs(right), judged_pairs(right, images=[row // 6 for row in range(60)])
    narrow, wide = (
        rows(vl_checklist.analyse([run(**{"vl-checklist/relation/action/vg": one})]), "By type").values()
        for one in (alone, repeated)
    )
    for one, other in zip(narrow, wide, strict=True):
        assert other.high - other.low > (one.high - one.low) * 1.5


@pytest.mark.parametrize(("text", "said"), [
    ("case,x\n", "has the titles 'case, x'"), (f"{TITLES}t,c,1\n", "on line 2: y=None, expected a number"),
    (f"{TITLES}t,c,1,1,0,1,9,9\n", "on line 2: a width or height is not above 0"),
    (f"{TITLES}t,c,1,a,1,1,9,9\n", "on line 2: y='a', expected a number"),
])  # fmt: skip
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

"""Figures beside published ones: what is compared, with which words, and what is not."""

from dataclasses import replace

import pytest

from vlgate.report.remarks import Shown, published_lines_of, standing_lines_of, study_line
from vlgate.types import Metric


def shown(task, shape, judged, **values):
    metrics = {
        name: Metric(value=value, low=value - 0.05, high=value + 0.05, n=judged) for name, value in values.items()
    }
    return Shown(task=task, shape=shape, metrics=metrics, judged=judged)


COLORS = shown("colorswap/test", "quad", 300, text=0.4, image=0.2, group=0.12)


def test_a_published_figure_stands_with_where_it_is_from_and_how_many_cases_it_is_of():
    [line] = published_lines_of(COLORS)
    assert line == (
        "colorswap/test: group 0.120 here (n = 300); published (ColorSwap, abstract, 300 cases): BLIP ITM 0.870, "
        "SigLIP 0.300, CLIP 0.120; published (ColorSwap, vlm_results, 300 cases): GPT-4V 0.720, LLaVA 0.420, "
        "LLaVAR 0.083"
    )
    [line] = published_lines_of(shown("winoground/all", "quad", 29, group=0.1))
    assert "group 0.100 here (n = 29, over fewer than 30 cases); published (Winoground, table 3): human 0.855" in line


def test_another_metric_stands_there_if_the_headline_has_no_published_figure():
    [line] = published_lines_of(shown("aro/relation", "pair", 23937, acc_r=0.6, macro=0.59))
    assert line.startswith("aro/relation: macro 0.590 here (n = 23937); published (ARO, issue 33): NegCLIP 0.802, CLIP")
    [line] = published_lines_of(shown("pope/coco-popular", "single", 3000, accuracy=0.8, f1=0.8))
    assert line.startswith("pope/coco-popular: f1 0.800 here")
    assert published_lines_of(shown("mine/pairs", "pair", 30, acc_r=0.8)) == []


def test_a_figure_stands_between_two_checkpoints():
    text, image, group = standing_lines_of(COLORS, "strict")
    assert text.startswith("colorswap/test: text 0.400 (0.350 - 0.450) stands between ")
    assert image.startswith("colorswap/test: image 0.200 (0.150 - 0.250) stands between ")
    assert group.startswith("colorswap/test: group 0.120 (0.070 - 0.170) stands between ")
    assert "of 202 checkpoints are below and" in group
    assert " and 5 more have the same figure; the interval holds " in group
    assert "colorswap" not in study_line()
    assert "https://github.com/ytaek-oh/vl_compo" in study_line()


@pytest.mark.parametrize(("value", "said"), [(1.0, " stands above "), (0.0, " stands below ")])
def test_a_figure_beyond_all_checkpoints_has_one_neighbour(value, said):
    [line] = standing_lines_of(shown("whatsup/b", "choice", 408, top1_text=value), "strict")
    assert said in line
    assert "between" not in line


def test_a_part_of_the_cases_and_corrected_labels_are_told():
    [line] = standing_lines_of(shown("whatsup/a", "choice", 30, top1_text=0.3), "strict")
    assert "top1_text 0.300 (0.250 - 0.350, on 30 of the 412 cases) stands" in line
    [line] = standing_lines_of(replace(shown("whatsup/b", "choice", 408, top1_text=0.3), corrected=2), "strict")
    assert "(0.250 - 0.350, 2 with a corrected label)" in line


def test_what_cannot_be_compared_is_not():
    assert standing_lines_of(COLORS, "half") == []  # ties count otherwise
    assert standing_lines_of(replace(COLORS, judged=301), "strict") == []  # other cases
    assert standing_lines_of(shown("aro/relation", "pair", 900, acc_r=0.6), "strict") == []  # another metric
    assert standing_lines_of(shown("mine/pairs", "pair", 30, acc_r=0.8), "strict") == []


def test_what_a_reader_must_know_of_the_other_figures_stands_with_them():
    found = standing_lines_of(shown("mmvp/vlm", "image_quad", 135, image=0.2), "strict")
    assert found[0].endswith("(its ViT-L-14 openai has an image score of 17.8, and MMVP's authors print 19.3)")

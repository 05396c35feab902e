"""Figures beside published ones: what is compared, with which words, and what is not."""

from vlgate.report.remarks import Shown, published_lines_of
from vlgate.types import Metric


def shown(task, shape, judged, **values):
    metrics = {
        name: Metric(value=value, low=value - 0.05, high=value + 0.05, n=judged) for name, value in values.items()
    }
    return Shown(task=task, shape=shape, metrics=metrics)


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

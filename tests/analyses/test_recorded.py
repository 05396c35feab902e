"""Recorded verdicts of real models on real data, analysed: BiVLC's two models."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.analyses.made import cases, run
from vlgate.studies.analyses.runs import agreement_table, coverage_table

SHARED = Path(__file__).parents[3] / "shared/data"
BIVLC = SHARED / "more/bivlc/results"
pytestmark = pytest.mark.skipif(not BIVLC.is_dir(), reason="needs ../shared/data")


def bivlc(name):
    """The verdicts of a model on BiVLC's 2,933 sets of two images and two captions."""
    with (BIVLC / f"BiVLC_{name}.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    facts = {
        metric: [float(one[f"{metric}_score"] == "True") for one in records] for metric in ("text", "image", "group")
    }
    texts = [[one["caption"], one["negative_caption"]] * 2 for one in records]
    return cases(np.zeros((len(records), 4)), texts=texts, facts=facts, tags=[{"type": one["type"]} for one in records])


def test_two_models_on_bivlc_cover_each_other_as_their_recorded_verdicts_do():
    plain, tuned = (run(name, bivlc__all=bivlc(name)) for name in ("ViT-B-32", "CLIP_TROHN-Img"))
    # The group scores that BiVLC's authors print (misc/main_results.PNG): 49.06 and 69.25.
    right = [set(np.flatnonzero(one.tasks["bivlc/all"].case_metrics["group"])) for one in (plain, tuned)]
    assert [round(100 * len(one) / 2933, 2) for one in right] == [49.06, 69.25]
    both = len(right[0] & right[1])
    coverage = {row.labels: row for row in coverage_table((plain, tuned), "*", "group", ("group",), "sets").rows}
    row = coverage["bivlc/all", "CLIP_TROHN-Img", "ViT-B-32"]
    assert (row.n, row.value) == (len(right[0]), pytest.approx(both / len(right[0])))
    (row,) = agreement_table((plain, tuned), "*", "group").rows
    assert (row.n, row.more["both right"]) == (2933, both)
    assert row.value == pytest.approx(1 - len(right[0] ^ right[1]) / 2933)
    assert 0 < row.more["kappa low"] < row.more["kappa"] < row.more["kappa high"] < row.value

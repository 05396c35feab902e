import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from tests.analyses.made import cases, run
from vlgate.studies.analyses.runs import agreement_table, coverage_table, headline_of, part_of, shared

ROW = {
    "task": "t/a",
    "case": "1",
    "state": "judged",
    "right": True,
    "acc_r": 1.0,
    "c_acc": None,
    "images": ["a.jpg", "a.jpg"],
    "texts": ["a cup", "a dog"],
    "truths": ["true", "false"],
    "scores": [2.0, 1.0],
    "answers": [None, None],
    "tags": '{"verb": "see"}',
    "origin": "here",
    "why": "so",
}


def table(*rows):
    fields = {name: pa.string() for name in ("task", "case", "state", "tags", "origin", "why")}
    fields |= {"right": pa.bool_(), "acc_r": pa.float64(), "c_acc": pa.float64(), "scores": pa.list_(pa.float64())}
    fields |= {name: pa.list_(pa.string()) for name in ("images", "texts", "truths", "answers")}
    return pa.Table.from_pylist(list(rows), pa.schema(fields))


def test_only_judged_cases_are_analysed_with_the_facts_that_they_have():
    unscored = ROW | {"case": "2", "state": "unscored", "acc_r": None}
    question = ROW | {"task": "t/b", "acc_r": None, "c_acc": 0.0, "scores": [None, None], "answers": ["yes", None]}
    run = SimpleNamespace(model="m", figures={"tasks": {}})
    found = part_of(run, table(ROW, unscored, question), "t").tasks
    assert {task: one.ids for task, one in found.items()} == {"t/a": ("1",), "t/b": ("1",)}
    assert {task: list(one.case_metrics) for task, one in found.items()} == {"t/a": ["acc_r"], "t/b": ["c_acc"]}
    assert found["t/a"].scores.tolist() == [[2.0, 1.0]]
    assert np.isnan(found["t/b"].scores).all()
    assert found["t/b"].answers == (("yes", None),)
    assert found["t/a"].tags == ({"verb": "see"},)
    assert [headline_of(one) for one in found.values()] == ["acc_r", "c_acc"]
    assert part_of(run, table(ROW), "another").tasks == {}


def test_cases_are_shared_by_id_and_by_what_they_ask():
    texts = [["a", "b"], ["c", "d"], ["e", "f"]]
    first = cases([[1, 2]] * 3, texts=texts)
    second = cases([[3, 4], [5, 6], [7, 8]], texts=[texts[0], ["c", "another"], texts[2]])
    one, other = shared(first, second.take([2, 1, 0]))
    assert one.ids == other.ids == ("c0", "c2")
    assert other.scores.tolist() == [[3, 4], [7, 8]]


SHARED = Path(__file__).parents[3] / "shared/data"
BIVLC = SHARED / "more/bivlc/results"


def bivlc(name):
    """The verdicts of a model on BiVLC's 2,933 sets of two images and two captions."""
    with (BIVLC / f"BiVLC_{name}.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    facts = {
        metric: [float(record[f"{metric}_score"] == "True") for record in records]
        for metric in ("text", "image", "group")
    }
    texts = [[record["caption"], record["negative_caption"]] * 2 for record in records]
    return cases(
        np.zeros((len(records), 4)), texts=texts, facts=facts, tags=[{"type": record["type"]} for record in records]
    )


@pytest.mark.skipif(not BIVLC.is_dir(), reason="needs ../shared/data")
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

from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from tests.analyses.made import cases
from vlgate.studies.analyses.runs import headline_of, part_of, shared

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

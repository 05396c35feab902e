"""A new shape of case is one ``ShapeSpec``: own cases of it are read, asked, judged, explained and measured."""

import json

import pytest
from builders import tabled

from vlgate.audit.flaws import examine
from vlgate.errors import DataError
from vlgate.judging.chance import chance
from vlgate.judging.verdicts import judge
from vlgate.metrics.measures import wins
from vlgate.metrics.names import applies
from vlgate.metrics.shapes import SHAPES, ShapeSpec, contrasts
from vlgate.probes.explaining.record import margin
from vlgate.record.results import task_metrics
from vlgate.sources.own.cases import read, shapes
from vlgate.sources.reading.source import ReadOptions
from vlgate.types import Batch, Prediction


def ordered(replies):
    best, middle, worst = replies.scores.T
    first, second = wins(best, middle, replies.ties), wins(middle, worst, replies.ties)
    return {"in_order": first * second, "best_first": first}


GRADED = ShapeSpec(
    name="graded",
    about="Three captions of one image, from the best to the worst.",
    roles=("best", "middle", "worst"),
    metrics=("in_order", "best_first"),
    headline="in_order",
    rule=ordered,
    why=lambda case: "in order" if sorted(case.scores, reverse=True) == case.scores else "out of order",
    chance={"in_order": 1 / 6, "best_first": 1 / 2},
    contrasts=((0, 2),),
    compared=((0, 1), (1, 2)),
    fields=("best", "middle", "worst"),
)
LINE = {
    "task": "mine/graded",
    "shape": "graded",
    "image": "1.png",
    "best": "a red bus",
    "middle": "a bus",
    "worst": "a cat",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(SHAPES, "graded", GRADED)

    def make(*lines):
        (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return tmp_path

    return make


def test_own_cases_of_a_new_shape_are_judged_and_measured(folder):
    place = folder(*({**LINE, "image": f"{number}.png"} for number in range(4)))
    assert shapes((place,)) == {"mine/graded": "graded"}
    [task] = read(ReadOptions(folders=(place,), seed=0, wanted=lambda _: True))
    assert task.shape == "graded"
    assert [case.truths for case in task.cases] == [(True, True, False)] * 4
    scores = [(3, 2, 1), (3, 1, 2), (1, 2, 3), (2, 2, 1)]
    replies = {
        request: Prediction(request=request, score=float(score))
        for case, row in zip(task.cases, scores, strict=True)
        for request, score in zip(case.requests, row, strict=True)
    }
    verdicts = judge(Batch(task=task, positions=(0, 1, 2, 3)), replies)
    assert [verdict.right for verdict in verdicts] == [True, False, False, False]
    assert [verdict.why for verdict in verdicts] == ["in order", "out of order", "out of order", "in order"]
    assert [margin(verdict, "graded") for verdict in verdicts] == [1.0, -1.0, -1.0, 0.0]
    result = task_metrics(task, verdicts, ())
    assert {name: metric.value for name, metric in result.metrics.items()} == {"in_order": 0.25, "best_first": 0.5}
    assert chance("graded", "foil", task.cases) == result.chance == GRADED.chance
    assert contrasts(task.cases[0], "graded") == ((0, 2),)
    assert applies("in_order", "graded")
    assert examine(task) == ()


@tabled
def test_a_line_that_does_not_fit_its_shape_is_refused(folder, change, error):
    place = folder({**LINE, **change})
    with pytest.raises(DataError, match=error):
        list(read(ReadOptions(folders=(place,), seed=0, wanted=lambda _: True)))


def test_a_score_of_no_number_is_refused(folder):
    [task] = read(ReadOptions(folders=(folder(LINE),), seed=0, wanted=lambda _: True))
    replies = {request: Prediction(request=request, score=None) for request in task.cases[0].requests}
    with pytest.raises(ValueError, match="has no score"):
        judge(Batch(task=task, positions=(0,)), replies)

"""Gates on metrics that are by definition over a part of the cases, or over groups of them."""

import numpy as np
import pytest
from builders import image, judged, task_of

from vlgate.gates.decide import Coverage, decide
from vlgate.gates.records import Gate
from vlgate.judging.chance import chance as level
from vlgate.metrics.compute import columns, metrics
from vlgate.types import Ask, Case, Match

N = 200
GOOD = [[{"score": 1.0}, {"score": 0.0}]]


def figures(task, replies):
    return metrics(columns(task.shape, judged(task, replies)))


def outcome(task, replies, metric, least):
    coverage = Coverage(cases=N, judged=N, unscored=0, skipped=0, distinct=N)
    return decide(Gate(task=task.id, metric=metric, min=least), coverage, figures(task, replies)).outcome


def pair(n, key=None, **tags):
    shown = image(key or n)
    return Case(
        id=str(n), requests=tuple(Match(image=shown, text=f"{n} {p}") for p in "ab"), truths=(True, False), tags=tags
    )


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "accuracy"])
def test_a_good_model_passes_a_gate_on_the_answers_yes(metric):
    asked = [Ask(image=image(n), question="?", choices=("yes", "no")) for n in range(N)]
    cases = [Case(id=str(n), requests=(one,), truths=(("yes", "no")[n % 2],)) for n, one in enumerate(asked)]
    task = task_of(cases, shape="single")
    assert outcome(task, [[{"answer": case.truths[0]}] for case in cases], metric, 0.9) == "pass"
    assert outcome(task, [[{"answer": "no"}]] * N, metric, 0.9) != "pass"


@pytest.mark.parametrize(("tag", "shape"), [("macro", "pair"), ("set_all", "choice")])
def test_a_good_model_passes_a_gate_on_groups(tag, shape):
    task = task_of([pair(n, **{tag: f"4 of {n // 4}"}) for n in range(N)], shape=shape)
    assert outcome(task, GOOD * N, tag, 0.5) == "pass"


@pytest.mark.parametrize(("tag", "chance"), [("macro", 1 / 16), ("pair_all", 1 / 256)])
def test_every_shape_has_metrics_over_groups_with_their_chance(tag, chance):
    truths = ("yes", "no", "no", "yes")
    cases = []
    for n in range(N):
        asked = [Ask(image=image(f"{n} {i}"), question=q, choices=("yes", "no")) for i in "ab" for q in "cd"]
        cases.append(Case(id=str(n), requests=tuple(asked), truths=truths, tags={tag: f"2 of {n // 2}"}))
    task = task_of(cases, shape="question_quad")
    assert outcome(task, [[{"answer": truth} for truth in truths]] * N, tag, 0.5) == "pass"
    assert level("question_quad", "foil", task.cases)[tag] == pytest.approx(chance)


def test_the_chance_of_a_group_is_that_of_its_cases():
    cases = []
    for n, size in enumerate((2, 3, 4)):
        asked = tuple(Match(image=image(n), text=f"{n} {p}") for p in range(size))
        tags = dict.fromkeys(("set_all", "macro"), "one" if n < 2 else "two")
        cases.append(Case(id=str(n), requests=asked, truths=(True, *[False] * (size - 1)), tags=tags))
    found = level("choice", "foil", cases)
    assert found["set_all"] == pytest.approx((1 / 6 + 1 / 4) / 2)
    assert found["macro"] == pytest.approx(((1 / 2 + 1 / 3) / 2 + 1 / 4) / 2)


def test_a_group_that_lacks_a_case_is_left_out_if_its_name_says_its_size():
    for named, n in (("4 of {}", N // 4 - 1), ("{}", N // 4)):
        task = task_of([pair(index, set_all=named.format(index // 4)) for index in range(N - 1)], shape="choice")
        assert figures(task, GOOD * (N - 1))["set_all"].n == n


def test_a_model_that_says_neither_yes_nor_no_to_some_statements_is_wrong_there():
    asked = [Match(image=image(n), text="x") for n in range(N)]
    cases = [Case(id=str(n), requests=(one,), truths=(n % 2 == 0,)) for n, one in enumerate(asked)]
    replies = [[{"score": float(n % 2 == 0), "accepted": None if n < 20 else n % 2 == 0}] for n in range(N)]
    found = figures(task_of(cases, shape="single"), replies)
    assert (found["accuracy"].value, found["read"].value) == (0.9, 0.9)
    assert found["auroc"].value == 1.0


def test_regions_of_one_photograph_are_one_cluster():
    task = task_of([pair(n, f"{n // 15}.jpg#{n},0,5,5") for n in range(300)])
    right = np.repeat(np.arange(20) % 2 == 0, 15)
    found = figures(task, [[{"score": float(yes)}, {"score": float(not yes)}] for yes in right])
    assert found["acc_r"].deff > 10

"""Gates on metrics that are by definition over a part of the cases, or over groups of them."""

import numpy as np
import pytest

from vlgate.gates.decide import Coverage, decide
from vlgate.gates.records import Gate
from vlgate.judging.chance import chance as level
from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Prediction, Task

N = 200


def outcome(task, predictions, metric, least):
    verdicts = judge(Batch(task=task, positions=tuple(range(len(task.cases)))), predictions)
    found = metrics(columns(task.shape, verdicts))
    coverage = Coverage(cases=len(verdicts), judged=len(verdicts), unscored=0, skipped=0, deselected=0, distinct=N)
    return decide(Gate(task=task.id, metric=metric, min=least), coverage, found).outcome


def questions():
    asked = [Ask(image=LazyImage(key=str(place), load=None), question="?", choices=("yes", "no")) for place in range(N)]
    cases = [Case(id=str(n), requests=(one,), truths=(("yes", "no")[n % 2],)) for n, one in enumerate(asked)]
    return Task(id="a/b", capability="foil", shape="single", cases=tuple(cases))


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "accuracy"])
def test_a_good_model_passes_a_gate_on_the_answers_yes(metric):
    task = questions()
    said = {one.requests[0]: one.truths[0] for one in task.cases}
    predictions = {one: Prediction(request=one, answer=answer) for one, answer in said.items()}
    assert outcome(task, predictions, metric, 0.9) == "pass"
    never = {one: Prediction(request=one, answer="no") for one in said}
    assert outcome(task, never, metric, 0.9) != "pass"


def grouped(tag, groups):
    asked = [
        tuple(Match(image=LazyImage(key=f"{n}", load=None), text=f"{n} {place}") for place in (0, 1)) for n in range(N)
    ]
    return tuple(
        Case(id=str(n), requests=one, truths=(True, False), tags={tag: groups(n)}) for n, one in enumerate(asked)
    )


@pytest.mark.parametrize(("tag", "shape"), [("macro", "pair"), ("set_all", "choice")])
def test_a_good_model_passes_a_gate_on_groups(tag, shape):
    cases = grouped(tag, lambda n: f"4 of {n // 4}")
    task = Task(id="a/b", capability="foil", shape=shape, cases=cases)
    good = {
        one: Prediction(request=one, score=1.0 - place) for case in cases for place, one in enumerate(case.requests)
    }
    assert outcome(task, good, tag, 0.5) == "pass"


def crossed(n, tag):
    asked = [
        Ask(image=LazyImage(key=f"{n} {i}", load=None), question=q, choices=("yes", "no")) for i in "ab" for q in "cd"
    ]
    truths = ("yes", "no", "no", "yes")
    return Case(id=str(n), requests=tuple(asked), truths=truths, tags={tag: f"2 of {n // 2}"})


@pytest.mark.parametrize(("tag", "chance"), [("macro", 1 / 16), ("pair_all", 1 / 256)])
def test_every_shape_has_metrics_over_groups_with_their_chance(tag, chance):
    task = Task(id="a/b", capability="foil", shape="question_quad", cases=tuple(crossed(n, tag) for n in range(N)))
    good = {
        one: Prediction(request=one, answer=truth)
        for case in task.cases
        for one, truth in zip(case.requests, case.truths, strict=True)
    }
    assert outcome(task, good, tag, 0.5) == "pass"
    assert level("question_quad", "foil", task.cases)[tag] == pytest.approx(chance)


def test_the_chance_of_a_group_is_that_of_its_cases():
    sizes = (2, 3, 4)
    cases = [
        Case(
            id=str(n),
            requests=tuple(Match(image=LazyImage(key=str(n), load=None), text=f"{n} {p}") for p in range(size)),
            truths=(True, *[False] * (size - 1)),
            tags={"set_all": "one" if n < 2 else "two", "macro": "one" if n < 2 else "two"},
        )
        for n, size in enumerate(sizes)
    ]
    found = level("choice", "foil", cases)
    assert found["set_all"] == pytest.approx((1 / 6 + 1 / 4) / 2)
    assert found["macro"] == pytest.approx(((1 / 2 + 1 / 3) / 2 + 1 / 4) / 2)


def test_a_group_that_lacks_a_case_is_left_out_if_its_name_says_its_size():
    for names, n in ((lambda n: f"4 of {n // 4}", N // 4 - 1), (lambda n: f"{n // 4}", N // 4)):
        cases = grouped("set_all", names)[:-1]
        task = Task(id="a/b", capability="foil", shape="choice", cases=cases)
        good = {one: Prediction(request=one, score=1.0 - p) for case in cases for p, one in enumerate(case.requests)}
        verdicts = judge(Batch(task=task, positions=tuple(range(len(cases)))), good)
        assert metrics(columns("choice", verdicts))["set_all"].n == n


def test_a_model_that_says_neither_yes_nor_no_to_some_statements_is_wrong_there():
    asked = [Match(image=LazyImage(key=str(n), load=None), text="x") for n in range(N)]
    cases = tuple(Case(id=str(n), requests=(one,), truths=(n % 2 == 0,)) for n, one in enumerate(asked))
    task = Task(id="a/b", capability="foil", shape="single", cases=cases)
    said = {
        one: Prediction(request=one, score=float(n % 2 == 0), accepted=None if n < 20 else n % 2 == 0)
        for n, one in enumerate(asked)
    }
    found = metrics(columns("single", judge(Batch(task=task, positions=tuple(range(N))), said)))
    assert (found["accuracy"].value, found["read"].value) == (0.9, 0.9)
    assert found["auroc"].value == 1.0


def test_regions_of_one_photograph_are_one_cluster():
    keys = [f"{n // 15}.jpg#{n},0,5,5" for n in range(300)]
    asked = [
        tuple(Match(image=LazyImage(key=key, load=None), text=f"{n} {p}") for p in "ab") for n, key in enumerate(keys)
    ]
    cases = tuple(Case(id=str(n), requests=one, truths=(True, False)) for n, one in enumerate(asked))
    right = np.repeat(np.arange(20) % 2 == 0, 15)
    scores = {
        one: Prediction(request=one, score=float((place == 0) == right[n]))
        for n, case in enumerate(cases)
        for place, one in enumerate(case.requests)
    }
    task = Task(id="a/b", capability="foil", shape="pair", cases=cases)
    found = metrics(columns("pair", judge(Batch(task=task, positions=tuple(range(300))), scores)))["acc_r"]
    assert found.deff > 10

"""The figures of one task and of a run, from verdicts."""

import pytest
from builders import image, judged, pair_case, task_of

from vlgate.metrics.compute import metrics
from vlgate.record.results import averages, task_metrics
from vlgate.sources.registry import shapes_of
from vlgate.types import Ask, Case, Task

VALSE, CHECKLIST = shapes_of("valse", ()), shapes_of("vl-checklist", ())


def result_of(task, replies):
    """The figures of a task whose requests get these replies, by request."""
    return task_metrics(
        task, judged(task, [[replies[request] for request in case.requests] for case in task.cases]), ()
    )


def pairs(name, n, right):
    """The result of n pairs, some of them right; all of them have the tag ``part=all``."""
    task = task_of([pair_case(i, tags={"part": "all"}) for i in range(n)], name)
    scores = {}
    for i, case in enumerate(task.cases):
        true, false = case.requests
        scores[true] = {"score": i / n, "accepted": True}
        scores[false] = {"score": i / n + (0.5 if i >= right else -0.5), "accepted": False}
    return result_of(task, scores)


def test_a_response_is_counted_by_its_first_word():
    said = {
        "1": ("Yes, there is a cup.", "No. There are none of them."),
        "2": ("yes: two", "YES"),
        "3": ("no, it is not", "The answer is yes."),
    }
    cases = tuple(
        Case(
            id=number,
            requests=tuple(Ask(image=image(number), question=f"{part}?", choices=("yes", "no")) for part in "ab"),
            truths=("yes", "no"),
            tags={"question_type": "verify" if number == "1" else "logical", "other": "tag"},
        )
        for number in said
    )
    task = Task(id="x/y", capability="directional", shape="questions", cases=cases)
    replies = {r: {"answer": a} for c in cases for r, a in zip(c.requests, said[c.id], strict=True)}
    assert result_of(task, replies).responses == {
        "all": {"yes": pytest.approx(3 / 6), "no": pytest.approx(2 / 6), "other": pytest.approx(1 / 6)},
        "question_type=logical": {"yes": 0.5, "no": 0.25, "other": 0.25},
        "question_type=verify": {"yes": 0.5, "no": 0.5, "other": 0.0},
    }


def test_a_slice_of_all_cases_has_the_interval_of_the_task():
    found = pairs("valse/existence", 40, right=25)
    whole, part = found.metrics["auroc"], found.slices["part=all"]["auroc"]
    assert part == whole == metrics(found.columns)["auroc"]


def test_an_average_says_how_many_tasks_there_would_be_with_all_data():
    results = [
        pairs("valse/existence", 4, right=3),
        pairs("valse/plurality", 4, right=1),
        pairs("vl-checklist/attribute/color/vg", 4, right=2),
    ]
    rows, gaps = averages(results, [*VALSE, *CHECKLIST, "scenes/foil-it"])
    valse, checklist, colour = (
        rows[name] for name in ("valse:acc_r", "vl-checklist:acc_r", "vl-checklist/attribute/color:acc_r")
    )
    assert (valse.value, valse.tasks, valse.of) == (0.5, 2, 11)
    assert (checklist.value, checklist.tasks, checklist.of) == (0.5, 1, 56)
    assert (colour.tasks, colour.of) == (1, len([t for t in CHECKLIST if "/color/" in t]))
    assert colour.of > 1
    assert gaps == {}


@pytest.mark.parametrize("replies", [("no idea", "no idea"), ("red", "no idea"), ("no idea", "blue")])
def test_an_unread_answer_about_twins_is_counted(replies):
    cases = tuple(
        Case(
            id=str(n),
            requests=tuple(
                Ask(image=image(f"{n}{side}"), question="Which colour?", choices=("red", "blue")) for side in "ab"
            ),
            truths=("red", "blue"),
        )
        for n in range(6)
    )
    task = Task(id="x/twins", capability="foil", shape="twin_questions", cases=cases)
    said = {request: {"answer": reply} for case in cases for request, reply in zip(case.requests, replies, strict=True)}
    found = result_of(task, said)
    assert found.unread == found.coverage.unread == 6
    assert "read" not in found.metrics

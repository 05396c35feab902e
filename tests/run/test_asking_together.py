"""``--ask=together`` rewrites the requests of cases with several images, and nothing else of a task."""

from pathlib import Path

import numpy as np
import pytest
from builders import image

from vlgate.errors import OptionError
from vlgate.metrics.compute import columns_of
from vlgate.record.digests import digest
from vlgate.record.options import Options
from vlgate.run.planning import make_plan
from vlgate.run.together import asked_together
from vlgate.types import Ask, Case, Compare, Match, Task, images_of, text_of

A, B, C = map(image, "abc")


def options(**changes):
    return Options(folder=Path(), thresholds=None, results=Path("out"), **changes)


def of(shape, requests, truths, **fields):
    case = Case(id="1", requests=requests, truths=truths, tags={"tag": "Object"}, origin="file, record 1", **fields)
    return Task(id="x/y", capability="compositional", shape=shape, cases=(case,), left_out={"blank": 2}, note="a note")


def rewritten(task):
    [found], note = asked_together([task], 0)
    return found.cases[0], note


QUAD = of(
    "quad",
    tuple(Match(image=image, text=text) for image in (A, B) for text in ("a cup", "a cat")),
    (True, False, False, True),
)


def test_a_quad_becomes_four_choices_in_two_orders():
    case, note = rewritten(QUAD)
    texts, images = case.requests[:4], case.requests[4:]
    assert [(text.image.key, truth) for text, truth in zip(texts, case.truths, strict=False)] == [
        ("a", "first"), ("a", "second"), ("b", "second"), ("b", "first"),
    ]  # fmt: skip
    assert texts[0].question.index("a cup") < texts[0].question.index("a cat")
    assert texts[1].question.index("a cat") < texts[1].question.index("a cup")
    assert all(isinstance(text, Ask) and text.choices == ("first", "second") for text in texts)
    assert [("".join(image.key for image in one.images), one.question[-8:], truth) for one, truth in zip(
        images, case.truths[4:], strict=True
    )] == [
        ("ab", ' "a cup"', "first"), ("ba", ' "a cup"', "second"), ("ab", ' "a cat"', "second"),
        ("ba", ' "a cat"', "first"),
    ]  # fmt: skip
    assert "x/y" in note
    assert "--ask=together" in note


def test_a_question_about_one_image_is_asked_beside_the_other():
    asked = tuple(
        Ask(image=image, question=text, choices=("yes", "no")) for image in (A, B) for text in ("A cup?", "A cat?")
    )
    case, _ = rewritten(of("question_quad", asked, ("yes", "no", "no", "yes")))
    found = [("".join(image.key for image in request.images), request.question, truth) for request, truth in zip(
        case.requests, case.truths, strict=True
    )]  # fmt: skip
    assert found[:2] == [
        ("ab", "About the first image: A cup?", "yes"), ("ba", "About the second image: A cup?", "yes"),
    ]  # fmt: skip
    assert found[6:] == [
        ("ba", "About the first image: A cat?", "yes"), ("ab", "About the second image: A cat?", "yes"),
    ]  # fmt: skip


def test_what_is_no_request_stays():
    [found], _ = asked_together([QUAD], 0)
    assert (found.id, found.shape, found.capability, found.left_out, found.note) == (
        QUAD.id, QUAD.shape, QUAD.capability, QUAD.left_out, QUAD.note,
    )  # fmt: skip
    assert (found.cases[0].tags, found.cases[0].origin) == (QUAD.cases[0].tags, QUAD.cases[0].origin)
    assert found.together
    assert not QUAD.together


def test_tasks_of_one_image_stay_as_they_are_and_alone_are_refused():
    pair = of("pair", tuple(Match(image=A, text=text) for text in ("a cup", "a cat")), (True, False))
    found, note = asked_together([pair, QUAD], 0)
    assert found[0] is pair
    assert note.count("x/y") == 1
    with pytest.raises(OptionError, match=r"--ask=together: no case of these tasks has several images; .*winoground"):
        asked_together([pair], 0)


def test_equal_images_or_texts_do_not_end_the_run():
    case, _ = rewritten(of("quad", tuple(Match(image=A, text="a cup") for _ in range(4)), (True, False, False, True)))
    assert len(case.requests) == 8
    asked = tuple(Ask(image=A, question="A cup?", choices=("yes", "no")) for _ in range(2))
    case, _ = rewritten(of("twin_questions", asked, ("yes", "no")))
    assert all(request.images == (A, A) for request in case.requests)


def test_the_order_of_several_images_depends_on_the_seed_only():
    task = of("image_choice", tuple(Match(image=image, text="a cup") for image in (A, B, C)), (True, False, False))
    orders = {
        tuple(image.key for image in asked_together([task], seed)[0][0].cases[0].requests[0].images)
        for seed in range(40)
    }
    assert len(orders) == 6
    assert asked_together([task], 7) == asked_together([task], 7)


def test_cases_about_one_image_stay_in_one_cluster():
    """The design effect counts the cases of an image, which is that of the text, not the one that is shown first."""
    choices = [
        Case(
            id=str(n),
            requests=tuple(Match(image=image, text=f"{n}") for image in (A, image(f"o{n}"))),
            truths=(True, False),
        )
        for n in range(20)
    ]
    task = Task(id="x/y", capability="foil", shape="image_choice", cases=tuple(choices))
    for one in (task, asked_together([task], 0)[0][0]):
        n = sum(len(case.requests) for case in one.cases)
        found = columns_of("image_choice", one.cases, [{"top1_image": 1.0}] * 20, np.zeros(n), np.zeros(n))
        assert set(found.images.tolist()) == {0}


def test_a_plan_names_what_is_asked_together_and_asks_something_else():
    apart = make_plan(options(suite=("scenes/word-swap", "scenes/relations")))
    plan = make_plan(options(suite=("scenes/word-swap", "scenes/relations"), ask="together"))
    assert [task.together for task in plan.tasks] == [task.id == "scenes/word-swap" for task in plan.tasks]
    assert any("scenes/word-swap" in note and "scenes/relations" not in note for note in plan.notes)
    assert digest(apart.tasks) != digest(plan.tasks)
    assert list(apart.batches) != []
    assert len(apart.batches) == len(plan.batches)
    assert not any(isinstance(r, Compare) for task in apart.tasks for case in task.cases for r in case.requests)
    for task, other in zip(apart.tasks, plan.tasks, strict=True):
        for case, again in zip(task.cases, other.cases, strict=True):
            assert {i for r in case.requests for i in images_of(r)} == {i for r in again.requests for i in images_of(r)}
            assert all(any(text_of(r) in text_of(new) for new in again.requests) for r in case.requests)

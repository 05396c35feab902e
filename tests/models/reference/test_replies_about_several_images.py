"""Recorded replies to questions about several images, and the reference models that are asked them."""

import json

import pytest

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models import load
from vlgate.models.reference.controls import Constant, Oracle, Random
from vlgate.types import TIED, Case, Compare, LazyImage, Task

A, B = (LazyImage(key=key, load=lambda: pytest.fail("an image was decoded")) for key in "ab")


def asked(*images, question="which?", choices=("first", "second")):
    return Compare(images=images, question=question, choices=choices)


def replay(folder, *rows):
    (folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load("replay:r.jsonl", folder=folder).model


def row(images, answer, question="which?"):
    return {"images": images, "question": question, "answer": answer}


def test_rows_are_found_by_the_images_in_their_order(tmp_path):
    model = replay(tmp_path, row(["a", "b"], "first"), row(["b", "a"], "Second."), row(["a", "b"], TIED, "or?"))
    assert model.compare([asked(B, A), asked(A, B), asked(A, B, question="or?")]) == ["Second.", "first", TIED]
    with pytest.raises(NoReplyError, match=r"about several images.*\('a', 'a'\)"):
        model.compare([asked(A, A)])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (row("a", "first"), "images='a' must be a list of the names"),
        (row([], "first"), r"images=\[\] must be a list"),
        (row(["a", 1], "first"), "must be a list of the names"),
        (row(["a", "b"], 1), "answer=1 must be a string"),
        ({"images": ["a"], "answer": "first"}, '"images", "question", "answer"'),
    ],
)
def test_a_wrong_row_is_named(tmp_path, wrong, says):
    with pytest.raises(ModelLoadError, match=f"line 1: .*{says}"):
        replay(tmp_path, wrong)


def test_rows_that_contradict_each_other_are_an_error(tmp_path):
    with pytest.raises(ModelLoadError, match=r"line 2: .*'second' here and 'first' in an earlier row"):
        replay(tmp_path, row(["a", "b"], "first"), row(["a", "b"], "second"))


def test_the_reference_models():
    questions = [asked(A, B), asked(B, A)]
    task = Task(
        id="x/y", capability="foil", shape="image_choice",
        cases=(Case(id="1", requests=tuple(questions), truths=("first", "second")),),
    )  # fmt: skip
    oracle = Oracle()
    oracle.prepare([task])
    assert oracle.compare(questions) == ["first", "second"]
    with pytest.raises(NoReplyError):
        oracle.compare([asked(A, B, question="another?")])
    assert Constant().compare(questions) == ["first", "first"]
    many = [asked(A, B, question=f"{n}?") for n in range(50)]
    found = Random(1).compare(many)
    assert set(found) == {"first", "second"}
    assert found == Random(1).compare(many) != Random(2).compare(many)
    assert found != Random(1).compare([asked(B, A, question=f"{n}?") for n in range(50)])


def test_the_text_only_model_answers_both_orders_alike(tmp_path):
    model = load("blind", folder=tmp_path).model
    questions = [asked(A, B), asked(B, A)]
    cases = [Case(id=str(n), requests=tuple(questions), truths=("first", "second")) for n in range(3)]
    model.prepare([Task(id="x/y", capability="foil", shape="image_choice", cases=tuple(cases))])
    assert len(set(model.compare(questions))) == 1


@pytest.mark.parametrize("names", [["./a", "b"], ["a", "./b"], ["././a", "b"], ["./a", "./b"]])
def test_rows_are_found_by_any_spelling_of_the_paths(tmp_path, names):
    assert replay(tmp_path, row(names, "first")).compare([asked(A, B)]) == ["first"]


def test_the_exact_spelling_goes_before_another_one_and_two_that_contradict_count_as_none(tmp_path):
    model = replay(tmp_path, row(["./a", "b"], "second"), row(["a", "b"], "first"))
    assert model.compare([asked(A, B)]) == ["first"]
    with pytest.raises(NoReplyError):
        replay(tmp_path, row(["./a", "b"], "second"), row(["a", "./b"], "first")).compare([asked(A, B)])

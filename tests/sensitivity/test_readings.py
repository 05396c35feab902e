"""What texts say to a model with one defect of reading, and what such a model reaches if the labels tell the truth."""

from pathlib import Path

import pytest
from builders import table

from vlgate.models.reference.defects import SAYS
from vlgate.studies.sensitivity.matrix import labelled
from vlgate.studies.sensitivity.readings import READINGS, alike, named, said
from vlgate.types import Ask, Case, LazyImage, Match, Task

HERE = Path(__file__).parent

ALIKE = table(HERE / "alike.tsv")
NOT_ALIKE = table(HERE / "not_alike.tsv")


@pytest.mark.parametrize(("defect", "one", "other"), ALIKE)
def test_texts_that_only_the_broken_faculty_tells_apart(defect, one, other):
    assert alike(defect, one, other)
    assert said(one) != said(other)


@pytest.mark.parametrize(("defect", "one", "other"), NOT_ALIKE)
def test_texts_that_another_faculty_tells_apart(defect, one, other):
    assert not alike(defect, one, other)


def test_every_reading_is_tried_and_is_a_defect():
    assert {defect for defect, *_ in ALIKE} == {defect for defect, *_ in NOT_ALIKE} == set(READINGS)
    assert set(READINGS) < set(SAYS)


def test_what_an_intact_model_does_not_tell_apart_shows_no_defect():
    assert said("There's a dog.") != said("")
    assert not any(alike(defect, "A dog runs.", "the dog run") for defect in READINGS)


def test_names_of_several_words_are_one():
    assert [word for word, names in named("A metal bowl, a teddy bear and swimmers.") if names] == [
        *("bowl", "teddy bear", "swimmer")
    ]


def pair(name, caption, foil):
    image = LazyImage(key=name, load=lambda: None)
    requests = (Match(image=image, text=caption), Match(image=image, text=foil))
    return Case(id=name, requests=requests, truths=(True, False))


def test_a_guess_counts_half():
    foils = ["A man chases a dog.", "A man chases a dog.", "A dog chases a cat.", "A dog bites a man."]
    cases = tuple(pair(str(number), "A dog chases a man.", foil) for number, foil in enumerate(foils))
    task = Task(id="mine/all", capability="foil", shape="pair", cases=cases)
    found = labelled(task, "bag-of-words")
    assert found.guessed == 0.5
    assert found.metric.value == 0.75
    assert found.metric.low < 0.75 < found.metric.high
    assert labelled(task, "negation-deaf").metric.value == 1.0


def test_cases_of_one_image_may_disagree_about_a_text():
    one, other = "A dog chases a man.", "A cat sleeps."
    cases = (pair("same", one, other), pair("same", other, one))
    task = Task(id="mine/all", capability="foil", shape="pair", cases=cases)
    assert labelled(task, "bag-of-words").metric.value == 1.0


def test_texts_are_compared_about_one_image_only():
    images = [LazyImage(key=name, load=lambda: None) for name in "ab"]
    texts = ("A dog chases a man.", "A man chases a dog.")
    requests = tuple(Match(image=image, text=text) for image in images for text in texts)
    case = Case(id="1", requests=requests, truths=(True, False, False, True))
    task = Task(id="mine/all", capability="compositional", shape="quad", cases=(case,))
    assert labelled(task, "count-blind").metric.value == 1.0
    found = labelled(task, "bag-of-words")
    assert (found.guessed, found.metric.value) == (1.0, 0.5**4)
    apart = Case(id="1", requests=(requests[0], requests[3]), truths=(True, False))
    task = Task(id="mine/all", capability="foil", shape="pair", cases=(apart,))
    assert labelled(task, "bag-of-words").guessed == 0.0


def test_a_set_whose_passive_is_read_as_active():
    image = LazyImage(key="a", load=lambda: None)
    texts = ["The dog chases the man.", "The man is chased by the dog."]
    texts += ["The man chases the dog.", "The dog is chased by the man."]
    requests = tuple(Match(image=image, text=text) for text in texts)
    case = Case(id="1", requests=requests, truths=(True, True, False, False))
    task = Task(id="mine/all", capability="compositional", shape="active_passive_set", cases=(case,))
    assert labelled(task, "active-passive").metric.value < 0.5
    assert labelled(task, "colour-blind").metric.value == 1.0


def test_questions_have_no_label_of_a_text():
    asked = Ask(image=LazyImage(key="a", load=lambda: None), question="Is there a dog?")
    case = Case(id="1", requests=(asked, asked), truths=("yes", "yes"))
    assert (
        labelled(Task(id="mine/all", capability="invariance", shape="questions", cases=(case,)), "colour-blind") is None
    )
    assert labelled(Task(id="mine/all", capability="foil", shape="pair", cases=()), "colour-blind") is None

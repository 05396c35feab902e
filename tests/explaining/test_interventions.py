"""Explanations of models that are known to look at one place, or at one word."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from vlgate.errors import NoReplyError
from vlgate.explaining.explain import explain, number_of_requests, subjects
from vlgate.explaining.record import Attended
from vlgate.explaining.words import words_of
from vlgate.inference.batching import Caller
from vlgate.inference.predictor import ModelPredictor
from vlgate.judging.verdicts import judge
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Task

SIDE = 64
WORDS = ("small", "red", "old", "left", "striped")


def speckled(key="speckled.png"):
    """An image whose parts all differ from its mean colour."""
    pixels = np.random.default_rng(0).integers(0, 2, (SIDE, SIDE, 1)) * np.array([250, 120, 60])
    return LazyImage(key=key, load=lambda: Image.fromarray(pixels.astype(np.uint8)))


def explained(model, case, shape="pair"):
    task = Task(id="planted/one", capability="foil", shape=shape, cases=(case,))
    predictor = ModelPredictor(model=model, name="planted", caller=Caller(name="planted", size=16))
    verdicts = judge(Batch(task=task, positions=(0,)), predictor.predict(case.requests))
    [found] = explain(subjects([(task.id, shape, verdicts[0])], model), predictor, model)
    return found


def pair(true, false):
    image = speckled()
    requests = (Match(image=image, text=true), Match(image=image, text=false))
    return Case(id="1", requests=requests, truths=(True, False))


def finding(found, method):
    [one] = [one for one in found.findings if one.method == method]
    return one


def strongest(found, method):
    return max(finding(found, method).parts, key=lambda part: abs(part.effect))


class LooksAt:
    """Believes the text "yes" by how much contrast there is at one place of the image, and sees nothing else."""

    def __init__(self, across, down, sign=1.0):
        self.rows, self.columns, self.sign = slice(down, down + 4), slice(across, across + 4), sign

    def match(self, pairs):
        return np.array([self.contrast(pair.image) * self.sign * (pair.text == "yes") for pair in pairs])

    def contrast(self, image):
        return float(np.asarray(image.load(), dtype=float)[self.rows, self.columns].std())


class Reads:
    """Likes a text that has one word, and sees no image."""

    def __init__(self, word):
        self.word = word

    def match(self, pairs):
        return np.array([float(self.word in pair.text.split()) for pair in pairs])


class Boxed(LooksAt):
    def boxes(self, images):
        return [np.array([[0.0, 0.0, 0.5, 1.0], [0.5, 0.0, 1.0, 1.0]])] * len(images)


@settings(max_examples=12, deadline=None)
@given(across=st.integers(0, SIDE - 4), down=st.integers(0, SIDE - 4))
def test_the_region_that_a_matcher_looks_at_is_found_wherever_it_is(across, down):
    found = explained(LooksAt(across, down), pair("yes", "no"))
    box = strongest(found, "hide windows").box
    left, top, right, bottom = (edge * SIDE for edge in box)
    assert found.right
    assert min(right, across + 4) > max(left, across)
    assert min(bottom, down + 4) > max(top, down)
    apart = [
        part
        for part in finding(found, "hide windows").parts
        if part.box[2] * SIDE <= across
        or part.box[0] * SIDE >= across + 4
        or part.box[3] * SIDE <= down
        or part.box[1] * SIDE >= down + 4
    ]
    assert all(part.effect == 0 and not part.turns for part in apart)


def test_what_speaks_for_the_right_answer_is_above_zero_and_what_speaks_against_it_below():
    right, missed = (explained(LooksAt(8, 40, sign=sign), pair("yes", "no")) for sign in (1.0, -1.0))
    assert right.right
    assert not missed.right
    assert strongest(right, "hide windows").effect > 0
    assert strongest(missed, "hide windows").effect < 0
    assert strongest(missed, "hide windows").effect == -strongest(right, "hide windows").effect


@pytest.mark.parametrize("word", WORDS)
def test_the_word_that_a_matcher_reads_is_the_only_one_with_an_effect_and_turns_the_verdict(word):
    foil = "a " + " ".join(WORDS) + " cup"
    found = explained(Reads(word), pair("a plain cup", foil))
    assert not found.right
    for method in ("leave words out", "exchange words"):
        moved = [part for part in finding(found, method).parts if part.effect]
        assert [part.word for part in moved] == [word]
        assert moved[0].effect == -1.0
    assert not any(part.effect for part in finding(found, "hide windows").parts)
    assert repr(word) in found.says


def test_a_model_with_boxes_is_shown_the_image_without_each_of_them():
    found = explained(Boxed(40, 8), pair("yes", "no"))
    parts = finding(found, "hide boxes").parts
    assert [part.effect > 0 for part in parts] == [False, True]
    assert all(one.method != "hide windows" for one in found.findings)


class Answers:
    """Says "yes" to a question with the word "dog", or about an image with contrast at its top left."""

    def answer(self, questions):
        seen = LooksAt(0, 0)
        return ["yes" if "dog" in one.question or seen.contrast(one.image) > 50 else "no" for one in questions]


def test_an_answerer_is_explained_by_the_answers_that_turn():
    image = speckled()
    asked = [Ask(image=image, question=text, choices=("yes", "no")) for text in ("Is it a cat?", "Is there a dog?")]
    found = explained(Answers(), Case(id="1", requests=tuple(asked), truths=("no", "yes")), "questions")
    assert not found.graded
    assert not found.right
    assert found.margin == 0.5
    [corner] = [part for part in finding(found, "hide windows").parts if part.effect]
    assert corner.box[:2] == (0.0, 0.0)
    assert corner.effect == -0.5
    assert corner.turns
    assert "top left" in found.says


class Encodes:
    """A dual encoder whose image is its brightness at the top left; the word "dark" points the other way."""

    def encode_images(self, images):
        seen = LooksAt(0, 0)
        return np.array([[seen.contrast(image), 1.0] for image in images])

    def encode_texts(self, texts):
        return np.array([[1.0 if "busy" in text.split() else -1.0, 0.0] for text in texts])


def test_a_matcher_that_is_asked_questions_is_explained_by_the_scores_of_the_choices():
    asked = (Ask(image=speckled(), question="Which is it?", choices=("busy", "plain")),)
    found = explained(Encodes(), Case(id="1", requests=asked * 2, truths=("busy", "busy")), "questions")
    assert found.graded
    assert found.margin > 50
    assert strongest(found, "hide windows").box[:2] == (0.0, 0.0)
    assert 0 < strongest(found, "hide windows").effect <= found.margin


class Replays:
    """Has a reply to what it was asked before only, as a file of replies has."""

    def match(self, pairs):
        unknown = [place for place, pair in enumerate(pairs) if "#" in pair.image.key]
        if unknown:
            raise NoReplyError(unknown, "there is no row for it")
        return np.array([float(len(pair.text)) for pair in pairs])


def test_changes_without_a_reply_are_counted_and_say_why():
    found = explained(Replays(), pair("a cup", "a longer cup"))
    hidden = finding(found, "hide windows")
    assert hidden.lacking == len(hidden.parts) == 49
    assert hidden.why == "there is no row for it"
    assert not hidden.measured
    assert finding(found, "leave words out").lacking == 0


class Counts(LooksAt):
    def __init__(self):
        super().__init__(0, 0)
        self.asked = []

    def match(self, pairs):
        self.asked += [(pair.image.key, pair.text) for pair in pairs]
        return super().match(pairs)


def test_no_more_is_asked_than_was_said_and_nothing_twice():
    model, case = Counts(), pair("yes", "no")
    task = Task(id="planted/one", capability="foil", shape="pair", cases=(case,))
    predictor = ModelPredictor(model=model, name="planted", caller=Caller(name="planted", size=16))
    verdicts = judge(Batch(task=task, positions=(0,)), predictor.predict(case.requests))
    model.asked.clear()
    asked = subjects([(task.id, "pair", verdicts[0])], model)
    assert not model.asked
    said = number_of_requests(asked)
    explain(asked, predictor, model)
    assert len(model.asked) == len(set(model.asked)) == said <= 2 * 49 + 2 + 2 * 2


class Attending(LooksAt):
    """Gives what it is told to as its maps, or raises it."""

    def __init__(self, maps):
        super().__init__(8, 40)
        self.maps = maps

    def attended(self, pairs):
        if isinstance(self.maps, Exception):
            raise self.maps
        return [Attended(method="told", image=0, text=pair.text, boxes=(), weights=()) for pair in pairs][self.maps]


@pytest.mark.parametrize(
    ("maps", "texts", "why"),
    [
        (slice(None), ["yes", "no"], ""),
        (slice(0), [], ""),
        (slice(1), [], "attended() of the model returned 1 maps for 2 pairs; return one per pair"),
        (ZeroDivisionError("no gradient"), [], "attended() of the model raised ZeroDivisionError: no gradient"),
    ],
)
def test_maps_stand_beside_the_interventions_and_cannot_cost_them(maps, texts, why):
    found = explained(Attending(maps), pair("yes", "no"))
    assert [one.text for one in found.attended] == texts
    assert found.unseen == why
    assert strongest(found, "hide windows").effect > 0


def test_long_texts_cost_no_more_than_the_bound():
    assert len(words_of([" ".join(f"word{number}" for number in range(500))])) == 40

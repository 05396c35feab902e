"""The position of a request in a call tells a model nothing about its truth."""

from itertools import pairwise

import numpy as np
import pytest

from vlgate.asking.batching import Caller
from vlgate.asking.items import BLOCK, hashed_order
from vlgate.asking.predictor import ModelPredictor
from vlgate.types import Ask, LazyImage, Match, Read

IMAGES = [LazyImage(key=f"{n}.jpg", load=lambda: None) for n in range(40)]
PAIRS = [Match(image=image, text=text) for image in IMAGES for text in ("a true text", "a false text")]


class Noting:
    """A model with every method, which notes what it is given and scores each item by its text alone."""

    def __init__(self):
        self.given = []


def numbers(items):
    return np.array([float(len(str(item))) for item in items])


def noting(name, reply):
    model = Noting()

    def method(items):
        model.given.append(items)
        return reply(items)

    setattr(model, name, method)
    return model


def predictor(model, seed=0, size=512):
    return ModelPredictor(model=model, name="noting", caller=Caller(name="noting", size=size), seed=seed)


def test_a_score_that_follows_the_position_is_right_about_half_of_the_time():
    model = noting("match", lambda pairs: np.arange(len(pairs), dtype=float)[::-1])
    replies = predictor(model).predict(PAIRS)
    right = sum(replies[true].score > replies[false].score for true, false in zip(PAIRS[::2], PAIRS[1::2], strict=True))
    assert 10 <= right <= 30


def test_the_seed_changes_the_order():
    orders = {}
    for seed in (0, 1):
        model = noting("match", numbers)
        predictor(model, seed).predict(PAIRS)
        [given] = model.given
        assert sorted(given, key=PAIRS.index) == PAIRS
        orders[seed] = given
    assert orders[0] != orders[1]


def test_requests_of_one_image_stay_near_each_other():
    images = [LazyImage(key=f"{n}.jpg", load=lambda: None) for n in range(2000)]
    pairs = [Match(image=image, text=text) for text in ("a true text", "a false text") for image in images]
    places = {}
    for turn, place in enumerate(hashed_order(pairs, 0)):
        places.setdefault(pairs[place].image.key, []).append(turn)
    assert all(last - first < 2 * BLOCK for first, last in places.values())


def test_requests_of_one_image_follow_each_other_no_more_often_than_by_chance():
    model = noting("match", numbers)
    predictor(model).predict(PAIRS)
    [given] = model.given
    follow = sum(one.image is two.image for one, two in pairwise(given))
    assert follow <= 5  # 79 neighbours, 40 of 3,160 pairs of places: 1 is expected


def test_answers_that_alternate_are_right_about_crossed_questions_as_often_as_by_chance():
    right = []
    for seed in range(40):
        model = noting("answer", lambda questions: ["yes", "no"] * (len(questions) // 2))
        asked = [Ask(image=image, question=text) for image in IMAGES for text in ("is it true?", "is it false?")]
        replies = predictor(model, seed).predict(asked)
        said = [replies[one].answer for one in asked]
        right += [pair == ("yes", "no") for pair in zip(said[::2], said[1::2], strict=True)]
    assert abs(np.mean(right) - 1 / 4) < 0.04  # 1,600 images: four standard errors; in a row, 1/2


def test_replies_go_back_to_their_requests_whatever_the_size_of_a_call():
    for size in (1, 7, 512):
        model = noting("match", lambda pairs: np.array([hash((p.image.key, p.text)) % 997 for p in pairs], float))
        replies = predictor(model, size=size).predict(PAIRS)
        assert list(replies) == PAIRS
        assert all(reply.score == hash((r.image.key, r.text)) % 997 for r, reply in replies.items())


@pytest.mark.parametrize(("method", "request_", "reply"), [
    ("match", PAIRS[0], numbers),
    ("answer", Ask(image=IMAGES[0], question="what?"), lambda questions: ["yes"] * len(questions)),
    ("perplexity", Read(text="a text"), numbers),
])  # fmt: skip
def test_models_are_given_tuples(method, request_, reply):
    model = noting(method, reply)
    predictor(model).predict([request_])
    assert [type(items) for items in model.given] == [tuple]


def test_encoders_and_accepts_are_given_tuples():
    model = noting("encode_images", lambda images: np.ones((len(images), 2)))
    given = []
    model.encode_texts = lambda texts: given.append(texts) or np.ones((len(texts), 2))
    model.accepts = lambda pairs: given.append(pairs) or np.ones(len(pairs))
    assert predictor(model).predict(PAIRS[:4])[PAIRS[0]].accepted
    assert [type(items) for items in [*model.given, *given]] == [tuple] * 3


def test_without_a_seed_the_order_is_that_of_the_call():
    assert list(hashed_order(["b", "a", "c"], None)) == [0, 1, 2]
    order = hashed_order([str(n) for n in range(50)], 3)
    assert list(order) != sorted(order) == list(range(50))

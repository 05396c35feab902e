"""Near-copies find a model whose replies depend on the batch, whatever it remembers, and hardly any other."""

import hashlib
import itertools

import pytest
from builders import noise

from vlgate.asking.batching import Caller
from vlgate.asking.checks.invariance import check_batch_invariance, check_determinism, near_copy
from vlgate.asking.items import Copies
from vlgate.asking.predictor import ModelPredictor
from vlgate.types import Ask, Case, Match, Read

TEXTS = ("A red cup on a table.", "A blue cup on a table.", "A red hat on a table.", "A red cup on a chair.")
KEYS = {
    "key": lambda pair: (pair.image.key, pair.text),
    "pixels": lambda pair: (pair.image.load().tobytes(), pair.text),
    "text": lambda pair: pair.text,
    "pair": lambda pair: pair,
}


def cases(n=6):
    asked = [tuple(Match(image=noise(number), text=f"{number} {text}") for text in TEXTS) for number in range(n)]
    return [Case(id=str(n), requests=one, truths=(True, False, False, False)) for n, one in enumerate(asked)]


def medoid(pairs):
    """Prefers the text that shares most words with the others about its image."""
    words = [set(pair.text.strip(" .").split()) for pair in pairs]
    return [
        float(sum(len(own & words[other]) for other in range(len(pairs)) if about(pairs, index, other)))
        for index, own in enumerate(words)
    ]


def about(pairs, place, other):
    return place != other and pairs[place].image == pairs[other].image


def chance(salt):
    def match(pairs):
        told = [pair.image.load().tobytes() + f"{salt} {pair.text}".encode() for pair in pairs]
        return [int(hashlib.sha256(one).hexdigest()[:8], 16) / 16**8 for one in told]

    return match


def remembering(key, match):
    known = {}

    def remembered(pairs):
        keys = [key(pair) for pair in pairs]
        for one, score in zip(keys, match(pairs), strict=True):
            known.setdefault(one, score)
        return [known[key] for key in keys]

    return remembered


def predictor(match, **attributes):
    model = type("Model", (), {"match": staticmethod(match), **attributes})()
    caller = Caller(name="mine", size=64, copies=Copies(names=bool(attributes)))
    return ModelPredictor(model=model, name="mine", caller=caller)


def batch_invariance(model, anew="all"):
    asked = cases()
    requests = [request for case in asked for request in case.requests]
    model.predict(requests)  # the run
    return check_batch_invariance(model, requests, cases=asked, anew=anew)


@pytest.mark.parametrize("key", KEYS)
def test_a_memory_of_replies_does_not_hide_that_they_depend_on_the_batch(key):
    found = batch_invariance(predictor(remembering(KEYS[key], medoid)))
    assert found.outcome == "suspect"
    hidden = key in {"pixels", "text"}  # other names alone tell the others
    assert ("asked anew in 5 near-copies alone and 5 in a group" in found.why) == hidden


def test_a_model_that_gets_names_is_asked_other_texts_about_the_same_names():
    keys = set()

    def match(pairs):
        keys.update(pair.image.key for pair in pairs)
        return remembered(pairs)

    remembered = remembering(KEYS["key"], medoid)
    assert batch_invariance(predictor(match, image_names=True), "texts").outcome == "suspect"
    assert keys == {f"{number}.jpg" for number in range(6)}


@pytest.mark.slow
def test_a_model_whose_every_reply_is_chance_is_not_suspected_of_looking_at_the_batch():
    found = [batch_invariance(predictor(remembering(KEYS["pixels"], chance(salt)))) for salt in range(60)]
    assert {check.outcome for check in found} == {"ok"}


def test_a_model_that_knows_the_texts_of_the_run_only_is_not_suspected():
    scores = {
        one.text: float(index) for index, one in enumerate(request for case in cases() for request in case.requests)
    }
    found = batch_invariance(predictor(lambda pairs: [scores[pair.text] for pair in pairs]))
    assert (found.outcome, "near-copies could not be asked (KeyError" in found.why) == ("ok", True)


@pytest.mark.parametrize(("key", "outcome"), [("key", "suspect"), ("pair", "suspect"), ("pixels", "ok")])
def test_a_memory_by_names_does_not_hide_chance(key, outcome):
    drawn = itertools.count()
    match = remembering(KEYS[key], lambda pairs: [float(next(drawn) % 7) for _ in pairs])
    requests = [request for case in cases() for request in case.requests]
    model = predictor(match)
    model.predict(requests)
    assert check_determinism(model, requests, anew="all").outcome == outcome


@pytest.mark.parametrize("request_", [
    Match(image=noise(1), text="A red cup."), Ask(image=noise(1), question="What is it?", choices=("a", "b")),
    Read(text="..."), Read(text=""), Read(text="A cup !"),
], ids=repr)  # fmt: skip
def test_the_ten_copies_of_a_request_differ_from_it_and_from_each_other(request_):
    copies = {near_copy(request_, number) for number in range(10)}
    assert len(copies | {request_}) == 11

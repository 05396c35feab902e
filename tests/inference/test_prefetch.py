"""Requests of coming batches are asked together with those of the first one."""

import numpy as np
import pytest
from builders import image, task_of

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor, score
from vlgate.asking.request_prefetch import prefetching
from vlgate.types import Batch, Case, Match

IMAGE = image("1.jpg")
TEXTS = "abcdefgh"
TASK = task_of([Case(id=text, requests=(Match(image=IMAGE, text=text),), truths=(True,)) for text in TEXTS])
BATCHES = [Batch(task=TASK, positions=(i,)) for i in range(len(TEXTS))]


class Noting:
    """A matcher that notes the texts of each call, and raises at one of them."""

    def __init__(self, raises_at=""):
        self.calls, self.raises_at = [], raises_at

    def match(self, pairs):
        self.calls.append("".join(pair.text for pair in pairs))
        if self.raises_at and self.raises_at in self.calls[-1]:
            raise ValueError(f"no score for {self.raises_at}")
        return np.array([float(ord(pair.text)) for pair in pairs])


def predictor(model, size):
    inner = ModelPredictor(model=model, name="noting", caller=Caller(name="noting", size=size))
    return prefetching(inner, BATCHES)


def test_coming_requests_fill_the_models_batch_and_each_is_asked_once():
    model = Noting()
    asked = predictor(model, size=3)
    found = [score(asked, batch) for batch in BATCHES]
    assert model.calls == ["abc", "def", "gh"]
    assert [reply.score for one in found for reply in one.values()] == [float(ord(text)) for text in TEXTS]


def test_batches_in_another_order_than_foreseen_have_the_same_replies():
    model = Noting()
    asked = predictor(model, size=3)
    for batch in (BATCHES[5], BATCHES[0], BATCHES[7]):
        [reply] = score(asked, batch).values()
        assert reply.score == float(ord(reply.request.text))
    assert model.calls == ["fab", "hcd"]


def test_what_a_model_raises_meets_its_own_batch_and_the_call_with_it_only():
    model = Noting(raises_at="b")
    asked = predictor(model, size=3)
    [reply] = score(asked, BATCHES[0]).values()
    assert reply.score == float(ord("a"))
    with pytest.raises(ValueError, match="no score for b"):
        score(asked, BATCHES[1])
    for batch in BATCHES[2:]:
        score(asked, batch)
    assert model.calls == ["abc", "a", "b", "c", "def", "gh"]


def test_a_model_that_always_raises_fails_each_batch_at_one_more_call_for_every_full_one():
    class Broken(Noting):
        def match(self, pairs):
            self.calls.append(len(pairs))
            raise ValueError("broken")

    model = Broken()
    asked = predictor(model, size=4)
    for batch in BATCHES:
        with pytest.raises(ValueError, match="broken"):
            score(asked, batch)
    assert sorted(model.calls) == [1] * 8 + [4] * 2


def test_all_tasks_ask_about_an_image_in_one_call():
    asked_of = [[Match(image=image(f"{n}.jpg"), text=f"{name}{n}") for n in range(3)] for name in "abc"]
    cases = [[Case(id=one.text, requests=(one,), truths=(True,)) for one in some] for some in asked_of]
    tasks = [task_of(some, f"x/{some[0].id}") for some in cases]
    calls = []

    class Model:
        def match(self, pairs):
            calls.append({pair.image.key[0] for pair in pairs})
            return np.zeros(len(pairs))

    batches = [Batch(task=task, positions=(place,)) for task in tasks for place in range(3)]
    inner = ModelPredictor(model=Model(), name="mine", caller=Caller(name="mine", size=3), seed=0)
    asked = prefetching(inner, batches)
    for batch in batches:
        score(asked, batch)
    assert calls == [{"0"}, {"1"}, {"2"}]

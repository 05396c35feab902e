"""Rounds that are asked ahead ask what a run without them asks, call for call."""

import threading
import time

import numpy as np
import pytest
from builders import image, task_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor, score
from vlgate.asking.request_prefetch import ForeseeingPredictor, prefetching
from vlgate.types import Batch, Case, Match

IMAGES = [image(f"{number}.jpg") for number in range(3)]


def batches_of(texts, per_case, per_batch):
    """Batches of cases whose requests may repeat."""
    requests = [Match(image=IMAGES[len(text) % 3], text=text) for text in texts]
    some = [tuple(requests[at : at + per_case]) for at in range(0, len(requests), per_case)]
    cases = tuple(Case(id=str(i), requests=one, truths=(True,) * len(one)) for i, one in enumerate(some))
    task = task_of(cases)
    places = range(len(cases))
    return [Batch(task=task, positions=tuple(places[at : at + per_batch])) for at in places[::per_batch]]


class Noting:
    """A matcher that notes each call, and runs out of memory or raises on certain requests."""

    def __init__(self, *, full_at=99, raises_at=""):
        self.calls, self.full_at, self.raises_at, self.lock = set(), full_at, raises_at, threading.Lock()

    def match(self, pairs):
        texts = tuple(pair.text for pair in pairs)
        with self.lock:
            self.calls.add(texts)
        if len(texts) >= self.full_at and "m" in texts[0]:
            raise MemoryError
        if self.raises_at and self.raises_at in texts:
            raise ValueError(f"no score for {self.raises_at}")
        return np.array([float(sum(map(ord, text))) + len(texts) / 100 for text in texts])


def outcome(predictor, batches):
    """The replies of each batch, or what was raised."""
    found = []
    for batch in batches:
        try:
            found.append({request.text: reply.score for request, reply in score(predictor, batch).items()})
        except ValueError as error:
            found.append(str(error))
    return found


def model_of(**options):
    model = Noting(**options)
    size = 4
    return model, ModelPredictor(model=model, name="noting", caller=Caller(name="noting", size=size), seed=0)


@settings(max_examples=150, deadline=None)
@given(
    texts=st.lists(st.text("abm", min_size=1, max_size=3), min_size=8, max_size=40),
    per_case=st.integers(1, 4),
    per_batch=st.integers(1, 3),
    full_at=st.sampled_from([2, 3, 99]),
    raises=st.booleans(),
)
def test_the_replies_are_those_of_a_run_without_it(texts, per_case, per_batch, full_at, raises):
    batches = batches_of(texts, per_case, per_batch)
    options = {"full_at": full_at, "raises_at": texts[len(texts) // 2] if raises else ""}
    plain, inner = model_of(**options)
    small = per_batch == 1
    expected = outcome(prefetching(inner, batches) if small else inner, batches)
    ahead, outer = model_of(**options)
    found = ForeseeingPredictor(predictor=outer, batches=batches, calls=3, fills=small)
    assert outcome(found, batches) == expected
    assert plain.calls <= ahead.calls
    assert outer.caller.size == inner.caller.size


def test_rounds_are_filled_again_after_one_that_raised():
    batches = batches_of([f"a{number}" for number in range(40)], 1, 1)
    model, inner = model_of(raises_at="a2")
    found = ForeseeingPredictor(predictor=inner, batches=batches, calls=3, fills=True)
    assert sum(isinstance(one, str) for one in outcome(found, batches)) == 1
    assert sum(len(texts) == 4 for texts in model.calls) >= 9


def test_coming_rounds_are_on_their_way_while_the_first_is_waited_for():
    class Slow(Noting):
        most = now = 0

        def match(self, pairs):
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            time.sleep(0.02)
            with self.lock:
                self.now -= 1
            return super().match(pairs)

    model = Slow()
    inner = ModelPredictor(model=model, name="slow", caller=Caller(name="slow", size=4), seed=0)
    batches = batches_of([f"text {number}" for number in range(48)], 2, 1)
    found = ForeseeingPredictor(predictor=inner, batches=batches, calls=3, fills=True)
    assert not any(isinstance(one, str) for one in outcome(found, batches))
    assert 3 <= model.most <= 5  # bounded: the first round, three calls ahead, and one that was begun


@pytest.mark.parametrize("fills", [True, False])
def test_batches_in_another_order_have_the_same_replies(fills):
    batches = batches_of([f"text {number}" for number in range(24)], 2, 1)
    _, inner = model_of()
    found = ForeseeingPredictor(predictor=inner, batches=batches, calls=2, fills=fills)
    for place in (5, 0, 11, 3):
        replies = score(found, batches[place])
        assert [reply.request for reply in replies.values()] == list(batches[place].cases[0].requests)

"""Requests of coming batches are asked with those of the first one, and rounds ahead ask the same, call for call."""

import threading
import time

import numpy as np
import pytest
from builders import image, predictor, task_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.asking.predictor import score
from vlgate.asking.request_prefetch import ForeseeingPredictor, prefetching
from vlgate.types import Batch, Case, Match

IMAGES = [image(f"{number}.jpg") for number in range(3)]


def batches_of(texts, per_case, per_batch):
    """Batches of cases whose requests may repeat."""
    requests = [Match(image=IMAGES[len(text) % 3], text=text) for text in texts]
    some = [tuple(requests[at : at + per_case]) for at in range(0, len(requests), per_case)]
    cases = [Case(id=str(i), requests=one, truths=(True,) * len(one)) for i, one in enumerate(some)]
    task, places = task_of(cases), range(len(cases))
    return [Batch(task=task, positions=tuple(places[at : at + per_batch])) for at in places[::per_batch]]


class Noting:
    """A matcher that notes each call, and runs out of memory or raises on certain requests."""

    def __init__(self, *, full_at=99, raises_at=""):
        self.calls, self.full_at, self.raises_at, self.lock = [], full_at, raises_at, threading.Lock()

    def match(self, pairs):
        texts = tuple(pair.text for pair in pairs)
        with self.lock:
            self.calls.append(texts)
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


def foreseeing(model, batches, calls=3, *, fills=True):
    return ForeseeingPredictor(predictor=predictor(model, 4, seed=0), batches=batches, calls=calls, fills=fills)


@pytest.mark.slow
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
    plain, ahead = Noting(**options), Noting(**options)
    small, inner = per_batch == 1, predictor(plain, 4, seed=0)
    outer = foreseeing(ahead, batches, fills=small)
    assert outcome(outer, batches) == outcome(prefetching(inner, batches) if small else inner, batches)
    assert set(plain.calls) <= set(ahead.calls)
    assert outer.predictor.caller.size == inner.caller.size


def test_rounds_are_filled_again_after_one_that_raised():
    batches, model = batches_of([f"a{number}" for number in range(40)], 1, 1), Noting(raises_at="a2")
    assert sum(isinstance(one, str) for one in outcome(foreseeing(model, batches), batches)) == 1
    assert sum(len(texts) == 4 for texts in set(model.calls)) >= 9


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

    model, batches = Slow(), batches_of([f"text {number}" for number in range(48)], 2, 1)
    assert not any(isinstance(one, str) for one in outcome(foreseeing(model, batches), batches))
    assert 3 <= model.most <= 5  # bounded: the first round, three calls ahead, and one that was begun


@pytest.mark.parametrize("fills", [True, False])
def test_batches_in_another_order_have_the_same_replies(fills):
    batches = batches_of([f"text {number}" for number in range(24)], 2, 1)
    asked = foreseeing(Noting(), batches, 2, fills=fills)
    for index in (5, 0, 11, 3):
        assert list(score(asked, batches[index])) == list(batches[index].cases[0].requests)


TEXTS = "abcdefgh"
BATCHES = batches_of(TEXTS, 1, 1)


def prefetched(model, size):
    return model, prefetching(predictor(model, size, seed=None), BATCHES)


def test_coming_requests_fill_the_models_batch_and_each_is_asked_once():
    model, asked = prefetched(Noting(), size=3)
    found = [score(asked, batch) for batch in BATCHES]
    assert list(map("".join, model.calls)) == ["abc", "def", "gh"]
    assert [round(reply.score) for one in found for reply in one.values()] == list(map(ord, TEXTS))


def test_batches_in_another_order_than_foreseen_fill_other_calls():
    model, asked = prefetched(Noting(), size=3)
    for batch in (BATCHES[5], BATCHES[0], BATCHES[7]):
        [reply] = score(asked, batch).values()
        assert round(reply.score) == ord(reply.request.text)
    assert list(map("".join, model.calls)) == ["fab", "hcd"]


def test_what_a_model_raises_meets_its_own_batch_and_the_call_with_it_only():
    model, asked = prefetched(Noting(raises_at="b"), size=3)
    [reply] = score(asked, BATCHES[0]).values()
    assert round(reply.score) == ord("a")
    with pytest.raises(ValueError, match="no score for b"):
        score(asked, BATCHES[1])
    for batch in BATCHES[2:]:
        score(asked, batch)
    assert list(map("".join, model.calls)) == ["abc", "a", "b", "c", "def", "gh"]


def test_a_model_that_always_raises_fails_each_batch_at_one_more_call_for_every_full_one():
    class Broken(Noting):
        def match(self, pairs):
            self.calls.append(len(pairs))
            raise ValueError("broken")

    model, asked = prefetched(Broken(), size=4)
    for batch in BATCHES:
        with pytest.raises(ValueError, match="broken"):
            score(asked, batch)
    assert sorted(model.calls) == [1] * 8 + [4] * 2


def test_all_tasks_ask_about_an_image_in_one_call():
    asked_of = [[Match(image=image(f"{n}.jpg"), text=f"{name}{n}") for n in range(3)] for name in "abc"]
    cases = [[Case(id=one.text, requests=(one,), truths=(True,)) for one in some] for some in asked_of]
    tasks = [task_of(some, f"x/{some[0].id}") for some in cases]
    batches, model = [Batch(task=task, positions=(index,)) for task in tasks for index in range(3)], Noting()
    asked = prefetching(predictor(model, size=3, seed=0), batches)
    for batch in batches:
        score(asked, batch)
    assert [{text[1] for text in texts} for texts in model.calls] == [{"0"}, {"1"}, {"2"}]

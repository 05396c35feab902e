"""Calls that several actors make at once are those of one process, chunk for chunk; here the actors are threads."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.asking.batching import Call, Caller, Problem
from vlgate.errors import ClusterEndedError, ImageError, ModelLoadError, ModelReplyError
from vlgate.models.loading.registry import LoadedModel
from vlgate.models.ray.actor import STEPS, Scorer
from vlgate.models.ray.messages import Failed, Wanted, raised
from vlgate.models.ray.pool import OverActors, RemoteModel, Waiting, Work
from vlgate.types import LazyImage, Match


def image(key):
    def load():
        if key == "bad":
            raise ImageError(key, "is broken", "replace it")
        return key

    return LazyImage(key=key, load=load)


class Difficult:
    """Its scores depend on the whole batch; it runs out of memory, and raises, on certain batches."""

    def __init__(self, full_at, raises_at):
        self.full_at, self.raises_at, self.lock, self.calls = full_at, raises_at, threading.Lock(), set()

    def match(self, pairs):
        texts = tuple(pair.text for pair in pairs)
        with self.lock:
            self.calls.add(texts)
        for pair in pairs:
            pair.image.load()
        if len(texts) >= self.full_at and int(texts[0]) % 3 == 0:
            raise RuntimeError("CUDA out of memory")
        if self.raises_at in texts:
            raise ValueError(f"no score for {self.raises_at}")
        return np.array([float(text) + len(texts) / 100 + float(texts[0]) / 1000 for text in texts])


class Threads:
    """Actors that are threads of this process; the later a call is asked for, the sooner it may be done."""

    window = 4

    def __init__(self, model):
        self.scorer = Scorer()
        self.scorer._loaded = LoadedModel(name="m", weights="", fingerprint="f", model=model)
        self.pool = ThreadPoolExecutor(self.window)
        self.most = self.flying = 0

    def submit(self, call, items):
        work = Work(call=call, items=tuple(items))
        self.flying += 1
        self.most = max(self.most, self.flying)
        work.future.add_done_callback(lambda _: setattr(self, "flying", self.flying - 1))
        self.pool.submit(self._work, work)
        return work

    def _work(self, work):
        if not work.future.set_running_or_notify_cancel():
            return
        scorer = Scorer()  # each actor has a caller of its own
        scorer._loaded = self.scorer._loaded
        scorer._caller = Caller(name="m", size=1, steps=STEPS)
        time.sleep(int(work.items[-1].text) % 2 / 1000)
        found = scorer.ask(work.call, work.items, {})
        if isinstance(found, Failed):
            work.future.set_exception(raised(found, "a"))
        else:
            work.future.set_result(found)


def outcome(caller, items, model):
    try:
        return caller.ask(Call(called="match", method=model.match), items)
    except (ValueError, ModelReplyError) as error:
        return f"{type(error).__name__}: {error}"


@settings(max_examples=100)
@given(
    n=st.integers(0, 40),
    size=st.integers(1, 9),
    full_at=st.sampled_from([1, 2, 3, 5, 99]),
    raises_at=st.sampled_from(["", "7", "23"]),
    bad=st.sets(st.integers(0, 40), max_size=4),
)
def test_the_chunks_the_replies_and_the_size_are_those_of_one_process(n, size, full_at, raises_at, bad):
    items = [Match(image=image("bad" if i in bad else "good"), text=str(i)) for i in range(n)]
    here, there = Difficult(full_at, raises_at), Difficult(full_at, raises_at)
    plain = Caller(name="m", size=size)
    expected = outcome(plain, items, here)
    actors = Threads(there)
    caller = Caller(name="m", size=size, steps=(OverActors(SimpleNamespace(pool=actors, cut_texts=set())),))
    assert outcome(caller, items, there) == expected
    actors.pool.shutdown()
    assert caller.size == plain.size
    assert here.calls <= there.calls
    assert actors.most <= actors.window or full_at < 99  # a call that is thrown away may still be on its way
    assert isinstance(expected, str) or sum(isinstance(one, Problem) for one in expected) == len(
        [i for i in bad if i < n]
    )


def work(name="match"):
    return Work(call=Call(called=name, kind="numbers"), items=())


def test_the_earliest_work_is_taken_first_and_what_comes_back_before_it():
    waiting = Waiting()
    first, second, third = work("a"), work("b"), work("c")
    for one in (first, second, third):
        waiting.put(one)
    number, taken = waiting.take()
    assert taken is first
    assert waiting.take()[1] is second
    first.lost.append("a node")
    waiting.put(first, number)
    assert waiting.take()[1] is first
    assert waiting.take()[1] is third


def test_work_that_nobody_waits_for_is_passed_over():
    waiting, first, second = Waiting(), work("a"), work("b")
    waiting.put(first)
    waiting.put(second)
    assert first.future.cancel()
    assert waiting.take()[1] is second


def test_after_the_end_whoever_waits_gets_the_error_now_and_later():
    waiting, first, later = Waiting(), work("a"), work("b")
    waiting.put(first)
    waiting.close("all actors ended")
    waiting.put(later)
    assert waiting.take() is None
    for one in (first, later):
        assert isinstance(one.future, Future)
        with pytest.raises(ClusterEndedError, match="all actors ended"):
            one.future.result(timeout=1)
    assert first.future.exception() is not later.future.exception()  # or its traceback grows with each test


TWO_IMAGES = """
from vlgate.errors import ModelLoadError

class Model:
    def compare(self, questions):
        return [one.choices[0] for one in questions]

    def check_compare(self):
        raise ModelLoadError("it takes one image in a prompt")

def build():
    return Model()
"""


def test_a_model_that_takes_one_image_says_so_through_the_cluster(tmp_path, monkeypatch):
    """The check that a run makes before it asks about several images reaches the model of an actor."""
    (tmp_path / "one_image_model.py").write_text(TWO_IMAGES)
    monkeypatch.syspath_prepend(tmp_path)
    scorer = Scorer()
    surface = scorer.load(Wanted(model="one_image_model:build", folder=tmp_path, device="cpu"))
    assert not isinstance(surface, Failed), surface

    def plain(name, items=()):
        found = scorer.ask(Call(called=name, kind="plain"), tuple(items), {})
        if isinstance(found, Failed):
            raise raised(found, "a")
        return found.replies

    with pytest.raises(ModelLoadError, match="takes one image"):
        RemoteModel(SimpleNamespace(plain=plain), surface).check_compare()

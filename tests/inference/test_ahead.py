"""Decoding ahead: the same replies, beside the model's work, a bounded number of images, no thread left."""

import os
import pickle
import signal
import threading
import weakref
from contextlib import nullcontext
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from builders import model, predictor
from PIL import Image

from vlgate.asking import image_prefetch
from vlgate.asking.batching import Call, Caller, Problem
from vlgate.asking.image_prefetch import Ahead, Decoded, InputsAhead, threads
from vlgate.errors import ImageError
from vlgate.types import Ask, LazyImage, Match

PATIENCE = 30  # seconds, for what happens at once if it happens at all


class Counted:
    """Images that count how often they are loaded, and how many of them are alive at most."""

    def __init__(self):
        self.loaded, self.live, self.most = [], 0, 0
        self.lock = threading.Lock()

    def image(self, number, size=(4, 4)):
        def load():
            made = Image.new("RGB", size, (number % 256, number // 256, 0))
            with self.lock:
                self.loaded.append(number)
                self.live += 1
                self.most = max(self.most, self.live)
            weakref.finalize(made, self.gone)
            return made

        return LazyImage(key=str(number), load=load)

    def gone(self):
        with self.lock:
            self.live -= 1

    def images(self, count, **options):
        return [self.image(number, **options) for number in range(count)]


def number(image):
    red, green, _ = image.load().getpixel((0, 0))
    return float(red + 256 * green)


def numbers(some):
    """The method of a model that looks at each image."""
    return np.array([number(one if isinstance(one, LazyImage) else one.image) for one in some])


def pairs(images):
    return [Match(image=image, text=f"a {index % 2}") for index, image in enumerate(images)]


def match(method):
    return Call(called="match", method=method)


def caller(size=8, *, loads=True):
    return Caller(name="mine", size=size, ahead=Ahead(loads=loads))


def asking(**methods):
    return replace(predictor(model(**methods), seed=0), caller=caller())


def decoders():
    return [thread for thread in threading.enumerate() if thread.name.startswith("vlgate-decode")]


@pytest.mark.parametrize("loads", [True, False])
@pytest.mark.parametrize("make", [pairs, list, lambda images: [Ask(image=image, question="q") for image in images]])
def test_each_item_gets_its_own_image_once(make, loads):
    counted, given, seen = Counted(), caller(loads=loads), []
    items = make(counted.images(100))
    assert given.ask(match(lambda some: seen.extend(some) or numbers(some)), items) == list(range(100))
    assert sorted(counted.loaded) == list(range(100))
    assert seen == items
    assert given.ahead.loads
    assert decoders() == []


def test_images_are_decoded_while_the_model_works():
    begun, images, beside = threading.Event(), Counted().images(16), []
    ninth = images[8]
    images[8] = LazyImage(key="8", load=lambda: (begun.set(), ninth.load())[1])

    def method(some):
        found = numbers(some)
        beside.append(begun.wait(PATIENCE))  # the first image of the next batch, before this one is done
        return found

    assert caller().ask(match(method), images) == list(range(16))
    assert beside == [True, True]


def test_nothing_is_decoded_for_a_model_that_loads_nothing():
    counted, never = Counted(), caller(loads=False)
    for given in (never, never, never, caller(loads=True)):  # the last knows otherwise from another method, say
        assert given.ask(match(lambda some: np.zeros(len(some))), pairs(counted.images(40))) == [0] * 40
    assert counted.loaded == []


@pytest.mark.parametrize("step", [1, 2], ids=["all", "every second one"])
def test_the_number_of_images_held_does_not_grow(step):
    counted = Counted()

    def method(some):
        return np.array([number(one.image) if int(one.image.key) % step == 0 else -1 for one in some])

    replies = caller().ask(match(method), pairs(counted.images(1_000)))
    assert replies == [n if n % step == 0 else -1 for n in range(1_000)]
    assert counted.most <= image_prefetch.MOST_IMAGES + threads() + 2
    assert counted.live == 0


def test_large_images_wait_for_room(monkeypatch):
    monkeypatch.setattr(image_prefetch, "MOST_BYTES", 3 * 3 * 100 * 100)
    counted = Counted()
    assert caller().ask(match(numbers), counted.images(60, size=(100, 100))) == list(range(60))
    assert counted.most <= 3 + threads() + 2


def bad(key, ends=""):
    """An image that cannot be decoded, in a thread of some names only."""

    def load():
        if threading.current_thread().name.startswith(ends):
            raise ImageError(key, "is broken", "replace it")
        return Counted().image(int(key)).load()

    return LazyImage(key=key, load=load)


def test_a_bad_image_costs_itself_only():
    def replies(loads):
        images = Counted().images(30)
        images[19], images[23] = bad("19"), bad("23")
        return caller(loads=loads).ask(match(numbers), pairs(images))

    found = replies(True)
    assert found == replies(False)
    assert [n for n, reply in enumerate(found) if isinstance(reply, Problem)] == [19, 23]
    assert "is broken" in found[19].why
    assert caller().ask(match(numbers), [*Counted().images(7), bad("7", "vlgate-decode")])[7] == 7  # decoded again


def test_an_image_can_be_loaded_again_and_changed():
    def method(some):
        first = [one.load() for one in some]
        for image in first:
            image.putpixel((0, 0), (255, 255, 255))
        return numbers(some)

    assert caller().ask(match(method), Counted().images(20)) == list(range(20))


class Prepares:
    """A model on a GPU, beside which the inputs of its next batch are made; memory runs out in one of its calls."""

    def __init__(self, short=0):
        self.short, self.calls, self.made = short, 0, []
        self.inputs_ahead = InputsAhead(make=self.inputs, device=SimpleNamespace(type="cuda"))

    def inputs(self, images):
        self.made.append(int(images[0].key))
        return numbers(images)

    def match(self, some):
        found = self.inputs_ahead.of(tuple(pair.image for pair in some))
        self.calls += 1
        if self.calls == self.short:
            raise MemoryError
        return found


@pytest.mark.parametrize("loads", [True, False])
def test_each_image_is_decoded_once_for_a_model_that_prepares_its_inputs_ahead(loads):
    counted, model = Counted(), Prepares()
    images = [image for image in counted.images(50) for _ in range(2)][1:]  # of neighbours, in other batches at times
    assert caller(loads=loads).ask(match(model.match), pairs(images)) == [n // 2 for n in range(1, 100)]
    assert sorted(counted.loaded) == list(range(50))


def test_inputs_that_are_made_ahead_are_dropped_if_memory_runs_out():
    model = Prepares(short=2)
    assert caller().ask(match(model.match), pairs(Counted().images(32))) == list(range(32))
    assert model.made[:2] == [0, 8]
    assert model.made[-6:] == [8, 12, 16, 20, 24, 28]  # in the order of the smaller batches


def test_the_time_limit_covers_a_call_that_only_tells_its_inputs():
    limited = []
    watched = replace(caller(), watch=lambda called, n: limited.append((called, n)) or nullcontext())
    watched.ask(match(Prepares().match), pairs(Counted().images(20)))
    assert limited == [("match", n) for n in (16, 8, 12, 8, 4, 4)]


def test_memory_that_runs_out_halves_the_batch_and_loses_nothing():
    def method(some):
        if len(numbers(some)) > 4:
            raise MemoryError
        return numbers(some)

    given = caller(size=16)
    assert given.ask(match(method), Counted().images(50)) == list(range(50))
    assert given.size == 4


def test_no_thread_is_left_if_the_model_raises():
    def method(some):
        raise KeyboardInterrupt(number(some[0]))

    with pytest.raises(KeyboardInterrupt):
        caller().ask(match(method), Counted().images(50))
    assert decoders() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_child_of_a_fork_loads_its_images_itself():
    def method(some):
        number(some[0])
        child = os.fork()
        if not child:
            signal.alarm(PATIENCE)
            os._exit(0 if [number(one) for one in some] == [float(one.key) for one in some] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        return numbers(some)

    assert caller().ask(match(method), Counted().images(20)) == list(range(20))


@dataclass(frozen=True)
class Plain:
    """A way to load an image that can be sent to another process."""

    number: int

    def __call__(self):
        return Image.new("RGB", (4, 4), (self.number, 0, 0))


@pytest.mark.parametrize("loads", [True, False])
def test_an_image_can_be_sent_to_another_process(loads):
    def method(some):
        sent = pickle.loads(pickle.dumps(some))
        assert all(isinstance(one.load, Plain) for one in sent)
        return numbers(sent)

    images = [LazyImage(key=str(n), load=Plain(n)) for n in range(20)]
    assert caller(loads=loads).ask(match(method), images) == list(range(20))


@pytest.mark.parametrize("share", [1, 3])
def test_what_the_pixels_say_is_noted_when_the_model_gets_them(share, monkeypatch):
    """Images with equal pixels get equal replies, but not those that the model has not looked at."""

    def looks(some):
        return np.array([number(one.image) if int(one.image.key) % share == 0 else -len(one.text) for one in some])

    def replies():
        counted = Counted()
        images = [LazyImage(key=str(n), load=counted.image(n % 5).load) for n in range(60)]
        asked = [Match(image=image, text="a " * (1 + index % 2)) for index, image in enumerate(images)]
        return {(one.image.key, one.text): reply.score for one, reply in asking(match=looks).predict(asked).items()}

    found = replies()
    monkeypatch.setattr(image_prefetch.Window, "take", lambda *_: None)
    assert found == replies()


def test_the_workers_share_the_cpus(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    for workers, share in (("", 6), ("2", 3), ("4", 1), ("100", 1), ("none", 6)):
        monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", workers)
        assert threads() == share
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    assert threads() == image_prefetch.MOST_THREADS


def test_an_image_that_several_requests_are_about_is_decoded_once():
    counted = Counted()
    asked = [Match(image=image, text=text) for image in counted.images(20) for text in ("caption", "foil")]
    found = asking(
        match=lambda some: [number(pair.image) + len(pair.text) for pair in some],
        accepts=lambda some: [number(pair.image) % 2 for pair in some],
    ).predict(asked)
    assert [reply.score for reply in found.values()] == [number + size for number in range(20) for size in (7, 4)]
    assert sorted(counted.loaded) == list(range(20))


def test_decoded_images_are_kept_as_they_were_within_their_room():
    kept, images = Decoded(room=100), [LazyImage(key=str(n), load=lambda: None) for n in range(5)]
    loaded = Image.new("RGB", (2, 4), (9, 0, 0))
    for image in images[:3]:
        kept.keep(image, loaded)
    loaded.paste((1, 1, 1), (0, 0, 2, 2))  # what a model draws on an image
    kept.get(images[0]).paste((1, 1, 1), (0, 0, 2, 2))
    assert kept.get(images[0]).getpixel((0, 0)) == (9, 0, 0)
    for image in images[3:]:  # the first was used last, so it stays
        kept.keep(image, Image.new("RGB", (2, 4)))
    assert [image.key for image in images if kept.get(image) is not None] == ["0", "2", "3", "4"]
    kept.keep(images[1], Image.new("RGB", (3, 3)))
    assert kept.get(images[1]) is None  # more than a quarter of the room

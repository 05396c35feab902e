"""Images, replies and errors on their way to an actor and back, in one process."""

import pickle
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from vlgate.asking.batching import Call, Caller, Problem
from vlgate.asking.dedupe import SeenPixels
from vlgate.errors import (
    ClusterEndedError,
    ImageError,
    MissingImageError,
    ModelLoadError,
    ModelReplyError,
    NoReplyError,
)
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.images.files import file_image, missing_image
from vlgate.models.loading.registry import LoadedModel
from vlgate.models.ray.actor import STEPS, Scorer
from vlgate.models.ray.messages import (
    Failed,
    ImageStore,
    NotHere,
    Replied,
    TooLarge,
    Wanted,
    failed,
    files_of,
    note,
    noted,
    raised,
    received,
)
from vlgate.models.ray.pool import OverActors, RemoteModel, Waiting, Work
from vlgate.perturb.images import perturbed
from vlgate.types import Ask, Compare, LazyImage, Match


@pytest.fixture
def photo(tmp_path):
    file = tmp_path / "1.png"
    Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)).save(file)
    return file_image("1.png", file)


def sent(items, **how):
    """What an actor receives, after everything was pickled."""
    kept = []
    wired = ImageStore(lambda pixels: kept.append(pixels) or pixels).wired(items, **{"by_pixels": False, **how})
    there = pickle.loads(pickle.dumps((wired.items, wired.files, wired.pixels)))
    return received(there[0], there[2]), there[1], kept


def test_a_file_is_sent_as_its_path_with_its_size_and_a_drawing_as_its_graph(photo):
    [image], files, pixels = sent([photo])
    assert files == {photo.where: Path(photo.where).stat().st_size}
    assert not pixels
    assert (np.asarray(image.load()) == np.asarray(photo.load())).all()
    assert list(files_of(perturbed(photo, "flip"))) == [photo.where]
    image = LazyImage(key="drawn", load=Drawing(graph={"objects": {}, "width": 8, "height": 8}))
    _, files, pixels = sent([image], by_pixels=True)
    assert not files
    assert not pixels


@pytest.mark.parametrize("change", [lambda image: image, partial(perturbed, name="flip")])
def test_without_the_file_pixels_are_sent_once_for_each_image(photo, change):
    image = change(photo)
    pairs = [Match(image=image, text=text) for text in "ab"] + [Ask(image=image, question="c")]
    got, files, pixels = sent(pairs, by_pixels=True)
    assert not files
    assert len(pixels) == 1
    assert [one == pair for one, pair in zip(got, pairs, strict=True)] == [True] * 3
    assert (np.asarray(got[0].image.load()) == np.asarray(image.load())).all()


def test_an_image_that_cannot_be_decoded_is_the_same_error_there(tmp_path):
    (tmp_path / "1.png").write_bytes(b"no image")
    broken, missing = file_image("1.png", tmp_path / "1.png"), missing_image("2.png", [tmp_path])
    for image, kind in ((broken, ImageError), (missing, MissingImageError)):
        with pytest.raises(kind) as here:
            image.load()
        [got], _, _ = sent([image], by_pixels=True)
        with pytest.raises(kind) as there:
            got.load()
        assert str(there.value) == str(here.value)
        assert there.value.key == image.key


def test_digests_of_pixels_come_back_to_the_run_that_wants_them(photo, tmp_path):
    Image.open(photo.where).save(tmp_path / "2.png")
    other = file_image("2.png", tmp_path / "2.png")
    seen = SeenPixels()
    items = seen.watched_in([Match(image=image, text="a") for image in (photo, other)], [photo, other])
    got, _, _ = sent(items)
    for item in got:
        item.image.load()
    assert not seen.digests
    note(items, tuple(noted(got)))
    assert seen.digests[photo] == seen.digests[other]
    assert seen.levelled(items, [1.0, 2.0], [None, None]) == [1.0, 1.0]


def test_every_image_of_a_question_about_several_is_sent_and_its_pixels_are_noted(photo, tmp_path):
    others = []
    for number in (2, 3):
        Image.new("RGB", (4, 4), (number, 0, 0)).save(tmp_path / f"{number}.png")
        others.append(file_image(f"{number}.png", tmp_path / f"{number}.png"))
    seen = SeenPixels()
    watched = seen.watched_in([photo, *others], [photo, *others])
    items = [Compare(images=(watched[0], watched[1]), question="a"), Compare(images=tuple(watched[::-1]), question="b")]
    for by_pixels in (False, True):
        got, files, pixels = sent(items, by_pixels=by_pixels)
        assert (len(files), len(pixels)) == ((0, 3) if by_pixels else (3, 0))
        for one, item in zip(got, items, strict=True):
            assert one == item
            for image, own in zip(one.images, item.images, strict=True):
                assert (np.asarray(image.load()) == np.asarray(own.load())).all()
        seen.digests.clear()
        note(items, tuple(noted(got)))
        assert set(seen.digests) == {photo, *others}
        assert len(set(seen.digests.values())) == 3


@pytest.mark.parametrize(
    "error",
    [
        ImageError("1.jpg", "is broken", "replace it"),
        NoReplyError({1, 2}, "no row"),
        ModelReplyError("NaN"),
        ValueError("no score", 3),
        SystemExit(0),
        MemoryError("out of memory"),
        OSError(28, "no space left"),
        UnicodeDecodeError("utf-8", b"a", 0, 1, "reason"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_python_or_vlgate_keeps_its_class_message_and_state(error):
    found = raised(pickle.loads(pickle.dumps(failed(error))), "10.0.0.7")
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert {name: value for name, value in vars(found).items() if name != "__notes__"} == vars(error)
    assert "10.0.0.7" in found.__notes__[0]


class OwnError(Exception):
    """A class of the user's module."""


@pytest.mark.parametrize("error", [OwnError("mine"), pytest.skip.Exception("skip"), ValueError(lambda: 1)])
def test_an_error_of_any_other_class_becomes_one_of_the_reply(error):
    found = raised(pickle.loads(pickle.dumps(failed(error))), "10.0.0.7")
    assert type(found) is ModelReplyError
    assert type(error).__name__ in str(found)


MODEL = """
import numpy as np
class Model:
    cut_texts = {"a long one"}
    def match(self, pairs):
        if len(pairs) > 2:
            raise RuntimeError("CUDA out of memory")
        return np.array([np.asarray(pair.image.load()).sum() for pair in pairs], np.float64)
    def text_keys(self, texts):
        return [text.lower() for text in texts]
def build():
    return Model()
"""


@pytest.fixture
def scorer(tmp_path, monkeypatch):
    (tmp_path / "model_on_an_actor.py").write_text(MODEL)
    monkeypatch.syspath_prepend(tmp_path)
    one = Scorer()
    surface = one.load(Wanted(model="model_on_an_actor:build", folder=tmp_path))
    assert surface.methods == ("match", "text_keys")
    return one


def test_an_actor_replies_and_says_what_it_could_not_do(scorer, photo):
    pairs = tuple(Match(image=photo, text=text) for text in ("a", "a long one", "c"))
    call = Call(called="match", kind="numbers")
    assert scorer.ask(call, pairs, {}) == TooLarge()
    found = scorer.ask(call, pairs[:2], {})
    assert isinstance(found, Replied)
    assert found.replies == [float(np.asarray(photo.load()).sum())] * 2
    assert found.cut == ("a long one",)
    assert scorer.ask(call, pairs[:2], {"/no/such/file": 7}) == NotHere(file="/no/such/file")
    assert scorer.ask(call, pairs[:2], {photo.where: 7}) == NotHere(file=photo.where)  # another file of that name
    assert scorer.ask(Call(called="text_keys", kind="plain"), ("A",), {}).replies == ["a"]


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


def test_the_earliest_work_that_somebody_waits_for_is_taken_first():
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


def test_a_model_that_cannot_be_loaded_or_takes_one_image_says_so(tmp_path, monkeypatch):
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
    found = Scorer().load(Wanted(model="no_such_module:build", folder=tmp_path))
    assert isinstance(found, Failed)
    assert "no_such_module" in found.said

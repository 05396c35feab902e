"""What the replies of a model are kept under, what is known of it without loading it, and its batch size."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import vlgate
from vlgate.asking.batching import Call, Caller, chain
from vlgate.asking.cache.store import NAME
from vlgate.errors import ModelLoadError
from vlgate.models.loading.registry import LoadedModel, load
from vlgate.models.loading.unloaded import face_of, stand_in
from vlgate.models.reference.replay import Replay, Replies
from vlgate.record.options import DEFAULT_BATCH, Options
from vlgate.run import loading
from vlgate.run import remembering as module
from vlgate.run.loading import FILE, card_of, predictor_of
from vlgate.run.remembering import cache_use, face_key, listed_as, model_key, remembering, why_not
from vlgate.types import Answerer, Case, LazyImage, Match, Matcher, Task, TextKeys


class Mine:
    fingerprint = "mine"

    def match(self, pairs):
        return [0.0 for _ in pairs]


class Service(Mine):
    cached_if_named = True


def loaded(model=None, **changes):
    given = {"name": "mine:build", "weights": "weights.pt", "fingerprint": "f" * 64, "device": "cpu"} | changes
    return LoadedModel(model=model or Mine(), **given)


def options(folder, cache="kept", **changes):
    kept_in = cache and folder / cache
    return Options(folder=folder, thresholds=None, results=folder / "out", cache=kept_in, **changes)


OF_MODEL = {"fingerprint": "e" * 64, "weights": "others.pt", "device": "cuda:0", "name": "other:build"}
OF_OPTIONS = {"dtype": "float16", "compiled": True}


@pytest.mark.parametrize("what", [*OF_MODEL, *OF_OPTIONS])
def test_what_changes_replies_changes_the_key(tmp_path, what):
    of_model, of_options = ({what: of[what]} if what in of else {} for of in (OF_MODEL, OF_OPTIONS))
    first, second = (loaded(), options(tmp_path)), (loaded(**of_model), options(tmp_path, **of_options))
    assert model_key(*first) == model_key(*first)
    assert model_key(*first) != model_key(*second)
    if what != "name":
        assert listed_as(*first) != listed_as(*second)


def test_a_byte_of_the_weights_and_a_version_of_a_library_change_the_key_and_the_gpu_does_not(tmp_path, monkeypatch):
    (tmp_path / "weights.pt").write_bytes(b"weights" * 100)
    first = model_key(loaded(), options(tmp_path))
    raw = bytearray((tmp_path / "weights.pt").read_bytes())
    raw[333] ^= 1
    (tmp_path / "weights.pt").write_bytes(raw)
    assert model_key(loaded(), options(tmp_path)) != first
    assert len({model_key(loaded(device=f"cuda:{number}"), options(tmp_path)) for number in range(2)}) == 1
    first = model_key(loaded(), options(tmp_path))
    monkeypatch.setattr(module, "installed_version", lambda package: "99" if package == "torch" else "1")
    second = model_key(loaded(), options(tmp_path))
    monkeypatch.setattr(module, "installed_version", lambda _: "1")
    assert len({first, second, model_key(loaded(), options(tmp_path))}) == 3


def kept(model, given):
    cache = remembering(model, given)
    if cache is None:
        return None
    cache.close()
    return cache.memory.store is not None


def test_which_models_are_cached_and_which_are_asked_everything(tmp_path):
    nameless = type("Nameless", (), {"match": Mine.match})()
    assert kept(loaded(), options(tmp_path)) is True
    assert kept(loaded(), replace(options(tmp_path), cache=None)) is False
    assert kept(loaded(nameless), options(tmp_path)) is False
    assert kept(loaded(Service()), options(tmp_path)) is False
    assert kept(loaded(Service()), options(tmp_path, cache_named=True)) is True
    assert (tmp_path / "kept" / NAME).is_file()
    assert "has no attribute fingerprint" in why_not(loaded(nameless), options(tmp_path))
    assert {kept(load(name, folder=tmp_path), options(tmp_path)) for name in ("oracle", "random", "blind")} == {None}
    replay = loaded(Replay(Path("x"), Replies(), "f"), name="replay", registered=True)
    assert kept(replay, options(tmp_path, cache_named=True)) is None


def test_kept_replies_are_counted_whoever_asked_for_them(tmp_path):
    def perplexity(texts):
        return [float(len(text)) for text in texts]

    cache = remembering(loaded(), options(tmp_path))
    caller, call = Caller(name="toy", size=4), Call(called="perplexity", method=perplexity)
    chain(caller, cache)(call, ("a text", "another"))
    chain(caller, cache.uncounted)(call, ("another", "of a check", "of one more"))
    use = cache_use(cache)
    cache.close()
    assert (use.asked, use.kept) == (2, 4)


@pytest.mark.parametrize(("pairs", "more"), [(70_000, {}), (100, {}), (70_000, {"explain": 3})])
def test_a_long_run_remembers_only_what_it_asks_more_than_once(tmp_path, pairs, more):
    image = LazyImage(key="1.jpg", load=lambda: Image.new("RGB", (1, 1)))
    asked = [Match(image=image, text=str(number)) for number in (*range(pairs), *range(40))]
    cases = tuple(Case(id=str(place), requests=(one,), truths=(True,)) for place, one in enumerate(asked))
    task = Task(id="mine/long", capability="foil", shape="single", cases=cases)
    predictor = predictor_of(loaded(), options(tmp_path, cache=None, **more), [task])
    for some in (slice(0, 60), slice(60, 90), slice(pairs, None), slice(50, 60)):
        predictor.predict(asked[some])
    again = 10 if pairs > 100 and not more else 0
    assert (predictor.cache.counts.asked, predictor.cache.counts.repeated) == (90 + again, 50 - again)


TINY = Path(vlgate.__file__).parent / "fixtures" / "checkpoints" / "tiny-clip"


def test_what_the_files_hold_is_part_of_the_key(tmp_path):
    shutil.copytree(TINY, tmp_path / "own", copy_function=shutil.copyfile)
    plain = options(tmp_path, model="open_clip:./own")
    key = face_key(plain, "cpu")
    assert len(key) == 32
    assert key == face_key(plain, "cpu")
    keys = {key, face_key(plain, "cuda:0"), face_key(replace(plain, dtype="float16"), "cpu")}
    keys.add(face_key(replace(plain, compiled=True), "cpu"))
    file = next((tmp_path / "own").glob("*.safetensors"))
    raw = bytearray(file.read_bytes())
    raw[-100] ^= 1
    file.write_bytes(raw)
    keys.add(face_key(plain, "cpu"))
    assert len(keys) == 5
    assert face_key(plain, "cuda:1") == face_key(plain, "cuda:0")


def test_a_model_that_must_be_built_to_be_known_has_no_key_nor_has_one_with_an_option_that_names_a_file(tmp_path):
    for model in ("my_model:build", "lxmert:here", "open_clip:ViT-B-32/openai", "oracle"):
        assert face_key(options(tmp_path, model=model), "cpu") == b""
    (tmp_path / "answers.txt").write_text("yes\nno\n")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.json").write_text("{}")
    assert face_key(options(tmp_path, model="vilt-vqa:./own?answers=answers.txt"), "cpu") == b""
    assert face_key(options(tmp_path, model="vilt-vqa:./own?mode=open"), "cpu") != b""


class Keyed:
    fingerprint = "mine"
    note = "a note"
    decision_threshold = 0.5

    def match(self, pairs):
        return [1.0 for _ in pairs]

    def text_keys(self, texts):
        return list(texts)


def test_a_stand_in_has_the_methods_of_the_model_and_refuses_another_one():
    mine = loaded(Keyed())
    face = face_of(mine)
    same, other = (stand_in(face, lambda one=one: one) for one in (mine, replace(mine, fingerprint="e" * 64)))
    assert [isinstance(same, kind) for kind in (Matcher, TextKeys, Answerer)] == [True, True, False]
    assert (same.note, same.decision_threshold, same.fingerprint, same.loaded) == ("a note", 0.5, "mine", False)
    assert same.match([1, 2]) == [1.0, 1.0]
    assert same.loaded
    with pytest.raises(ModelLoadError, match="it is not the one that the cache holds replies of"):
        other.match([1])
    model = Keyed()
    model.reading = ""  # it does not know yet how it reads texts
    assert face_of(replace(mine, model=model)) is None


class Small:
    """A model that gets at most five pairs into its memory."""

    def __init__(self):
        self.sizes = []

    def match(self, pairs):
        self.sizes.append(len(pairs))
        if len(pairs) > 5:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return np.arange(len(pairs), dtype=np.float64)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: tmp_path / "cache" / name)
    return tmp_path / "cache" / "vlgate"


def run(tmp_path, fingerprint="f", device="cpu", **more):
    """Ask a new model 20 pairs; the sizes of its batches, and its card."""
    model = Small()
    small = loaded(model, fingerprint=fingerprint, device=device)
    predictor = predictor_of(small, options(tmp_path, cache=None, **more), [])
    images = [LazyImage(key=str(n), load=lambda: Image.new("RGB", (1, 1))) for n in range(20)]
    replies = predictor.predict(Match(image=image, text="a dog") for image in images)
    assert all(reply.score is not None for reply in replies.values())
    return model.sizes, card_of(small, predictor)


def test_the_next_run_begins_with_the_size_that_fits(tmp_path, folder):
    first, card = run(tmp_path)
    assert first == [20, 10, 5, 5, 5, 5]
    assert "at most 5 requests at a time, because memory ran out with more in this run" in card.notes[0]
    second, card = run(tmp_path)
    assert second == [5, 5, 5, 5]
    assert "ran out with more in an earlier run; give --batch-size=64" in card.notes[0]
    assert str(folder / FILE) in card.notes[0]
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_another_model_device_or_number_of_workers_begins_anew(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    run(tmp_path)
    assert run(tmp_path, fingerprint="g")[0][0] == 20
    assert run(tmp_path, device="mps")[0][0] == 20
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    assert run(tmp_path)[0][0] == 20
    assert run(tmp_path)[0][0] == 5


def test_a_size_that_the_user_gives_comes_first(tmp_path):
    run(tmp_path)
    assert run(tmp_path, batch_size=8)[0] == [8, 4, 4, 4, 4, 4]
    assert run(tmp_path)[0] == [4, 4, 4, 4, 4]
    card = run(tmp_path, batch_size=4)[1]
    assert card.notes == ()


@pytest.mark.parametrize("content", [b"", b"{", b"[64]", b'{"f": "5"}', b'{"f": 0}', b'{"f": true}', b"\xff\x00", b"7"])
def test_a_damaged_file_is_ignored_and_named(tmp_path, folder, content):
    folder.mkdir(parents=True)
    (folder / FILE).write_bytes(content)
    predictor = predictor_of(loaded(Small(), fingerprint="f"), options(tmp_path, cache=None), [])
    caller = predictor.caller
    assert caller.size == DEFAULT_BATCH
    note = caller.sizes.note(caller.size)
    assert str(folder / FILE) in note
    assert note.endswith("delete it")
    assert run(tmp_path)[0][0] == 20
    assert set(json.loads((folder / FILE).read_text()).values()) == {5}
    assert run(tmp_path)[0][0] == 5


def test_a_cache_that_cannot_be_written_costs_nothing_else(tmp_path, folder):
    folder.parent.mkdir(parents=True)
    folder.write_text("a file in the way")
    assert run(tmp_path)[0] == [20, 10, 5, 5, 5, 5]
    assert "cannot be read" in run(tmp_path)[1].notes[0]


def test_the_file_does_not_grow_without_end(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(loading, "MOST", 3)
    for number in range(5):
        run(tmp_path, fingerprint=f"f{number}")
    assert [key.split()[0] for key in json.loads((folder / FILE).read_text())] == ["f2", "f3", "f4"]

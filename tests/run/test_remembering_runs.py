"""What the replies of a model are kept under: anything that changes them changes the key."""

from dataclasses import replace
from pathlib import Path

import pytest

from vlgate.asking.batching import Call, Caller, chain
from vlgate.asking.cache.store import NAME
from vlgate.models.loading.registry import LoadedModel, load
from vlgate.models.reference.replay import Replay, Replies
from vlgate.record.options import Options
from vlgate.run import remembering as module
from vlgate.run.remembering import cache_use, listed_as, model_key, remembering, why_not


class Mine:
    fingerprint = "mine"

    def match(self, pairs):
        return [0.0 for _ in pairs]


class Service(Mine):
    cached_if_named = True


def loaded(model=None, **changes):
    loaded_model = LoadedModel(
        name="mine:build", weights="weights.pt", fingerprint="f" * 64, model=model or Mine(), device="cpu"
    )
    return replace(loaded_model, **changes)


def options(folder, **changes):
    return Options(folder=folder, thresholds=None, results=folder / "out", cache=folder / "kept", **changes)


CHANGES = {
    "fingerprint": ({"fingerprint": "e" * 64}, {}),
    "weights' name": ({"weights": "others.pt"}, {}),
    "device": ({"device": "cuda:0"}, {}),
    "name": ({"name": "other:build"}, {}),
    "dtype": ({}, {"dtype": "float16"}),
    "compiled": ({}, {"compiled": True}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_replies_changes_the_key(tmp_path, what):
    of_model, of_options = CHANGES[what]
    first, second = (loaded(), options(tmp_path)), (loaded(**of_model), options(tmp_path, **of_options))
    assert model_key(*first) == model_key(*first)
    assert model_key(*first) != model_key(*second)
    if what != "name":
        assert listed_as(*first) != listed_as(*second)


def test_a_byte_of_the_weights_changes_the_key(tmp_path):
    (tmp_path / "weights.pt").write_bytes(b"weights" * 100)
    first = model_key(loaded(), options(tmp_path))
    raw = bytearray((tmp_path / "weights.pt").read_bytes())
    raw[333] ^= 1
    (tmp_path / "weights.pt").write_bytes(raw)
    assert model_key(loaded(), options(tmp_path)) != first


def test_the_second_gpu_is_as_the_first(tmp_path):
    first, second = (model_key(loaded(device=f"cuda:{number}"), options(tmp_path)) for number in range(2))
    assert first == second


def test_another_version_of_a_library_changes_the_key(tmp_path, monkeypatch):
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


def test_which_models_are_cached(tmp_path):
    nameless = type("Nameless", (), {"match": Mine.match})()
    assert kept(loaded(), options(tmp_path)) is True
    assert kept(loaded(), replace(options(tmp_path), cache=None)) is False
    assert kept(loaded(nameless), options(tmp_path)) is False
    assert kept(loaded(Service()), options(tmp_path)) is False
    assert kept(loaded(Service()), options(tmp_path, cache_named=True)) is True
    assert (tmp_path / "kept" / NAME).is_file()
    assert "has no attribute fingerprint" in why_not(loaded(nameless), options(tmp_path))


@pytest.mark.parametrize("name", ["oracle", "random", "blind"])
def test_reference_models_are_asked_everything(tmp_path, name):
    assert kept(load(name, folder=tmp_path), options(tmp_path)) is None


def test_a_replay_is_asked_everything(tmp_path):
    model = LoadedModel(
        name="replay", weights="x", fingerprint="f", model=Replay(Path("x"), Replies(), "f"), registered=True, device=""
    )
    assert kept(model, options(tmp_path, cache_named=True)) is None


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

"""The batch size that fits is found once and remembered, by model and device."""

import json

import numpy as np
import pytest
from PIL import Image

from vlgate.models.loading.registry import LoadedModel
from vlgate.record.options import DEFAULT_BATCH, Options
from vlgate.run import loading
from vlgate.run.loading import FILE, card_of, predictor_of
from vlgate.types import LazyImage, Match


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
    """The folder of the file, in a cache of the test's own."""
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: tmp_path / "cache" / name)
    return tmp_path / "cache" / "vlgate"


def run(tmp_path, fingerprint="f", device="cpu", **options):
    """Ask a new model 20 pairs; the sizes of its batches, and its card."""
    model = Small()
    loaded = LoadedModel(name="small", weights="", fingerprint=fingerprint, model=model, device=device)
    given = Options(folder=tmp_path, thresholds=None, results=tmp_path / "results", **options)
    predictor = predictor_of(loaded, given, [])
    images = [LazyImage(key=str(n), load=lambda: Image.new("RGB", (1, 1))) for n in range(20)]
    replies = predictor.predict(Match(image=image, text="a dog") for image in images)
    assert all(reply.score is not None for reply in replies.values())
    return model.sizes, card_of(loaded, predictor)


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
    predictor = predictor_of(LoadedModel(name="m", weights="", fingerprint="f", model=Small()), options(tmp_path), [])
    caller = predictor.caller
    assert caller.size == DEFAULT_BATCH
    note = caller.sizes.note(caller.size)
    assert str(folder / FILE) in note
    assert note.endswith("delete it")
    assert run(tmp_path)[0][0] == 20
    assert set(json.loads((folder / FILE).read_text()).values()) == {5}
    assert run(tmp_path)[0][0] == 5


def options(tmp_path):
    return Options(folder=tmp_path, thresholds=None, results=tmp_path / "results")


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

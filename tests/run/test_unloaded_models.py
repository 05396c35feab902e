"""What is known of a model without loading it; the commands of docs/cache.md are a run that does not load it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import vlgate
from vlgate.errors import ModelLoadError
from vlgate.models.loading.registry import LoadedModel
from vlgate.models.loading.unloaded import face_of, stand_in
from vlgate.record.options import Options
from vlgate.run import remembering as module
from vlgate.run.remembering import device_of, face_key
from vlgate.types import Answerer, Matcher, TextKeys

TINY = Path(vlgate.__file__).parent / "fixtures" / "checkpoints" / "tiny-clip"


def options(folder, model, **changes):
    return Options(
        folder=folder, thresholds=None, results=folder / "out", cache=folder / "kept", model=model, **changes
    )


def test_what_the_files_hold_is_part_of_the_key(tmp_path):
    shutil.copytree(TINY, tmp_path / "own", copy_function=shutil.copyfile)
    plain = options(tmp_path, "open_clip:./own")
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


@pytest.mark.parametrize("model", ["my_model:build", "lxmert:here", "open_clip:ViT-B-32/openai", "oracle"])
def test_a_model_that_must_be_built_to_be_known_has_no_key(tmp_path, model):
    assert face_key(options(tmp_path, model), "cpu") == b""


def test_an_option_that_names_a_file_must_be_read(tmp_path):
    (tmp_path / "answers.txt").write_text("yes\nno\n")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.json").write_text("{}")
    assert face_key(options(tmp_path, "vilt-vqa:./own?answers=answers.txt"), "cpu") == b""
    assert face_key(options(tmp_path, "vilt-vqa:./own?mode=open"), "cpu") != b""


def test_torch_is_asked_for_a_device_only_if_there_may_be_a_gpu(monkeypatch):
    monkeypatch.setattr(module, "_GPUS", ())
    monkeypatch.setattr(module, "pick_device", lambda name, worker: f"{name} of torch for {worker}")
    monkeypatch.setattr("sys.platform", "linux")
    assert [device_of(name, 1) for name in ("cpu", "auto")] == ["cpu", "cpu"]
    assert device_of("cuda", 1) == "cuda of torch for 1"
    monkeypatch.setattr(module, "_GPUS", ("/",))
    assert device_of("auto", 0) == "auto of torch for 0"


class Mine:
    fingerprint = "mine"
    note = "a note"
    decision_threshold = 0.5

    def match(self, pairs):
        return [1.0 for _ in pairs]

    def text_keys(self, texts):
        return list(texts)


def test_a_stand_in_has_the_methods_of_the_model_and_refuses_another_one():
    loaded = LoadedModel(name="mine", weights="", fingerprint="f" * 64, model=Mine())
    face = face_of(loaded)
    same, other = (stand_in(face, lambda one=one: one) for one in (loaded, replace(loaded, fingerprint="e" * 64)))
    assert [isinstance(same, kind) for kind in (Matcher, TextKeys, Answerer)] == [True, True, False]
    assert (same.note, same.decision_threshold, same.fingerprint, same.loaded) == ("a note", 0.5, "mine", False)
    assert same.match([1, 2]) == [1.0, 1.0]
    assert same.loaded
    with pytest.raises(ModelLoadError, match="it is not the one that the cache holds replies of"):
        other.match([1])


def test_a_model_that_does_not_know_yet_how_it_reads_texts_is_not_described():
    model = Mine()
    model.reading = ""
    assert face_of(LoadedModel(name="mine", weights="", fingerprint="f" * 64, model=model)) is None

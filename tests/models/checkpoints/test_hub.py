"""Checkpoints on the hub and in its cache: every shard that an index names, adapters, and short names of commits."""

import json
import shutil
import threading

import pytest
import torch
import transformers
from huggingface_hub import constants
from mock_hub import COMMIT, MockHub
from safetensors.torch import load_file, save_file

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints import hub as hub_module
from vlgate.models.checkpoints.hub import folder_of, identity, pretrained, read_config, weights_form
from vlgate.models.checkpoints.transformers_loading import load_model
from vlgate.models.loading.unloaded import checkpoint

BERT = transformers.BertForSequenceClassification


def sharded(original, folder, name, index="model.safetensors.index.json", *, pickled=False):
    """Save the same weights in three files, whose names ``name`` makes of their number."""
    shutil.copytree(original, folder)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    keys = sorted(weights)
    files = {}
    for number in range(3):
        part = {key: weights[key].clone() for key in keys[number::3]}
        file = folder / name(number + 1)
        file.parent.mkdir(exist_ok=True)
        torch.save(part, file) if pickled else save_file(part, file, metadata={"format": "pt"})
        files |= dict.fromkeys(part, name(number + 1))
    (folder / index).write_text(json.dumps({"metadata": {}, "weight_map": files}))
    return folder


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Start a hub with repositories, and let huggingface_hub ask it; its cache is in ``tmp_path``."""
    started = []

    def start(**repositories):
        hub = MockHub({f"org/{name}": folder for name, folder in repositories.items()})
        thread = threading.Thread(target=hub.server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        started.append((hub, thread))
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        return hub

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
    hub_module._fetched.cache_clear()
    yield start
    hub_module._fetched.cache_clear()
    for hub, thread in started:
        hub.server.shutdown()
        hub.server.server_close()
        thread.join()


def loaded(weights, folder):
    return load_model(BERT, pretrained(weights, folder), device="cpu", dtype="float32")


NAMES = {
    "usual": "model-{:05}-of-00003.safetensors",
    "qwen": "model.safetensors-{:05}-of-00003.safetensors",
    "diffusion": "diffusion_pytorch_model-{:05}-of-00003.safetensors",
    "plain": "part{}.safetensors",
    "below": "weights/{}.safetensors",
    "glob": "layers[{}].safetensors",
    "consolidated": "consolidated.{:02}.safetensors",
}


@pytest.mark.parametrize("kind", NAMES)
def test_every_shard_that_the_index_names_is_fetched(kind, original, tmp_path, serve):
    folder = sharded(original, tmp_path / "repository", NAMES[kind].format)
    save_file({"x": torch.zeros(1)}, folder / "unused.safetensors")
    hub = serve(bert=folder)
    weights = load_file(original / "model.safetensors")
    found = loaded("org/bert", tmp_path).state_dict()
    assert all(torch.equal(found[key], weight) for key, weight in weights.items())
    assert sorted(name for name in hub.fetched if "safetensors" in name) == sorted(
        [*(NAMES[kind].format(number) for number in (1, 2, 3)), "model.safetensors.index.json"]
    )
    assert identity(pretrained("org/bert", tmp_path)) == f"org/bert@{COMMIT}"
    assert loaded(str(folder), tmp_path).num_parameters() == sum(weight.numel() for weight in weights.values())


def test_pickled_shards_of_any_name_are_fetched(original, tmp_path, serve):
    folder = sharded(
        original, tmp_path / "repository", "weights_{}.bin".format, "pytorch_model.bin.index.json", pickled=True
    )
    serve(bert=folder)
    weights = load_file(original / "model.safetensors")
    assert torch.equal(loaded("org/bert", tmp_path).classifier.weight, weights["classifier.weight"])


def test_an_adapter_and_its_base_model_are_fetched(original, tmp_path, serve, monkeypatch):
    monkeypatch.setattr(hub_module, "_version", lambda _: "0.21.0")  # peft need not be installed to fetch
    tuned = tmp_path / "tuned"
    tuned.mkdir()
    save_file({"x": torch.zeros(1)}, tuned / "adapter_model.safetensors")
    (tuned / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "org/base"}))
    hub = serve(tuned=tuned, base=sharded(original, tmp_path / "base", NAMES["qwen"].format))
    source = pretrained("org/tuned", tmp_path)
    assert read_config(source)["model_type"] == "bert"
    assert weights_form(folder_of(source)) == ("model.safetensors", "model.safetensors.index.json")
    assert {"adapter_model.safetensors", NAMES["qwen"].format(3)} <= set(hub.fetched)
    assert identity(source) == f"org/tuned@{COMMIT} on org/base@{COMMIT} with peft 0.21.0"


def test_a_shard_that_is_missing_is_named(original, tmp_path, serve):
    folder = sharded(original, tmp_path / "repository", NAMES["qwen"].format)
    (folder / NAMES["qwen"].format(2)).unlink()
    with pytest.raises(ModelLoadError, match=r"lacks 1 file .*\(model.safetensors-00002-of-00003.safetensors\)"):
        weights_form(folder)
    serve(bert=folder)
    with pytest.raises(ModelLoadError, match=r"lacks 1 file .*\(model.safetensors-00002-of-00003.safetensors\)"):
        loaded("org/bert", tmp_path)
    for number in (1, 3):
        (folder / NAMES["qwen"].format(number)).unlink()
    with pytest.raises(ModelLoadError, match="lacks 3 files"):
        weights_form(folder)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"weight_map": 3}', '{"weight_map": {}}'])
def test_an_index_that_cannot_be_read(content, original, tmp_path):
    folder = sharded(original, tmp_path / "repository", NAMES["usual"].format)
    (folder / "model.safetensors.index.json").write_text(content)
    with pytest.raises(ModelLoadError, match=r"model.safetensors.index.json (cannot be read|names no file)"):
        weights_form(folder)


def test_shards_in_a_folder_below_belong_to_the_identity(original, tmp_path):
    folder = sharded(original, tmp_path / "repository", NAMES["below"].format)
    source = pretrained(str(folder), tmp_path)
    before = identity(source)
    with (folder / "weights" / "2.safetensors").open("ab") as stream:
        stream.write(b" ")
    assert identity(source) != before


@pytest.fixture
def cached(original, tmp_path, monkeypatch):
    """The hub's cache without a network: ``org/bert`` with two commits."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "cache" / "models--org--bert"
    for commit in (COMMIT, "0123456789abcdef0123456789abcdef01234567"):
        shutil.copytree(original, home / "snapshots" / commit)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(COMMIT)
    return home


def test_a_short_commit_in_the_cache(cached, tmp_path):
    for revision, commit in (
        ("fedcba98", COMMIT), (COMMIT[:7], COMMIT), (COMMIT, COMMIT), ("main", COMMIT),
        ("01234567", "0123456789abcdef0123456789abcdef01234567"),
    ):  # fmt: skip
        assert identity(pretrained(f"org/bert@{revision}", tmp_path)) == f"org/bert@{commit}"
    for revision in ("abcdef01", "v2", "fedcba"):
        with pytest.raises(ModelLoadError) as caught:
            read_config(pretrained(f"org/bert@{revision}", tmp_path))
        assert f"revision {revision!r} is not in the cache, which has 0123456789abcdef" in str(caught.value)
    shutil.copytree(cached / "snapshots" / COMMIT, cached / "snapshots" / (COMMIT[:-1] + "0"))
    with pytest.raises(ModelLoadError, match=r"2 commits .* begin with 'fedcba98'"):
        read_config(pretrained("org/bert@fedcba98", tmp_path))


@pytest.mark.usefixtures("cached")
def test_a_short_commit_in_the_cache_is_asked_of_the_hub_as_a_whole(tmp_path, original, serve, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    serve(bert=original)
    assert folder_of(pretrained("org/bert@0123456", tmp_path)).name.startswith("0123456789")


def test_gguf_is_named_as_what_it_is(tmp_path):
    (tmp_path / "model.Q4_K_M.gguf").write_bytes(b"GGUF")
    for weights in ("model.Q4_K_M.gguf", "./"):
        with pytest.raises(ModelLoadError, match=r"llama\.cpp and Ollama.*openai:"):
            read_config(pretrained(weights, tmp_path))
    with pytest.raises(ModelLoadError, match=r"llama\.cpp and Ollama.*openai:"):
        weights_form(tmp_path)


def test_what_files_hold_is_told_without_building(original, tmp_path):
    assert checkpoint(str(original), tmp_path, "").strip() == identity(pretrained(str(original), tmp_path))

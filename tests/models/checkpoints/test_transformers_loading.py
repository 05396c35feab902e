import json
import re
import shutil
import threading

import pytest
import torch
import transformers
from builders import refusal, tabled
from huggingface_hub import constants
from mock_hub import COMMIT, MockHub
from safetensors.torch import load_file, save_file

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints import hub as hub_module
from vlgate.models.checkpoints.hub import folder_of, identity, pretrained, read_config, weights_form
from vlgate.models.checkpoints.transformers_loading import load_model, load_processor
from vlgate.models.loading.unloaded import checkpoint
from vlgate.models.specs import split_options


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A BERT with a head of two classes, and its tokenizer."""
    folder = tmp_path_factory.mktemp("hub") / "bert"
    config = transformers.BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, vocab_size=20, num_labels=2
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
    words = {word: index for index, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat"])}
    transformers.BertTokenizer(vocab=words).save_pretrained(folder)
    return folder


@pytest.fixture
def saved(original, tmp_path):
    return shutil.copytree(original, tmp_path / "bert")


def whole(folder, **options):
    options = {"device": "cpu", "dtype": "float32", **options}
    source = pretrained(str(folder), folder)
    return load_model(transformers.BertForSequenceClassification, source, **options)


def refused(folder, cls=transformers.BertForSequenceClassification, **options):
    return refusal(load_model, cls, pretrained(str(folder), folder), device="cpu", dtype="float32", **options)


@tabled
def test_options_that_cannot_be_read(weights, named):
    with pytest.raises(ModelLoadError, match=r"^weights='x\?") as caught:
        split_options(weights, ("regions", "mode"))
    assert named in str(caught.value)
    assert split_options("org/name", ("mode",)) == ("org/name", {})
    assert split_options("?mode=a%20b+c=d", ("mode",)) == ("", {"mode": "a%20b+c=d"})


def test_a_folder_or_a_repository(tmp_path, saved):
    for written in ("bert", "./bert", str(saved)):
        source = pretrained(written, tmp_path, default="org/name")
        assert (source.asked, source.local, source.revision) == (written, True, None)
        assert read_config(source)["model_type"] == "bert"
    assert pretrained("", tmp_path, default="org/name").location == "org/name"
    named = pretrained("org/na-me.1@refs/pr/3", tmp_path)
    assert (named.location, named.revision, named.local) == ("org/na-me.1", "refs/pr/3", False)
    assert pretrained("gpt2", tmp_path).location == "gpt2"
    with pytest.raises(ModelLoadError, match="no weights"):
        pretrained("", tmp_path)
    with pytest.raises(ModelLoadError, match=r"'bert/model\.safetensors' is a file"):
        pretrained("bert/model.safetensors", tmp_path)


@pytest.mark.parametrize("written", ["./brt", "~/no such folder", "a/b/c", "bert/", "has space", "/nowhere/at/all"])
def test_neither_folder_nor_repository(tmp_path, saved, written):
    (tmp_path / "a" / "b").mkdir(parents=True)
    if written == "bert/":
        shutil.rmtree(saved)
    with pytest.raises(ModelLoadError, match="there is no folder") as caught:
        pretrained(written, tmp_path)
    assert "; expected a hub repository ORG/NAME" in str(caught.value)
    assert (f"{tmp_path}/brt (did you mean 'bert'?); " in str(caught.value)) == (written == "./brt")
    assert ("(its parent /nowhere/at does not exist either); " in str(caught.value)) == written.startswith("/nowhere")
    assert "known are" not in str(caught.value)  # folders of other names say nothing


def test_a_saved_model_is_loaded_unchanged(saved):
    model = whole(saved)
    assert not model.training
    assert model.dtype == torch.float32
    written = load_file(saved / "model.safetensors")
    assert all(torch.equal(model.state_dict()[name], weight) for name, weight in written.items())
    half = whole(saved, dtype="bfloat16")
    assert half.dtype == torch.bfloat16
    tokenizer = load_processor(transformers.AutoTokenizer, pretrained(str(saved), saved))
    assert tokenizer("cat")["input_ids"] == [2, 5, 3]
    half.save_pretrained(saved)
    assert whole(saved).dtype == torch.float32


def test_missing_weights_are_not_initialised_at_random(saved):
    assert "weights of BertForMaskedLM (cls.predictions." in refused(saved, transformers.BertForMaskedLM)
    weights = load_file(saved / "model.safetensors")
    save_file(
        {name: weight for name, weight in weights.items() if "classifier" not in name}, saved / "model.safetensors"
    )
    message = refused(saved)
    for words in ("lacks 2 weights", "classifier.bias: missing", "BertForSequenceClassification"):
        assert words in message
    assert "lacks 1 weight" in refused(saved, may_miss=("classifier.bias",))
    assert "lacks 1 weight" in refused(saved, may_miss=(r".*\.weight", "bias"))
    whole(saved, may_miss=(r"classifier\..*",))


def test_a_pickle_is_read_as_tensors_only(saved):
    class Evil:
        def __reduce__(self):
            return exec, ("raise SystemExit('code in a pickle was run')",)

    weights = load_file(saved / "model.safetensors")
    (saved / "model.safetensors").unlink()
    torch.save(weights, saved / "pytorch_model.bin")
    assert torch.equal(whole(saved).classifier.bias, weights["classifier.bias"])
    torch.save({"classifier.bias": Evil()}, saved / "pytorch_model.bin")
    assert "more than tensors" in refused(saved)
    save_file(weights, saved / "model.safetensors", metadata={"format": "pt"})
    whole(saved)  # the pickle is not read if there are safetensors


def test_code_of_a_repository_is_not_run(saved):
    config = read_config(pretrained(str(saved), saved))
    config |= {"model_type": "own", "auto_map": {"AutoModel": "own.Own", "AutoConfig": "own.Config"}}
    (saved / "config.json").write_text(json.dumps(config))
    (saved / "own.py").write_text("raise SystemExit('code of a repository was run')")
    message = refused(saved, transformers.AutoModel)
    assert "needs custom code from its repository" in message
    assert "openai:URL#NAME" in message
    assert "download it again" not in message


def test_damaged_and_missing_files(saved):
    (saved / "model.safetensors").write_bytes(b"\x00" * 100)
    assert "SafetensorError" in refused(saved)
    (saved / "model.safetensors").unlink()
    message = refused(saved)
    assert "config.json, tokenizer" in message
    assert "expected one of model.safetensors, model.safetensors.index.json, pytorch_model.bin" in message
    (saved / "adapter_config.json").write_text("{}")
    assert "adapter" in refused(saved)
    (saved / ".metadata").write_bytes(b"")
    assert "distributed checkpoint" in refused(saved)


def test_a_truncated_pickle_is_named_wherever_it_ends(saved):
    weights = load_file(saved / "model.safetensors")
    (saved / "model.safetensors").unlink()
    torch.save(weights, saved / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    whole = (saved / "pytorch_model.bin").read_bytes()
    # The end decides whether it is an EOFError, IndexError, struct.error, UnpicklingError or RuntimeError.
    for length in (0, 3, 14, 17, 30, 31, 32, 40, 100, 200, 201, 202, 203, 204, 400, len(whole) - 3):
        (saved / "pytorch_model.bin").write_bytes(whole[:length])
        message = refused(saved)
        assert f"cannot be loaded from {saved}" in message
        assert "\n" not in message


def test_no_progress_bar_is_drawn_and_the_setting_is_restored(saved, capfd):
    logging = transformers.utils.logging
    seen = []

    def hook(bar, args, kwargs):
        seen.append(kwargs.get("desc"))
        return bar(*args, **kwargs)

    before = logging.set_tqdm_hook(hook)
    try:
        whole(saved)
        assert logging.set_tqdm_hook(hook) is hook
        refused(saved, transformers.BertForMaskedLM)
        assert logging.set_tqdm_hook(before) is hook
    finally:
        logging.set_tqdm_hook(before)
    assert seen == []
    assert "Loading weights" not in capfd.readouterr().err
    assert logging.is_progress_bar_enabled()
    transformers.BertForSequenceClassification.from_pretrained(saved)
    assert "Loading weights" in capfd.readouterr().err


@tabled
def test_a_configuration_that_cannot_be_used_is_reported_on_one_line(saved, content, why):
    file = saved / "config.json"
    if isinstance(content, dict):
        content = json.dumps(json.loads(file.read_text()) | content)
    file.unlink() if content is None else file.write_text(content)
    message = refused(saved)
    assert re.search(why, message)
    assert "\n" not in message


@pytest.fixture
def cached(original, tmp_path):
    """The hub's cache without a network: ``org/bert`` with two commits."""
    home = tmp_path / "cache" / "models--org--bert"
    for commit in (COMMIT, "0123456789abcdef0123456789abcdef01234567"):
        shutil.copytree(original, home / "snapshots" / commit)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(COMMIT)
    return home


@pytest.mark.usefixtures("cached")
def test_the_hubs_cache_by_branch_and_whole_or_short_commit(tmp_path, cached):
    for written in ("org/bert", "org/bert@main", f"org/bert@{COMMIT}"):
        source = pretrained(written, tmp_path)
        model = load_model(transformers.BertForSequenceClassification, source, device="cpu", dtype="float32")
        assert model.config.num_labels == 2
        assert identity(source) == f"org/bert@{COMMIT}"
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


def not_there(written, folder):
    return refusal(read_config, pretrained(written, folder))


def test_a_hub_that_is_offline_or_does_not_answer_says_what_was_looked_for(tmp_path, cached, monkeypatch):
    for written in ("org/bert@v2", "org/other"):
        message = not_there(written, tmp_path)
        for words in (written, "config.json and model.safetensors", str(tmp_path / "cache"), "HF_HUB_OFFLINE is set"):
            assert words in message
    assert "hf download org/bert --revision v2" in not_there("org/bert@v2", tmp_path)
    (cached / "snapshots" / COMMIT / "model.safetensors").unlink()
    source = pretrained("org/bert", tmp_path)
    with pytest.raises(ModelLoadError, match=r"expected one of model\.safetensors.*hf download org/bert"):
        load_model(transformers.BertForSequenceClassification, source, device="cpu", dtype="float32")

    def fetch(*_, **__):
        raise ConnectionError("no route")

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert "(no route)" in not_there("org/name", tmp_path)


def test_identity_is_the_content_of_what_is_read(tmp_path, saved):
    source = pretrained("bert", tmp_path)
    seen = [identity(source)]
    moved = shutil.copytree(saved, tmp_path / "moved")
    assert identity(pretrained("moved", tmp_path)) == seen[0]
    (moved / "README.md").write_text("x")
    (moved / "optimizer.pt").write_text("x")
    assert identity(pretrained("moved", tmp_path)) == seen[0]
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        with (saved / name).open("ab") as stream:
            stream.write(b" ")
        seen.append(identity(source))
    assert len(set(seen)) == len(seen)


BERT = transformers.BertForSequenceClassification


def sharded(original, folder, name, index="model.safetensors.index.json"):
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
        torch.save(part, file) if file.suffix == ".bin" else save_file(part, file, metadata={"format": "pt"})
        files |= dict.fromkeys(part, name(number + 1))
    (folder / index).write_text(json.dumps({"metadata": {}, "weight_map": files}))
    return folder


@pytest.fixture
def serve(monkeypatch):
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
    "pickled": "weights_{}.bin",
}


@pytest.mark.parametrize("kind", NAMES)
def test_every_shard_that_the_index_names_is_fetched(kind, original, tmp_path, serve):
    index = "pytorch_model.bin.index.json" if kind == "pickled" else "model.safetensors.index.json"
    folder = sharded(original, tmp_path / "repository", NAMES[kind].format, index)
    save_file({"x": torch.zeros(1)}, folder / "unused.safetensors")
    hub = serve(bert=folder)
    weights = load_file(original / "model.safetensors")
    found = loaded("org/bert", tmp_path).state_dict()
    assert all(torch.equal(found[key], weight) for key, weight in weights.items())
    shards = [NAMES[kind].format(number) for number in (1, 2, 3)]
    assert sorted(name for name in hub.fetched if ".safetensors" in name or ".bin" in name) == sorted([*shards, index])
    assert identity(pretrained("org/bert", tmp_path)) == f"org/bert@{COMMIT}"
    assert loaded(str(folder), tmp_path).num_parameters() == sum(weight.numel() for weight in weights.values())
    before = identity(pretrained(str(folder), tmp_path))
    with (folder / shards[1]).open("ab") as stream:
        stream.write(b" ")
    assert identity(pretrained(str(folder), tmp_path)) != before


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

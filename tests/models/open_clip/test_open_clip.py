import json
import pickle
import sys

import numpy as np
import open_clip
import pytest
import tokenizers
import torch
import transformers
from builders import noise, refusal, tabled
from held_network import network
from safetensors.torch import save_file
from torch.utils._python_dispatch import TorchDispatchMode

from vlgate.models import check, load
from vlgate.models.dual.open_clip import OpenClip
from vlgate.models.dual.open_clip_weights import preprocessing

ARCH = "tiny-clip-for-tests"
CONFIG = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 12, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}
NORMAL = {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25], "interpolation": "bilinear", "resize_mode": "squash"}


@pytest.fixture(scope="module", autouse=True)
def architecture(tmp_path_factory):
    """Register a tiny architecture with open_clip, for this file's tests only."""
    from open_clip import factory

    file = tmp_path_factory.mktemp("configs") / f"{ARCH}.json"
    file.write_text(json.dumps(CONFIG))
    open_clip.add_model_config(file)
    yield
    factory._MODEL_CONFIG_PATHS.remove(file)
    factory._MODEL_CONFIGS.pop(ARCH)


def images(count=9):
    return [noise(number, (40 + number % 7, 50)) for number in range(count)]


TEXTS = [f"a {colour} {thing}" for colour in ("red", "blue") for thing in ("cat", "dog", "tree on the hill")]


def of(weights, folder, **options):
    return load(f"open_clip:{weights}", folder=folder, device="cpu", **options).model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return of(f"{ARCH}/random", tmp_path_factory.mktemp("start"))


@pytest.fixture
def saved(tmp_path, model):
    folder = tmp_path / "saved"
    folder.mkdir()
    save_file(network(model).state_dict(), folder / "open_clip_model.safetensors")
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": CONFIG, "preprocess_cfg": NORMAL}))
    return folder


def refused(weights, folder, *, by_check=False):
    [message] = {refusal(ask, f"open_clip:{weights}", folder=folder) for ask in (check, load)[not by_check :]}
    return message


def test_untrained_on_purpose_is_reproducible_and_says_so(tmp_path, model):
    state = torch.random.get_rng_state()
    again, other = of(f"{ARCH}/random", tmp_path), of(f"{ARCH}/random", tmp_path, seed=1)
    assert torch.equal(state, torch.random.get_rng_state())
    assert np.array_equal(again.encode_texts(TEXTS), model.encode_texts(TEXTS))
    assert not np.allclose(other.encode_texts(TEXTS), model.encode_texts(TEXTS))
    assert "untrained" in model.note
    assert again.fingerprint == model.fingerprint != other.fingerprint


@pytest.fixture
def words(tmp_path):
    """A folder with a tokenizer of transformers, which has one token per word."""
    tokens = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "cat"]
    fast = tokenizers.Tokenizer(tokenizers.models.WordLevel({token: n for n, token in enumerate(tokens)}, "[UNK]"))
    fast.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    ends = [("[CLS]", 1), ("[SEP]", 2)]
    fast.post_processor = tokenizers.processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    special = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    whole = transformers.PreTrainedTokenizerFast(tokenizer_object=fast, bos_token="[CLS]", eos_token="[SEP]", **special)
    whole.save_pretrained(tmp_path / "words")
    return tmp_path / "words"


@pytest.mark.parametrize(
    ("options", "fit"), [({}, 6), ({"strip_sep_token": True}, 6), ({"tokenizer_mode": "clips"}, 5)]
)
def test_truncation_is_exact_with_other_tokenizers(words, options, fit):
    class Reader(torch.nn.Linear):
        """Stands for a network of any kind: only the tokenizer matters here."""

        def encode_text(self, tokens, normalize):
            assert not normalize
            return self(tokens.float())

    tokenizer = open_clip.tokenizer.HFTokenizer(str(words), context_length=8, **options)
    model = OpenClip(Reader(8, 2), tokenizer, None, dtype="float32", note="", fingerprint="f")
    texts = [" ".join(["cat"] * count) for count in range(12)]
    for text in texts:
        model.encode_texts(["cat", text])
    assert model.cut_texts == set(texts[fit + 1 :])


def test_a_saved_folder_or_file_is_loaded_unchanged(tmp_path, saved, model):
    for weights in (str(saved), "saved", "./saved", f"local-dir:{saved}"):
        check(f"open_clip:{weights}", folder=tmp_path)
        found = of(weights, tmp_path)
        assert np.array_equal(found.encode_texts(TEXTS), model.encode_texts(TEXTS))
    assert found.note == ""
    assert network(found).visual.preprocess_cfg["mean"] == NORMAL["mean"]
    assert not np.allclose(found.encode_images(images()), model.encode_images(images()))
    torch.save({"state_dict": network(model).state_dict()}, tmp_path / "epoch_1.pt")
    for file in (saved / "open_clip_model.safetensors", "saved/open_clip_model.safetensors", tmp_path / "epoch_1.pt"):
        check(f"open_clip:{ARCH}/{file}", folder=tmp_path)
        found = of(f"{ARCH}/{file}", tmp_path)
        assert np.array_equal(found.encode_images(images()), model.encode_images(images()))


class Drawn(TorchDispatchMode):
    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in {torch.ops.aten.normal_.default, torch.ops.aten.uniform_.default}:
            self.numbers += args[0].numel()
        return func(*args, **(kwargs or {}))


def test_no_random_numbers_are_drawn_for_parameters_that_a_file_replaces(tmp_path, saved):
    with Drawn() as drawn:
        of(f"{ARCH}/{saved / 'open_clip_model.safetensors'}", tmp_path)
        of(str(saved), tmp_path)
    assert drawn.numbers == 0
    with Drawn() as drawn:
        of(f"{ARCH}/random", tmp_path)
    assert drawn.numbers > 1_000_000


@pytest.mark.slow
def test_the_fingerprint_is_that_of_the_content(tmp_path, saved, model):
    def fingerprint(weights, **options):
        return load(f"open_clip:{weights}", folder=tmp_path, device="cpu", **options).fingerprint

    file = saved / "open_clip_model.safetensors"
    seen = [fingerprint("saved"), fingerprint(f"{ARCH}/{file}"), fingerprint("saved", dtype="bfloat16")]
    assert seen[0] == fingerprint(str(saved), seed=1)
    (saved / "open_clip_config.json").write_text(json.dumps({"model_cfg": CONFIG}))
    seen.append(fingerprint("saved"))
    save_file({name: value + 1 for name, value in network(model).state_dict().items()}, file)
    seen += [fingerprint("saved"), fingerprint(f"{ARCH}/{file}"), fingerprint(f"{ARCH}/random")]
    assert len(set(seen)) == len(seen)


def test_weights_or_a_package_that_are_missing_are_named(tmp_path, monkeypatch):
    message = refused("ViT-B-32/laion2b_s34b_b79k", tmp_path)
    for words in (
        "no weights for ViT-B-32/laion2b_s34b_b79k", "open_clip_model.safetensors", str(tmp_path / "cache"),
        "laion/CLIP-ViT-B-32-laion2B-s34B-b79K", "HF_HUB_OFFLINE is set", "hf download",
    ):  # fmt: skip
        assert words in message
    message = refused("hf-hub:org/name", tmp_path)
    for words in ("open_clip_config.json", "org/name", str(tmp_path / "cache"), "HF_HUB_OFFLINE is set"):
        assert words in message
    monkeypatch.setitem(sys.modules, "open_clip", None)
    assert "pip install 'vlgate[clip]'" in refused("ViT-B-32/openai", tmp_path)


def test_a_model_or_a_tag_of_the_hubs_cache(tmp_path, saved, model, monkeypatch):
    monkeypatch.setattr("open_clip.pretrained.hf_hub_download", lambda *, filename, **_: str(saved / filename))
    found = load("open_clip:hf-hub:org/name", folder=tmp_path, device="cpu")
    assert np.array_equal(found.model.encode_texts(TEXTS), model.encode_texts(TEXTS))
    (saved / "open_clip_config.json").write_text(json.dumps({"model_cfg": CONFIG}))
    assert load("open_clip:hf-hub:org/name", folder=tmp_path, device="cpu").fingerprint != found.fingerprint
    published = {"hf_hub": "org/name/", "quick_gelu": True, **NORMAL}
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, ARCH, {"known": published})
    blob = tmp_path / ("0" * 64)
    blob.write_bytes((saved / "open_clip_model.safetensors").read_bytes())
    (tmp_path / "snapshot").mkdir()
    link = tmp_path / "snapshot" / "open_clip_model.safetensors"
    link.symlink_to(blob)
    monkeypatch.setattr("open_clip.pretrained.hf_hub_download", lambda **_: str(link))
    found = of(f"{ARCH}/known", tmp_path)
    assert "0" * 64 in found.fingerprint
    assert "QuickGELU" in repr(network(found))  # as its weights were trained, though the architecture says nothing
    assert network(found).visual.preprocess_cfg["std"] == NORMAL["std"]
    assert not np.allclose(found.encode_texts(TEXTS), model.encode_texts(TEXTS))


def test_a_file_is_prepared_for_as_all_published_weights_are(tmp_path, saved, monkeypatch):
    assert preprocessing("ViT-B-16-SigLIP")["mean"] == (0.5, 0.5, 0.5)
    assert preprocessing("ViT-H-14") == {}  # its published weights do not agree
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, ARCH, {"known": NORMAL})
    found = of(f"{ARCH}/{saved / 'open_clip_model.safetensors'}", tmp_path)
    assert network(found).visual.preprocess_cfg["resize_mode"] == "squash"


@tabled
@pytest.mark.usefixtures("saved")
def test_names_and_paths_that_are_wrong_are_refused_before_anything_is_loaded(tmp_path, weights, words):
    assert words in refused(weights, tmp_path, by_check=True)


def test_a_file_of_another_kind_and_a_folder_without_weights(tmp_path, saved):
    (tmp_path / "weights.npz").write_bytes(b"")
    message = refused(f"{ARCH}/{tmp_path}/weights.npz", tmp_path, by_check=True)
    assert "weights.npz must end in one of .safetensors" in message
    (saved / "open_clip_model.safetensors").unlink()
    message = refused("saved", tmp_path, by_check=True)
    assert "expected open_clip_config.json and one of open_clip_model.safetensors" in message


@tabled
def test_unknown_names_give_the_nearest(tmp_path, weights, words):
    assert words in refused(weights, tmp_path)


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('code in a pickle was run')",)


def test_no_code_is_run(tmp_path, saved):
    torch.save({"state_dict": Evil()}, tmp_path / "evil.pt")
    assert "holds more than tensors" in refused(f"{ARCH}/{tmp_path}/evil.pt", tmp_path)
    (tmp_path / "plain.bin").write_bytes(pickle.dumps(Evil()))
    assert "holds more than tensors" in refused(f"{ARCH}/{tmp_path}/plain.bin", tmp_path)
    text = {**CONFIG["text_cfg"], "hf_tokenizer_name": "x", "tokenizer_kwargs": {"trust_remote_code": True}}
    (saved / "open_clip_config.json").write_text(json.dumps({"model_cfg": {**CONFIG, "text_cfg": text}}))
    assert "trust_remote_code" in refused("saved", tmp_path)
    (saved / "open_clip_model.safetensors").rename(saved / "x")
    torch.save(Evil(), saved / "open_clip_pytorch_model.bin")
    assert "holds more than tensors" in refused("saved", tmp_path)

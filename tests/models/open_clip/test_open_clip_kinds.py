"""The kinds of architectures that open_clip knows, each as a small folder of random weights."""

import json
import math
import re

import numpy as np
import open_clip
import pytest
import tokenizers
import torch
import transformers
from builders import noise, refusal
from held_network import network
from safetensors.torch import load_file, save_file

from vlgate.asking.adapters import adapters
from vlgate.errors import ModelLoadError
from vlgate.models import load
from vlgate.models.dual.features import AT_ONCE, apart, in_groups, told
from vlgate.models.dual.open_clip_weights import shapes
from vlgate.types import DualEncoder, Match

WORDS = ["a", "red", "blue", "dog", "cat", "on", "tree"]
TEXTS = ["a red dog", "a blue cat on a tree", "Dog", "", "tree " * 30, "a tree"]
VISION = {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8}
TEXT = {"context_length": 12, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2}
SIGLIP = {"no_causal_mask": True, "proj_bias": True, "pool_type": "last"}
COCA = {"context_length": 11, "embed_cls": True, "output_tokens": True}
DECODER = {"context_length": 12, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2, "attn_pooler_heads": 2}
KINDS = {
    "clip": {"text_cfg": TEXT},
    "custom": {"text_cfg": {**TEXT, "no_causal_mask": True}, "custom_text": True},
    "coca": {
        "text_cfg": {**TEXT, **COCA}, "multimodal_cfg": DECODER, "custom_text": True,
        "vision_cfg": {**VISION, "attentional_pool": True, "attn_pooler_heads": 2, "output_tokens": True},
    },
    "siglip": {
        "text_cfg": {**TEXT, **SIGLIP, "vocab_size": 20, "hf_tokenizer_name": "org/words"},
        "custom_text": True, "init_logit_bias": -10,
    },
    "tower": {"text_cfg": {"context_length": 12, "hf_tokenizer_name": "org/words", "hf_pooler_type": "mean_pooler"}},
}  # fmt: skip


def words(side="right"):
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *WORDS]
    fast = tokenizers.Tokenizer(tokenizers.models.WordLevel({token: n for n, token in enumerate(tokens)}, "<unk>"))
    fast.normalizer = tokenizers.normalizers.Lowercase()
    fast.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast.post_processor = tokenizers.processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 2)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=fast, padding_side=side, **special)


def config_of(kind, start):
    config = {"embed_dim": 16, "vision_cfg": VISION, **KINDS[kind]}
    if kind == "tower":
        tower = start / "roberta"
        transformers.RobertaConfig(
            vocab_size=20, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
        ).save_pretrained(tower)
        config["text_cfg"] = {**config["text_cfg"], "hf_model_name": str(tower)}
    return config


def save(kind, start, **changed):
    folder = start / kind
    folder.mkdir(parents=True)
    config = {**config_of(kind, start), **changed}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": {}}))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        model = open_clip.create_model(f"local-dir:{folder}", load_weights=False, pretrained_text=False)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if weight.dim() > 1:
                    weight.normal_(0, 0.2)
                elif name in ("logit_scale", "logit_bias"):
                    weight.fill_({"logit_scale": 2.0, "logit_bias": 1.8}[name])
    states = {name: weight.clone() for name, weight in model.state_dict().items()}
    save_file(states, folder / "open_clip_model.safetensors")
    words().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    start = tmp_path_factory.mktemp("kinds")
    return {kind: save(kind, start) for kind in KINDS}


def build(folder, **options):
    return load(f"open_clip:{folder}", folder=folder, device="cpu", **options).model


@pytest.fixture(scope="module")
def models(folders):
    return {kind: build(folder) for kind, folder in folders.items()}


def images(count=4):
    return [noise(number, (40 + number, 50)) for number in range(count)]


def refused(weights, folder):
    message = refusal(load, f"open_clip:{weights}", folder=folder, device="cpu")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_agrees_with_open_clip_called_by_hand(models, folders, kind):
    by_hand, _, prepare = open_clip.create_model_and_transforms(f"local-dir:{folders[kind]}", pretrained_text=False)
    by_hand.eval()
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folders[kind]}")
    with torch.no_grad():
        seen = torch.cat([by_hand.encode_image(prepare(image.load())[None], normalize=True) for image in images()])
        texts = torch.cat([by_hand.encode_text(tokenizer([text]), normalize=True) for text in TEXTS])
    assert isinstance(models[kind], DualEncoder)
    assert models[kind].encode_images(images()) == pytest.approx(seen.double().numpy(), abs=2e-6)
    rows = models[kind].encode_texts(TEXTS)
    assert rows.dtype == np.float64
    assert rows == pytest.approx(texts.double().numpy(), abs=2e-6)
    assert len(np.unique(rows.round(4), axis=0)) == len(TEXTS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_fits_is_read_to_its_end_and_the_rest_is_counted(folders, kind):
    model = build(folders[kind])
    fit = {"coca": 9, "siglip": 11, "tower": 11}.get(kind, 10)  # one or two positions are for end tokens
    texts = ["dog " * count + "tree" for count in range(3, 15)]
    rows = model.encode_texts(texts)
    assert len(model.cut_texts) == sum(len(text.split()) > fit for text in texts)
    seen = {len(text.split()): row for text, row in zip(texts, rows, strict=True)}
    other = model.encode_texts(["dog " * (fit - 1) + "cat", "dog " * fit + "cat"])
    assert np.abs(other[0] - seen[fit]).max() > 1e-4
    assert np.abs(other[1] - seen[fit + 1]).max() < 1e-6


def test_yes_is_what_the_sigmoid_says(models, folders):
    assert {kind: model.decision_threshold is not None for kind, model in models.items()} == {
        kind: kind == "siglip" for kind in KINDS
    }
    threshold = models["siglip"].decision_threshold
    assert threshold == pytest.approx(-1.8 / math.exp(2))
    assert f"{threshold:.3f}" in models["siglip"].note
    by_hand = open_clip.create_model(f"local-dir:{folders['siglip']}")
    scores = models["siglip"].encode_images(images()) @ models["siglip"].encode_texts(TEXTS).T
    chances = torch.sigmoid(by_hand.logit_scale.exp() * torch.tensor(scores) + by_hand.logit_bias)
    assert np.array_equal(scores > threshold, (chances > 0.5).numpy())
    assert len(np.unique(scores > threshold)) == 2


def test_a_missing_bias_is_not_0(folders, tmp_path):
    weights = load_file(folders["siglip"] / "open_clip_model.safetensors")
    weights.pop("logit_bias")
    folder = save("siglip", tmp_path)
    save_file(weights, folder / "open_clip_model.safetensors")
    assert "logit_bias" in refused("siglip", tmp_path)


@pytest.mark.parametrize("kind", ["siglip", "tower"])
def test_padding_is_on_the_right(models, tmp_path, kind):
    folder = save(kind, tmp_path)
    words(side="left").save_pretrained(folder)
    assert build(folder).encode_texts(TEXTS) == pytest.approx(models[kind].encode_texts(TEXTS), abs=1e-6)


def test_a_tokenizer_without_words_or_a_missing_text_tower(tmp_path):
    folder = save("siglip", tmp_path)
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "GemmaTokenizer"}')
    message = refused("siglip", tmp_path)
    assert "without a vocabulary" in message
    assert str(folder) in message
    message = refused("roberta-ViT-B-32/random", tmp_path)
    for part in ("roberta-ViT-B-32", str(tmp_path / "cache"), "hf download roberta-base config.json"):
        assert part in message


def test_no_words_are_dropped_at_random(tmp_path):
    folder = save("clip", tmp_path, text_cfg={**TEXT, "tokenizer_kwargs": {"reduction_mask": "shuffle"}})
    model, long = build(folder), " ".join(f"{word} dog" for word in WORDS * 3)
    rows = model.encode_texts([long, long, long])
    assert np.ptp(rows, axis=0).max() < 1e-6
    assert model.cut_texts == {long}


@pytest.fixture
def arch(folders, monkeypatch):
    """Register the small CLIP as an architecture; return a function that publishes weights for it."""
    config = json.loads((folders["clip"] / "open_clip_config.json").read_text())["model_cfg"]
    known = {
        "tiny": config,
        "tiny-64": {**config, "vision_cfg": {**VISION, "image_size": 64}},
        "tiny-20": {**config, "text_cfg": {**TEXT, "context_length": 20}},
    }
    for name, one in known.items():
        monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, name, one)

    def publish(**tags):
        base = {"mean": (0.5,) * 3, "std": (0.5,) * 3, "interpolation": "bicubic", "resize_mode": "squash"}
        monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "tiny", {tag: base | own for tag, own in tags.items()})

    return publish


def test_settings_that_a_file_lacks_are_those_of_the_published_weights(arch, folders):
    file = f"tiny/{folders['clip'] / 'open_clip_model.safetensors'}"
    found = {}
    for name, tags in {
        "none": {},
        "agreed": {"a": {}, "b": {}},
        "quick": {"a": {"quick_gelu": True}, "b": {"quick_gelu": True}},
        "both": {"a": {"quick_gelu": True}, "b": {}},
        "images": {"a": {}, "b": {"mean": (0.0,) * 3}},
    }.items():
        arch(**tags)
        found[name] = load(f"open_clip:{file}", folder=folders["clip"], device="cpu").model
    assert ["QuickGELU" in repr(network(model)) for model in found.values()] == [False, False, True, False, False]
    assert [found[name].note for name in ("none", "agreed", "quick")] == [""] * 3
    assert "tiny-quickgelu" in found["both"].note
    assert "preparation of images" in found["images"].note
    assert network(found["agreed"]).visual.preprocess_cfg["resize_mode"] == "squash"
    assert network(found["images"]).visual.preprocess_cfg["resize_mode"] == "shortest"


@pytest.mark.usefixtures("arch")
@pytest.mark.parametrize(
    ("name", "positions"), [("tiny-64", "visual.positional_embedding"), ("tiny-20", "positional_embedding")]
)
def test_positions_are_not_stretched_in_silence(folders, name, positions):
    file = folders["clip"] / "open_clip_model.safetensors"
    torch.save(
        {"state_dict": {f"module.{key}": weight for key, weight in load_file(file).items()}}, file.parent / "w.pt"
    )
    for weights in (file, file.parent / "w.pt"):
        message = refused(f"{name}/{weights}", folders["clip"])
        assert f"open_clip: {positions} of {weights} is of shape" in message
    load(f"open_clip:tiny/{file.parent / 'w.pt'}", folder=folders["clip"], device="cpu")


@pytest.mark.parametrize(
    "content",
    [
        "[]", "{", '{"model_cfg": {}}', '{"model_cfg": 3}', {"embed_dim": 8}, {"text_cfg": []}, {"nothing": 1},
        {"vision_cfg": {**VISION, "image_size": 64}}, {"text_cfg": {**TEXT, "heads": 3}},
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_used_is_named(tmp_path, content):
    file = save("clip", tmp_path) / "open_clip_config.json"
    if isinstance(content, dict):
        config = json.loads(file.read_text())
        content = json.dumps({**config, "model_cfg": config["model_cfg"] | content})
    file.write_text(content)
    assert re.match(f"open_clip: .*{file.parent}", refused("clip", tmp_path))


def test_a_damaged_file_is_named(tmp_path):
    torch.save({"a": torch.ones(9, 9)}, tmp_path / "whole.bin", _use_new_zipfile_serialization=False)
    whole = (tmp_path / "whole.bin").read_bytes()
    torch.save([1], tmp_path / "list.bin")
    torch.save({}, tmp_path / "nothing.bin")
    torch.save({"a": "b"}, tmp_path / "words.bin")
    (tmp_path / "torn.safetensors").write_bytes(b"\x00" * 100)
    for length in range(len(whole)):
        (tmp_path / f"{length}.bin").write_bytes(whole[:length])
    (tmp_path / "whole.bin").unlink()
    for file in tmp_path.iterdir():
        with pytest.raises(ModelLoadError, match=f"{file} .*damaged"):
            shapes(file)


def test_images_that_cannot_be_prepared_as_asked(tmp_path):
    folder = save("clip", tmp_path)
    config = json.loads((folder / "open_clip_config.json").read_text())
    (folder / "open_clip_config.json").write_text(json.dumps(config | {"preprocess_cfg": {"resize_mode": "longer"}}))
    assert "'resize_mode': 'longer'" in refused("clip", tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_grad_cam_is_a_grid_on_the_image_and_leaves_the_model_as_it_was(models, kind):
    model, asked = models[kind], [Match(image=image, text=text) for image in images(2) for text in TEXTS[:2]]
    before = model.encode_images(images(2))
    found = model.attended(asked)
    assert [one.text for one in found] == [pair.text for pair in asked]
    for one in found:
        assert len(one.boxes) == 16  # 32 pixels in patches of 8
        assert all(0 <= left < right <= 1 and 0 <= top < bottom <= 1 for left, top, right, bottom in one.boxes)
        assert 0 <= min(one.weights) <= max(one.weights) <= 1
    assert np.array_equal(model.encode_images(images(2)), before)


ARCH = "tiny-clip-of-short-texts"
LONGER = {**TEXT, "context_length": 40}
DOGS = ["dog " * n for n in (1, 30, 3, 60, 2, 12)]  # the fourth is cut at the context


@pytest.fixture
def loaded(tmp_path):
    """Loads a tiny model with random weights and the given text encoder."""
    from open_clip import factory

    file = tmp_path / f"{ARCH}.json"

    def model(**text):
        custom = {"custom_text": True} if text else {}
        file.write_text(json.dumps({"embed_dim": 16, "vision_cfg": VISION, "text_cfg": {**LONGER, **text}, **custom}))
        open_clip.add_model_config(file)
        return load(f"open_clip:{ARCH}/random", folder=tmp_path, device="cpu").model

    yield model
    factory._MODEL_CONFIG_PATHS.remove(file)
    factory._MODEL_CONFIGS.pop(ARCH)


def by_hand(model, texts):
    """The features of open_clip's own call, with all of the padding."""
    net = network(model)
    with torch.inference_mode():
        rows = net.encode_text(open_clip.get_tokenizer(ARCH)(texts), normalize=False).double()
    return torch.nn.functional.normalize(rows, dim=-1).numpy()


def lengths_of(model, texts):
    """The numbers of texts and tokens that reach the text encoder in each of its calls."""
    seen = []
    net = network(model)
    inner = getattr(net, "text", net).transformer
    hook = inner.register_forward_pre_hook(lambda _, given: seen.append(tuple(given[0].shape[:2])))
    try:
        model.encode_texts(texts)
    finally:
        hook.remove()
    return seen


@pytest.mark.parametrize("text", [{}, {"proj_bias": True}], ids=["CLIP", "CustomTextCLIP"])
def test_padding_is_left_out_where_it_changes_nothing(loaded, text):
    model = loaded(**text)
    assert np.abs(model.encode_texts(DOGS) - by_hand(model, DOGS)).max() < 1e-6
    assert lengths_of(model, DOGS) == [(6, 40)]
    assert lengths_of(model, DOGS[:3]) == [(3, 32)]
    assert lengths_of(model, ["dog " * (1 + n % 20) for n in range(2 * AT_ONCE)])[0] == (AT_ONCE, 10)  # of 1 to 8 dogs
    assert "texts are read without their padding" in adapters(model)["Match"]
    assert "texts" not in adapters(model)["Ask"]


@pytest.mark.parametrize("text", [{"no_causal_mask": True}, {"pool_type": "last"}, {"embed_cls": True}])
def test_padding_that_the_model_reads_stays(loaded, text):
    model = loaded(**text)
    full = LONGER["context_length"] + ("embed_cls" in text)
    assert np.abs(model.encode_texts(DOGS) - by_hand(model, DOGS)).max() < 1e-6
    assert lengths_of(model, DOGS[:1]) == [(1, full)]
    assert "texts are read with their padding" in adapters(model)["Match"]


def test_a_causal_model_that_looks_at_its_padding_all_the_same_is_found_out(loaded, monkeypatch):
    model = loaded()
    plain = type(network(model)).encode_text

    def encode_text(net, tokens, normalize=False):
        return plain(net, tokens, normalize) + net.token_embedding(tokens).mean(dim=1)[:, :16]

    monkeypatch.setattr(type(network(model)), "encode_text", encode_text)
    assert np.abs(model.encode_texts(DOGS) - by_hand(model, DOGS)).max() < 1e-6
    assert lengths_of(model, DOGS[:1]) == [(1, 40)]
    assert "with their padding: without it, the features of 3 texts differ" in model.reading


def test_groups_hold_texts_of_similar_length_and_what_is_not_the_same_says_why():
    lengths = [5, 40, 5, 7, 30] * AT_ONCE
    calls = []

    def encode(places, longest):
        calls.append([lengths[place] for place in places])
        assert longest == max(calls[-1])
        return torch.tensor([[place, longest] for place in places])

    found = in_groups(lengths, "cpu", encode)
    assert found[:, 0].tolist() == list(range(len(lengths)))
    assert [call for call in calls if len(set(call)) > 1] == []
    assert {len(call) for call in calls} == {AT_ONCE}
    calls.clear()
    in_groups(lengths, "cuda:0", encode)
    assert len(calls) == 1
    rows = torch.eye(3, dtype=torch.float32)
    assert apart(rows, lambda: 2 * rows) == 0
    assert "differ by 0.7" in apart(rows, lambda: rows + rows.roll(1, 0))
    assert "another shape, (3, 2)" in apart(rows, lambda: rows[:, :2])
    assert "differ by nan" in apart(rows, lambda: rows * torch.nan)

    def refuse():
        raise RuntimeError("expanded size")

    assert "does not take shorter texts (RuntimeError: expanded size)" in apart(rows, refuse)
    assert told("why") == "texts are read with their padding: why"

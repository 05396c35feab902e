import io
import json
import math
import random
import string
from types import SimpleNamespace

import numpy as np
import pytest
import tokenizers
import torch
import transformers
from builders import noise, refusal, tabled
from dual_checkpoints import KINDS, save
from held_network import network
from PIL import Image

from vlgate.asking.adapters import adapters
from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import NoReplyError
from vlgate.models.dual import encoders
from vlgate.models.dual.encoders import FAMILIES, context
from vlgate.types import LazyImage, Match

RIGHT = {kind: "siglip2" if kind == "naflex" else kind for kind in KINDS}
SIGMOID = ("siglip", "siglip2", "naflex")
TEXTS = ("a red square", "the blue dot.", "a big square of the red dot of a", "A Red Square", "dot", "")
LONG = "of the " * 30


def read_by(kind):
    """Texts that a family can read: TIPSv2's tokenizer adds no token to an empty one."""
    return (*TEXTS[:-1], ".") if kind == "tipsv2" else TEXTS


# The context in tokens as documented for each family, if it is not 24: written here a second time, independently.
LENGTH = {"align": 12, "altclip": 22, "chinese-clip": 12}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    start = tmp_path_factory.mktemp("dual")
    return {kind: save(kind, start / kind) for kind in KINDS}


@pytest.fixture(scope="module")
def models(folders):
    return {kind: encoders.build(str(folder), folder=folder) for kind, folder in folders.items()}


def images(count=6):
    return [noise(number, (30 + 9 * (number % 5), 50)) for number in range(count)]


def refused(family, weights, folder, *, by_check=True):
    """The message of ``build``, and of ``check`` if ``by_check``; both must be the same."""
    asks = (encoders.check, encoders.build)[not by_check :]
    [message] = {refusal(ask, weights, folder, name=family) for ask in asks}
    return message


def cosine_by_hand(kind, folder, image, text):
    """The forward pass of transformers on one pair, with its scale and bias removed."""
    config = json.loads((folder / "config.json").read_text())
    model = getattr(transformers, config["architectures"][0]).from_pretrained(folder).eval()
    sigmoid = kind in SIGMOID
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(
        text.lower() if kind in ("siglip2", "naflex") else text,
        max_length=LENGTH.get(kind, 24),
        truncation=True,
        padding="max_length" if sigmoid else False,
        padding_side="right",
        return_tensors="pt",
    )
    if sigmoid:
        tokens = {"input_ids": tokens["input_ids"]}
    pixels = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")(image, return_tensors="pt")
    with torch.no_grad():
        logit = model(**tokens, **pixels).logits_per_image.item()
        if kind in ("align", "tipsv2"):
            return logit * model.temperature.item()
        bias = model.logit_bias.item() if sigmoid else 0
        return (logit - bias) / math.exp(model.logit_scale.item())


@pytest.mark.parametrize("kind", KINDS)
def test_it_agrees_with_the_library_called_by_hand(models, folders, kind):
    scores = models[kind].encode_images(images(3)) @ models[kind].encode_texts([*TEXTS[:4], LONG]).T
    for image, text in ((0, 0), (1, 1), (2, 2), (0, 3), (1, 4)):
        by_hand = cosine_by_hand(kind, folders[kind], images()[image].load(), [*TEXTS[:4], LONG][text])
        assert scores[image, text] == pytest.approx(by_hand, abs=2e-6)
    assert scores.std() > 0.01


def test_a_text_without_tokens_has_no_features(models):
    for texts in ([""], ["", "dot"], ["dot", "", " "]):
        with pytest.raises(NoReplyError, match="no tokens") as caught:
            models["tipsv2"].encode_texts(texts)
        assert caught.value.positions == {index for index, text in enumerate(texts) if not text.strip()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_report_says_whether_padding_is_read(models, kind):
    models[kind].encode_texts(read_by(kind))
    said = "with their padding: as in training" if kind in SIGMOID else "without their padding"
    assert f"texts are read {said}" in adapters(models[kind])["Match"]


# The authors' contexts, from the positions and the padding token of the configuration; the tokenizer has no limit.
@tabled
def test_the_published_context(name, positions, tokens):
    family = next(family for family in FAMILIES if family.name == name)
    text = SimpleNamespace(max_position_embeddings=positions, pad_token_id=1)
    found = context(family, SimpleNamespace(text_config=text), SimpleNamespace(model_max_length=int(1e30)))
    assert found == tokens


def test_upper_and_lower_case(models):
    for kind in ("siglip2", "naflex"):  # Gemma's tokenizer distinguishes them, the training did not
        large, small = models[kind].encode_texts(["A Red SQUARE", "a red square"])
        assert large == pytest.approx(small, abs=1e-6)
    for kind in ("altclip", "metaclip2"):  # XLM-RoBERTa distinguishes them, in training too
        large, small = models[kind].encode_texts(["A Red SQUARE", "a red square"])
        assert not np.allclose(large, small)


@pytest.mark.parametrize("kind", KINDS)
def test_yes_is_what_the_sigmoid_says(models, folders, kind):
    model = models[kind]
    if kind not in SIGMOID:
        assert (model.decision_threshold, model.note) == (None, "")
        return
    assert model.decision_threshold == pytest.approx(1.2 / math.exp(2))
    assert "0.162" in model.note
    scorer = ModelPredictor(model=model, name=kind, caller=Caller(name=kind, size=64))
    pairs = [Match(image=image, text=text) for image in images() for text in TEXTS]
    replies = scorer.predict(pairs)
    loaded = type(network(model)).from_pretrained(folders[kind])
    scale, bias = loaded.logit_scale.exp().item(), loaded.logit_bias.item()
    said = [reply.accepted for reply in replies.values()]
    assert said == [1 / (1 + math.exp(-(scale * reply.score + bias))) > 0.5 for reply in replies.values()]
    assert {True, False} == set(said)


@pytest.mark.parametrize("size", [(1, 1), (3, 1), (1, 3), (2, 200)])
def test_images_of_any_shape(models, size):
    odd = LazyImage(key="odd", load=lambda: Image.new("RGB", size, "red"))
    for model in models.values():
        assert np.isfinite(model.encode_images([odd, *images(1)])).all()


def test_a_name_takes_its_own_family_only(folders, models):
    for kind, folder in folders.items():
        for family in FAMILIES:
            if family.name == RIGHT[kind]:
                encoders.check(kind, folder.parent, name=family.name)
                found = encoders.build(kind, folder.parent, name=family.name)
                assert np.array_equal(found.encode_texts(read_by(kind)), models[kind].encode_texts(read_by(kind)))
            else:
                message = refused(family.name, kind, folder.parent)
                assert all(repr(name) in message for name in (family.name, RIGHT[kind]))
                assert f"write {RIGHT[kind]}:{kind}" in message


def test_the_family_is_recognised_by_vocabulary_or_tokenizer_and_others_named(folders, tmp_path):
    config = json.loads((folders["siglip"] / "config.json").read_text())
    assert config["model_type"] == json.loads((folders["siglip2"] / "config.json").read_text())["model_type"]
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "siglip", "text_config": {"vocab_size": 256000}}))
    encoders.check(".", tmp_path, name="siglip2")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "siglip", "text_config": None}))
    encoders.check(".", tmp_path, name="siglip")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "GemmaTokenizerFast"}')
    encoders.check(".", tmp_path, name="siglip2")
    (tmp_path / "tokenizer_config.json").write_text("[")
    assert "tokenizer_config.json cannot be read" in refused("siglip", ".", tmp_path)
    assert "no weights" in refused("dual", "", tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "siglop"}')
    assert "did you mean 'siglip'?" in refused("dual", str(tmp_path), tmp_path)
    (tmp_path / "config.json").write_text("{}")
    assert "model_type ''" in refused("clip", str(tmp_path), tmp_path)


@pytest.fixture
def copy(folders, tmp_path):
    (tmp_path / "copy").mkdir()
    for file in folders["clip"].iterdir():
        (tmp_path / "copy" / file.name).write_bytes(file.read_bytes())
    return tmp_path / "copy"


def test_a_tokenizer_of_another_model(copy, tmp_path):
    words = {f"word{number}</w>": number for number in range(98)} | {"<|startoftext|>": 98, "<|endoftext|>": 99}
    transformers.CLIPTokenizer(vocab=words, merges=[]).save_pretrained(copy)
    encoders.build("copy", folder=tmp_path, name="clip")
    words |= {"more</w>": 100}
    transformers.CLIPTokenizer(vocab=words, merges=[]).save_pretrained(copy)
    message = refused("clip", "copy", tmp_path, by_check=False)
    assert all(words in message for words in ("tokenizer", "101", "100"))
    written = json.loads((copy / "tokenizer_config.json").read_text())
    transformers.CLIPTokenizer(vocab=dict(list(words.items())[:100]), merges=[]).save_pretrained(copy)
    (copy / "tokenizer_config.json").write_text(json.dumps(written | {"pad_token": None}))
    assert "no padding token" in refused("clip", "copy", tmp_path, by_check=False)


WORDS = ["a", "red", "blue", "square", "dot", "of", "the", "big", "man", "dog", "playing", "hill"]
WRITTEN = ("A Red, square.", "the blue dot", "", "dot " * 40, "  Big   DOG!  ")
CONTEXT = 24


def given(model, texts):
    """The inputs of the text encoder for some texts."""
    found = {}
    inside = network(model)
    encode = inside.get_text_features

    def see(**inputs):
        found.update(inputs)
        return encode(**inputs)

    inside.get_text_features = see
    model.encode_texts(texts)
    inside.get_text_features = encode
    return found


def test_siglips_own_tokenizer(tmp_path):
    """No punctuation, lower case, end tokens up to the context (big_vision, c4_en with a sticky end)."""
    sentencepiece = pytest.importorskip("sentencepiece")
    drawn, trained = random.Random(0), io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(drawn.choices(WORDS, k=8)) for _ in range(500)]), model_writer=trained,
        vocab_size=60, hard_vocab_limit=False, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, minloglevel=2,
    )  # fmt: skip
    folder = save("siglip", tmp_path / "siglip")
    (folder / "tokenizer.json").unlink()
    (folder / "spiece.model").write_bytes(trained.getvalue())
    settings = {"tokenizer_class": "SiglipTokenizer", "do_lower_case": True, "model_max_length": 64}
    special = {"eos_token": "</s>", "pad_token": "</s>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | special))
    model = encoders.build("siglip", folder=tmp_path, name="siglip")
    inputs = given(model, WRITTEN)
    reader = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
    for text, row in zip(WRITTEN, inputs["input_ids"].tolist(), strict=True):
        plain = " ".join(text.lower().translate(str.maketrans("", "", string.punctuation)).split())
        ids = [*reader.encode(plain)[: CONTEXT - 1], 1]
        assert row == ids + [1] * (CONTEXT - len(ids))
    assert list(inputs) == ["input_ids"]
    assert len(model.cut_texts) == 1


@pytest.mark.parametrize("kind", ["siglip2", "naflex"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_siglip_2s_tokenizer(tmp_path, kind, side):
    """Gemma's tokenizer with an end but no beginning token; lower case; padding on the right up to the context."""
    folder = save(kind, tmp_path / kind)
    specials = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    vocab = {token: index for index, token in enumerate([*specials, "▁", *string.ascii_letters, ".", ",", "!"])}
    gemma = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[], unk_token="<unk>", byte_fallback=True))
    gemma.normalizer = tokenizers.normalizers.Replace(" ", "▁")
    gemma.post_processor = tokenizers.processors.TemplateProcessing("$A <eos>", special_tokens=[("<eos>", 1)])
    gemma.add_special_tokens(specials)
    gemma.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "GemmaTokenizer", "add_bos_token": False, "add_eos_token": True}
    special = {f"{name}_token": f"<{name}>" for name in ("pad", "eos", "bos", "unk", "mask")}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | special | {"padding_side": side}))
    model = encoders.build(kind, folder=tmp_path, name="siglip2")
    inputs = given(model, WRITTEN)
    for text, row in zip(WRITTEN, inputs["input_ids"].tolist(), strict=True):
        ids = [*(vocab[letter] for letter in text.lower().replace(" ", "▁")[: CONTEXT - 1]), 1]
        assert row == ids + [0] * (CONTEXT - len(ids))
    assert list(inputs) == ["input_ids"]
    assert len(model.cut_texts) == 1

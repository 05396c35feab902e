"""Tokens as in the training of SigLIP and SigLIP 2, from tokenizers in the form that their authors release."""

import io
import json
import random
import string

import pytest
import tokenizers
from dual_checkpoints import save
from held_network import network

from vlgate.models.dual import encoders

WORDS = ["a", "red", "blue", "square", "dot", "of", "the", "big", "man", "dog", "playing", "hill"]
TEXTS = ("A Red, square.", "the blue dot", "", "dot " * 40, "  Big   DOG!  ")
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
    inputs = given(model, TEXTS)
    reader = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
    for text, row in zip(TEXTS, inputs["input_ids"].tolist(), strict=True):
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
    inputs = given(model, TEXTS)
    for text, row in zip(TEXTS, inputs["input_ids"].tolist(), strict=True):
        ids = [*(vocab[letter] for letter in text.lower().replace(" ", "▁")[: CONTEXT - 1]), 1]
        assert row == ids + [0] * (CONTEXT - len(ids))
    assert list(inputs) == ["input_ids"]
    assert len(model.cut_texts) == 1

import math
import sys
from functools import partial

import held_network
import numpy as np
import pytest
import text_checkpoints
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from text_checkpoints import KINDS, WORDS, network, tokenizer

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models import load
from vlgate.models.text import language_models
from vlgate.models.text.language_models import build, check, check_masked, mean_perplexity, valse_perplexity

TEXTS = [
    "a cat sleeps on",
    "two big dog and the small cat sees no red tree on the blue hill and a dog runs under the tree",
    "the dog runs under a tree",
    "a red cat sees a blue dog on the hill",
]
LONG = " ".join(WORDS[number % len(WORDS)] for number in range(50))


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A folder with one checkpoint of each kind."""
    folder = tmp_path_factory.mktemp("text-only")
    for kind in KINDS:
        text_checkpoints.save(kind, folder / kind)
    return folder


CALLS = {
    "gpt2": "gpt2:gpt2",
    "gpt1": "gpt1:gpt1",
    "valse": "causal:gpt2?variant=valse",
    "valse1": "gpt1:gpt1?variant=valse",
    "bert": "masked:bert",
}


def loaded(name, start, **options):
    return load(CALLS[name], folder=start, device="cpu", **options)


def by_hand(kind, text):
    """The library's own loss, which is the mean negative log-likelihood of all tokens but the first."""
    ids = tokenizer(kind)(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
    if kind == "gpt2":
        ids = torch.cat([torch.tensor([[2]]), ids], dim=1)
    with torch.no_grad():
        return math.exp(network(kind)(ids, labels=ids).loss.item())


@pytest.mark.parametrize("kind", ["gpt2", "gpt1"])
def test_perplexity_is_exp_of_the_librarys_own_loss(kind, start):
    expected = [by_hand(kind, text) for text in TEXTS]
    assert loaded(kind, start).model.perplexity(TEXTS) == pytest.approx(expected, rel=1e-5)


def as_released(kind, text):
    """The steps of VALSE's released script, one forward pass per window."""
    ids = tokenizer(kind)(text, return_tensors="pt")["input_ids"]
    model, total, last = network(kind), 0.0, 0
    for begin in range(0, ids.size(1), 3):
        part = ids[:, : begin + 3]
        labels = part.clone()
        labels[:, :-3] = -100
        with torch.no_grad():
            total += model(part, labels=labels).loss.item() * 3
        last = begin
    return math.exp(total / last)


@pytest.mark.parametrize("name", ["valse", "valse1"])
def test_the_released_variant_is_what_the_released_steps_give(name, start):
    texts = [" ".join(LONG.split()[:count]) for count in range(4, 20)]
    kind = "gpt2" if name == "valse" else "gpt1"
    expected = [as_released(kind, text) for text in texts]
    assert loaded(name, start).model.perplexity(texts) == pytest.approx(expected, rel=1e-4)


@given(st.lists(st.floats(0, 20), min_size=3, max_size=40))
def test_the_released_variant_never_counts_less_than_the_plain_one(surprisals):
    assert valse_perplexity(surprisals) >= mean_perplexity(surprisals) * (1 - 1e-9)


def test_pseudo_perplexity_masks_one_token_after_another(start):
    network_, words = network("bert"), tokenizer("bert")
    expected = []
    for text in TEXTS:
        ids = words(text, return_tensors="pt")["input_ids"]
        total = 0.0
        for index in range(1, ids.shape[1] - 1):
            gap = ids.clone()
            gap[0, index] = words.mask_token_id
            with torch.no_grad():
                total -= network_(gap).logits[0, index].log_softmax(-1)[ids[0, index]].item()
        expected.append(math.exp(total / (ids.shape[1] - 2)))
    assert loaded("bert", start).model.perplexity(TEXTS) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("name", "text"), [("gpt2", ""), ("gpt1", "cat"), ("valse", "a cat sleeps"), ("bert", "")])
def test_texts_that_are_too_short_have_no_reply_and_the_others_do(name, text, start):
    model = loaded(name, start).model
    with pytest.raises(NoReplyError, match="too few tokens") as caught:
        model.perplexity([TEXTS[1], text, TEXTS[3], text])
    assert caught.value.positions == {1, 3}


def test_the_note_says_what_was_computed(start):
    notes = {name: loaded(name, start).model.note for name in CALLS}
    assert len({loaded(name, start).fingerprint for name in CALLS}) == len(CALLS)
    assert "the first token is conditioned" in notes["gpt2"]
    assert "the first token is not counted" in notes["gpt1"]
    assert "VALSE's released script" in notes["valse"]
    assert notes["bert"].startswith("pseudo-perplexity")


@pytest.mark.parametrize("name", ["gpt2", "gpt1", "causal"])
def test_an_unknown_variant_gives_the_nearest(name, start):
    with pytest.raises(ModelLoadError, match="did you mean 'valse'"):
        check("gpt2?variant=vals", start, name=name)
    with pytest.raises(ModelLoadError, match="did you mean 'variant'"):
        check("gpt2?varient=valse", start, name=name)
    check("gpt2?variant=valse", start, name=name)


def test_weights_that_are_missing(start):
    for refuses in (partial(check, name="causal"), check_masked):
        with pytest.raises(ModelLoadError):
            refuses("", start)
        with pytest.raises(ModelLoadError, match=r"no folder .*bret; did you mean 'bert'"):
            refuses("./bret", start)
    for name, weights in (("gpt2", "openai-community/gpt2"), ("gpt1", "openai-community/openai-gpt")):
        check("", start, name=name)
        with pytest.raises(ModelLoadError, match=weights):
            build(folder=start, name=name)


def test_a_model_of_another_kind(start):
    with pytest.raises(ModelLoadError, match=r"no mask token|cannot be loaded"):
        load("masked:gpt2", folder=start, device="cpu")


@pytest.mark.parametrize("name", ["causal", "gpt2", "gpt1"])
def test_a_model_that_sees_what_it_should_predict_has_no_perplexity(name, start):
    """transformers also loads BERT as a causal model, although its tokens see the tokens after them."""
    with pytest.raises(ModelLoadError, match=r"^bert is a bert .*masked:NAME"):
        load(f"{name}:bert", folder=start, device="cpu")


def test_a_tokenizer_of_another_model(tmp_path):
    config = transformers.GPT2Config(n_embd=8, n_layer=1, n_head=1, vocab_size=10)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "x")
    tokenizer("gpt2").save_pretrained(tmp_path / "x")
    with pytest.raises(ModelLoadError, match=r"of x has 25 tokens.* 10"):
        load("gpt2:x", folder=tmp_path, device="cpu")


def test_texts_are_cut_at_the_last_position_of_roberta(tmp_path):
    """Its positions are numbered from the padding token's id + 1, and this tokenizer has no limit."""
    config = transformers.RobertaConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, vocab_size=len(WORDS) + 6,
        max_position_embeddings=32, pad_token_id=1,
    )  # fmt: skip
    transformers.RobertaForMaskedLM(config).eval().save_pretrained(tmp_path / "x")
    tokenizer("bert").save_pretrained(tmp_path / "x")
    model = load("masked:x", folder=tmp_path, device="cpu").model
    words = LONG.split()
    whole, cut, longer = model.perplexity([" ".join(words[:length]) for length in (28, 29, 40)])
    assert np.isfinite(whole)
    assert len(model.cut_texts) == 2
    assert cut == pytest.approx(longer, rel=1e-5)


def test_few_masked_copies_are_read_at_a_time_if_the_vocabulary_is_large(start, monkeypatch):
    model = loaded("bert", start).model
    expected, read = model.perplexity(TEXTS), []
    held_network.network(model).register_forward_pre_hook(
        lambda _, __, given: read.append(len(given["input_ids"])), with_kwargs=True
    )
    longest = max(len(tokenizer("bert")(text)["input_ids"]) for text in TEXTS)
    monkeypatch.setattr(language_models, "MOST_LOGITS", 3 * longest * (len(WORDS) + 6))
    assert model.perplexity(TEXTS) == pytest.approx(expected, rel=1e-5)
    assert max(read) == 3


def test_without_transformers(start, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelLoadError, match=r"pip install 'vlgate\[hf\]'"):
        build("gpt2", start, name="gpt2")

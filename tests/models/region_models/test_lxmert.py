import json
import shutil
from functools import partial

import numpy as np
import pytest
import region_stubs
import torch
import transformers
from huggingface_hub import constants
from region_stubs import LXMERT, PAIRS, TEXTS, TOKENS, Stub, image, questions, save_tokenizer
from region_stubs import lxmert as saved

from vlgate.models.regions import lxmert
from vlgate.types import Match, Matcher

ANSWERS = ["", "red", "blue", "yes", "no", "2"]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return saved(transformers.LxmertForPreTraining, tmp_path_factory.mktemp("lxmert") / "base")


@pytest.fixture(scope="module")
def answering(tmp_path_factory):
    folder = saved(transformers.LxmertForQuestionAnswering, tmp_path_factory.mktemp("lxmert") / "gqa")
    (folder / "trainval_label2ans.json").write_text(json.dumps(ANSWERS))
    return folder


@pytest.fixture(autouse=True)
def stub(monkeypatch):
    source = Stub()
    monkeypatch.setattr(lxmert, "region_source", lambda *_, **__: source)
    return source


@pytest.fixture
def matcher(base, tmp_path):
    return lxmert.build(str(base), tmp_path)


def test_an_image_is_processed_once_per_batch(matcher, stub, monkeypatch):
    stacked = []
    real = np.stack
    monkeypatch.setattr(np, "stack", lambda arrays: stacked.append(real(list(arrays))) or stacked[-1])
    one, other = image(0), image(1)
    matcher.match([Match(image=seen, text=text) for text in TEXTS for seen in (one, other)])
    assert [len(array) for array in stacked] == [2, 2]
    assert len(stub.asked) == 1


def test_the_pretrained_model_answers_if_its_answers_are_named(base, tmp_path):
    (tmp_path / "all_ans.json").write_text(json.dumps([{"ans": answer, "dsets": ["vqa"]} for answer in ANSWERS]))
    both = lxmert.build(f"{base}?answers=all_ans.json", tmp_path)
    assert both.match(PAIRS) == pytest.approx(lxmert.build(str(base), tmp_path).match(PAIRS))
    asked = questions("red", "blue")
    seen = [
        {"visual_feats": torch.from_numpy(region.features)[None], "visual_pos": torch.from_numpy(region.boxes)[None]}
        for region in Stub().regions([ask.image for ask in asked])
    ]
    texts = [ask.question for ask in asked]
    replies = region_stubs.one_by_one(base, transformers.LxmertForPreTraining, texts, seen)
    rows = [reply.question_answering_score.numpy()[0] for reply in replies]
    assert both.answer(asked) == ["red" if row[1] > row[2] else "blue" for row in rows]


def test_the_number_of_answers_is_checked_before_a_detector_is_loaded(answering, tmp_path, monkeypatch):
    monkeypatch.setattr(lxmert, "region_source", pytest.fail)
    (tmp_path / "less.json").write_text(json.dumps(ANSWERS[:5]))
    assert "5 answers" in refused(f"{answering}?answers=less.json", tmp_path)


def test_the_note_mentions_texts_longer_than_in_training(base, tmp_path):
    notes = [lxmert.build(f"{base}{asked}", tmp_path).note for asked in ("", "?max_length=21", "?max_length=20")]
    assert notes[2] == "regions of a stub; ranks by the match probability"
    assert notes[0] == notes[1]
    assert "20 tokens" in notes[0]
    assert "?max_length=20" in notes[0]


def refused(weights, folder, build=lxmert.build):
    return region_stubs.refusal(build, weights, folder)


@pytest.mark.parametrize(("name", "model"), [("base", "lxmert"), ("vqa", "lxmert-vqa"), ("gqa", "lxmert-gqa")])
def test_the_published_weights_are_the_default(name, model, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    message = refused("", tmp_path, partial(lxmert.build, name=model))
    assert f"unc-nlp/lxmert-{name}-uncased" in message
    assert "HF_HUB_OFFLINE is set" in message


def copied(folder, to):
    shutil.copytree(folder, to)
    return to


def test_other_checkpoints(base, answering, tmp_path):
    other = copied(base, tmp_path / "other")
    config = json.loads((other / "config.json").read_text()) | {"architectures": ["LxmertForQuestionAnswering"]}
    (other / "config.json").write_text(json.dumps(config))
    (other / "model.safetensors").unlink()
    assert "model.safetensors" in refused("other", tmp_path)
    shutil.copy(answering / "model.safetensors", other)
    (other / "config.json").write_text(json.dumps(config | {"architectures": ["LxmertModel"]}))
    assert "cls.seq_relationship" in refused("other", tmp_path)


@pytest.mark.parametrize("known", [len(TOKENS) - 1, len(TOKENS) + 64])
def test_a_tokenizer_of_another_model(tmp_path, known):
    saved(transformers.LxmertForPreTraining, tmp_path / "other", vocab_size=known)
    assert f"has 29 tokens, the model other knows {known}" in refused("other", tmp_path)


def test_an_embedding_may_be_padded(tmp_path):
    saved(transformers.LxmertForPreTraining, tmp_path / "wide", vocab_size=len(TOKENS) + 63)
    assert np.isfinite(lxmert.build("wide", tmp_path).match(PAIRS)).all()


def test_answers_without_a_head(tmp_path):
    config = transformers.LxmertConfig(**LXMERT, task_qa=False)
    transformers.LxmertForPreTraining(config).save_pretrained(tmp_path / "silent")
    save_tokenizer(tmp_path / "silent")
    (tmp_path / "a.json").write_text(json.dumps(ANSWERS))
    assert "without answers" in refused("silent?answers=a.json", tmp_path)
    assert isinstance(lxmert.build("silent", tmp_path), Matcher)

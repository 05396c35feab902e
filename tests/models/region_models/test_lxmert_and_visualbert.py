import json
import shutil

import numpy as np
import pytest
import region_stubs
import torch
import transformers
from builders import refusal, tabled
from region_stubs import LXMERT, PAIRS, TEXTS, TOKENS, VISUALBERT, WIDTH, Stub, image, questions, save_tokenizer

from vlgate.errors import ModelReplyError
from vlgate.models.cross.answer_lists import AnswerList
from vlgate.models.regions import lxmert, visualbert
from vlgate.models.regions.inputs import region_source
from vlgate.types import Match, Matcher

ANSWERS = ["", "red", "blue", "yes", "no", "2"]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return region_stubs.lxmert(transformers.LxmertForPreTraining, tmp_path_factory.mktemp("lxmert") / "base")


@pytest.fixture(scope="module")
def answering(tmp_path_factory):
    folder = region_stubs.lxmert(transformers.LxmertForQuestionAnswering, tmp_path_factory.mktemp("lxmert") / "gqa")
    (folder / "trainval_label2ans.json").write_text(json.dumps(ANSWERS))
    return folder


@pytest.fixture(autouse=True)
def stub(monkeypatch):
    """Let models take their regions from a stub instead of the detector, whose vectors are wider."""
    source = Stub()
    monkeypatch.setattr(visualbert, "WIDTH", WIDTH)
    for adapter in (lxmert, visualbert):
        monkeypatch.setattr(adapter, "region_source", lambda *_, **__: source)
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
    return refusal(build, weights, folder)


def test_other_checkpoints(base, answering, tmp_path):
    other = shutil.copytree(base, tmp_path / "other")
    config = json.loads((other / "config.json").read_text()) | {"architectures": ["LxmertForQuestionAnswering"]}
    (other / "config.json").write_text(json.dumps(config))
    (other / "model.safetensors").unlink()
    assert "model.safetensors" in refused("other", tmp_path)
    shutil.copy(answering / "model.safetensors", other)
    (other / "config.json").write_text(json.dumps(config | {"architectures": ["LxmertModel"]}))
    assert "cls.seq_relationship" in refused("other", tmp_path)


def test_a_tokenizer_of_another_model_but_an_embedding_may_be_padded(tmp_path):
    for known in (len(TOKENS) - 1, len(TOKENS) + 64):
        region_stubs.lxmert(transformers.LxmertForPreTraining, tmp_path / "other", vocab_size=known)
        assert f"has 29 tokens, the model other knows {known}" in refused("other", tmp_path)
    region_stubs.lxmert(transformers.LxmertForPreTraining, tmp_path / "wide", vocab_size=len(TOKENS) + 63)
    assert np.isfinite(lxmert.build("wide", tmp_path).match(PAIRS)).all()


def test_answers_without_a_head(tmp_path):
    config = transformers.LxmertConfig(**LXMERT, task_qa=False)
    transformers.LxmertForPreTraining(config).save_pretrained(tmp_path / "silent")
    save_tokenizer(tmp_path / "silent")
    (tmp_path / "a.json").write_text(json.dumps(ANSWERS))
    assert "without answers" in refused("silent?answers=a.json", tmp_path)
    assert isinstance(lxmert.build("silent", tmp_path), Matcher)


@pytest.fixture(scope="module")
def coco(tmp_path_factory):
    kind = transformers.VisualBertForPreTraining
    return region_stubs.visualbert(kind, tmp_path_factory.mktemp("visualbert") / "coco")


@pytest.fixture(scope="module")
def vqa(tmp_path_factory):
    kind = transformers.VisualBertForQuestionAnswering
    folder = region_stubs.visualbert(kind, tmp_path_factory.mktemp("visualbert") / "vqa", num_labels=6)
    (folder / "answers_vqa.txt").write_text("\n".join(ANSWERS) + "\n")
    return folder


@pytest.fixture
def visual(coco, tmp_path):
    return visualbert.build(str(coco), tmp_path)


def seen(features, box_type=0):
    """The library's inputs for images, with a token type for boxes."""
    places = torch.ones(features.shape[:2], dtype=torch.long)
    return {"visual_embeds": features, "visual_attention_mask": places, "visual_token_type_ids": places * box_type}


def one_by_one(folder, kind, requests, texts, box_type=0):
    regions = Stub().regions([request.image for request in requests])
    images = [seen(torch.from_numpy(region.features)[None], box_type) for region in regions]
    return region_stubs.one_by_one(folder, kind, texts, images)


def match_logits(folder, box_type):
    kind = transformers.VisualBertForPreTraining
    found = one_by_one(folder, kind, PAIRS, [pair.text for pair in PAIRS], box_type)
    return np.concatenate([reply.seq_relationship_logits.numpy() for reply in found]).astype(np.float64)


def test_the_options_of_a_match_and_of_boxes(coco, visual, tmp_path):
    other = visualbert.build(f"{coco}?match=0", tmp_path)
    assert other.match(PAIRS) == pytest.approx(-visual.match(PAIRS))
    assert other.fingerprint != visual.fingerprint
    assert "logit 1 is read as the match" in visual.note
    assert "logit 0 is read as the match" in other.note
    raw = visualbert.build(f"{coco}?score=logit&match=0", tmp_path)
    assert raw.match(PAIRS) == pytest.approx(match_logits(coco, box_type=0)[:, 0], rel=1e-5, abs=1e-6)
    other = visualbert.build(f"{coco}?box_type=1", tmp_path)
    logits = match_logits(coco, box_type=1)
    assert other.match(PAIRS) == pytest.approx(logits[:, 1] - logits[:, 0], rel=1e-5, abs=1e-6)
    assert not np.allclose(other.match(PAIRS), visual.match(PAIRS))
    assert other.fingerprint != visual.fingerprint


def qa_logits(folder, asked):
    texts = [f"{ask.question} [MASK]" for ask in asked]  # the head reads the token before the last
    found = one_by_one(folder, transformers.VisualBertForQuestionAnswering, asked, texts)
    return np.concatenate([reply.logits.numpy() for reply in found])


def test_a_question_is_cut_before_its_mask(vqa, tmp_path):
    model = visualbert.build(f"{vqa}?max_length=8", tmp_path)
    fits, long = "what color is it ?", "what color is it on the left of the square ?"
    assert model.answer(questions(text=fits)) == [ANSWERS[row.argmax()] for row in qa_logits(vqa, questions(text=fits))]
    assert len(model.cut_texts) == 0
    model.answer(questions(text=long))
    assert model.cut_texts == {long}
    rows = qa_logits(vqa, questions(text="what color is it on"))
    assert model.answer(questions(text=long)) == [ANSWERS[row.argmax()] for row in rows]


@tabled
def test_questions_have_no_comma_and_end_with_one_question_mark(vqa, tmp_path, text, monkeypatch):
    rows = qa_logits(vqa, questions(text="is it red or a blue square ?"))
    model = visualbert.build(str(vqa), tmp_path)
    monkeypatch.setattr(AnswerList, "choose", lambda _, scores, __: scores)
    assert model.answer(questions(text=text)) == pytest.approx(rows, rel=1e-5, abs=1e-6)


def test_the_built_in_detector_does_not_fit_every_checkpoint(coco, tmp_path, monkeypatch):
    monkeypatch.setattr(visualbert, "WIDTH", 2048)
    monkeypatch.setattr(visualbert, "region_source", region_source)
    message = refused(str(coco), tmp_path, visualbert.build)
    for words in (
        "takes 8 numbers per box", "2048", "uclanlp/visualbert-vqa*", "visualbert-nlvr2* 1024", "visualbert-vcr* 512",
        "regions=FILE",
    ):  # fmt: skip
        assert words in message
    missing = refused(f"{coco}?regions=none.tsv", tmp_path, visualbert.build)
    assert "none.tsv is not there" in missing
    assert "nlvr2" not in missing


def test_a_file_of_another_detectors_features(coco, tmp_path, monkeypatch):
    monkeypatch.setattr(visualbert, "region_source", region_source)
    boxes, wide = np.tile(Stub().regions([image(0)])[0].boxes, (1, 3, 1)), np.zeros((1, 15, 9), np.float32)
    np.savez(tmp_path / "wide.npz", images=["red-0"], features=wide, boxes=boxes)
    np.savez(tmp_path / "right.npz", images=["red-0"], features=wide[..., :8], boxes=boxes)
    pairs = [Match(image=image(0), text="a cat")]
    with pytest.raises(ModelReplyError, match=r"9 numbers per box, the model takes 8.*visualbert-nlvr2\* 1024"):
        visualbert.build(f"{coco}?regions=wide.npz", tmp_path).match(pairs)
    assert np.isfinite(visualbert.build(f"{coco}?regions=right.npz", tmp_path).match(pairs)).all()


def test_unknown_values_of_its_options_are_refused(coco, tmp_path):
    assert "no weights" in refused("", tmp_path, visualbert.build)
    assert "match='2': expected 1 or 0" in refused(f"{coco}?match=2", tmp_path, visualbert.build)
    assert "box_type='x': expected 0 or 1" in refused(f"{coco}?match=1&box_type=x", tmp_path, visualbert.build)


@tabled
def test_a_checkpoint_that_neither_matches_nor_answers(kind, tmp_path):
    getattr(transformers, kind)(transformers.VisualBertConfig(**VISUALBERT)).save_pretrained(tmp_path / "other")
    message = refused("other", tmp_path, visualbert.build)
    assert f"other is a {kind}" in message
    assert "uclanlp/visualbert-nlvr2-coco-pre" in message


def test_the_rollout_is_the_product_of_the_librarys_own_attention(coco, visual):
    whole = transformers.VisualBertForPreTraining.from_pretrained(coco, attn_implementation="eager").eval()
    pair = PAIRS[0]
    [regions] = Stub().regions([pair.image])
    tokens, _ = visual._inputs.tokens([pair.text])
    with torch.inference_mode():
        reply = whole.visual_bert(
            **tokens, **seen(torch.from_numpy(regions.features)[None]), output_attentions=True
        ).attentions
    token = np.eye(reply[0].shape[-1])[0]
    for layer in reversed(reply):
        token = (token @ layer[0].mean(dim=0).double().numpy() + token) / 2
    expected = token[len(token) - len(regions.boxes) :]
    [found] = visual.attention_rollout([pair])
    assert np.array(found.weights) == pytest.approx(expected / expected.max(), abs=1e-5)
    assert np.array(found.boxes) == pytest.approx(regions.boxes)

import numpy as np
import pytest
import region_stubs
import torch
import transformers
from region_stubs import PAIRS, VISUALBERT, WIDTH, Stub, image, questions
from region_stubs import visualbert as saved

from vlgate.errors import ModelReplyError
from vlgate.models.cross.answer_lists import AnswerList
from vlgate.models.regions import visualbert
from vlgate.types import Match

ANSWERS = ["<unk>", "red", "blue", "yes", "no", "2"]


@pytest.fixture(scope="module")
def coco(tmp_path_factory):
    return saved(transformers.VisualBertForPreTraining, tmp_path_factory.mktemp("visualbert") / "coco")


@pytest.fixture(scope="module")
def vqa(tmp_path_factory):
    kind = transformers.VisualBertForQuestionAnswering
    folder = saved(kind, tmp_path_factory.mktemp("visualbert") / "vqa", num_labels=6)
    (folder / "answers_vqa.txt").write_text("\n".join(ANSWERS) + "\n")
    return folder


def with_regions(monkeypatch, source):
    """Let models take their regions from ``source`` instead of the detector, whose vectors are wider."""
    monkeypatch.setattr(visualbert, "WIDTH", WIDTH)
    monkeypatch.setattr(visualbert, "region_source", lambda *_, **__: source)
    return source


@pytest.fixture
def stub(monkeypatch):
    return with_regions(monkeypatch, Stub())


@pytest.fixture
def matcher(coco, stub, tmp_path):  # noqa: ARG001  # a fixture cannot say usefixtures
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


@pytest.mark.usefixtures("stub")
def test_the_logit_of_a_match_is_an_option(coco, matcher, tmp_path):
    other = visualbert.build(f"{coco}?match=0", tmp_path)
    assert other.match(PAIRS) == pytest.approx(-matcher.match(PAIRS))
    assert other.fingerprint != matcher.fingerprint
    assert "logit 1 is read as the match" in matcher.note
    assert "logit 0 is read as the match" in other.note
    raw = visualbert.build(f"{coco}?score=logit&match=0", tmp_path)
    assert raw.match(PAIRS) == pytest.approx(match_logits(coco, box_type=0)[:, 0], rel=1e-5, abs=1e-6)


@pytest.mark.usefixtures("stub")
def test_boxes_have_the_releases_token_type_by_default(coco, matcher, tmp_path):
    other = visualbert.build(f"{coco}?box_type=1", tmp_path)
    logits = match_logits(coco, box_type=1)
    assert other.match(PAIRS) == pytest.approx(logits[:, 1] - logits[:, 0], rel=1e-5, abs=1e-6)
    assert not np.allclose(other.match(PAIRS), matcher.match(PAIRS))
    assert other.fingerprint != matcher.fingerprint


def qa_logits(folder, asked):
    texts = [f"{ask.question} [MASK]" for ask in asked]  # the head reads the token before the last
    found = one_by_one(folder, transformers.VisualBertForQuestionAnswering, asked, texts)
    return np.concatenate([reply.logits.numpy() for reply in found])


@pytest.mark.usefixtures("stub")
def test_a_question_is_cut_before_its_mask(vqa, tmp_path):
    model = visualbert.build(f"{vqa}?max_length=8", tmp_path)
    fits, long = "what color is it ?", "what color is it on the left of the square ?"
    assert model.answer(questions(text=fits)) == [ANSWERS[row.argmax()] for row in qa_logits(vqa, questions(text=fits))]
    assert len(model.cut_texts) == 0
    model.answer(questions(text=long))
    assert model.cut_texts == {long}
    rows = qa_logits(vqa, questions(text="what color is it on"))
    assert model.answer(questions(text=long)) == [ANSWERS[row.argmax()] for row in rows]


@pytest.mark.parametrize(
    "text", ["is it red or a blue square", "Is it red, or a blue square?", "is it, red or a blue square ??"]
)
@pytest.mark.usefixtures("stub")
def test_questions_have_no_comma_and_end_with_one_question_mark(vqa, tmp_path, text, monkeypatch):
    rows = qa_logits(vqa, questions(text="is it red or a blue square ?"))
    model = visualbert.build(str(vqa), tmp_path)
    monkeypatch.setattr(AnswerList, "choose", lambda _, scores, __: scores)
    assert model.answer(questions(text=text)) == pytest.approx(rows, rel=1e-5, abs=1e-6)


def refused(weights, folder):
    return region_stubs.refusal(visualbert.build, weights, folder)


def test_the_built_in_detector_does_not_fit_every_checkpoint(coco, tmp_path):
    message = refused(str(coco), tmp_path)
    for words in (
        "takes 8 numbers per box", "2048", "uclanlp/visualbert-vqa*", "visualbert-nlvr2* 1024", "visualbert-vcr* 512",
        "regions=FILE",
    ):  # fmt: skip
        assert words in message
    missing = refused(f"{coco}?regions=none.tsv", tmp_path)
    assert "none.tsv is not there" in missing
    assert "nlvr2" not in missing


def test_a_file_of_another_detectors_features(coco, tmp_path):
    boxes, wide = np.tile(Stub().regions([image(0)])[0].boxes, (1, 3, 1)), np.zeros((1, 15, 9), np.float32)
    np.savez(tmp_path / "wide.npz", images=["red-0"], features=wide, boxes=boxes)
    np.savez(tmp_path / "right.npz", images=["red-0"], features=wide[..., :8], boxes=boxes)
    pairs = [Match(image=image(0), text="a cat")]
    with pytest.raises(ModelReplyError, match=r"9 numbers per box, the model takes 8.*visualbert-nlvr2\* 1024"):
        visualbert.build(f"{coco}?regions=wide.npz", tmp_path).match(pairs)
    assert np.isfinite(visualbert.build(f"{coco}?regions=right.npz", tmp_path).match(pairs)).all()


@pytest.mark.usefixtures("stub")
def test_unknown_values_of_its_options_are_refused(coco, tmp_path):
    assert "no weights" in refused("", tmp_path)
    assert "match='2': expected 1 or 0" in refused(f"{coco}?match=2", tmp_path)
    assert "box_type='x': expected 0 or 1" in refused(f"{coco}?match=1&box_type=x", tmp_path)


@pytest.mark.parametrize("kind", ["VisualBertForVisualReasoning", "VisualBertModel"])
def test_a_checkpoint_that_neither_matches_nor_answers(kind, tmp_path):
    getattr(transformers, kind)(transformers.VisualBertConfig(**VISUALBERT)).save_pretrained(tmp_path / "other")
    message = refused("other", tmp_path)
    assert f"other is a {kind}" in message
    assert "uclanlp/visualbert-nlvr2-coco-pre" in message


def test_the_rollout_is_the_product_of_the_librarys_own_attention(coco, matcher):
    whole = transformers.VisualBertForPreTraining.from_pretrained(coco, attn_implementation="eager").eval()
    pair = PAIRS[0]
    [regions] = Stub().regions([pair.image])
    tokens, _ = matcher._inputs.tokens([pair.text])
    with torch.inference_mode():
        reply = whole.visual_bert(
            **tokens, **seen(torch.from_numpy(regions.features)[None]), output_attentions=True
        ).attentions
    token = np.eye(reply[0].shape[-1])[0]
    for layer in reversed(reply):
        token = (token @ layer[0].mean(dim=0).double().numpy() + token) / 2
    expected = token[len(token) - len(regions.boxes) :]
    [found] = matcher.attention_rollout([pair])
    assert np.array(found.weights) == pytest.approx(expected / expected.max(), abs=1e-5)
    assert np.array(found.boxes) == pytest.approx(regions.boxes)

import json
import shutil

import numpy as np
import pytest
import region_stubs
import torch
import transformers
from region_stubs import PAIRS, STILL, TOKENS, VISUALBERT, WIDTH, Stub, image, questions, save_tokenizer
from region_stubs import visualbert as saved

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models import load
from vlgate.models.cross.answer_lists import AnswerList
from vlgate.models.regions import visualbert
from vlgate.types import Answerer, Match, Matcher

ANSWERS = ["<unk>", "red", "blue", "yes", "no", "2"]


@pytest.fixture(autouse=True)
def offline_and_alone(monkeypatch):
    with region_stubs.offline_and_alone(monkeypatch):
        yield


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
    images = [seen(torch.from_numpy(one.features)[None], box_type) for one in regions]
    return region_stubs.one_by_one(folder, kind, texts, images)


def match_logits(folder, box_type):
    kind = transformers.VisualBertForPreTraining
    found = one_by_one(folder, kind, PAIRS, [pair.text for pair in PAIRS], box_type)
    return np.concatenate([reply.seq_relationship_logits.numpy() for reply in found]).astype(np.float64)


@pytest.mark.usefixtures("stub")
def test_scores_are_the_librarys_own(coco, matcher, tmp_path):
    logits = match_logits(coco, box_type=0)
    scores = matcher.match(PAIRS)
    assert scores.dtype == np.float64
    assert scores == pytest.approx(logits[:, 1] - logits[:, 0], rel=1e-5, abs=1e-6)
    assert matcher.decision_threshold == 0.0
    assert isinstance(matcher, Matcher)
    assert not isinstance(matcher, Answerer)
    other = visualbert.build(f"{coco}?match=0", tmp_path)
    assert other.match(PAIRS) == pytest.approx(-scores)
    assert other.fingerprint != matcher.fingerprint
    assert "logit 1 is read as the match" in matcher.note
    assert "logit 0 is read as the match" in other.note


def turns(one, other):
    """The number of pairs of requests that two scores order differently."""
    return int((np.sign(one[:, None] - one) != np.sign(other[:, None] - other)).sum()) // 2


@pytest.mark.usefixtures("stub")
@pytest.mark.parametrize("match", [0, 1])
def test_pairs_are_ranked_by_the_librarys_raw_match_logit_on_request(coco, matcher, tmp_path, match):
    raw = visualbert.build(f"{coco}?score=logit&match={match}", tmp_path)
    assert raw.match(PAIRS) == pytest.approx(match_logits(coco, box_type=0)[:, match], rel=1e-5, abs=1e-6)
    assert turns(raw.match(PAIRS), matcher.match(PAIRS)) > 0
    assert raw.decision_threshold is None
    assert "ranks by the raw match logit (VALSE's script)" in raw.note
    assert "ranks by the match probability" in matcher.note
    assert raw.fingerprint != matcher.fingerprint


@pytest.mark.usefixtures("stub")
def test_boxes_have_the_releases_token_type_by_default(coco, matcher, tmp_path):
    other = visualbert.build(f"{coco}?box_type=1", tmp_path)
    logits = match_logits(coco, box_type=1)
    assert other.match(PAIRS) == pytest.approx(logits[:, 1] - logits[:, 0], rel=1e-5, abs=1e-6)
    assert not np.allclose(other.match(PAIRS), matcher.match(PAIRS))
    assert other.fingerprint != matcher.fingerprint


def test_batch_order_and_neighbours_make_no_difference(matcher):
    region_stubs.is_steady(matcher)


def test_images_may_have_other_numbers_of_boxes(coco, tmp_path, monkeypatch):
    with_regions(monkeypatch, Stub(ragged=True))
    model = visualbert.build(str(coco), tmp_path)
    alone = np.concatenate([model.match([pair]) for pair in PAIRS])
    assert model.match(PAIRS) == pytest.approx(alone, rel=1e-5, abs=1e-6)


def test_an_image_without_features_has_no_reply(coco, tmp_path, monkeypatch):
    with_regions(monkeypatch, Stub(missing=["red-2"]))
    with pytest.raises(NoReplyError) as caught:
        visualbert.build(str(coco), tmp_path).match(PAIRS)
    assert caught.value.positions == {2}


@pytest.mark.usefixtures("stub")
@pytest.mark.parametrize(("label", "options"), [(1, ""), (0, "?match=0")])
def test_the_match_is_the_label_of_true_texts(coco, tmp_path, label, options):
    """Models trained with the release's label of a match, 1, or with the library's documented one, 0."""
    model = transformers.VisualBertForPreTraining.from_pretrained(coco, **STILL)
    lesson = region_stubs.Lesson(coco)
    ids = lesson.texts["input_ids"]
    words = torch.full((len(ids), ids.shape[1] + lesson.features.shape[1]), -100)
    words[:, 1] = ids[:, 1]  # the library takes a pair's label only together with labels of words
    labels = {"labels": words, "sentence_image_labels": lesson.true if label else 1 - lesson.true}
    lesson.teach(model, seen(lesson.features) | labels, 5e-3, tmp_path / "trained")
    assert region_stubs.tells_colors(visualbert.build(f"trained{options}", tmp_path))


def qa_logits(folder, asked):
    texts = [f"{ask.question} [MASK]" for ask in asked]  # the head reads the token before the last
    found = one_by_one(folder, transformers.VisualBertForQuestionAnswering, asked, texts)
    return np.concatenate([reply.logits.numpy() for reply in found])


@pytest.mark.usefixtures("stub")
def test_answers(vqa, tmp_path):
    model = visualbert.build(str(vqa), tmp_path)
    assert isinstance(model, Answerer)
    assert not isinstance(model, Matcher)
    rows = qa_logits(vqa, questions())
    assert model.answer(questions("yes", "no")) == ["yes" if row[3] > row[4] else "no" for row in rows]
    assert model.answer(questions("two", "red")) == ["two" if row[5] > row[1] else "red" for row in rows]
    best = [ANSWERS[row.argmax()] for row in rows]
    assert model.answer(questions()) == best
    assert visualbert.build(f"{vqa}?mode=open", tmp_path).answer(questions("yes", "no")) == best
    with pytest.raises(NoReplyError, match="'parrot'"):
        model.answer(questions("parrot", "no"))
    assert "'parrot'" in model.note


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


@pytest.mark.usefixtures("stub")
def test_answers_must_be_named(vqa, tmp_path):
    shutil.copytree(vqa, tmp_path / "unnamed")
    (tmp_path / "unnamed" / "answers_vqa.txt").unlink()
    assert "answers_vqa.txt of Pythia's" in refused("unnamed", tmp_path)
    config = json.loads((vqa / "config.json").read_text())
    config |= {"id2label": dict(enumerate(ANSWERS)), "label2id": {answer: n for n, answer in enumerate(ANSWERS)}}
    (tmp_path / "unnamed" / "config.json").write_text(json.dumps(config))
    asked = questions("yes", "no", "red")
    assert visualbert.build("unnamed", tmp_path).answer(asked) == visualbert.build(str(vqa), tmp_path).answer(asked)


def test_texts_that_are_cut_are_counted(matcher):
    matcher.match([Match(image=image(0), text=text) for text in ("cat " * 22, "cat " * 23, "a cat")])
    assert len(matcher.cut_texts) == 1


def test_half_precision(coco, vqa, matcher, tmp_path):
    half = visualbert.build(str(coco), tmp_path, dtype="bfloat16")
    assert half.match(PAIRS) == pytest.approx(matcher.match(PAIRS), abs=0.2)
    assert half.match(PAIRS) != pytest.approx(matcher.match(PAIRS), rel=1e-5)  # which float32 is, see above
    answers = visualbert.build(str(vqa), tmp_path, dtype="bfloat16").answer(questions("yes", "no"))
    assert set(answers) <= {"yes", "no"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_gives_the_same(coco, vqa, matcher, tmp_path):
    scores = visualbert.build(str(coco), tmp_path, device="cuda").match(PAIRS)
    assert scores == pytest.approx(matcher.match(PAIRS), rel=1e-3, abs=1e-4)
    asked = questions("red", "blue")
    here, there = (visualbert.build(str(vqa), tmp_path, device=device).answer(asked) for device in ("cpu", "cuda"))
    assert here == there


@pytest.mark.usefixtures("stub")
def test_as_an_option_of_the_command_line(coco, tmp_path):
    loaded = load(f"vlgate.models.regions.visualbert:build:{coco}", folder=tmp_path, device="cpu")
    assert "regions of a stub" in loaded.model.note
    half = load(f"vlgate.models.regions.visualbert:build:{coco}", folder=tmp_path, device="cpu", dtype="bfloat16")
    assert half.fingerprint != loaded.fingerprint


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
def test_missing_files_and_unknown_options_are_refused(coco, tmp_path):
    assert "no weights" in refused("", tmp_path)
    assert "no folder" in refused("./coco", tmp_path)
    assert "match='2': expected 1 or 0" in refused(f"{coco}?match=2", tmp_path)
    assert "box_type='x': expected 0 or 1" in refused(f"{coco}?match=1&box_type=x", tmp_path)
    assert "mode='free'" in refused(f"{coco}?mode=free", tmp_path)
    assert "did you mean 'answers'" in refused(f"{coco}?answer=x", tmp_path)
    (tmp_path / "broken.json").write_text("[")
    with pytest.raises(ModelLoadError, match=r"broken\.json"):
        visualbert.check(f"{coco}?answers=broken.json", tmp_path)


@pytest.mark.parametrize("kind", ["VisualBertForVisualReasoning", "VisualBertModel"])
def test_a_checkpoint_that_neither_matches_nor_answers(kind, tmp_path):
    getattr(transformers, kind)(transformers.VisualBertConfig(**VISUALBERT)).save_pretrained(tmp_path / "other")
    message = refused("other", tmp_path)
    assert f"other is a {kind}" in message
    assert "uclanlp/visualbert-nlvr2-coco-pre" in message


@pytest.mark.parametrize("lost", ["cls.seq_relationship.bias", "visual_bert.embeddings.visual_projection.weight"])
@pytest.mark.usefixtures("stub")
def test_missing_weights_are_refused(coco, tmp_path, lost):
    model = transformers.VisualBertForPreTraining.from_pretrained(coco)
    states = {name: value for name, value in model.state_dict().items() if name != lost}
    model.save_pretrained(tmp_path / "half", state_dict=states)
    save_tokenizer(tmp_path / "half")
    assert lost in refused("half", tmp_path)


@pytest.mark.usefixtures("stub")
def test_berts_tokenizer_is_the_default(coco, tmp_path):
    """The published checkpoints of VisualBERT have no tokenizer."""
    shutil.copytree(coco, tmp_path / "bare")
    for name in ("tokenizer.json", "vocab.txt"):
        (tmp_path / "bare" / name).unlink()
    message = refused("bare", tmp_path)
    assert "google-bert/bert-base-uncased" in message
    assert "tokenizer=FOLDER" in message
    found = visualbert.build(f"bare?tokenizer={coco}", tmp_path)
    assert found.match(PAIRS).shape == (6,)
    save_tokenizer(tmp_path / "turned", [*TOKENS[:5], *TOKENS[:4:-1]])
    assert visualbert.build("bare?tokenizer=turned", tmp_path).fingerprint != found.fingerprint


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

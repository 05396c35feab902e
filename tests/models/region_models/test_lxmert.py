import json
import shutil
from functools import partial

import numpy as np
import pytest
import region_stubs
import torch
import transformers
from huggingface_hub import constants
from region_stubs import LXMERT, PAIRS, STILL, TEXTS, TOKENS, Stub, image, questions, save_tokenizer
from region_stubs import lxmert as saved

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models import load
from vlgate.models.regions import lxmert
from vlgate.types import Answerer, Match, Matcher

ANSWERS = ["", "red", "blue", "yes", "no", "2"]

gqa = partial(lxmert.build, name="lxmert-gqa")


@pytest.fixture(autouse=True)
def offline_and_alone(monkeypatch):
    with region_stubs.offline_and_alone(monkeypatch):
        yield


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


@pytest.fixture
def answerer(answering, tmp_path):
    return lxmert.build(str(answering), tmp_path, name="lxmert-gqa")


def one_by_one(folder, kind, requests, texts):
    regions = Stub().regions([request.image for request in requests])
    seen = [{"visual_feats": torch.from_numpy(one.features)[None], "visual_pos": torch.from_numpy(one.boxes)[None]}
            for one in regions]  # fmt: skip
    return region_stubs.one_by_one(folder, kind, texts, seen)


def test_scores_are_the_librarys_own(base, matcher):
    found = one_by_one(base, transformers.LxmertForPreTraining, PAIRS, [pair.text for pair in PAIRS])
    logits = np.concatenate([reply.cross_relationship_score.numpy() for reply in found]).astype(np.float64)
    scores = matcher.match(PAIRS)
    assert scores.dtype == np.float64
    assert scores.shape == (len(PAIRS),)
    assert scores == pytest.approx(logits[:, 1] - logits[:, 0], rel=1e-5, abs=1e-6)
    assert matcher.decision_threshold == 0.0
    assert isinstance(matcher, Matcher)
    assert not isinstance(matcher, Answerer)


def turns(one, other):
    """The number of pairs of requests that two scores order differently."""
    return int((np.sign(one[:, None] - one) != np.sign(other[:, None] - other)).sum()) // 2


def test_pairs_are_ranked_by_the_librarys_raw_match_logit_on_request(base, answering, matcher, tmp_path):
    found = one_by_one(base, transformers.LxmertForPreTraining, PAIRS, [pair.text for pair in PAIRS])
    raw = lxmert.build(f"{base}?score=logit", tmp_path)
    expected = [reply.cross_relationship_score[0, 1].item() for reply in found]
    assert raw.match(PAIRS) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert turns(raw.match(PAIRS), matcher.match(PAIRS)) > 0
    assert raw.decision_threshold is None
    assert "ranks by the raw match logit (VALSE's script)" in raw.note
    assert "ranks by the match probability" in matcher.note
    assert raw.fingerprint != matcher.fingerprint
    assert "does not match" in refused(f"{answering}?score=logit", tmp_path, gqa)


def test_batch_order_and_neighbours_make_no_difference(matcher):
    region_stubs.is_steady(matcher)


def test_an_image_is_processed_once_per_batch(matcher, stub, monkeypatch):
    stacked = []
    real = np.stack
    monkeypatch.setattr(np, "stack", lambda arrays: stacked.append(real(list(arrays))) or stacked[-1])
    one, other = image(0), image(1)
    matcher.match([Match(image=seen, text=text) for text in TEXTS for seen in (one, other)])
    assert [len(array) for array in stacked] == [2, 2]
    assert len(stub.asked) == 1


def test_an_image_without_features_has_no_reply(base, tmp_path, monkeypatch):
    monkeypatch.setattr(lxmert, "region_source", lambda *_, **__: Stub(missing=["blue-1"]))
    model = lxmert.build(f"{base}?max_length=5", tmp_path)
    with pytest.raises(NoReplyError) as caught:
        model.match(PAIRS)
    assert caught.value.positions == {place for place, pair in enumerate(PAIRS) if pair.image.key == "blue-1"}
    assert len(model.cut_texts) == 0  # they are counted when the others are asked again


def test_features_of_another_size(base, tmp_path, monkeypatch):
    monkeypatch.setattr(lxmert, "region_source", lambda *_, **__: Stub(width=9))
    with pytest.raises(ModelReplyError, match="'red-0' have 9 numbers per box, the model takes 8; regions of a stub"):
        lxmert.build(str(base), tmp_path).match(PAIRS)


def test_the_second_logit_is_the_match(base, tmp_path):
    """A model that is trained with the library's label of a match, 1, scores true texts higher."""
    model = transformers.LxmertForPreTraining.from_pretrained(base, **STILL)
    lesson = region_stubs.Lesson(base)
    seen = {"visual_feats": lesson.features, "visual_pos": lesson.boxes, "matched_label": lesson.true}
    lesson.teach(model, seen, 2e-3, tmp_path / "trained")
    assert region_stubs.tells_colors(lxmert.build("trained", tmp_path))


def qa_logits(folder, asked):
    found = one_by_one(folder, transformers.LxmertForQuestionAnswering, asked, [ask.question for ask in asked])
    return np.concatenate([reply.question_answering_score.numpy() for reply in found])


@pytest.mark.parametrize("choices", [("yes", "no"), ("red", "blue", "a two"), ("no", "a red", "yes", "Blue.")])
def test_the_choice_with_the_highest_logit(answering, answerer, choices):
    places = {"yes": 3, "no": 4, "red": 1, "blue": 2, "a two": 5, "a red": 1, "Blue.": 2}
    asked = questions(*choices)
    best = [max(choices, key=lambda choice: row[places[choice]]) for row in qa_logits(answering, asked)]
    assert answerer.answer(asked) == best
    assert isinstance(answerer, Answerer)
    assert not isinstance(answerer, Matcher)


def test_open_answers(answering, answerer, tmp_path):
    best = [ANSWERS[row.argmax()] for row in qa_logits(answering, questions())]
    assert answerer.answer(questions()) == best
    assert lxmert.build(f"{answering}?mode=open", tmp_path).answer(questions("yes", "no")) == best


def test_a_choice_that_is_not_an_answer_leaves_its_question_without_a_reply(answerer, stub):
    asked = [*questions("yes", "no"), *questions("kneeling", "yes")]
    with pytest.raises(NoReplyError, match="'kneeling'") as caught:
        answerer.answer(asked)
    assert caught.value.positions == set(range(6, 12))
    assert stub.asked == []
    assert answerer.note.startswith("regions of a stub; ")
    assert "('kneeling')" in answerer.note


def test_the_pretrained_model_answers_if_its_answers_are_named(base, tmp_path):
    (tmp_path / "all_ans.json").write_text(json.dumps([{"ans": answer, "dsets": ["vqa"]} for answer in ANSWERS]))
    both = lxmert.build(f"{base}?answers=all_ans.json", tmp_path)
    assert both.match(PAIRS) == pytest.approx(lxmert.build(str(base), tmp_path).match(PAIRS))
    asked = questions("red", "blue")
    replies = one_by_one(base, transformers.LxmertForPreTraining, asked, [ask.question for ask in asked])
    rows = [reply.question_answering_score.numpy()[0] for reply in replies]
    assert both.answer(asked) == ["red" if row[1] > row[2] else "blue" for row in rows]


def test_texts_that_are_cut_are_counted(base, matcher, tmp_path):
    fits, long = "cat " * 22, "cat " * 23 + "dog"
    matcher.match([Match(image=image(0), text=fits)])
    assert len(matcher.cut_texts) == 0
    matcher.match([Match(image=image(0), text=text) for text in (long, fits, "a cat")])
    assert len(matcher.cut_texts) == 1
    short = lxmert.build(f"{base}?max_length=5", tmp_path)
    texts = ["a red square", "a red square on the left", "a red square in it"]
    scores = short.match([Match(image=image(0), text=text) for text in texts])
    assert len(short.cut_texts) == 2
    assert scores == pytest.approx([scores[0]] * 3, rel=1e-5)


def test_the_note_mentions_texts_longer_than_in_training(base, tmp_path):
    notes = [lxmert.build(f"{base}{asked}", tmp_path).note for asked in ("", "?max_length=21", "?max_length=20")]
    assert notes[2] == "regions of a stub; ranks by the match probability"
    assert notes[0] == notes[1]
    assert "20 tokens" in notes[0]
    assert "?max_length=20" in notes[0]


def test_half_precision(base, answering, matcher, tmp_path):
    half = lxmert.build(str(base), tmp_path, dtype="bfloat16")
    assert half.match(PAIRS) == pytest.approx(matcher.match(PAIRS), abs=0.2)
    assert half.match(PAIRS) != pytest.approx(matcher.match(PAIRS), rel=1e-5)  # which float32 is, see above
    assert set(lxmert.build(str(answering), tmp_path, dtype="bfloat16").answer(questions("yes", "no"))) <= {"yes", "no"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_gives_the_same(base, answering, matcher, answerer, tmp_path):
    scores = lxmert.build(str(base), tmp_path, device="cuda").match(PAIRS)
    assert scores == pytest.approx(matcher.match(PAIRS), rel=1e-3, abs=1e-4)
    asked = questions("red", "blue")
    assert lxmert.build(str(answering), tmp_path, device="cuda").answer(asked) == answerer.answer(asked)


def test_as_an_option_of_the_command_line(base, tmp_path):
    loaded = load(f"vlgate.models.regions.lxmert:build:{base}", folder=tmp_path, device="cpu")
    assert "regions of a stub" in loaded.model.note
    others = [load(f"vlgate.models.regions.lxmert:build:{base}{more}", folder=tmp_path, device="cpu", dtype=dtype)
              for more, dtype in (("?max_length=20", "float32"), ("", "bfloat16"))]  # fmt: skip
    prints = {loaded.fingerprint, *(other.fingerprint for other in others)}
    assert len(prints) == 3
    assert load(f"vlgate.models.regions.lxmert:build:{base}", folder=tmp_path, device="cpu").fingerprint in prints


def refused(weights, folder, build=lxmert.build):
    return region_stubs.refusal(build, weights, folder)


@pytest.mark.parametrize(
    ("build", "name"),
    [(lxmert.build, "base"), (partial(lxmert.build, name="lxmert-vqa"), "vqa"), (gqa, "gqa")],
)
def test_the_published_weights_are_the_default(build, name, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    message = refused("", tmp_path, build)
    assert f"unc-nlp/lxmert-{name}-uncased" in message
    assert "HF_HUB_OFFLINE is set" in message


def test_missing_files_and_unknown_options_are_refused(base, tmp_path):
    assert "no folder" in refused("./lxmert", tmp_path)
    assert "did you mean 'regions'" in refused(f"{base}?region=x", tmp_path)
    assert "x.json" in refused(f"{base}?answers=x.json", tmp_path)
    assert "mode='free'" in refused(f"{base}?mode=free", tmp_path)
    (tmp_path / "broken.json").write_text("[")
    with pytest.raises(ModelLoadError, match=r"broken\.json"):
        lxmert.check(f"{base}?answers=broken.json", tmp_path)
    for length in ("0", "3", "25", "-9", "many"):
        assert "from 4 to 24" in refused(f"{base}?max_length={length}", tmp_path)


def test_answers_must_be_named(answering, tmp_path, monkeypatch):
    (answering / "trainval_label2ans.json").rename(tmp_path / "answers.json")
    message = refused(str(answering), tmp_path)
    shutil.copy(tmp_path / "answers.json", answering / "trainval_label2ans.json")
    for words in ("has 6 answers", "answers=FILE", "data/gqa/trainval_label2ans.json (1,842)"):
        assert words in message
    monkeypatch.setattr(lxmert, "region_source", pytest.fail)  # the list is checked before a detector is loaded
    (tmp_path / "less.json").write_text(json.dumps(ANSWERS[:5]))
    assert "5 answers" in refused(f"{answering}?answers=less.json", tmp_path)


def copied(folder, to):
    shutil.copytree(folder, to)
    return to


@pytest.mark.parametrize("lost", ["cls.seq_relationship.weight", "lxmert.pooler.dense.bias"])
def test_missing_weights_are_refused(base, tmp_path, lost):
    model = transformers.LxmertForPreTraining.from_pretrained(base)
    states = {name: value for name, value in model.state_dict().items() if name != lost}
    model.save_pretrained(tmp_path / "half", state_dict=states)
    save_tokenizer(tmp_path / "half")
    assert lost in refused("half", tmp_path)


def test_other_checkpoints(base, answering, tmp_path):
    other = copied(base, tmp_path / "other")
    config = json.loads((other / "config.json").read_text()) | {"architectures": ["LxmertForQuestionAnswering"]}
    (other / "config.json").write_text(json.dumps(config))
    (other / "model.safetensors").unlink()
    assert "model.safetensors" in refused("other", tmp_path)
    shutil.copy(answering / "model.safetensors", other)
    (other / "config.json").write_text(json.dumps(config | {"architectures": ["LxmertModel"]}))
    assert "cls.seq_relationship" in refused("other", tmp_path)
    bare = copied(base, tmp_path / "bare")
    for name in ("tokenizer.json", "vocab.txt"):
        (bare / name).unlink()
    message = refused("bare", tmp_path)
    assert "google-bert/bert-base-uncased" in message
    assert "tokenizer=FOLDER" in message
    (tmp_path / "empty").mkdir()
    assert "empty holds none of tokenizer.json, vocab.txt" in refused("bare?tokenizer=empty", tmp_path)
    assert lxmert.build(f"bare?tokenizer={base}", tmp_path).match(PAIRS).shape == (6,)


@pytest.mark.parametrize("known", [len(TOKENS) - 1, len(TOKENS) + 64])
def test_a_tokenizer_of_another_model(tmp_path, known):
    saved(transformers.LxmertForPreTraining, tmp_path / "other", vocab_size=known)
    assert f"has 29 tokens, the model other knows {known}" in refused("other", tmp_path)


def test_an_embedding_may_be_padded(tmp_path):
    saved(transformers.LxmertForPreTraining, tmp_path / "wide", vocab_size=len(TOKENS) + 63)
    assert np.isfinite(lxmert.build("wide", tmp_path).match(PAIRS)).all()


def test_the_fingerprint_depends_on_the_tokenizers_content_only(base, tmp_path):
    copied(base, tmp_path / "bare")
    for name in ("tokenizer.json", "vocab.txt"):
        (tmp_path / "bare" / name).unlink()
    save_tokenizer(tmp_path / "same")
    save_tokenizer(tmp_path / "turned", [*TOKENS[:5], *TOKENS[:4:-1]])
    same, again, turned = (
        lxmert.build(f"bare?tokenizer={name}", tmp_path) for name in (base, tmp_path / "same", tmp_path / "turned")
    )
    assert not np.allclose(same.match(PAIRS), turned.match(PAIRS))
    assert same.fingerprint == again.fingerprint != turned.fingerprint
    assert (
        lxmert.build(f"{base}?tokenizer=turned", tmp_path).fingerprint != lxmert.build(str(base), tmp_path).fingerprint
    )


def test_answers_without_a_head(tmp_path):
    config = transformers.LxmertConfig(**LXMERT, task_qa=False)
    transformers.LxmertForPreTraining(config).save_pretrained(tmp_path / "silent")
    save_tokenizer(tmp_path / "silent")
    (tmp_path / "a.json").write_text(json.dumps(ANSWERS))
    assert "without answers" in refused("silent?answers=a.json", tmp_path)
    assert isinstance(lxmert.build("silent", tmp_path), Matcher)

import json
import random
import shutil

import numpy as np
import pytest
import torch
import transformers
from huggingface_hub import constants
from region_stubs import COLORS, TOKENS, WIDTH, Stub, one_thread, picture, save_tokenizer

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models import load, lxmert
from vlgate.types import Answerer, Ask, Match, Matcher

SIZES = {
    "vocab_size": len(TOKENS), "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "l_layers": 1,
    "x_layers": 1, "r_layers": 1, "visual_feat_dim": WIDTH, "max_position_embeddings": 24, "num_qa_labels": 6,
    "num_object_labels": 4, "num_attr_labels": 3,
}  # fmt: skip
ANSWERS = ["", "red", "blue", "yes", "no", "2"]
TEXTS = [f"a {color} {thing}" for color in COLORS for thing in ("square", "cat", "dog in a square , is it ?")]
PAIRS = [Match(picture=picture(number % 4), text=text) for number, text in enumerate(TEXTS)]


@pytest.fixture(autouse=True)
def offline_and_alone(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with one_thread():
        yield


def saved(kind, folder):
    torch.manual_seed(0)
    model = kind(transformers.LxmertConfig(**SIZES)).eval()
    with torch.no_grad():  # the library's own start is so small that all scores are nearly equal
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) * 0.1)
    model.save_pretrained(folder)
    save_tokenizer(folder)
    return folder


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
    return lxmert.build_gqa(str(answering), tmp_path)


def one_by_one(folder, kind, requests, texts):
    """Each request through the library's own forward, alone and without padding."""
    model = kind.from_pretrained(folder).eval()
    tokenizer = transformers.BertTokenizer.from_pretrained(folder)
    found = []
    for request, text in zip(requests, texts, strict=True):
        regions = Stub().regions([request.picture])[0]
        feats, boxes = (torch.from_numpy(values)[None] for values in (regions.features, regions.boxes))
        with torch.inference_mode():
            found.append(model(**tokenizer(text, return_tensors="pt"), visual_feats=feats, visual_pos=boxes))
    return found


def test_scores_are_the_librarys_own(base, matcher):
    found = one_by_one(base, transformers.LxmertForPreTraining, PAIRS, [pair.text for pair in PAIRS])
    logits = np.concatenate([reply.cross_relationship_score.numpy() for reply in found]).astype(np.float64)
    scores = matcher.match(PAIRS)
    assert scores.dtype == np.float64
    assert scores.shape == (len(PAIRS),)
    assert scores == pytest.approx(logits[:, 1] - logits[:, 0], rel=1e-5, abs=1e-6)
    assert np.ptp(scores) > 0.1  # so that the next tests say something
    assert matcher.decision_threshold == 0.0
    assert isinstance(matcher, Matcher)
    assert not isinstance(matcher, Answerer)


def test_neither_batch_nor_order_nor_neighbours_matter(matcher):
    together = matcher.match(PAIRS)
    assert np.concatenate([matcher.match([pair]) for pair in PAIRS]) == pytest.approx(together, rel=1e-5, abs=1e-6)
    order = random.Random(0).sample(range(len(PAIRS)), len(PAIRS))
    assert matcher.match([PAIRS[place] for place in order]) == pytest.approx(together[order], rel=1e-5, abs=1e-6)
    long = Match(picture=picture(1), text="a cat is on the left of a dog " * 2)
    assert matcher.match([PAIRS[0], long])[0] == pytest.approx(together[0], rel=1e-5, abs=1e-6)


def test_a_picture_is_seen_once_a_batch(matcher, stub, monkeypatch):
    stacked = []
    real = np.stack
    monkeypatch.setattr(np, "stack", lambda arrays: stacked.append(real(list(arrays))) or stacked[-1])
    one, other = picture(0), picture(1)
    matcher.match([Match(picture=seen, text=text) for text in TEXTS for seen in (one, other)])
    assert [len(array) for array in stacked] == [2, 2]
    assert len(stub.asked) == 1


def test_a_picture_without_features_has_no_reply(base, tmp_path, monkeypatch):
    monkeypatch.setattr(lxmert, "region_source", lambda *_, **__: Stub(missing=["blue-1"]))
    model = lxmert.build(f"{base}?max_length=5", tmp_path)
    with pytest.raises(NoReplyError) as caught:
        model.match(PAIRS)
    assert caught.value.positions == {place for place, pair in enumerate(PAIRS) if pair.picture.key == "blue-1"}
    assert model.truncated_texts == 0  # they are counted when they are asked again, without the lost ones


def test_features_of_another_size(base, tmp_path, monkeypatch):
    monkeypatch.setattr(lxmert, "region_source", lambda *_, **__: Stub(width=9))
    with pytest.raises(ModelReplyError, match="'red-0': it has 9 numbers a box, the model takes 8; regions of a stub"):
        lxmert.build(str(base), tmp_path).match(PAIRS)


def test_the_second_logit_is_the_match(base, tmp_path):
    """A model that learns what the library calls a match (label 1) must score true texts higher here."""
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = transformers.LxmertForPreTraining.from_pretrained(base, **still).train()
    tokenizer = transformers.BertTokenizer.from_pretrained(base)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    numbers = np.arange(32)
    regions = Stub().regions([picture(int(number)) for number in numbers])
    feats, boxes = (
        torch.from_numpy(np.stack([getattr(one, name) for one in regions])) for name in ("features", "boxes")
    )
    said = (numbers // 2) % 2
    texts = tokenizer([f"a {COLORS[color]} square" for color in said], return_tensors="pt")
    labels = torch.from_numpy((said == numbers % 2).astype(np.int64))
    for _ in range(60):
        loss = model(**texts, visual_feats=feats, visual_pos=boxes, matched_label=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.3
    model.save_pretrained(tmp_path / "trained")
    save_tokenizer(tmp_path / "trained")
    found = lxmert.build("trained", tmp_path)
    pairs = [Match(picture=picture(n), text=f"a {color} square") for n in range(40, 50) for color in COLORS]
    scores = found.match(pairs).reshape(-1, 2)
    assert (np.sign(scores) == [[1, -1] if number % 2 == 0 else [-1, 1] for number in range(10)]).all()


def questions(*choices, text="what color is the square ?"):
    return [Ask(picture=picture(number), question=text, choices=choices) for number in range(6)]


def qa_logits(folder, asked):
    found = one_by_one(folder, transformers.LxmertForQuestionAnswering, asked, [ask.question for ask in asked])
    return np.concatenate([reply.question_answering_score.numpy() for reply in found])


@pytest.mark.parametrize("choices", [("yes", "no"), ("red", "blue", "a two"), ("no", "a red", "yes", "Blue.")])
def test_the_choice_with_the_highest_logit(answering, answerer, choices):
    places = {"yes": 3, "no": 4, "red": 1, "blue": 2, "a two": 5, "a red": 1, "Blue.": 2}
    asked = questions(*choices)
    best = [max(choices, key=lambda choice: row[places[choice]]) for row in qa_logits(answering, asked)]
    assert answerer.answer(asked) == best
    assert answerer.note == "regions of a stub"
    assert isinstance(answerer, Answerer)
    assert not isinstance(answerer, Matcher)


def test_open_answers(answering, answerer, tmp_path):
    best = [ANSWERS[row.argmax()] for row in qa_logits(answering, questions())]
    assert answerer.answer(questions()) == best
    assert lxmert.build(f"{answering}?mode=open", tmp_path).answer(questions("yes", "no")) == best


def test_a_choice_that_is_no_answer_leaves_its_question_without_a_reply(answerer, stub):
    asked = [*questions("yes", "no"), *questions("kneeling", "yes")]
    with pytest.raises(NoReplyError, match="'kneeling' is none of the answers that the model knows") as caught:
        answerer.answer(asked)
    assert caught.value.positions == set(range(6, 12))
    assert stub.asked == []
    assert answerer.note.startswith("regions of a stub; 1 choices are none of the model's 6 answers ('kneeling')")


def test_the_pretrained_model_answers_where_its_answers_are_named(base, tmp_path):
    (tmp_path / "all_ans.json").write_text(json.dumps([{"ans": answer, "dsets": ["vqa"]} for answer in ANSWERS]))
    both = lxmert.build(f"{base}?answers=all_ans.json", tmp_path)
    assert both.match(PAIRS) == pytest.approx(lxmert.build(str(base), tmp_path).match(PAIRS))
    asked = questions("red", "blue")
    replies = one_by_one(base, transformers.LxmertForPreTraining, asked, [ask.question for ask in asked])
    rows = [reply.question_answering_score.numpy()[0] for reply in replies]
    assert both.answer(asked) == ["red" if row[1] > row[2] else "blue" for row in rows]


def test_texts_that_lose_their_end_are_counted(base, matcher, tmp_path):
    fits, long = "cat " * 22, "cat " * 23 + "dog"
    matcher.match([Match(picture=picture(0), text=fits)])
    assert matcher.truncated_texts == 0
    matcher.match([Match(picture=picture(0), text=text) for text in (long, fits, "a cat")])
    assert matcher.truncated_texts == 1
    short = lxmert.build(f"{base}?max_length=5", tmp_path)
    texts = ["a red square", "a red square on the left", "a red square in it"]
    scores = short.match([Match(picture=picture(0), text=text) for text in texts])
    assert short.truncated_texts == 2
    assert scores == pytest.approx([scores[0]] * 3, rel=1e-5)


def test_half_precision(base, answering, matcher, tmp_path):
    assert {weights.dtype for weights in matcher._model.parameters()} == {torch.float32}
    half = lxmert.build(str(base), tmp_path, dtype="bfloat16")
    assert half.match(PAIRS) == pytest.approx(matcher.match(PAIRS), abs=0.2)
    assert set(lxmert.build(str(answering), tmp_path, dtype="bfloat16").answer(questions("yes", "no"))) <= {"yes", "no"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_says_the_same(base, answering, matcher, answerer, tmp_path):
    scores = lxmert.build(str(base), tmp_path, device="cuda").match(PAIRS)
    assert scores == pytest.approx(matcher.match(PAIRS), rel=1e-3, abs=1e-4)
    asked = questions("red", "blue")
    assert lxmert.build(str(answering), tmp_path, device="cuda").answer(asked) == answerer.answer(asked)


def test_as_an_option_of_the_command_line(base, tmp_path):
    loaded = load(f"vlgate.models.lxmert:build:{base}", folder=tmp_path, device="cpu")
    assert loaded.model.note == "regions of a stub"
    others = [load(f"vlgate.models.lxmert:build:{base}{more}", folder=tmp_path, device="cpu", dtype=dtype)
              for more, dtype in (("?max_length=20", "float32"), ("", "bfloat16"))]  # fmt: skip
    prints = {loaded.fingerprint, *(other.fingerprint for other in others)}
    assert len(prints) == 3
    assert load(f"vlgate.models.lxmert:build:{base}", folder=tmp_path, device="cpu").fingerprint in prints


def refused(weights, folder, build=lxmert.build):
    with pytest.raises(ModelLoadError) as caught:
        build(weights, folder)
    return str(caught.value)


@pytest.mark.parametrize(
    ("build", "name"), [(lxmert.build, "base"), (lxmert.build_vqa, "vqa"), (lxmert.build_gqa, "gqa")]
)
def test_without_weights_the_published_ones_are_meant(build, name, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    message = refused("", tmp_path, build)
    assert f"unc-nlp/lxmert-{name}-uncased" in message
    assert "HF_HUB_OFFLINE is set" in message


def test_what_is_not_there(base, tmp_path):
    assert "there is no folder" in refused("./lxmert", tmp_path)
    assert "did you mean 'regions'" in refused(f"{base}?region=x", tmp_path)
    assert "there is no file" in refused(f"{base}?answers=x.json", tmp_path)
    assert "expected restricted or open" in refused(f"{base}?mode=free", tmp_path)
    for length in ("0", "3", "25", "-9", "many"):
        assert "expected a whole number of tokens from 4 to 24" in refused(f"{base}?max_length={length}", tmp_path)


def test_answers_must_be_named(answering, tmp_path):
    (answering / "trainval_label2ans.json").rename(tmp_path / "answers.json")
    message = refused(str(answering), tmp_path)
    shutil.copy(tmp_path / "answers.json", answering / "trainval_label2ans.json")
    for words in ("has 6 answers and does not say which", "answers=FILE", "data/gqa/trainval_label2ans.json (1,842)"):
        assert words in message
    (tmp_path / "less.json").write_text(json.dumps(ANSWERS[:5]))
    assert "5 answers for a model that has 6" in refused(f"{answering}?answers=less.json", tmp_path)


def copied(folder, to):
    shutil.copytree(folder, to)
    return to


@pytest.mark.parametrize("lost", ["cls.seq_relationship.weight", "lxmert.pooler.dense.bias"])
def test_weights_that_are_not_there_are_never_made_up(base, tmp_path, lost):
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
    assert "expected one of model.safetensors" in refused("other", tmp_path)
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
    assert "holds none of tokenizer.json, vocab.txt" in refused("bare?tokenizer=empty", tmp_path)
    assert lxmert.build(f"bare?tokenizer={base}", tmp_path).match(PAIRS).shape == (6,)


def test_a_tokenizer_of_another_model(base, tmp_path):
    save_tokenizer(tmp_path / "more", [*TOKENS, "parrot"])
    assert "has 30 tokens, the model" in refused(f"{base}?tokenizer=more", tmp_path)


def test_answers_without_a_head(tmp_path):
    config = transformers.LxmertConfig(**SIZES, task_qa=False)
    transformers.LxmertForPreTraining(config).save_pretrained(tmp_path / "silent")
    save_tokenizer(tmp_path / "silent")
    (tmp_path / "a.json").write_text(json.dumps(ANSWERS))
    assert "trained without answers" in refused("silent?answers=a.json", tmp_path)
    assert isinstance(lxmert.build("silent", tmp_path), Matcher)

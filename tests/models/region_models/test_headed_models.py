"""LXMERT and VisualBERT on region features: their heads, against the library's own forward pass."""

import json
import shutil
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest
import region_stubs
import torch
import transformers
from builders import refusal
from region_stubs import PAIRS, TOKENS, WIDTH, Stub, image, questions, save_tokenizer

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models.regions import lxmert, visualbert
from vlgate.types import Answerer, Match, Matcher

ANSWERS = ["", "red", "blue", "yes", "no", "2"]
PLACES = {"yes": 3, "no": 4, "red": 1, "blue": 2, "two": 5, "a two": 5, "a red": 1, "Blue.": 2}


@dataclass
class Family:
    """What differs between the two: the adapter, the names of the library, and how a question ends."""

    adapter: ModuleType
    name: str
    library: str
    match_logits: str
    answer_logits: str
    answers: str  # the file with the names of the answers
    asked: str = "{}"
    saved_with: tuple = ()

    @property
    def pretraining(self):
        return getattr(transformers, f"{self.library}ForPreTraining")

    @property
    def answering(self):
        return getattr(transformers, f"{self.library}ForQuestionAnswering")

    def given(self, regions):
        """The library's inputs for the regions of one image."""
        features, boxes = (torch.from_numpy(array)[None] for array in (regions.features, regions.boxes))
        if self.name == "lxmert":
            return {"visual_feats": features, "visual_pos": boxes}
        places = torch.ones(features.shape[:2], dtype=torch.long)
        return {"visual_embeds": features, "visual_attention_mask": places, "visual_token_type_ids": places * 0}

    def by_hand(self, folder, kind, requests, texts, logits):
        seen = [self.given(regions) for regions in Stub().regions([request.image for request in requests])]
        replies = region_stubs.one_by_one(folder, kind, texts, seen)
        return np.concatenate([getattr(reply, logits).numpy() for reply in replies]).astype(np.float64)

    def matches(self, folder):
        return self.by_hand(folder, self.pretraining, PAIRS, [pair.text for pair in PAIRS], self.match_logits)

    def replies(self, folder, asked):
        texts = [self.asked.format(ask.question) for ask in asked]
        return self.by_hand(folder, self.answering, asked, texts, self.answer_logits)


FAMILIES = {
    "lxmert": Family(
        lxmert, "lxmert", "Lxmert", "cross_relationship_score", "question_answering_score", "trainval_label2ans.json"
    ),
    # The head for answers reads the token before the last.
    "visualbert": Family(
        visualbert, "visualbert", "VisualBert", "seq_relationship_logits", "logits", "answers_vqa.txt", "{} [MASK]",
        (("num_labels", 6),),
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=FAMILIES)
def family(request):
    return FAMILIES[request.param]


@pytest.fixture(scope="module")
def base(family, tmp_path_factory):
    return getattr(region_stubs, family.name)(family.pretraining, tmp_path_factory.mktemp(family.name) / "base")


@pytest.fixture(scope="module")
def answering(family, tmp_path_factory):
    folder = tmp_path_factory.mktemp(family.name) / "vqa"
    getattr(region_stubs, family.name)(family.answering, folder, **dict(family.saved_with))
    text = json.dumps(ANSWERS) if family.answers.endswith("json") else "\n".join(ANSWERS) + "\n"
    (folder / family.answers).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def with_regions(family, monkeypatch):
    """Let models take their regions from a stub instead of the detector, whose vectors are wider."""

    def take(source):
        monkeypatch.setattr(visualbert, "WIDTH", WIDTH)
        monkeypatch.setattr(family.adapter, "region_source", lambda *_, **__: source)
        return source

    take.stub = take(Stub())
    return take


@pytest.fixture
def matcher(family, base, tmp_path):
    return family.adapter.build(str(base), tmp_path)


@pytest.fixture
def answerer(family, answering, tmp_path):
    return family.adapter.build(str(answering), tmp_path)


def refused(family, weights, folder):
    return refusal(family.adapter.build, weights, folder)


def test_scores_are_the_librarys_own(family, base, answering, matcher, tmp_path):
    logits, scores = family.matches(base), matcher.match(PAIRS)
    assert scores.dtype == np.float64
    assert scores == pytest.approx(logits[:, 1] - logits[:, 0], rel=1e-5, abs=1e-6)
    raw = family.adapter.build(f"{base}?score=logit", tmp_path)
    assert raw.match(PAIRS) == pytest.approx(logits[:, 1], rel=1e-5, abs=1e-6)
    assert "does not match" in refused(family, f"{answering}?score=logit", tmp_path)
    assert isinstance(matcher, Matcher)
    assert not isinstance(matcher, Answerer)


def test_regions_may_be_missing_and_of_another_number_but_not_of_another_size(family, base, tmp_path, with_regions):
    with_regions(Stub(missing=["blue-1"]))
    model = family.adapter.build(f"{base}?max_length=5", tmp_path)
    with pytest.raises(NoReplyError) as caught:
        model.match(PAIRS)
    assert caught.value.positions == {index for index, pair in enumerate(PAIRS) if pair.image.key == "blue-1"}
    assert len(model.cut_texts) == 0  # they are counted when the others are asked again
    with_regions(Stub(width=9))
    with pytest.raises(ModelReplyError, match="'red-0' have 9 numbers per box, the model takes 8; regions of a stub"):
        family.adapter.build(str(base), tmp_path).match(PAIRS)
    with_regions(Stub(ragged=True))
    model = family.adapter.build(str(base), tmp_path)
    alone = np.concatenate([model.match([pair]) for pair in PAIRS])
    assert model.match(PAIRS) == pytest.approx(alone, rel=1e-5, abs=1e-6)


def test_the_score_is_what_a_match_saves_of_the_librarys_loss(family, base, matcher):
    """1 is the label of a match in both releases: the losses with 0 and 1 differ by the difference of the logits."""
    model = family.pretraining.from_pretrained(base).eval()
    tokens = transformers.BertTokenizer.from_pretrained(base)(PAIRS[0].text, return_tensors="pt")
    inputs = {**tokens, **family.given(Stub().regions([PAIRS[0].image])[0])}
    losses = []
    for label in (torch.tensor([0]), torch.tensor([1])):
        labels = {"matched_label": label}
        if family.name == "visualbert":  # the library takes a pair's label only together with labels of words
            words = torch.full((1, tokens["input_ids"].shape[1] + inputs["visual_embeds"].shape[1]), 1)
            labels = {"labels": words, "sentence_image_labels": label}
        with torch.no_grad():
            losses.append(model(**inputs, **labels).loss.item())
    assert matcher.match(PAIRS[:1]) == pytest.approx([losses[0] - losses[1]], abs=1e-4)


@pytest.mark.parametrize("choices", [("yes", "no"), ("red", "blue", "a two"), ("no", "a red", "yes", "Blue."), ()])
def test_the_reply_is_the_choice_or_the_answer_with_the_highest_logit(family, answering, answerer, tmp_path, choices):
    asked = questions(*choices)
    rows = family.replies(answering, asked)
    open_answers = [ANSWERS[row.argmax()] for row in rows]
    best = [max(choices, key=lambda choice: row[PLACES[choice]]) for row in rows] if choices else open_answers
    assert answerer.answer(asked) == best
    assert family.adapter.build(f"{answering}?mode=open", tmp_path).answer(asked) == open_answers
    assert isinstance(answerer, Answerer)
    assert not isinstance(answerer, Matcher)


def test_a_choice_that_is_not_an_answer_leaves_its_question_without_a_reply(answerer, with_regions):
    with pytest.raises(NoReplyError, match="'kneeling'") as caught:
        answerer.answer([*questions("yes", "no"), *questions("kneeling", "yes")])
    assert caught.value.positions == set(range(6, 12))
    assert with_regions.stub.asked == []
    assert "('kneeling')" in answerer.note


def test_answers_must_be_named(family, answering, tmp_path):
    shutil.copytree(answering, tmp_path / "unnamed")
    (tmp_path / "unnamed" / family.answers).unlink()
    message = refused(family, "unnamed", tmp_path)
    where = {"lxmert": "data/gqa/trainval_label2ans.json (1,842)", "visualbert": "answers_vqa.txt of Pythia's"}
    for words in ("has 6 answers", "answers=FILE", where[family.name]):
        assert words in message
    config = json.loads((answering / "config.json").read_text())
    config |= {"id2label": dict(enumerate(ANSWERS)), "label2id": {answer: n for n, answer in enumerate(ANSWERS)}}
    (tmp_path / "unnamed" / "config.json").write_text(json.dumps(config))
    asked, builds = questions("yes", "no", "red"), family.adapter.build
    assert builds("unnamed", tmp_path).answer(asked) == builds(str(answering), tmp_path).answer(asked)


def test_texts_that_are_cut_are_counted(family, base, matcher, tmp_path):
    short = family.adapter.build(f"{base}?max_length=5", tmp_path)
    texts = ["a red square", "a red square on the left", "a red square in it"]
    scores = short.match([Match(image=image(0), text=text) for text in texts])
    assert len(short.cut_texts) == 2
    assert short.fingerprint != matcher.fingerprint
    assert scores == pytest.approx([scores[0]] * 3, rel=1e-5)


def test_missing_files_and_unknown_options_are_refused(family, base, tmp_path):
    for weights, words in (
        ("./nowhere", "no folder"),
        (f"{base}?region=x", "did you mean 'regions'"),
        (f"{base}?answers=x.json", "x.json"),
        (f"{base}?mode=free", "mode='free'"),
        *((f"{base}?max_length={length}", "from 4 to 24") for length in ("0", "3", "25", "-9", "many")),
    ):
        assert words in refused(family, weights, tmp_path)
    (tmp_path / "broken.json").write_text("[")
    with pytest.raises(ModelLoadError, match=r"broken\.json"):
        family.adapter.check(f"{base}?answers=broken.json", tmp_path)


def test_berts_tokenizer_is_the_default_and_its_content_is_in_the_fingerprint(family, base, tmp_path):
    """The published checkpoints of VisualBERT have no tokenizer."""
    shutil.copytree(base, tmp_path / "bare")
    for name in ("tokenizer.json", "vocab.txt"):
        (tmp_path / "bare" / name).unlink()
    message = refused(family, "bare", tmp_path)
    assert "google-bert/bert-base-uncased" in message
    assert "tokenizer=FOLDER" in message
    (tmp_path / "empty").mkdir()
    assert "empty holds none of tokenizer.json, vocab.txt" in refused(family, "bare?tokenizer=empty", tmp_path)
    save_tokenizer(tmp_path / "same")
    save_tokenizer(tmp_path / "turned", [*TOKENS[:5], *TOKENS[:4:-1]])
    same, again, turned = (
        family.adapter.build(f"bare?tokenizer={name}", tmp_path) for name in (base, tmp_path / "same", "turned")
    )
    assert not np.allclose(same.match(PAIRS), turned.match(PAIRS))
    assert same.fingerprint == again.fingerprint != turned.fingerprint

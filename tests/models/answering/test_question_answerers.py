import json

import cross_checkpoints
import numpy as np
import pytest
import torch
import transformers as hf
from builders import tabled
from cross_checkpoints import drawn, images, of, refused
from held_network import network
from hypothesis import given
from hypothesis import strategies as st

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models.cross import blip
from vlgate.models.cross.answer_lists import (
    AnswerList,
    Vocabulary,
    answer_list,
    answers_file,
    best,
    check_answers,
    read_answers,
    refuse,
    restricted,
    vqa_form,
)
from vlgate.types import TIED, Answerer, Ask, LazyImage

CLASSES = {"vilt-vqa": "ViltForQuestionAnswering", "blip-vqa": "BlipForQuestionAnswering"}
QUESTIONS = ["what color is it ?", "is it on the left of the big tree , and red ?", "is it red ?"]
CHOICES = [("red", "blue"), ("yes", "no"), ("no", "yes"), ("on the left", "square", "two"), ()]


@pytest.fixture(scope="module", params=list(CLASSES))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def folder(name, tmp_path_factory):
    return cross_checkpoints.save(name, tmp_path_factory.mktemp(name))


@pytest.fixture(scope="module")
def model(name, folder):
    return of(name, folder, folder)


def saved(name, folder):
    return of(name, cross_checkpoints.save(name, folder), folder)


def with_biases(model, biases):
    """Let a ViLT give each label a score of its own, whatever it is asked."""
    with torch.no_grad():
        network(model).classifier[-1].weight.zero_()
        network(model).classifier[-1].bias.copy_(torch.tensor(biases))


def asks(count=4):
    return [
        Ask(image=image, question=question, choices=choices)
        for image in images(count)
        for question, choices in zip([*QUESTIONS, QUESTIONS[0], QUESTIONS[1]], CHOICES, strict=True)
    ]


def by_label(whole, processor, ask):
    """ViLT: the best label among the choices, by the logits of transformers."""
    inputs = processor(ask.image.load(), [ask.question], return_tensors="pt")
    row = whole(**inputs).logits[0]
    labels = {label: row[index].item() for index, label in enumerate(cross_checkpoints.LABELS)}
    named = {choice: labels["2" if choice == "two" else choice] for choice in ask.choices or cross_checkpoints.LABELS}
    return max(named, key=named.get)


def begun(inputs):
    """Begin a question with [ENC], as BLIP's authors do."""
    inputs["input_ids"][:, 0] = cross_checkpoints.ENC
    return inputs


def by_writing(whole, processor, ask):
    """BLIP: the choice with the smallest loss of transformers, or the text that its ``generate`` returns."""
    inputs = begun(processor(images=ask.image.load(), text=[ask.question], return_tensors="pt"))
    if not ask.choices:
        length = cross_checkpoints.PLACES - 1
        written = whole.generate(**inputs, max_new_tokens=length, do_sample=False, num_beams=1)[0]
        return processor.decode(written[1:], skip_special_tokens=True)
    summed = {}
    for choice in ask.choices:
        answer = processor(text=[choice], return_tensors="pt").input_ids
        answer[:, 0] = cross_checkpoints.DEC
        # The loss is the mean over the tokens; the authors rank by the sum.
        summed[choice] = -whole(**inputs, labels=answer).loss.item() * (answer.shape[1] - 1)
    return max(summed, key=summed.get)


BY_HAND = {"vilt-vqa": by_label, "blip-vqa": by_writing}


def test_it_answers_as_the_library_asked_one_by_one(name, folder, model):
    whole = getattr(hf, CLASSES[name]).from_pretrained(folder).eval()
    processor = hf.AutoProcessor.from_pretrained(folder)
    with torch.no_grad():
        expected = [BY_HAND[name](whole, processor, ask) for ask in asks()]
    assert isinstance(model, Answerer)
    assert model.answer(asks()) == expected
    turned = [Ask(image=ask.image, question=ask.question, choices=ask.choices[::-1]) for ask in asks()]
    assert model.answer(turned[::-1])[::-1] == expected
    assert len(set(expected)) > 3
    assert all(answer in ask.choices for answer, ask in zip(expected, asks(), strict=True) if ask.choices)


def test_an_open_answer_is_the_models_own(name, folder, model):
    own = of(name, f"{folder}?mode=open", folder)
    free = [Ask(image=ask.image, question=ask.question) for ask in asks()]
    assert own.answer(asks()) == own.answer(free) == model.answer(free)
    assert own.answer(asks()) != model.answer(asks())
    assert own.fingerprint != model.fingerprint


def test_a_choice_that_the_vocabulary_lacks_is_reported_and_counted(tmp_path):
    model = saved("vilt-vqa", tmp_path)
    decoded = []
    image = LazyImage(key="p", load=lambda: decoded.append(0) or drawn(0))
    known = Ask(image=image, question=QUESTIONS[0], choices=("red", "blue"))
    strange = Ask(image=image, question=QUESTIONS[0], choices=("red", "puce"))
    assert model.note == ""
    with pytest.raises(NoReplyError, match="'puce'") as caught:
        model.answer([known, strange])
    assert caught.value.positions == {1}
    assert decoded == []  # nothing is computed for a batch that will be asked again
    predicted = ModelPredictor(model=model, name="m", caller=Caller(name="m", size=8)).predict([known, strange])
    assert predicted[known].answer in ("red", "blue")
    assert "puce" in predicted[strange].problem
    assert model.note.startswith("1 choices")
    assert "7 answers ('puce')" in model.note
    own = of("vilt-vqa", f"{tmp_path}?mode=open", tmp_path)
    assert own.answer([strange]) == own.answer([known])
    assert own.note == ""


def test_an_exact_tie_is_not_an_answer_and_leaves_the_other_questions_alone(tmp_path):
    model = saved("vilt-vqa", tmp_path)
    with_biases(model, [1.0, 1, 2, 3, 0, 0, 0])
    decoded = []
    image = LazyImage(key="p", load=lambda: decoded.append(0) or drawn(0))
    asked = [Ask(image=image, question=QUESTIONS[0], choices=some) for some in (("red", "blue"), ("yes", "no"))]
    predicted = ModelPredictor(model=model, name="m", caller=Caller(name="m", size=8)).predict(asked)
    assert [(reply.answer, reply.problem) for reply in predicted.values()] == [("blue", None), (None, None)]
    assert len(decoded) == 1
    assert model.answer(asked) == ["blue", TIED]


@pytest.fixture
def seen(monkeypatch):
    """The scores of the choices of each call of a BLIP; a load makes one, too."""
    kept, best = [], blip.best
    monkeypatch.setattr(blip, "best", lambda offered, scores: kept.append(scores) or best(offered, scores))
    return kept


def test_choices_with_the_same_tokens_tie_whatever_the_other_choices(tmp_path, seen):
    model = saved("blip-vqa", tmp_path)
    seen.clear()
    alike = Ask(image=asks()[0].image, question=QUESTIONS[0], choices=("Red", "blue", "red"))
    rows = []
    network(model).text_decoder.register_forward_pre_hook(
        lambda _, __, given: rows.append(len(given["input_ids"])), with_kwargs=True
    )
    [answer] = model.answer([alike])
    [[scores]] = seen
    assert scores[0] == scores[2] != scores[1]
    assert answer == ("blue" if scores[1] > scores[0] else TIED)
    assert rows == [2]


@pytest.mark.parametrize(
    ("kind", "mode"), [("vilt-vqa", "restricted"), ("vilt-vqa", "open"), ("blip-vqa", "restricted")]
)
def test_scores_that_are_not_finite_are_an_error(kind, mode, tmp_path):
    cross_checkpoints.save(kind, tmp_path)
    model = of(kind, f"{tmp_path}?mode={mode}", tmp_path)
    head = network(model).classifier[-1] if kind == "vilt-vqa" else network(model).text_decoder.cls.predictions
    with torch.no_grad():
        head.bias.fill_(float("nan"))
    with pytest.raises(ModelReplyError, match="not finite"):
        model.answer(asks(1)[:1])


def test_parts_that_do_not_fit_together_are_refused(name, tmp_path):
    cross_checkpoints.save(name, tmp_path)
    part = tmp_path / "processor_config.json"
    settings = json.loads(part.read_text())
    settings["image_processor"]["image_mean"] = [0.5, 0.5]
    part.write_text(json.dumps(settings))
    assert f"{tmp_path} cannot answer a question" in refused(name, tmp_path, tmp_path)


def test_a_vocabulary_without_names_is_refused(tmp_path):
    cross_checkpoints.save("vilt-vqa", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["id2label"] = {str(index): f"LABEL_{index}" for index in range(7)}
    config["label2id"] = {f"LABEL_{index}": index for index in range(7)}
    (tmp_path / "config.json").write_text(json.dumps(config))
    message = refused("vilt-vqa", tmp_path, tmp_path)
    assert all(words in message for words in ("7 answers", "answers=FILE"))
    (tmp_path / "labels.txt").write_text("\n".join(cross_checkpoints.LABELS[::-1]))
    named = of("vilt-vqa", f"{tmp_path}?answers=labels.txt", tmp_path)
    cross_checkpoints.save("vilt-vqa", tmp_path)
    free = [Ask(image=ask.image, question=ask.question) for ask in asks(2)]
    places = [cross_checkpoints.LABELS.index(label) for label in of("vilt-vqa", tmp_path, tmp_path).answer(free)]
    assert named.answer(free) == [cross_checkpoints.LABELS[::-1][place] for place in places]
    assert "none.txt" in refused("vilt-vqa", f"{tmp_path}?answers=none.txt", tmp_path, by_check=True)
    (tmp_path / "torn.json").write_text("[")
    assert "torn.json cannot be read" in refused("vilt-vqa", f"{tmp_path}?answers=torn.json", tmp_path, by_check=True)


def test_blip_begins_a_question_as_its_authors_do_or_as_the_library_does(tmp_path, seen):
    cross_checkpoints.save("blip-vqa", tmp_path)
    options = ("", "?first=enc", "?mode=restricted&first=cls")
    default, own, plain = (of("blip-vqa", f"{tmp_path}{option}", tmp_path) for option in options)
    starts = []
    seen.clear()
    for model in (default, own, plain):
        network(model).text_encoder.register_forward_pre_hook(
            lambda _, __, given: starts.append(given["input_ids"][:, 0].tolist()), with_kwargs=True
        )
        model.answer(asks(1)[:2])
    assert starts == [[cross_checkpoints.ENC] * 2] * 2 + [[2] * 2]
    assert np.allclose(seen[0], seen[1])
    assert not np.allclose(seen[0], seen[2], atol=1e-3)
    assert default.fingerprint == own.fingerprint != plain.fingerprint
    assert default.note == ""
    assert "?first=enc" in plain.note


def test_a_questions_padding_is_hidden_from_the_decoder(tmp_path, seen, monkeypatch):
    """With the mask of transformers alone, a choice's likelihood would depend on the other questions of the batch."""
    model = saved("blip-vqa", tmp_path)
    seen.clear()
    model.answer(asks())
    together = seen.pop()
    for ask in asks():
        model.answer([ask])
    assert len({len(ask.question.split()) for ask in asks()}) == 3
    for one, beside in zip(seen, together, strict=True):
        assert one[0] == pytest.approx(beside, abs=1e-4)
    own = of("blip-vqa", f"{tmp_path}?mode=open", tmp_path)
    widths, decoder = [], network(own).text_decoder
    generate, width = decoder.generate, lambda given: widths.append(given["encoder_hidden_states"].shape[1])
    monkeypatch.setattr(decoder, "generate", lambda **given: width(given) or generate(**given))
    own.answer(asks())
    tokens = hf.AutoProcessor.from_pretrained(tmp_path).tokenizer([ask.question for ask in asks()])["input_ids"]
    assert widths == sorted({len(ids) for ids in tokens})


IMAGE = LazyImage(key="p", load=lambda: None)
ANSWERS = ("", "yes", "no", "2", "two", "a lot", "lot", "gray", "left")


def asked(*choices):
    return Ask(image=IMAGE, question="?", choices=choices)


def row(**scores):
    return np.array([[scores.get(answer or "nothing", -9.0) for answer in ANSWERS]])


def choose(answers, scores, *questions):
    answers.check(questions)
    return answers.choose(scores, questions)


@given(st.lists(st.integers(-5, 5), min_size=9, max_size=9), st.sets(st.sampled_from(ANSWERS[1:]), min_size=1))
def test_the_highest_of_the_choices_wins_and_a_tie_is_reported(scores, choices):
    by_answer = dict(zip(ANSWERS, scores, strict=True))
    highest = [choice for choice in choices if by_answer[choice] == max(by_answer[other] for other in choices)]
    question, answers = asked(*sorted(choices)), AnswerList(ANSWERS, "restricted")
    assert choose(answers, np.array([scores], dtype=float), question) == (highest if len(highest) == 1 else [TIED])


@pytest.mark.parametrize(("gray", "reply"), [(0.0, TIED), (2.0, "gray")])
def test_choices_that_are_one_answer_of_the_model_tie(gray, reply):
    answers = AnswerList(ANSWERS, "restricted")
    assert choose(answers, row(yes=1.0, gray=gray), asked("Yes", "gray", "yes.")) == [reply]
    assert answers.note == ""


def test_choices_that_the_model_cannot_give_are_counted_and_never_guessed():
    answers = AnswerList(ANSWERS, "restricted")
    assert answers.note == ""
    with pytest.raises(NoReplyError, match="'maybe'") as caught:
        answers.check([asked("yes", "no"), asked("no", "maybe"), asked()])
    assert caught.value.positions == {1}
    assert "9 answers ('maybe')" in answers.note


def test_open_answers_ignore_the_choices():
    answers = AnswerList(ANSWERS, "open")
    assert choose(answers, row(left=1.0), asked("yes", "maybe")) == ["left"]
    assert choose(AnswerList(ANSWERS, "restricted"), row(left=1.0), asked()) == ["left"]
    assert answers.note == ""
    assert answers.fingerprint != AnswerList(ANSWERS, "restricted").fingerprint
    assert answers.fingerprint == AnswerList(ANSWERS, "open").fingerprint


@tabled
def test_answers_in_all_the_forms_that_they_are_released_in(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_answers(tmp_path / name) == ("", "yes", "no")


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_a_line_feed_ends_an_answer(tmp_path, odd):
    (tmp_path / "answers.txt").write_text(f"a{odd}lot\r\nno\n", encoding="utf-8", newline="")
    assert read_answers(tmp_path / "answers.txt") == (f"a{odd}lot", "no")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1, 2]", "strings"), ('{"yes": 1, "no": 1}', "0 to 1"), ('{"yes": 1, "no": 2}', "0 to 1"),
        ('{"a": "b"}', "invalid literal"), ("7", "int"), ("{", "JSONDecodeError"), ('[{"answer": "x"}]', "'ans'"),
        ('{"yes": Infinity}', "OverflowError"), ("[" * 100_000, "RecursionError"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_a_list_of_answers(tmp_path, text, why):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ModelLoadError, match=rf"a\.json .*{why}.*; expected a JSON list"):
        read_answers(tmp_path / "a.json")


def test_the_names_of_a_configuration_count_if_they_are_not_placeholders(tmp_path):
    real = {1: "no", 0: "yes"}
    assert answer_list(None, real, 2, mode="", where="there").answers == ("yes", "no")
    for named, count in (
        ({0: "LABEL_0", 1: "LABEL_1"}, 2),
        ({0: "yes", 1: "LABEL_1"}, 2),
        (real, 3),
        ({1: "a", 2: "b"}, 2),
    ):
        with pytest.raises(ModelLoadError, match="answers=FILE: there"):
            answer_list(None, named, count, mode="", where="there")
    (tmp_path / "a.json").write_text('["red"]')
    with pytest.raises(ModelLoadError, match=r"a\.json .*1 answers.* 2;"):
        answer_list(tmp_path / "a.json", real, 2, mode="", where="there")


def test_the_file_of_answers_is_found_and_a_named_one_read_before_anything_is_loaded(tmp_path):
    beside = tmp_path / "weights"
    beside.mkdir()
    names = ("first.json", "second.json")
    assert answers_file("", tmp_path, beside, names) is None
    (beside / "second.json").touch()
    assert answers_file("", tmp_path, beside, names) == beside / "second.json"
    (tmp_path / "mine.json").touch()
    assert answers_file("mine.json", tmp_path, beside, names) == tmp_path / "mine.json"
    with pytest.raises(ModelLoadError, match=r"no file .*none\.json"):
        answers_file("none.json", tmp_path, beside, names)
    check_answers("", tmp_path)
    (tmp_path / "mine.json").write_text('["red"')
    with pytest.raises(ModelLoadError, match=r"mine\.json cannot be read"):
        check_answers("mine.json", tmp_path)


LABELS = ("yes", "no", "2", "the beatles", "on left", "man", "a", "t-shirt", "10:30", "no", "left handed")


@tabled
def test_a_choice_is_found_as_it_is_written_or_as_vqa_writes_it(choice, label):
    assert LABELS[Vocabulary(LABELS).place(choice)] == label


@tabled
def test_a_choice_that_only_resembles_a_label_is_unknown(choice):
    assert Vocabulary(LABELS).place(choice) is None
    assert Vocabulary(LABELS).unknown(["yes", choice]) == [choice]


def test_an_exact_label_comes_before_one_of_the_same_form():
    assert Vocabulary(("the man", "man")).place("man") == 1
    assert Vocabulary(("the man", "man")).place("a man") == 1
    assert Vocabulary(("the man", "two")).place("man") == 0
    assert Vocabulary(("no", "yes", "no")).place("no") == 0


@given(st.text() | st.text("aet h'two2:.- T"))
def test_the_form_of_a_form_is_itself(text):
    assert vqa_form(vqa_form(text)) == vqa_form(text)


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.5, -3.0]), min_size=1, max_size=4), min_size=1, max_size=6))
def test_the_best_choice_is_the_one_above_all_others_or_none(scores):
    choices = [[f"c{n}" for n in range(len(row))] for row in scores]
    expected = [f"c{row.index(max(row))}" if row.count(max(row)) == 1 else TIED for row in scores]
    assert best(choices, [np.array(row) for row in scores]) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_an_error(bad):
    with pytest.raises(ModelReplyError, match="not finite"):
        best([("a", "b"), ("c", "d")], [np.array([0.0, 1.0]), np.array([0.0, bad])])


def test_only_questions_with_choices_are_restricted_and_refused_one_reason_at_a_time():
    image = LazyImage(key="p", load=lambda: None)
    held, free = Ask(image=image, question="?", choices=("a",)), Ask(image=image, question="?")
    assert [restricted(question, mode) for mode in ("restricted", "open") for question in (held, free)] == [
        True, False, False, False,
    ]  # fmt: skip
    refuse({})
    with pytest.raises(NoReplyError, match="first") as caught:
        refuse({3: "the first", 1: "the second", 7: "the first"})
    assert caught.value.positions == {3, 7}

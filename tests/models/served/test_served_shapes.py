"""The shapes of replies that services give: what is a score, what is read, and what has no reply."""

import json
import math
from functools import partial

import pytest
from chat_server import asked_of, image, model_of, ok, pairs, problem

from vlgate.judging.answers import read_answer
from vlgate.models.served.chat import text_of, thinks
from vlgate.record.model_card import ModelCard
from vlgate.types import Ask

GOT = [("Got", 0.99), ("Yes", 1e-4), ("No", 1e-4)]  # the first word of a thought

THOUGHTS = {
    "opened by the template": "At first, {other}.</think>\n\n{answer}",
    "think": "<think>At first, {other}.</think>{answer}",
    "thinking": "Hm, {other}?</thinking> {answer}",
    "kimi": "\u25c1think\u25b7So {other}.\u25c1/think\u25b7{answer}",
    "kimi, opened by the template": "So {other}.\u25c1/think\u25b7{answer}",
    "magistral": "[THINK]{other}, or not[/THINK]{answer}",
    "gpt-oss": "<|channel|>analysis<|message|>{other}?<|end|><|start|>assistant<|channel|>final<|message|>{answer}",
    "gemma": "<|channel>thought\nMaybe {other}.<channel|>{answer}",
    "glm box": "Looks like {other}.</think><|begin_of_box|>{answer}<|end_of_box|>",
    "glued": "Hm {other}.</think>{answer}<|im_end|>",
    "tags": "Hm {other}.</think>\n<answer>\n{answer}\n</answer>",
    "boxed": "Hm {other}.</think>\\boxed{{{answer}}}",
    "announced": "Hm {other}.</think>Verdict: {answer}",
    "end of sequence": "<think>{other}</think>{answer}</s>",
    "two thoughts": "<think>{other}</think>So<think>{other} again</think>{answer}",
}


def says(make, body):
    """What a server that is right says: yes about "a", no about everything else."""
    yes = "white" in asked_of(body) or '"a' in asked_of(body)
    return make("Yes" if yes else "No", "no" if yes else "yes")


@pytest.mark.parametrize("shape", THOUGHTS.values(), ids=THOUGHTS)
def test_the_first_word_of_any_thought_is_no_score(chat, shape):
    chat.say = partial(says, lambda answer, other: ok(shape.format(answer=answer, other=other), top=GOT))
    model = model_of(chat)
    assert "the model thinks before it answers: the score of a match is 1 for yes and 0 for no" in model.note
    assert list(model.match(pairs("a", "b", "a c"))) == [1.0, 0.0, 1.0]
    assert "logprobs" not in chat.seen[-1][2]
    [answer] = model.answer([Ask(image=image(), question='is it "a"?', choices=("yes", "no"))])
    assert read_answer(answer, ("yes", "no")) == "yes"


def test_boxes_without_a_thought_and_without_log_probabilities_are_read(chat):
    chat.say = partial(says, lambda answer, _: ok(f"<|begin_of_box|>{answer}<|end_of_box|>"))
    assert list(model_of(chat).match(pairs("a", "b"))) == [1.0, 0.0]


ASIDE = {
    "vllm": {"reasoning": "Hm."},
    "sglang": {"reasoning_content": "Hm."},
    "openrouter": {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
    "ollama": {"thinking": "Hm."},
    "litellm": {"thinking_blocks": [{"type": "thinking", "thinking": "Hm."}]},
}


@pytest.mark.parametrize("aside", ASIDE.values(), ids=ASIDE)
def test_a_thought_in_a_field_of_any_service(chat, aside):
    chat.say = partial(says, lambda answer, _: ok(answer, top=GOT, **aside))
    model = model_of(chat)
    assert "the model thinks" in model.note
    assert list(model.match(pairs("a", "b"))) == [1.0, 0.0]


def test_a_thought_in_a_part_of_the_content_is_not_read(chat):
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "no, or yes"}]}
    chat.say = partial(says, lambda answer, _: ok([thought, {"type": "text", "text": answer}], top=GOT))
    assert list(model_of(chat).match(pairs("a", "b"))) == [1.0, 0.0]
    reasoned = {"type": "reasoning", "text": "No dog here."}
    chat.say = partial(says, lambda answer, _: ok([reasoned, {"type": "text", "text": answer}, "."], top=GOT))
    model = model_of(chat)
    assert list(model.match(pairs("a", "b"))) == [1.0, 0.0]
    assert model.answer([Ask(image=image(), question='"a"?')]) == ["Yes."]


def test_a_thought_that_only_the_tokens_show(chat):
    chat.say = lambda _: ok("Yes", top=[("Got", 0.99), ("Yes", 0.001)], tokens=["<think>"])
    assert "the model thinks" in model_of(chat).note


@pytest.mark.parametrize(
    "aside", [{"reasoning": None}, {"reasoning_content": " "}, {"thinking": []}, {"refusal": None}]
)
def test_an_empty_field_for_thoughts_is_no_thought(chat, aside):
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.75), ("No", 0.2)], **aside)
    assert model_of(chat).match(pairs("a")) == pytest.approx([0.75])


def test_a_thought_in_a_later_reply_is_no_score(chat):
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.75), ("No", 0.2)])
    model = model_of(chat)
    chat.say = lambda _: ok("Hm.</think>", top=[("Hm", 0.9), ("Yes", 0.01)])
    assert "write ?logprobs=0" in str(problem(lambda: model.match(pairs("a"))))


@pytest.mark.parametrize("token", ["<|begin_of_box|>", "<|im_start|>", "<s>", "<start_of_turn>", " \n", "**"])
def test_special_tokens_before_the_first_word_are_passed(chat, token):
    chat.say = lambda _: ok(f"{token}Yes", top=[("Yes", 0.75), ("No", 0.2)], tokens=[token])
    assert model_of(chat).match(pairs("a")) == pytest.approx([0.75])


def test_a_service_whose_first_word_is_another_is_asked_for_yes_or_no(chat):
    chat.say = partial(
        says, lambda answer, _: ok(f"The answer: {answer}", top=[("The", 0.97), ("Yes", 0.01), ("No", 0.01)])
    )
    model = model_of(chat)
    assert "the first word of its answers is neither yes nor no" in model.note
    assert "logprobs" not in chat.seen[-1][2]  # it was asked once more, without
    assert list(model.match(pairs("a", "b"))) == [1.0, 0.0]
    chat.say = lambda _: ok("White.", top=[("White", 0.97), ("Yes", 0.01), ("No", 0.01)])
    model = model_of(chat)  # its answers are neither, too, so that nothing is gained
    assert model.match(pairs("a")) == pytest.approx([0.01])
    assert {pair.text for pair in model.neither} == {"a"}


def test_a_service_with_half_of_the_probability_keeps_its_scores(chat):
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.3), ("No", 0.2), ("The", 0.4)])
    model = model_of(chat)
    assert model.match(pairs("a")) == pytest.approx([0.3])
    assert not model.neither


def with_logprobs(logprobs):
    status, headers, reply = ok("Yes")
    reply["choices"][0]["logprobs"] = logprobs
    return status, headers, json.loads(json.dumps(reply))


@pytest.mark.parametrize("logprobs", [
    None, {"content": None}, {"content": []}, {"content": [{"token": "Yes", "top_logprobs": []}]},
    {"tokens": ["Yes"], "token_logprobs": [-0.1], "top_logprobs": [{"Yes": -0.1}]},
    {"content": [{"token": "Yes", "logprob": -0.1, "top_logprobs": [{"token": "Yes", "logprob": None}]}]},
    {"content": [{"token": "Yes", "logprob": -0.1, "top_logprobs": [{"token": "Yes", "logprob": math.nan}]}]},
], ids=["null", "null-content", "empty", "no-top", "old", "null-logprob", "nan"])  # fmt: skip
def test_log_probabilities_of_another_shape_are_none(chat, logprobs):
    chat.say = lambda _: with_logprobs(logprobs)
    model = model_of(chat)
    assert "the service gives no log-probabilities" in model.note
    assert list(model.match(pairs("a"))) == [1.0]


@pytest.mark.parametrize("lowest", [-math.inf, -9999])
def test_a_probability_of_nothing(chat, lowest):
    top = [{"token": "Yes", "logprob": -0.1}, {"token": "No", "logprob": lowest}]
    chat.say = lambda _: with_logprobs({"content": [{"token": "Yes", "logprob": -0.1, "top_logprobs": top}]})
    assert model_of(chat).match(pairs("a")) == pytest.approx([math.exp(-0.1)])


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_a_cut_off_answer_says_how_long_it_may_be_and_what_was_read(chat, finish):
    model = model_of(chat, "?max_tokens=8&logprobs=0")
    chat.say = lambda _: ok("iting  comput\n", finish=finish)
    why = str(problem(lambda: model.match(pairs("a"))))
    assert why.startswith("the answer is cut off at max_tokens=8: 'iting comput';")
    assert why.endswith("write ?max_tokens=64 after the model's name")
    chat.say = lambda _: ok("<think>So", finish=finish)
    assert "the thought is cut off at max_tokens=8" in str(problem(lambda: model.match(pairs("a"))))
    model = model_of(chat, "?logprobs=0")
    assert "write ?max_tokens=4096" in str(problem(lambda: model.match(pairs("a"))))


def test_a_name_with_half_of_a_surrogate_pair(chat):
    chat.say = lambda _: ok("Yes", model="toy\ud800")
    model = model_of(chat)
    assert model.match(pairs("a")) == [1.0]
    assert r"replies as toy\ud800" in model.note
    assert (model.note + model.fingerprint).encode()


@pytest.mark.parametrize(("content", "text"), [
    ("Yes<|im_end|>", "Yes<|im_end|>"), (["Yes", {"type": "text", "text": "."}], "Yes."),
    ([{"type": "output_text", "text": "No"}], "No"), ([{"type": "image"}, {"type": "text", "text": None}], None),
])  # fmt: skip
def test_the_text_of_contents(content, text):
    reply = ok(content)[2]
    found = text_of(reply)
    assert found == text if text else found.why == "the answer is empty"
    assert not thinks(reply)


@pytest.mark.parametrize(("options", "only"), [("", False), ("?logprobs=0", True)])
def test_the_card_of_a_service_tells_whether_it_only_says_yes_or_no(chat, options, only):
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.75), ("No", 0.2)])
    model = model_of(chat, options)
    assert ModelCard(name="toy", notes=(model.note,)).yes_or_no is only

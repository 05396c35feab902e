import base64
import io
import threading

import numpy as np
import pytest
from chat_server import KEY, asked_of, image, model_of, ok, pairs, problem, refused
from PIL import Image

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.generative.prompts import VQASCORE
from vlgate.models.served.adapter import workers
from vlgate.types import Answerer, Ask, Compare, Comparer, LazyImage, Match, Matcher


def test_answers_come_in_order_however_late_each_is(chat):
    meeting = threading.Barrier(4, timeout=20)

    def say(body):
        if "number" in asked_of(body):
            meeting.wait()  # four requests are under way at once
        return ok(asked_of(body).partition(" Answer")[0])

    chat.say = say
    model = model_of(chat, "?concurrency=4")
    assert isinstance(model, Answerer)
    questions = [Ask(image=image(), question=f"number {n}?") for n in range(8)]
    assert model.answer(questions) == [question.question for question in questions]
    assert model.answer([]) == []


def test_what_is_sent(chat):
    model_of(chat).answer([Ask(image=image(), question="What colour?", choices=("red", "green"))])
    path, headers, body = chat.seen[-1]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("toy", 0, 512)
    shown, text = body["messages"][0]["content"]
    assert text == {"type": "text", "text": "What colour? Answer with one of: red, green."}
    kind, _, content = shown["image_url"]["url"].partition(",")
    assert kind == "data:image/png;base64"
    sent = np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))
    assert np.array_equal(sent, np.asarray(image().load()))


@pytest.mark.parametrize(("options", "size", "form"), [
    ("?size=20", (20, 15), "png"), ("?size=100", (40, 30), "png"), ("?format=jpeg&size=8", (8, 6), "jpeg"),
])  # fmt: skip
def test_images_made_smaller_or_sent_as_jpeg(chat, options, size, form):
    model = model_of(chat, options)
    model.match(pairs("a"))
    url = chat.seen[-1][2]["messages"][0]["content"][0]["image_url"]["url"]
    assert url.startswith(f"data:image/{form};base64,")
    image = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    assert (image.size, image.format) == (size, form.upper())
    assert ("JPEG" in model.note) == (form == "jpeg")
    assert model.fingerprint != model_of(chat).fingerprint


def test_the_score_is_the_probability_of_yes_in_any_spelling(chat):
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.5), (" yes", 0.2), ("No", 0.1), ("The", 0.1)])
    model = model_of(chat)
    assert isinstance(model, Matcher)
    assert model.match(pairs("a cat", "a dog")) == pytest.approx([0.7, 0.7])
    wanted = {f'Does this figure show "a {name}"? Please answer yes or no.' for name in ("cat", "dog")}
    assert set(chat.texts[-2:]) == wanted
    assert chat.seen[-1][2]["logprobs"] is True
    assert "1 for yes" not in model.note
    chat.say = lambda _: ok("No", top=[("No", 0.9), ("no", 0.05)])
    assert model.match(pairs("a")) == [0.0]
    chat.say = lambda _: ok("Well", top=[("Well", 0.9), ("Yesterday", 0.05)])
    assert "neither yes nor no" in str(problem(lambda: model.match(pairs("a"))))
    chat.say = lambda _: ok("Yes")
    assert "no readable log-probabilities" in str(problem(lambda: model.match(pairs("a"))))


def test_a_blank_before_the_first_word_is_skipped(chat):
    status, headers, reply = ok(" Yes", top=[("Yes", 0.8), ("No", 0.1)])
    word = reply["choices"][0]["logprobs"]["content"][0]
    reply["choices"][0]["logprobs"]["content"] = [
        {"token": " \n", "top_logprobs": [{"token": "No", "logprob": 0}]},
        word,
    ]
    chat.say = lambda _: (status, headers, reply)
    assert model_of(chat).match(pairs("a")) == pytest.approx([0.8])


def test_without_probabilities_the_score_is_yes_or_no_and_the_note_says_so(chat):
    replies = {"a": "Yes, it does.", "b": "No.", "c": "<think>no, or yes</think>Yes"}
    chat.say = lambda body: ok(replies.get(asked_of(body)[23:24], "Yes"))
    model = model_of(chat)
    assert list(model.match(pairs("a", "b", "c"))) == [1.0, 0.0, 1.0]
    assert model.decision_threshold == 0.5
    assert "1 for yes and 0 for no" in model.note
    assert "logprobs" not in chat.seen[-1][2]
    assert "1 for yes and 0 for no" in model_of(chat, "?logprobs=0").note


def test_an_unreadable_answer_to_a_match_is_not_a_reply(chat):
    model = model_of(chat)
    chat.say = lambda _: ok("It is hard to say.")
    assert "neither yes nor no" in str(problem(lambda: model.match(pairs("a"))))
    assert model.answer([Ask(image=image(), question="q", choices=("a", "b"))]) == ["It is hard to say."]


@pytest.mark.parametrize(("status", "said", "why"), [
    (404, {"error": {"message": "The model `toy` does not exist."}}, "`toy` does not exist"),
    (401, {"error": f"Incorrect API key provided: {KEY}"}, "Incorrect API key provided: ***"),
    (401, {"error": "no \x1b[31mkey\x07"}, "no \\x1b[31mkey\\x07"),
    (400, {"detail": "toy is not a multimodal model"}, "not a multimodal model"),
    (200, {"error": "no such thing"}, "no such thing"),
])  # fmt: skip
def test_a_service_that_cannot_be_asked_is_found_at_the_start(chat, status, said, why):
    chat.say = lambda _: (status, {}, said)
    message = refused(chat)
    assert why in message
    assert "'toy' at http://127.0.0.1" in message
    assert KEY not in message
    assert len(chat.seen) == 1


def test_fields_that_a_service_rejects_are_dropped(chat):
    def say(body):
        if "max_tokens" in body:
            return 400, {}, {"error": {"message": "Unsupported parameter: 'max_tokens'."}}
        if "temperature" in body:
            return 400, {}, {"error": {"message": "Unsupported value: 'temperature'"}}
        if body.get("top_logprobs", 0) > 5:
            return 400, {}, {"error": {"message": "Requested sample logprobs of 20, more than 5"}}
        return ok("Yes", top=[("Yes", 0.75)])

    chat.say = say
    model = model_of(chat)
    assert model.match(pairs("a")) == pytest.approx([0.75])
    body = chat.seen[-1][2]
    assert (body["max_completion_tokens"], body["top_logprobs"]) == (512, 5)
    assert "may differ from run to run" in model.note
    chat.say = lambda body: (422, {}, {"message": "logprobs?"}) if "logprobs" in body else ok("No")
    model = model_of(chat)
    assert model.match(pairs("a")) == [0.0]
    assert "1 for yes" in model.note


def test_the_model_that_replies_is_named(chat):
    chat.say = lambda _: ok("yes", model="toy-2025-01-01")
    model = model_of(chat)
    assert "replies as toy-2025-01-01" in model.note
    chat.say = lambda _: ok("yes", model="toy-2025-06-01")
    first = model.fingerprint
    model.match(pairs("a"))
    assert "replies as toy-2025-01-01, toy-2025-06-01" in model.note
    assert model_of(chat).fingerprint != first


def test_a_key_from_another_variable_or_no_key(chat, monkeypatch):
    monkeypatch.setenv("MY_KEY", "another-key")
    model_of(chat, "?key_env=MY_KEY")
    assert chat.seen[-1][1]["Authorization"] == "Bearer another-key"
    monkeypatch.delenv("OPENAI_API_KEY")
    model_of(chat)
    assert "Authorization" not in chat.seen[-1][1]


def test_an_image_with_many_questions_is_decoded_once(chat):
    decoded = []
    once = LazyImage(key="p", load=lambda: decoded.append(1) or Image.new("RGB", (40, 30)))
    model_of(chat, "?concurrency=1").match([Match(image=once, text=text) for text in "abcd"])
    assert decoded == [1]


def test_workers_share_the_limit(monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    assert workers() == 1
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    assert workers() == 4


def test_stray_blanks_of_a_text_are_not_sent(chat):
    model = model_of(chat)
    model.match(pairs(" a  cat\n"))
    model.answer([Ask(image=image(), question="What  is it? ")])
    assert chat.texts[-2:] == [
        'Does this figure show " a cat "? Please answer yes or no.',
        "What is it? Answer with a word or a short phrase.",
    ]


def test_the_note_says_how_scores_were_made_and_what_is_weak_about_them(chat):
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.5), ("No", 0.4)])
    model = model_of(chat)
    model.match(pairs("a"))
    assert 'the probability of "Yes"' in model.note
    assert repr(VQASCORE) in model.note
    assert " of 1 " not in model.note
    chat.say = lambda _: ok("No", top=[("No", 0.9), ("Not", 0.05)])
    model.match(pairs("a", "b"))
    assert "2 of 3 scores are 0" in model.note
    chat.say = lambda _: ok("The", top=[("The", 0.8), ("Yes", 0.1)])
    assert model.match(pairs("a")) == pytest.approx([0.1])
    assert "in 1 of 4 replies" in model.note


@pytest.mark.parametrize("thought", [{"reasoning_content": "Let me see."}, {"reasoning": "Hm."}])
def test_the_first_word_of_a_thought_is_not_an_answer(chat, thought):
    chat.say = lambda _: ok("No.", top=[("So", 0.9), ("Yes", 0.01)], **thought)
    model = model_of(chat)
    assert "the model thinks" in model.note
    assert "1 for yes and 0 for no" in model.note
    assert model.match(pairs("a")) == [0.0]
    assert "logprobs" not in chat.seen[-1][2]
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.9)])
    model = model_of(chat)
    chat.say = lambda _: ok("<think>So", top=[("<think>", 0.9), ("Yes", 0.01)])
    assert "thinks" in str(problem(lambda: model.match(pairs("a"))))


def test_without_log_probabilities_if_they_are_forbidden(chat):
    said = {"error": {"message": "You are not allowed to request logprobs from this model."}}
    chat.say = lambda body: (403, {}, said) if "logprobs" in body else ok("Yes")
    model = model_of(chat)
    assert model.match(pairs("a")) == [1.0]
    assert "1 for yes and 0 for no" in model.note


def test_a_question_without_an_image_is_sent_as_text_alone(chat):
    model = model_of(chat)
    chat.say = lambda _: ok("There is no image.")
    asked = Ask(image=image(), question="What does it show?", choices=("a dog", "a cat"))
    assert model.answer_without_image([asked]) == ["There is no image."]
    (text,) = chat.seen[-1][2]["messages"][0]["content"]
    assert text == {"type": "text", "text": "What does it show? Answer with one of: a dog, a cat."}


RED, BLUE, GREEN = (
    image(name, colour) for name, colour in (("r", (255, 0, 0)), ("b", (0, 0, 255)), ("g", (0, 255, 0)))
)


def compare(*images, question="Which image is red?"):
    return Compare(images=images, question=question, choices=("first", "second"))


def colours(body):
    """The colours of the images of a request, in their order, and its text."""
    *shown, text = body["messages"][0]["content"]
    urls = [one["image_url"]["url"].partition(",")[2] for one in shown]
    return [Image.open(io.BytesIO(base64.b64decode(url))).getpixel((0, 0)) for url in urls], text["text"]


def test_the_images_are_sent_in_their_order_before_the_question(chat):
    def say(body):
        shown, _ = colours(body)
        return ok(("first", "second", "third")[shown.index((255, 0, 0))] if (255, 0, 0) in shown else "none")

    model = model_of(chat)
    chat.say = say
    assert isinstance(model, Comparer)
    asked = [compare(RED, BLUE), compare(BLUE, RED), compare(BLUE, GREEN, RED), compare(BLUE, RED)]
    seen = len(chat.seen)
    assert model.compare(asked) == ["first", "second", "third", "second"]
    assert len(chat.seen) - seen == 3  # the last question is the second one again
    sent = [colours(body) for _, _, body in chat.seen[seen:]]
    assert {text for _, text in sent} == {"Which image is red? Answer with one of: first, second."}
    assert ([(0, 0, 255), (0, 255, 0), (255, 0, 0)], sent[0][1]) in sent
    assert all("logprobs" not in body for _, _, body in chat.seen[seen:])


def test_a_service_that_takes_one_image_is_refused_before_it_is_asked(chat):
    model = model_of(chat)
    model.check_compare()
    assert len(colours(chat.seen[-1][2])[0]) == 2
    chat.say = lambda body: (
        (400, {}, {"error": {"message": "At most 1 image(s) may be provided in one request."}})
        if len(body["messages"][0]["content"]) > 2
        else ok("Yes.")
    )
    with pytest.raises(ModelLoadError, match=r"'toy' at http.*two images.*At most 1 image.*limit-mm-per-prompt.*--ask"):
        model.check_compare()


def test_a_question_without_a_reply_costs_itself_only(chat):
    model = model_of(chat)
    chat.say = lambda body: ok("first") if len(colours(body)[0]) == 2 else ok("", finish="length")
    with pytest.raises(NoReplyError, match="max_tokens") as caught:
        model.compare([compare(RED, BLUE), compare(RED, BLUE, GREEN)])
    assert caught.value.positions == {1}
    assert model.compare([compare(RED, BLUE)]) == ["first"]

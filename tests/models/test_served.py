import base64
import io
import json
import logging
import math
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from PIL import Image

from vlgate.calling import Caller
from vlgate.errors import ModelLoadError, NoReplyError, PictureError
from vlgate.models import served
from vlgate.models.registry import load
from vlgate.models.served import build, workers
from vlgate.models.served_http import Pace
from vlgate.scoring import Scorer
from vlgate.types import Answerer, Ask, Match, Matcher, Picture

KEY = "sk-test-0123456789abcdef"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chat = self.server.chat
        with chat.lock:
            chat.seen.append((self.path, dict(self.headers), body))
        status, headers, content = chat.reply(body)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        try:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # the client did not wait for it

    def log_message(self, *_):
        pass


class Chat:
    """A chat-completions server on loopback; ``script`` holds what comes before it answers by ``say``."""

    def __init__(self):
        self.seen, self.script, self.lock = [], [], threading.Lock()
        self.say = lambda _: ok("Yes.")
        self.released = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.chat = self
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def reply(self, body):
        with self.lock:
            said = self.script.pop(0) if self.script else None
        said = self.say if said is None else said
        return said(body) if callable(said) else said

    def hang(self, _):
        self.released.wait(20)
        return ok("too late")

    @property
    def texts(self):
        return [body["messages"][0]["content"][1]["text"] for _, _, body in self.seen]


@pytest.fixture
def chat(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = Chat()
    thread = threading.Thread(target=chat.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield chat
    chat.released.set()
    chat.server.shutdown()
    chat.server.server_close()
    thread.join()


@pytest.fixture
def slept(monkeypatch):
    """How long it would have slept; nobody waits."""
    found = []
    monkeypatch.setattr(served, "Pace", partial(Pace, clock=lambda: sum(found), sleep=found.append))
    return found


def ok(text, *, model="toy", finish="stop", top=None, **message):
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    if top is not None:
        words = [{"token": token, "logprob": math.log(p)} for token, p in top]
        choice["logprobs"] = {"content": [{**words[0], "top_logprobs": words}]}
    return 200, {}, {"model": model, "choices": [choice]}


def picture(name="p", colour=(10, 200, 30), size=(40, 30)):
    return Picture(key=name, load=lambda: Image.new("RGB", size, colour))


def pairs(*texts):
    return [Match(picture=picture(), text=text) for text in texts]


def model_of(chat, options=""):
    return build(f"{chat.url}#toy{options}")


def asked_of(body):
    return body["messages"][0]["content"][1]["text"]


def refused(chat, options=""):
    with pytest.raises(ModelLoadError) as caught:
        model_of(chat, options)
    return str(caught.value)


def problem(ask):
    with pytest.raises(NoReplyError) as caught:
        ask()
    return caught.value


def test_answers_come_in_order_however_late_each_is(chat):
    meeting = threading.Barrier(4, timeout=20)

    def say(body):
        if "number" in asked_of(body):
            meeting.wait()  # four requests are under way at once
        return ok(asked_of(body).partition(" Answer")[0])

    chat.say = say
    model = model_of(chat, "?concurrency=4")
    assert isinstance(model, Answerer)
    questions = [Ask(picture=picture(), question=f"number {n}?") for n in range(8)]
    assert model.answer(questions) == [question.question for question in questions]
    assert model.answer([]) == []


def test_what_is_sent(chat):
    model_of(chat).answer([Ask(picture=picture(), question="What colour?", choices=("red", "green"))])
    path, headers, body = chat.seen[-1]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("toy", 0, 512)
    image, text = body["messages"][0]["content"]
    assert text == {"type": "text", "text": "What colour? Answer with one of: red, green."}
    kind, _, content = image["image_url"]["url"].partition(",")
    assert kind == "data:image/png;base64"
    sent = np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))
    assert np.array_equal(sent, np.asarray(picture().image()))


@pytest.mark.parametrize(("options", "size", "form"), [
    ("?size=20", (20, 15), "png"), ("?size=100", (40, 30), "png"), ("?format=jpeg&size=8", (8, 6), "jpeg"),
])  # fmt: skip
def test_pictures_made_smaller_or_sent_as_jpeg(chat, options, size, form):
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
    assert "probabilities" not in model.note
    chat.say = lambda _: ok("No", top=[("No", 0.9), ("no", 0.05)])
    assert model.match(pairs("a")) == [0.0]
    chat.say = lambda _: ok("Well", top=[("Well", 0.9), ("Yesterday", 0.05)])
    assert "neither yes nor no is among the likeliest" in str(problem(lambda: model.match(pairs("a"))))
    chat.say = lambda _: ok("Yes")
    assert "no log-probabilities" in str(problem(lambda: model.match(pairs("a"))))


def test_a_blank_before_the_first_word_is_passed_over(chat):
    status, headers, reply = ok(" Yes", top=[("Yes", 0.8), ("No", 0.1)])
    word = reply["choices"][0]["logprobs"]["content"][0]
    reply["choices"][0]["logprobs"]["content"] = [
        {"token": " \n", "top_logprobs": [{"token": "No", "logprob": 0}]},
        word,
    ]
    chat.say = lambda _: (status, headers, reply)
    assert model_of(chat).match(pairs("a")) == pytest.approx([0.8])


def test_without_probabilities_it_is_yes_or_no_and_said_so(chat):
    replies = {"a": "Yes, it does.", "b": "No.", "c": "<think>no, or yes</think>Yes"}
    chat.say = lambda body: ok(replies.get(asked_of(body)[23:24], "Yes"))
    model = model_of(chat)
    assert list(model.match(pairs("a", "b", "c"))) == [1.0, 0.0, 1.0]
    assert model.decision_threshold == 0.5
    assert "1 for yes and 0 for no" in model.note
    assert "logprobs" not in chat.seen[-1][2]
    assert "1 for yes and 0 for no" in model_of(chat, "?logprobs=0").note


@pytest.mark.parametrize(("reply", "why"), [
    (ok("Yes, it is a", finish="length"), "raise max_tokens"),
    (ok(None, refusal="I cannot help."), "refuses to answer: I cannot help"),
    (ok("", finish="content_filter"), "refuses to answer: content_filter"),
    (ok("  "), "the answer is empty"),
    (ok(None), "the answer is empty"),
    (ok("<think>hm"), "a thought that does not end"),
    (ok("Yes \ud800"), "no text"),
    ((200, {}, {"choices": []}), "no chat completion: it has choices"),
    ((200, {}, {"choices": [{"message": "yes"}]}), "no chat completion"),
    ((200, {}, {"error": {"message": "overloaded"}}), "answers with an error: {'message': 'overloaded'}"),
    ((200, {}, [1]), "no JSON object"),
    ((200, {}, b"<html>yes"), "no JSON: <html>yes"),
    ((200, {"Content-Length": "9999"}, b'{"choices": [{"message"'), "ends 9976 bytes early"),
    ((400, {}, {"error": {"message": "picture too large"}}), "answers 400: picture too large"),
    ((302, {"Location": "http://elsewhere/"}, b""), "redirects to http://elsewhere/, where the key does not go"),
])  # fmt: skip
@pytest.mark.usefixtures("slept")
def test_a_reply_that_is_none_costs_its_own_request_only(chat, reply, why):
    model = model_of(chat, "?retries=1&logprobs=0")
    chat.say = lambda body: reply if "bad" in asked_of(body) else ok("yes")
    scorer = Scorer(model=model, name="toy", caller=Caller(name="toy", size=8))
    before, asked = len(chat.seen), pairs("a", "bad 1", "b", "bad 2", "c")
    found = scorer.predict(asked)
    assert [found[pair].score for pair in asked] == [1.0, None, 1.0, None, 1.0]
    assert all(why in found[pair].problem for pair in (asked[1], asked[3]))
    good = [text for text in chat.texts[before:] if "bad" not in text]
    assert len(good) == 3  # they are not asked again
    assert model.match(pairs("a")) == [1.0]
    assert len(chat.seen) > before + len(good)  # and nothing is kept beyond that


def test_an_unreadable_answer_to_a_match_is_no_reply(chat):
    model = model_of(chat)
    chat.say = lambda _: ok("It is hard to say.")
    assert "neither yes nor no" in str(problem(lambda: model.match(pairs("a"))))
    assert model.answer([Ask(picture=picture(), question="q", choices=("a", "b"))]) == ["It is hard to say."]


def test_busy_services_are_asked_again(chat, slept):
    model = model_of(chat)
    chat.script = [(429, {"Retry-After": "7"}, b""), (503, {}, b""), (500, {}, b"oh")]
    assert model.answer([Ask(picture=picture(), question="q")]) == ["Yes."]
    assert len(chat.seen) == 5
    assert slept[0] == 7
    assert 0.5 <= slept[1] <= 1  # the second attempt failed: 1 s, less a part of it
    assert slept[2] == 2 * slept[1]
    assert len(slept) == 3


@pytest.mark.usefixtures("slept")
def test_a_service_that_hangs_is_left_and_then_asked_once_only(chat):
    model = model_of(chat, "?timeout=1&retries=1&concurrency=1")
    chat.script = [chat.hang, chat.hang]
    assert "no answer within 1 s, after 2 attempts" in str(problem(lambda: model.match(pairs("a"))))
    before = len(chat.seen)
    chat.script = [(503, {}, b"")] * 2
    assert "after 1 attempt" in str(problem(lambda: model.match(pairs("a"))))
    assert "after 1 attempt" in str(problem(lambda: model.match(pairs("b"))))
    assert len(chat.seen) == before + 2
    assert model.match(pairs("a")) == [1.0]  # it is back, and so are the retries
    chat.script = [(503, {}, b"")]
    assert model.match(pairs("a")) == [1.0]


@pytest.mark.usefixtures("slept")
def test_a_dropped_connection_is_tried_again(chat):
    model = model_of(chat)
    chat.script = [(200, {"Content-Length": "50"}, b"{")]
    assert model.match(pairs("a")) == [1.0]


@pytest.mark.parametrize(("status", "said", "why"), [
    (404, {"error": {"message": "The model `toy` does not exist."}}, "is the model's name right"),
    (401, {"error": f"Incorrect API key provided: {KEY}"}, "Incorrect API key provided: ***; is the key"),
    (400, {"detail": "toy is not a multimodal model"}, "not a multimodal model"),
    (200, {"error": "no such thing"}, "answers with an error"),
])  # fmt: skip
def test_what_cannot_be_asked_is_found_at_the_start(chat, status, said, why):
    chat.say = lambda _: (status, {}, said)
    message = refused(chat)
    assert why in message
    assert "'toy' at http://127.0.0.1" in message
    assert KEY not in message
    assert len(chat.seen) == 1


def test_nobody_is_there(chat, slept):
    chat.server.shutdown()
    chat.server.server_close()
    assert "is it running" in refused(chat, "?retries=2")
    assert len(slept) == 2


def test_fields_that_a_service_does_not_know_are_left_out(chat):
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


@pytest.mark.usefixtures("slept")
def test_the_key_is_shown_to_nobody_but_the_service(chat, caplog, capfd, tmp_path):
    caplog.set_level(logging.DEBUG)
    chat.say = lambda body: ok(f"You sent {KEY}") if "q?" in asked_of(body) else ok("Yes")
    loaded = load(f"vlgate.models.served:build:{chat.url}#toy?retries=0", folder=tmp_path)
    said = loaded.model.answer([Ask(picture=picture(), question="q?")])
    assert said == ["You sent ***"]
    chat.say = lambda _: (500, {}, f"key {KEY}".encode())
    error = problem(lambda: loaded.model.match(pairs("a")))
    shown = [repr(loaded), str(error), repr(error.__cause__), repr(error.__context__), loaded.model.note]
    shown += [loaded.fingerprint, loaded.model.fingerprint, repr(vars(loaded.model)), caplog.text, *capfd.readouterr()]
    assert not any(KEY in text for text in shown)
    assert chat.seen[-1][1]["Authorization"] == f"Bearer {KEY}"


def test_a_key_of_another_name_or_none(chat, monkeypatch):
    monkeypatch.setenv("MY_KEY", "another-key")
    model_of(chat, "?key_env=MY_KEY")
    assert chat.seen[-1][1]["Authorization"] == "Bearer another-key"
    monkeypatch.delenv("OPENAI_API_KEY")
    model_of(chat)
    assert "Authorization" not in chat.seen[-1][1]


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(chat, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert model_of(chat, "?retries=0").match(pairs("a")) == [1.0]


def test_a_picture_that_fails_fails_unchanged_and_its_neighbours_are_paid_for_once(chat):
    error = PictureError("bad", "it is torn", "mend it")

    def fail():
        raise error

    model = model_of(chat)
    bad = [Match(picture=Picture(key="bad", load=fail), text=text) for text in "xy"]
    before, good = len(chat.seen), pairs("a", "b")
    with pytest.raises(PictureError) as caught:
        model.match([good[0], *bad, good[1]])
    assert caught.value is error
    assert list(model.match(good)) == [1.0, 1.0]
    assert len(chat.seen) == before + 2
    found = Scorer(model=model, name="toy", caller=Caller(name="toy", size=8)).predict([good[0], *bad, good[1]])
    assert [found[pair].score for pair in (good[0], *bad, good[1])] == [1.0, None, None, 1.0]
    assert len(chat.seen) == before + 4


def test_a_picture_of_many_questions_is_decoded_once(chat):
    decoded = []
    once = Picture(key="p", load=lambda: decoded.append(1) or Image.new("RGB", (40, 30)))
    model_of(chat, "?concurrency=1").match([Match(picture=once, text=text) for text in "abcd"])
    assert decoded == [1]


def test_workers_share_the_limit(monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    assert workers() == 1
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    assert workers() == 4

import base64
import io
import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from functools import partial
from importlib.util import find_spec
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest
from builders import tabled
from chat_server import KEY, asked_of, image, model_of, ok, pairs, problem, refused
from PIL import Image

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.judging.answers import read_answer
from vlgate.models.generative.prompts import VQASCORE
from vlgate.models.served.adapter import build, workers
from vlgate.models.served.chat import text_of, thinks
from vlgate.record.model_card import ModelCard
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


@tabled
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


def test_without_probabilities_the_score_is_yes_or_no_and_the_note_says_so(chat):
    replies = {"a": "Yes, it does.", "b": "No.", "c": "<think>no, or yes</think>Yes"}
    chat.say = lambda body: ok(replies.get(asked_of(body)[23:24], "Yes"))
    model = model_of(chat)
    assert list(model.match(pairs("a", "b", "c"))) == [1.0, 0.0, 1.0]
    assert model.decision_threshold == 0.5
    assert "1 for yes and 0 for no" in model.note
    assert "logprobs" not in chat.seen[-1][2]
    assert "1 for yes and 0 for no" in model_of(chat, "?logprobs=0").note
    chat.say = lambda _: ok("It is hard to say.")
    assert "neither yes nor no" in str(problem(lambda: model.match(pairs("a"))))
    assert model.answer([Ask(image=image(), question="q", choices=("a", "b"))]) == ["It is hard to say."]


@tabled
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
    for status, said in (
        (422, {"message": "logprobs?"}),
        (403, {"error": {"message": "You may not request logprobs."}}),
    ):
        chat.say = lambda body, status=status, said=said: (status, {}, said) if "logprobs" in body else ok("No")
        model = model_of(chat)
        assert model.match(pairs("a")) == [0.0]
        assert "1 for yes and 0 for no" in model.note


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


GOT = [("Got", 0.99), ("Yes", 1e-4), ("No", 1e-4)]  # the first word of a thought


def says(make, body):
    """What a server that is right says: yes about "a", no about everything else."""
    yes = "white" in asked_of(body) or '"a' in asked_of(body)
    return make("Yes" if yes else "No", "no" if yes else "yes")


@tabled
def test_the_first_word_of_any_thought_is_no_score(chat, shape):
    chat.say = partial(says, lambda answer, other: ok(shape.format(answer=answer, other=other), top=GOT))
    model = model_of(chat)
    assert "the model thinks before it answers: the score of a match is 1 for yes and 0 for no" in model.note
    assert list(model.match(pairs("a", "b", "a c"))) == [1.0, 0.0, 1.0]
    assert "logprobs" not in chat.seen[-1][2]
    [answer] = model.answer([Ask(image=image(), question='is it "a"?', choices=("yes", "no"))])
    assert read_answer(answer, ("yes", "no")) == "yes"


def test_boxes_are_read_and_a_thought_in_a_part_of_the_content_is_not(chat):
    chat.say = partial(says, lambda answer, _: ok(f"<|begin_of_box|>{answer}<|end_of_box|>"))
    assert list(model_of(chat).match(pairs("a", "b"))) == [1.0, 0.0]
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "no, or yes"}]}
    chat.say = partial(says, lambda answer, _: ok([thought, {"type": "text", "text": answer}], top=GOT))
    assert list(model_of(chat).match(pairs("a", "b"))) == [1.0, 0.0]
    reasoned = {"type": "reasoning", "text": "No dog here."}
    chat.say = partial(says, lambda answer, _: ok([reasoned, {"type": "text", "text": answer}, "."], top=GOT))
    model = model_of(chat)
    assert list(model.match(pairs("a", "b"))) == [1.0, 0.0]
    assert model.answer([Ask(image=image(), question='"a"?')]) == ["Yes."]


@tabled
def test_a_thought_in_a_field_of_any_service(chat, aside):
    chat.say = partial(says, lambda answer, _: ok(answer, top=GOT, **aside))
    model = model_of(chat)
    assert "the model thinks" in model.note
    assert list(model.match(pairs("a", "b"))) == [1.0, 0.0]


def test_a_thought_that_only_the_tokens_or_a_later_reply_show_is_no_score(chat):
    chat.say = lambda _: ok("Yes", top=[("Got", 0.99), ("Yes", 0.001)], tokens=["<think>"])
    assert "the model thinks" in model_of(chat).note
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.75), ("No", 0.2)])
    model = model_of(chat)
    chat.say = lambda _: ok("Hm.</think>", top=[("Hm", 0.9), ("Yes", 0.01)])
    assert "write ?logprobs=0" in str(problem(lambda: model.match(pairs("a"))))


@pytest.mark.parametrize(
    "aside", [{"reasoning": None}, {"reasoning_content": " "}, {"thinking": []}, {"refusal": None}]
)
def test_an_empty_field_for_thoughts_is_no_thought(chat, aside):
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.75), ("No", 0.2)], **aside)
    assert model_of(chat).match(pairs("a")) == pytest.approx([0.75])


@pytest.mark.parametrize("token", ["<|begin_of_box|>", "<|im_start|>", "<s>", "<start_of_turn>", " \n", "**"])
def test_special_tokens_before_the_first_word_are_passed(chat, token):
    chat.say = lambda _: ok(f"{token}Yes", top=[("Yes", 0.75), ("No", 0.2)], tokens=[token])
    assert model_of(chat).match(pairs("a")) == pytest.approx([0.75])


def test_a_service_that_says_neither_yes_nor_no_at_first(chat):
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


@tabled
def test_the_text_of_contents(content, text):
    reply = ok([*content] if isinstance(content, tuple) else content)[2]
    found = text_of(reply)
    assert found == text if text else found.why == "the answer is empty"
    assert not thinks(reply)


@pytest.mark.parametrize(("options", "only"), [("", False), ("?logprobs=0", True)])
def test_the_card_of_a_service_tells_whether_it_only_says_yes_or_no(chat, options, only):
    chat.say = lambda _: ok("Yes", top=[("Yes", 0.75), ("No", 0.2)])
    model = model_of(chat, options)
    assert ModelCard(name="toy", notes=(model.note,)).yes_or_no is only


NEEDED = ("torch", "transformers", "tokenizers", "accelerate", "fastapi", "uvicorn", "openai")
LACKING = [name for name in NEEDED if find_spec(name) is None]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    import tiny_vlms

    model, processor = tiny_vlms.llava()
    # Every word ends the answer: a model of random weights would never stop.
    model.generation_config.eos_token_id = list(range(len(processor.tokenizer)))
    model.generation_config.pad_token_id = 0
    model.generation_config.suppress_tokens = list(range(len(tiny_vlms.SPECIAL)))
    folder = tmp_path_factory.mktemp("served") / "tiny"
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def service(tiny):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "import sys; from transformers.cli.transformers import main; sys.argv[0] = 'transformers'; main()"
    command = [sys.executable, "-c", code, "serve", str(tiny), "--port", str(port), "--host", "127.0.0.1"]
    command += ["--device", "cpu"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            yield _when_up(f"http://127.0.0.1:{port}", process)
        finally:
            process.kill()


def _when_up(address, process):
    for _ in range(300):
        if process.poll() is not None:
            pytest.fail(process.stdout.read().decode()[-2000:])
        try:
            with urlopen(f"{address}/health", timeout=2):
                return address
        except URLError:
            time.sleep(0.2)
    pytest.fail("transformers serve did not come up")


def by_hand(folder, question, colour):
    import transformers as hf

    model = hf.LlavaForConditionalGeneration.from_pretrained(folder)
    processor = hf.AutoProcessor.from_pretrained(folder)
    inputs = processor(
        text=f"USER: <image>\n{question} ASSISTANT:", images=image(colour=colour).load(), return_tensors="pt"
    )
    made = model.generate(**inputs, do_sample=False, max_new_tokens=4)
    return processor.decode(made[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


@pytest.mark.slow
@pytest.mark.skipif(bool(LACKING), reason=f"transformers serve needs {', '.join(LACKING)}")
def test_it_answers_as_the_model_itself_does(service, tiny):
    model = build(f"{service}/v1#{tiny}?concurrency=2&max_tokens=4")
    assert "1 for yes and 0 for no" in model.note
    colours = [(255, 0, 0), (0, 0, 255), (10, 200, 30)]
    asked = [Ask(image=image(colour=colour), question="what colour is this") for colour in colours]
    prompt = "what colour is this Answer with a word or a short phrase."
    wanted = [by_hand(tiny, prompt, colour) for colour in colours]
    assert all(wanted)
    assert model.answer(asked) == wanted

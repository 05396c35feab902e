"""Services that are busy, slow, gone, cut off, that redirect or repeat the key, and what that costs."""

import json
import logging
import random
import signal
import threading
from datetime import UTC, datetime
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from ssl import SSLCertVerificationError
from urllib.error import URLError
from urllib.request import OpenerDirector

import pytest
from builders import refusal, table, tabled
from chat_server import KEY, asked_of, image, model_of, ok, pairs, problem, refused
from hypothesis import given
from hypothesis import strategies as st

from vlgate.asking.batching import Caller
from vlgate.asking.cache.store import Memory, Store
from vlgate.asking.dedupe import Identities
from vlgate.asking.predictor import ModelPredictor
from vlgate.asking.reply_cache import ReplyCache
from vlgate.errors import ImageError, ModelLoadError
from vlgate.images.files import file_image
from vlgate.models.loading.registry import load
from vlgate.models.served.adapter import DaemonThreads, check
from vlgate.models.served.http import Endpoint, Key, Pace, Place, ServiceError, key_of, parse, retry_after
from vlgate.types import Ask, LazyImage, Match


def reply_of(cell):
    """A row of replies.tsv: the arguments of ``ok``, or the status, the headers and the content."""
    reply = json.loads(cell)
    if isinstance(reply, dict):
        return ok(reply.pop("text"), **reply)
    status, headers, content = reply
    return status, headers, content.encode() if isinstance(content, str) else content


@pytest.mark.parametrize(("reply", "why"), table(Path(__file__).with_name("replies.tsv")))
@pytest.mark.usefixtures("slept")
def test_an_unusable_reply_costs_its_own_request_only(chat, reply, why):
    model = model_of(chat, "?retries=1&logprobs=0")
    chat.say = lambda body: reply_of(reply) if "bad" in asked_of(body) else ok("yes")
    scorer = ModelPredictor(model=model, name="toy", caller=Caller(name="toy", size=8))
    before, asked = len(chat.seen), pairs("a", "bad 1", "b", "bad 2", "c")
    found = scorer.predict(asked)
    assert [found[pair].score for pair in asked] == [1.0, None, 1.0, None, 1.0]
    assert all(why in found[pair].problem and found[pair].problem.encode() for pair in (asked[1], asked[3]))
    good = [text for text in chat.texts[before:] if "bad" not in text]
    assert len(good) == 3  # they are not asked again
    assert model.match(pairs("a")) == [1.0]
    assert len(chat.seen) > before + len(good)  # and nothing is kept beyond that


@pytest.mark.usefixtures("slept")
def test_busy_services_and_dropped_connections_are_asked_again(chat, slept):
    model = model_of(chat)
    chat.script = [(429, {"Retry-After": "7"}, b""), (503, {}, b""), (500, {}, b"oh")]
    assert model.answer([Ask(image=image(), question="q")]) == ["Yes."]
    assert len(chat.seen) == 5
    assert slept[0] == 7
    assert 0.5 <= slept[1] <= 1  # the second attempt failed: 1 s, less a part of it
    assert slept[2] == 2 * slept[1]
    assert len(slept) == 3
    model = model_of(chat)
    chat.script = [(200, {"Content-Length": "50"}, b"{")]
    assert model.match(pairs("a")) == [1.0]


@pytest.mark.slow
@pytest.mark.usefixtures("slept")
def test_a_service_that_hangs_is_given_up_and_then_asked_once_only(chat):
    model = model_of(chat, "?timeout=1&retries=1&concurrency=1")
    chat.script = [chat.hang, chat.hang]
    assert "within 1 s, after 2 attempts" in str(problem(lambda: model.match(pairs("a"))))
    before = len(chat.seen)
    chat.script = [(503, {}, b"")] * 2
    assert "after 1 attempt" in str(problem(lambda: model.match(pairs("a"))))
    assert "after 1 attempt" in str(problem(lambda: model.match(pairs("b"))))
    assert len(chat.seen) == before + 2
    assert model.match(pairs("a")) == [1.0]  # it is back, and so are the retries
    chat.script = [(503, {}, b"")]
    assert model.match(pairs("a")) == [1.0]


def test_a_service_that_is_not_running(chat, slept):
    chat.server.shutdown()
    chat.server.server_close()
    assert "is it running" in refused(chat, "?retries=2")
    assert len(slept) == 2


def test_an_image_that_fails_fails_unchanged_and_its_neighbours_are_paid_for_once(chat):
    error = ImageError("bad", "it is damaged", "repair it")

    def fail():
        raise error

    model = model_of(chat)
    bad = [Match(image=LazyImage(key="bad", load=fail), text=text) for text in "xy"]
    before, good = len(chat.seen), pairs("a", "b")
    with pytest.raises(ImageError) as caught:
        model.match([good[0], *bad, good[1]])
    assert caught.value is error
    assert list(model.match(good)) == [1.0, 1.0]
    assert len(chat.seen) == before + 2
    found = ModelPredictor(model=model, name="toy", caller=Caller(name="toy", size=8)).predict([good[0], *bad, good[1]])
    assert [found[pair].score for pair in (good[0], *bad, good[1])] == [1.0, None, None, 1.0]
    assert len(chat.seen) == before + 4


def test_a_proxy_from_the_environment_is_not_used_for_this_machine(chat, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert model_of(chat, "?retries=0").match(pairs("a")) == [1.0]


@pytest.mark.usefixtures("slept")
def test_only_the_service_sees_the_key(chat, caplog, capfd, tmp_path):
    caplog.set_level(logging.DEBUG)
    chat.say = lambda body: ok(f"You sent {KEY}") if "q?" in asked_of(body) else ok("Yes")
    loaded = load(f"vlgate.models.served.adapter:build:{chat.url}#toy?retries=0", folder=tmp_path)
    said = loaded.model.answer([Ask(image=image(), question="q?")])
    assert said == ["You sent ***"]
    chat.say = lambda _: (500, {}, f"key {KEY}".encode())
    error = problem(lambda: loaded.model.match(pairs("a")))
    shown = [repr(loaded), str(error), repr(error.__cause__), repr(error.__context__), loaded.model.note]
    shown += [loaded.fingerprint, loaded.model.fingerprint, repr(vars(loaded.model)), caplog.text, *capfd.readouterr()]
    assert not any(KEY in text for text in shown)
    assert chat.seen[-1][1]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.usefixtures("slept")
def test_too_many_requests_do_not_mean_that_the_service_is_gone_unless_it_asks_to_wait_for_hours(chat, slept):
    model = model_of(chat, "?retries=1&concurrency=1")
    chat.script = [(429, {"Retry-After": "3"}, b"")] * 2
    why = str(problem(lambda: model.match(pairs("a"))))
    assert "after 2 attempts; rpm=N" in why
    chat.script = [(429, {}, b"")]
    assert model.match(pairs("b")) == [1.0]  # with all its retries
    assert slept[:2] == [3, 3]  # what it asked for last holds for the next request
    model = model_of(chat, "?concurrency=1")
    before = len(chat.seen)
    chat.script = [(429, {"Retry-After": "86400"}, {"error": {"message": "daily limit"}})]
    why = str(problem(lambda: model.match(pairs("a"))))
    assert "daily limit; it asks to wait 86400 s" in why
    assert len(chat.seen) == before + 1


TROUBLE = (
    (429, {}, b""),
    (500, {}, b"oh"),
    (200, {}, b"<html>"),
    (200, {}, b""),
    (200, {"Content-Length": "9999"}, b'{"choices"'),
    (200, {}, {"choices": []}),
)


@pytest.mark.usefixtures("slept")
@pytest.mark.parametrize("seed", range(3))
def test_whatever_a_service_sends_each_reply_is_right_or_missing_and_can_be_had_later(chat, tmp_path, seed):
    model = model_of(chat, "?retries=1&concurrency=4&logprobs=0")
    lock, chance = threading.Lock(), random.Random(seed)

    def say(body):
        with lock:
            trouble = chance.choice(TROUBLE) if chance.random() < 0.6 else None
        return trouble or ok("yes" if "even" in asked_of(body) else "no")

    def predictor():
        memory = Memory(store=Store(tmp_path), model="toy")
        known = Identities(memory=memory, code=b"code")
        cache = ReplyCache(memory=memory, identities=known, model=b"toy")
        return ModelPredictor(model=model, name="toy", caller=Caller(name="toy", size=8), cache=cache)

    chat.say = say
    photo = tmp_path / "p.png"
    image().load().save(photo)
    asked = [Match(image=file_image("p.png", photo), text=f"{('even', 'odd')[n % 2]} {n}") for n in range(40)]
    right = [float(n % 2 == 0) for n in range(40)]
    first = [reply.score for reply in predictor().predict(asked).values()]
    assert all(score in {None, expected} for score, expected in zip(first, right, strict=True))
    missing = first.count(None)
    assert 0 < missing < 40
    chat.say, before = lambda body: ok("yes" if "even" in asked_of(body) else "no"), len(chat.seen)
    assert [reply.score for reply in predictor().predict(asked).values()] == right
    assert len(chat.seen) - before == missing


def test_an_untrusted_certificate_is_not_tried_again(chat, slept, monkeypatch):
    def untrusted(*_, **__):
        raise URLError(SSLCertVerificationError(1, "self-signed certificate"))

    monkeypatch.setattr(OpenerDirector, "open", untrusted)
    why = refused(chat)
    assert "is not trusted" in why
    assert "SSL_CERT_FILE" in why
    assert "is it running" not in why
    assert slept == []


@pytest.fixture
def interruptible():
    """Handle interruptions: a shell starts background processes with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_run_does_not_wait_for_replies(chat):
    model = model_of(chat, "?concurrency=2")
    over = []

    def hang(_):
        chat.released.wait(5)
        over.append(1)
        return ok("Yes")

    def interrupt(body):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return hang(body)

    chat.script, chat.say = [interrupt], hang
    with pytest.raises(KeyboardInterrupt):
        model.match(pairs("a", "b", "c", "d"))
    assert over == []
    assert "interrupted" in str(problem(lambda: model.match(pairs("e"))))
    assert not any('"e"' in text for text in chat.texts)


def test_threads_keep_the_order_are_daemons_and_hold_what_a_job_raises():
    before, done = set(threading.enumerate()), []
    threads, gate = DaemonThreads(1), threading.Event()
    first = threads.submit(gate.wait)
    others = [threads.submit(partial(done.append, number)) for number in range(3)]
    mine = set(threading.enumerate()) - before
    assert [thread.daemon for thread in mine] == [True]
    gate.set()
    assert [future.result(10) for future in (first, *others)] == [True, None, None, None]
    assert done == [0, 1, 2]
    threads.close()
    for thread in mine:
        thread.join(10)
        assert not thread.is_alive()
    threads = DaemonThreads(2)
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 / 0).result(10)
    threads.close()


def test_jobs_that_have_not_started_are_dropped():
    threads, begun, gate, done = DaemonThreads(1), threading.Event(), threading.Event(), []
    first = threads.submit(lambda: begun.set() or gate.wait())
    threads.submit(partial(done.append, 1))
    assert begun.wait(10)
    threads.close()
    gate.set()
    assert first.result(10)
    assert done == []


NOW = datetime(2025, 1, 1, tzinfo=UTC)


def test_the_address_and_its_options():
    place = parse("http://localhost:8000/v1#llava")
    assert place == Place(url="http://localhost:8000/v1", name="llava", loopback=True)
    assert parse("https://api.example.org/v1/#org/name:7b").name == "org/name:7b"
    assert parse("https://api.example.org/v1/chat/completions#x").url == "https://api.example.org/v1"
    place = parse(
        "https://h/v1#m?concurrency=2&format=jpeg&key_env=MY_KEY&logprobs=0&max_tokens=9&retries=0&rpm=60&size=512"
        "&timeout=5"
    )
    assert (place.concurrency, place.form, place.key_env, place.logprobs) == (2, "jpeg", "MY_KEY", False)
    assert (place.max_tokens, place.retries, place.rpm, place.size, place.timeout) == (9, 0, 60, 512, 5)


@pytest.mark.parametrize(("weights", "why"), table(Path(__file__).with_name("bad_addresses.tsv")))
def test_what_can_be_wrong(weights, why):
    assert why in refusal(parse, weights)


@tabled
def test_http_is_for_this_machine_unless_insecure_is_set(address):
    assert parse(address).loopback == ("far" not in address)


@tabled
def test_a_key_in_the_wrong_place_is_refused_and_not_repeated(weights, tmp_path, monkeypatch):
    monkeypatch.delenv("SECRET0123456789", raising=False)
    with pytest.raises(ModelLoadError) as caught:
        check(weights, tmp_path)
    assert "SECRET" not in str(caught.value)
    assert "environment" in str(caught.value)


@pytest.mark.parametrize("value", ["SECRET\nX: y", "SECRET 1", "SECRET\u00e9"])
def test_a_key_that_cannot_be_sent(value, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(ModelLoadError, match="OPENAI_API_KEY") as caught:
        key_of(parse("https://h/v1#m"))
    assert "SECRET" not in str(caught.value)


def test_only_the_headers_show_a_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " SECRET0123456789\n")
    key = key_of(parse("https://h/v1#m"))
    assert key.headers() == {"Authorization": "Bearer SECRET0123456789"}
    assert "SECRET" not in f"{key} {key!r} {[key]}"
    said = {"a": ["xSECRET0123456789y", 1, None], "b": {"c": "SECRET0123456789"}}
    assert key.cleaned(said) == {"a": ["x***y", 1, None], "b": {"c": "***"}}
    assert key.cleaned({"SECRET0123456789": 1}) == {"***": 1}
    assert Key("EMPTY").cleaned("EMPTY") == "EMPTY"  # vLLM's users write this; it is not a secret
    assert Key("").headers() == {}


@tabled
def test_retry_after_is_seconds_or_a_date(header, wanted):
    assert retry_after(header, NOW) == wanted


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds > 0
        self.now += seconds


@given(st.lists(st.floats(0, 5), min_size=1, max_size=30), st.integers(1, 600))
def test_no_more_than_rpm_requests_per_minute(gaps, rpm):
    clock = Clock()
    pace, sent = Pace(rpm, clock, clock.sleep), []
    for gap in gaps:
        clock.now += gap
        pace.wait()
        sent.append(clock.now)
    assert all(later - earlier > 60 / rpm - 1e-6 for earlier, later in pairwise(sent))


def test_a_reply_that_comes_too_slowly_is_given_up(chat):
    """2 MB come in at least 31 parts; the clock is read after each."""
    chat.say = lambda _: ok("x" * 2_000_000)

    def ask(seconds_per_part):
        ticks = count(step=seconds_per_part)
        pace = Pace(0, clock=lambda: next(ticks))
        return Endpoint(parse(f"{chat.url}#toy?retries=0&timeout=120"), Key(""), pace).ask({})

    assert len(ask(0.0)["choices"][0]["message"]["content"]) == 2_000_000
    with pytest.raises(ServiceError, match="within 120 s"):
        ask(10.0)


def test_no_thread_sleeps_unless_the_service_asks_for_it_also_while_it_waits():
    clock = Clock()
    pace = Pace(0, clock, clock.sleep)
    pace.wait()
    pace.wait()
    assert clock.now == 100
    pace.hold(7)
    pace.hold(3)
    pace.wait()
    assert clock.now == 107
    clock = Clock()

    def sleep(seconds):
        if clock.now == 100:
            pace.hold(30)  # another thread's reply, while this one sleeps
        clock.now += seconds

    pace = Pace(60, clock, sleep)
    pace.wait()
    pace.wait()
    assert clock.now == 130

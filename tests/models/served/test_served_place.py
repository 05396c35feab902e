from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path

import pytest
from builders import table
from chat_server import ok
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import ModelLoadError
from vlgate.models.served.adapter import check
from vlgate.models.served.address import Key, Place, key_of, parse
from vlgate.models.served.http import Endpoint, Pace, ServiceError, retry_after

NOW = datetime(2025, 1, 1, tzinfo=UTC)


def refused(weights):
    with pytest.raises(ModelLoadError) as caught:
        parse(weights)
    return str(caught.value)


def test_the_defaults():
    place = parse("http://localhost:8000/v1#llava")
    assert place == Place(url="http://localhost:8000/v1", name="llava", loopback=True)
    assert parse("https://api.example.org/v1/#org/name:7b").name == "org/name:7b"
    assert parse("https://api.example.org/v1/chat/completions#x").url == "https://api.example.org/v1"


def test_all_options():
    place = parse(
        "https://h/v1#m?concurrency=2&format=jpeg&key_env=MY_KEY&logprobs=0&max_tokens=9&retries=0&rpm=60&size=512"
        "&timeout=5"
    )
    assert (place.concurrency, place.form, place.key_env, place.logprobs) == (2, "jpeg", "MY_KEY", False)
    assert (place.max_tokens, place.retries, place.rpm, place.size, place.timeout) == (9, 0, 60, 512, 5)


@pytest.mark.parametrize(("weights", "why"), table(Path(__file__).with_name("bad_addresses.tsv")))
def test_what_can_be_wrong(weights, why):
    assert why in refused(weights)


@pytest.mark.parametrize("address", [
    "http://127.0.0.1/v1#m", "http://127.8.8.8/v1#m", "http://[::1]:80/v1#m", "http://0.0.0.0:80/v1#m",
    "http://far.example.org/v1#m?insecure=1",
])  # fmt: skip
def test_http_is_for_this_machine_unless_insecure_is_set(address):
    assert parse(address).loopback == ("far" not in address)


@pytest.mark.parametrize("weights", [
    "https://h/v1#m?api_key=SECRET0123456789", "https://h/v1#m?SECRET0123456789", "https://me:SECRET0123456789@h/v1#m",
    "https://SECRET0123456789@h/v1#m", "https://h/v1#m?key_env=sk-SECRET0123456789",
    "https://h/v1#m?key_env=SECRET0123456789",
])  # fmt: skip
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


@pytest.mark.parametrize(("header", "wanted"), [
    ("3", 3.0), (" 0.5 ", 0.5), ("Wed, 01 Jan 2025 00:00:09 GMT", 9.0), ("Wed, 01 Jan 2025 00:00:09", 9.0),
    ("Tue, 31 Dec 2024 00:00:00 GMT", 0.0), ("soon", 0.0), ("", 0.0), (None, 0.0), ("-3", 0.0), ("inf", 0.0),
    ("\u0663", 0.0), ("Wed, 01 Jan 99999 00:00:09 GMT", 0.0), ("Wed, 01 Jan 2025 00:00:09 +99999999999999", 0.0),
])  # fmt: skip
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


def test_without_a_limit_no_thread_sleeps_unless_the_service_asks_for_it():
    clock = Clock()
    pace = Pace(0, clock, clock.sleep)
    pace.wait()
    pace.wait()
    assert clock.now == 100
    pace.hold(7)
    pace.hold(3)
    pace.wait()
    assert clock.now == 107


def test_a_pause_that_the_service_asks_for_also_holds_threads_that_wait_already():
    clock = Clock()

    def sleep(seconds):
        if clock.now == 100:
            pace.hold(30)  # another thread's reply, while this one sleeps
        clock.now += seconds

    pace = Pace(60, clock, sleep)
    pace.wait()
    pace.wait()
    assert clock.now == 130

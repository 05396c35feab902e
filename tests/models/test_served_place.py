from datetime import UTC, datetime
from http.client import HTTPException
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import ModelLoadError
from vlgate.models.served import check
from vlgate.models.served_http import _read
from vlgate.models.served_pace import Pace, seconds
from vlgate.models.served_place import Key, Place, key_of, parse

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


@pytest.mark.parametrize(("weights", "why"), [
    ("http://localhost:8000/v1", "names no model"),
    ("http://localhost:8000/v1#", "names no model"),
    ("localhost:8000/v1#m", "no address of a service"),
    ("ftp://h/v1#m", "no address of a service"),
    ("http://#m", "no address of a service"),
    ("http://h:99999/#m", "cannot be read"),
    ("http://[::1#m", "cannot be read"),
    ("https://h/v1 \n#m", "no address of a service"),
    ("https://h/v 1#m", "no address of a service"),
    ("https://h/v\u00e91#m", "no address of a service"),
    ("http://models.example.org/v1#m", "unencrypted to another machine"),
    ("http://localhost.example.org/v1#m", "unencrypted to another machine"),
    ("http://192.168.0.7/v1#m", "unencrypted to another machine"),
    ("https://h/v1#m?rmp=3", "unknown option 'rmp'; did you mean 'rpm'"),
    ("https://h/v1?rpm=3#m", "names no model"),
    ("https://h/v1#m?rpm=0", "from 1 to"),
    ("https://h/v1#m?retries=-1", "from 0 to 100"),
    ("https://h/v1#m?concurrency=1000", "from 1 to 256"),
    ("https://h/v1#m?format=jpg", "did you mean 'jpeg'"),
    ("https://h/v1#m?logprobs=yes", "write logprobs=1 or logprobs=0"),
])  # fmt: skip
def test_what_can_be_wrong(weights, why):
    assert why in refused(weights)


@pytest.mark.parametrize("address", [
    "http://127.0.0.1/v1#m", "http://127.8.8.8/v1#m", "http://[::1]:80/v1#m", "http://0.0.0.0:80/v1#m",
    "http://far.example.org/v1#m?insecure=1",
])  # fmt: skip
def test_http_is_for_this_machine_or_where_it_is_asked_for(address):
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
    with pytest.raises(ModelLoadError, match="blanks or other than ASCII") as caught:
        key_of(parse("https://h/v1#m"))
    assert "SECRET" not in str(caught.value)


def test_a_key_shows_itself_to_nobody(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " SECRET0123456789\n")
    key = key_of(parse("https://h/v1#m"))
    assert key.headers() == {"Authorization": "Bearer SECRET0123456789"}
    assert "SECRET" not in f"{key} {key!r} {[key]}"
    said = {"a": ["xSECRET0123456789y", 1, None], "b": {"c": "SECRET0123456789"}}
    assert key.cleaned(said) == {"a": ["x***y", 1, None], "b": {"c": "***"}}
    assert key.cleaned({"SECRET0123456789": 1}) == {"***": 1}
    assert Key("EMPTY").cleaned("EMPTY") == "EMPTY"  # what vLLM's users write is no secret
    assert Key("").headers() == {}


@pytest.mark.parametrize(("header", "wanted"), [
    ("3", 3.0), (" 0.5 ", 0.5), ("Wed, 01 Jan 2025 00:00:09 GMT", 9.0), ("Wed, 01 Jan 2025 00:00:09", 9.0),
    ("Tue, 31 Dec 2024 00:00:00 GMT", 0.0), ("soon", 0.0), ("", 0.0), (None, 0.0), ("-3", 0.0), ("inf", 0.0),
    ("\u0663", 0.0), ("Wed, 01 Jan 99999 00:00:09 GMT", 0.0), ("Wed, 01 Jan 2025 00:00:09 +99999999999999", 0.0),
])  # fmt: skip
def test_retry_after_is_seconds_or_a_date(header, wanted):
    assert seconds(header, NOW) == wanted


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds > 0
        self.now += seconds


@given(st.lists(st.floats(0, 5), min_size=1, max_size=30), st.integers(1, 600))
def test_no_more_than_so_many_requests_a_minute(gaps, rpm):
    clock = Clock()
    pace, sent = Pace(rpm, clock, clock.sleep), []
    for gap in gaps:
        clock.now += gap
        pace.wait()
        sent.append(clock.now)
    assert all(later - earlier > 60 / rpm - 1e-6 for earlier, later in pairwise(sent))


class Drip:
    """A reply that comes byte by byte; each takes a second of the clock."""

    def __init__(self, clock, announced=None):
        self.clock, self.length = clock, announced

    def read1(self, _):
        self.clock.now += 1
        return b"x" if self.clock.now < 110 else b""


def test_a_reply_that_drips_is_left_and_one_that_ends_early_is_none():
    clock = Clock()
    assert _read(Drip(Clock()), 120, clock) == b"xxxxxxxxx"
    with pytest.raises(TimeoutError):
        _read(Drip(clock), 105, clock)
    with pytest.raises(HTTPException, match="7 bytes early"):
        _read(Drip(Clock(), announced=7), 120, Clock())


def test_without_a_limit_nobody_sleeps_unless_the_service_asks_for_it():
    clock = Clock()
    pace = Pace(0, clock, clock.sleep)
    pace.wait()
    pace.wait()
    assert clock.now == 100
    pace.hold(7)
    pace.hold(3)
    pace.wait()
    assert clock.now == 107


def test_a_pause_that_is_asked_for_holds_for_those_who_wait_already():
    clock = Clock()

    def sleep(seconds):
        if clock.now == 100:
            pace.hold(30)  # another thread's reply, while this one sleeps
        clock.now += seconds

    pace = Pace(60, clock, sleep)
    pace.wait()
    pace.wait()
    assert clock.now == 130

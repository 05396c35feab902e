"""A service's address and key, and the requests over HTTP: pauses, repetitions, time limits."""

import ipaddress
import json
import os
import re
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from ssl import SSLCertVerificationError
from typing import Any, Literal, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from vlgate import __version__
from vlgate.errors import ModelLoadError, ModelReplyError, nearest, printable
from vlgate.models.specs import registered, split_options

FORM = "expected openai:https://HOST/v1#MODEL?option=value&..., for example openai:http://localhost:8000/v1#llava"
KEY = "OPENAI_API_KEY"
OPTIONS = tuple(sorted(registered()["openai"].options))
_NUMBERS = {"concurrency": 256, "max_tokens": 1_000_000, "rpm": 1_000_000, "size": 65_536, "timeout": 86_400}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    url: str  # without ``/chat/completions``
    name: str
    concurrency: int = 8
    rpm: int = 0  # 0: unlimited
    timeout: int = 120
    retries: int = 5
    max_tokens: int = 512
    form: Literal["png", "jpeg"] = "png"
    size: int = 0  # 0: as they are
    key_env: str = KEY
    logprobs: bool = True
    loopback: bool = False


class Key:
    """An API key that only the service sees: ``repr`` hides it, and so do logs, reports and tracebacks."""

    __slots__ = ("_value",)
    _SHORTEST = 8  # a shorter one ("EMPTY") is not a secret, and may be a word of an answer

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Key(***)"

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def cleaned(self, value: object) -> object:
        if isinstance(value, str) and len(self._value) >= self._SHORTEST:
            return value.replace(self._value, "***")
        if isinstance(value, list):
            return [self.cleaned(part) for part in value]
        if isinstance(value, dict):
            return {self.cleaned(name): self.cleaned(part) for name, part in value.items()}
        return value


def parse(weights: str) -> Place:
    tail = weights.partition("?")[2]
    for option in (part.partition("=")[0] for part in tail.split("&") if tail):
        if option not in OPTIONS:  # its value is not shown: that of api_key=... must not reach a log
            known = nearest(option, OPTIONS) if re.fullmatch(r"\w{1,20}", option) else f"known are {', '.join(OPTIONS)}"
            shown = f"unknown option {option!r}" if re.fullmatch(r"[a-z_]{1,20}", option) else "an unknown option"
            raise ModelLoadError(f"openai: {shown}; {known}; set the key in the environment; options come last")
    place, options = split_options(weights, OPTIONS)
    address, _, name = place.partition("#")
    loopback = _check_address(address, insecure=_flag(options, "insecure", default=False))
    if not name:
        raise ModelLoadError(f"openai:{address} names no model; {FORM}")
    if not re.fullmatch(r"[A-Za-z_]\w*", options.get("key_env", KEY)):
        raise ModelLoadError(f"openai: key_env is not the name of an environment variable; write key_env={KEY}")
    form = options.get("format", "png")
    if form not in ("png", "jpeg"):
        raise ModelLoadError(f"openai: format={form!r} is unknown; {nearest(form, ('png', 'jpeg'))}")
    return Place(
        url=address.rstrip("/").removesuffix("/chat/completions"),
        name=name,
        form="png" if form == "png" else "jpeg",
        key_env=options.get("key_env", KEY),
        logprobs=_flag(options, "logprobs", default=True),
        loopback=loopback,
        retries=_number(options, "retries", 0, 100, default=5),
        **{option: _number(options, option, 1, most) for option, most in _NUMBERS.items() if option in options},
    )


def key_of(place: Place) -> Key:
    value = os.environ.get(place.key_env, "").strip()
    if not value and place.key_env != KEY:  # the name is not shown either: it may be the key itself
        raise ModelLoadError("openai: the environment variable that key_env names is not set or is empty; export it")
    if not all("!" <= letter <= "~" for letter in value):
        raise ModelLoadError(f"openai: the key in {place.key_env} holds blanks or non-ASCII characters; copy it again")
    return Key(value)


def _check_address(address: str, *, insecure: bool) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise ModelLoadError(f"openai: the address cannot be parsed; {FORM}") from None
    if parts.username is not None or parts.password is not None:
        raise ModelLoadError("openai: the address holds a user or password; put the key into an environment variable")
    plain = address.isprintable() and all("!" <= letter <= "~" for letter in parts.path)
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not plain:
        raise ModelLoadError(f"openai:{address!r} is not the address of a service; {FORM}")
    loopback = parts.hostname == "localhost"
    with suppress(ValueError):
        ip = ipaddress.ip_address(parts.hostname)
        loopback = loopback or ip.is_loopback or ip.is_unspecified  # servers on all interfaces print 0.0.0.0
    if parts.scheme == "http" and not loopback and not insecure:
        raise ModelLoadError(
            f"openai:{address} would send the key and all images unencrypted to another machine; use https, or add "
            "insecure=1 if you trust the network in between"
        )
    return loopback


def _flag(options: dict[str, str], name: str, *, default: bool) -> bool:
    value = options.get(name, str(int(default)))
    if value not in ("0", "1"):
        raise ModelLoadError(f"openai: {name}={value!r}; write {name}=1 or {name}=0")
    return value == "1"


def _number(options: dict[str, str], name: str, least: int, most: int, *, default: int = 0) -> int:
    value = options.get(name, str(default))
    if not value.isascii() or not value.isdecimal() or not least <= int(value) <= most:
        raise ModelLoadError(f"openai: {name}={value!r}; expected a whole number from {least} to {most}")
    return int(value)


# ``Endpoint.ask`` is the way in: it waits for its turn (``Pace``), sends the request, and repeats both until the
# service replies or the retries are used up. It uses ``urllib`` from threads: another library would keep connections
# open, but opening one costs about a millisecond, and a model takes tenths of a second or more. Redirects are not
# followed, because the key would go with them.

_TOO_MANY = 429
_TRANSIENT = frozenset({408, 409, 425, _TOO_MANY, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
# statuses after which the same request may succeed: busy, overloaded, a gateway's timeout
_NOT_TRUSTED = 495  # nginx's status for it; the service itself sends no status
_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_WAIT = 0.5, 30.0, 300.0  # seconds
_MOST_BYTES = 1 << 26
_CERTIFICATES = "; if it is right, set SSL_CERT_FILE to the file of its certificate authority"
_SHOWN = 300  # characters of a service's message


class ServiceError(ModelReplyError):
    """A request that a service did not answer; ``status`` is the HTTP status, or 0 if there is none."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


class TransientError(Exception):
    """A failure that may pass; ``after`` is how many seconds the service asks to wait, or 0 if it does not say."""

    def __init__(self, why: str, status: int = 0, after: float = 0.0) -> None:
        super().__init__(why)
        self.status = status
        self.after = after


class Pace:
    """Limits requests to ``rpm`` per minute (0: no limit), and keeps the pauses that the service asks for."""

    def __init__(
        self, rpm: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.clock = clock
        self.sleep = sleep
        self._gap = 60.0 / rpm if rpm else 0.0
        self._next = clock()
        self._held = self._next
        self._lock = threading.Lock()

    def wait(self) -> None:
        while True:
            with self._lock:
                turn = max(self._next, self._held, self.clock())
                self._next = turn + self._gap
            if (left := turn - self.clock()) > 0:
                self.sleep(left)
            if self._held <= turn:
                return

    def hold(self, seconds: float) -> None:
        with self._lock:
            self._held = max(self._held, self.clock() + seconds)


class Endpoint:
    def __init__(self, place: Place, key: Key, pace: Pace) -> None:
        self._place = place
        self._key = key
        self._pace = pace
        self._down = False  # the last request ran out of retries: send the next ones once only
        self._stopped = False
        # A proxy from the environment is used, but not to reach a service on this machine.
        self._opener: OpenerDirector = build_opener(_NoRedirect(), *([ProxyHandler({})] if place.loopback else []))

    def stop(self) -> None:
        self._stopped = True

    def ask(self, body: Mapping[str, object]) -> dict[str, Any]:
        data = json.dumps(body).encode()
        attempts = 1 if self._down else 1 + self._place.retries
        for attempt in range(1, attempts + 1):
            if not self._stopped:
                self._pace.wait()
            if self._stopped:  # before the wait, or during it
                raise ServiceError("the run was interrupted")
            try:
                reply = self._send(data)
            except TransientError as error:
                self._pause(error, attempt, attempts, data)
            else:
                self._down = False
                return reply
        raise AssertionError(attempts)  # at least one attempt is made

    def _pause(self, error: TransientError, attempt: int, attempts: int, data: bytes) -> None:
        if error.after > _LONGEST_WAIT:
            why = f"{error}; it asks to wait {error.after:.0f} s, and vlgate waits {_LONGEST_WAIT:.0f} s at most"
            raise ServiceError(why, error.status)
        self._pace.hold(error.after)
        if attempt == attempts:
            self._down = error.status != _TOO_MANY  # a service that answers 429 is up
            remedy = "; rpm=N sends at most N requests per minute" if error.status == _TOO_MANY else ""
            times = "1 attempt" if attempt == 1 else f"{attempt} attempts"
            raise ServiceError(f"{error}, after {times}{remedy}", error.status)
        if not error.after:
            spread = 0.5 + 0.5 * zlib.crc32(data) / 2**32  # requests that failed together return at different times
            self._pace.sleep(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 1)) * spread)

    def _send(self, data: bytes) -> dict[str, Any]:
        address = f"{self._place.url}/chat/completions"
        deadline = self._pace.clock() + self._place.timeout
        headers = {"Content-Type": "application/json", "User-Agent": f"vlgate/{__version__}", **self._key.headers()}
        request = Request(address, data, headers)  # noqa: S310  # http or https: see place.parse
        try:
            with self._opener.open(request, timeout=self._place.timeout) as response:
                content = _read(response, deadline, self._pace.clock)
        except HTTPError as error:
            with error:
                self._refused(error)
        except (OSError, HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, TimeoutError):
                raise TransientError(f"no answer within {self._place.timeout} s") from None
            shown = self._key.cleaned(f"{type(reason).__name__}: {reason}")
            if isinstance(reason, SSLCertVerificationError):
                why = f"the certificate of {address} is not trusted ({shown}){_CERTIFICATES}"
                raise ServiceError(why, _NOT_TRUSTED) from None
            raise TransientError(f"the service at {address} cannot be reached ({shown})") from None
        try:
            reply = self._key.cleaned(json.loads(content))
        except (ValueError, RecursionError):
            raise TransientError(f"the reply is not JSON: {self._shown(content)}") from None
        if not isinstance(reply, dict):
            raise TransientError(f"the reply is not a JSON object: {self._shown(content)}")
        return reply

    def _refused(self, error: HTTPError) -> NoReturn:
        try:
            said = self._shown(error.read(_MOST_BYTES))
        except (OSError, HTTPException):
            said = ""
        if 300 <= error.code < 400:
            target = self._key.cleaned(error.headers.get("Location", "another address"))
            why = f"the service redirects to {target}; the key is not sent there: give that address instead"
            raise ServiceError(why, error.code)
        why = f"the service answers {error.code}: {said}"
        if error.code in _TRANSIENT:
            raise TransientError(why, error.code, retry_after(error.headers.get("Retry-After"), datetime.now(UTC)))
        raise ServiceError(why, error.code) from None

    def _shown(self, content: bytes) -> str:
        text = content.decode("utf-8", "replace")
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = text
        for name in ("error", "message"):
            found = found.get(name, found) if isinstance(found, dict) else found
        cleaned = self._key.cleaned(found)
        plain = cleaned if isinstance(cleaned, str) else json.dumps(cleaned, ensure_ascii=False)
        return printable(plain)[:_SHOWN] or "nothing"


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        pass


def _read(response: HTTPResponse, deadline: float, clock: Callable[[], float]) -> bytes:
    """The whole reply; with a socket's timeout alone, a service that sends byte by byte would never time out."""
    parts: list[bytes] = []
    size = 0
    while part := response.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if clock() > deadline:
            raise TimeoutError
        if size > _MOST_BYTES:
            raise ValueError(f"the reply is larger than {_MOST_BYTES:,} bytes")
    if response.length:  # bytes that Content-Length promises and that did not come
        raise HTTPException(f"the reply ends {response.length} bytes early")
    return b"".join(parts)


def retry_after(header: str | None, now: datetime) -> float:
    """How long ``Retry-After`` asks to wait, in seconds or as a date (RFC 9110, section 10.2.3); 0 if it is neither."""
    text = (header or "").strip()
    if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return 0.0

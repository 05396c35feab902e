"""Requests to a service over HTTP: paced, cut off in time, and sent again if the failure may pass.

``Endpoint.ask`` is the way in: it waits for its turn (``Pace``), sends the request, and repeats both until the service
replies or the retries are used up. It uses ``urllib`` from threads: another library would keep connections open, but
opening one costs about a millisecond, and a model takes tenths of a second or more. Redirects are not followed, because
the key would go with them.
"""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from ssl import SSLCertVerificationError
from typing import Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from vlgate import __version__
from vlgate.errors import ModelReplyError, printable
from vlgate.models.served.address import Key, Place

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
        """Let no thread take its turn within the next ``seconds``."""
        with self._lock:
            self._held = max(self._held, self.clock() + seconds)


class Endpoint:
    """The address that receives a model's requests; threads may share it."""

    def __init__(self, place: Place, key: Key, pace: Pace) -> None:
        self._place = place
        self._key = key
        self._pace = pace
        self._down = False  # the last request ran out of retries: send the next ones once only
        self._stopped = False
        # A proxy from the environment is used, but not to reach a service on this machine.
        self._opener: OpenerDirector = build_opener(_NoRedirect(), *([ProxyHandler({})] if place.loopback else []))

    def stop(self) -> None:
        """Send no more requests, and do not repeat those under way in other threads: the run is interrupted."""
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
        """Wait as long as the service asks for, else longer after each attempt."""
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
        except TimeoutError:
            raise TransientError(f"no answer within {self._place.timeout} s") from None
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
        """The message in a service's reply, or the beginning of the reply."""
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

"""Requests to a service that may be slow, busy or gone: paced, retried, and cut off in time.

It is the standard library's ``urllib``, from threads. What another library adds is connections that stay open, and a
connection costs a millisecond or some, where the model takes tenths of a second and more. Redirects are not followed,
since the key would go with them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http.client import HTTPException, HTTPResponse
from ssl import SSLCertVerificationError
from typing import IO, Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from vlgate import __version__
from vlgate.errors import ModelReplyError
from vlgate.models.served_pace import Pace, seconds
from vlgate.models.served_place import Key, Place

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same request may succeed: busy, overloaded, a gateway's timeout."""
_TOO_MANY = 429
_NOT_TRUSTED = 495  # nginx's number for it; the service itself said nothing
_FIRST_PAUSE, _LONGEST_PAUSE, _MOST_PATIENCE = 0.5, 30.0, 300.0
_MOST_BYTES = 1 << 26
_CERTIFICATES = "; if it is right, name the file of its authority in the variable SSL_CERT_FILE"
_SHOWN = 300  # characters of what a service said


class ServiceError(ModelReplyError):
    """A request that a service did not answer; ``status`` is what it said instead, 0 where it said nothing."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


class _PassingError(Exception):
    """A failure that may pass; ``after`` is how many seconds the service asks for, 0 where it does not say."""

    def __init__(self, why: str, status: int = 0, after: float = 0.0) -> None:
        super().__init__(why)
        self.status = status
        self.after = after


class _Stay(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:  # the signature of urllib
        """Follow nothing."""
        _ = self, req, fp, code, msg, headers, newurl


class Endpoint:
    """The address that a service's models are asked at; threads may share it."""

    def __init__(self, place: Place, key: Key, pace: Pace) -> None:
        self._place = place
        self._key = key
        self._pace = pace
        self._down = False  # since the last request ran out of retries: the next ones are sent once only
        self._stopped = False
        self._opener = _opener(place)

    def stop(self) -> None:
        """Send nothing more: the run is interrupted, and what is under way in other threads is not tried again."""
        self._stopped = True

    def ask(self, body: Mapping[str, object]) -> dict[str, Any]:
        """Send a request, again where it fails in a way that may pass.

        Returns: the reply's JSON object, with stars for the key.
        Raises: ServiceError.
        """
        data = json.dumps(body).encode()
        attempts = 1 if self._down else 1 + self._place.retries
        for attempt in range(1, attempts + 1):
            self._take_turn()
            try:
                reply = self._once(data)
            except _PassingError as error:
                self._pause(error, attempt, attempts, data)
            else:
                self._down = False
                return reply
        raise AssertionError(attempts)  # at least one attempt is made

    def _take_turn(self) -> None:
        if not self._stopped:
            self._pace.wait()
        if self._stopped:  # before the turn, or while it was waited for
            raise ServiceError("the run was interrupted")

    def _pause(self, error: _PassingError, attempt: int, attempts: int, data: bytes) -> None:
        """Wait as long as the service asks for, else longer each time.

        Raises: ServiceError where that was the last attempt, or the service asks for more than there is patience.
        """
        if error.after > _MOST_PATIENCE:
            why = f"{error}; it asks to wait {error.after:.0f} s, and {_MOST_PATIENCE:.0f} s is the most"
            raise ServiceError(why, error.status)
        self._pace.hold(error.after)
        if attempt == attempts:
            self._down = error.status != _TOO_MANY  # that service is there
            remedy = "; rpm=N sends at most N requests a minute" if error.status == _TOO_MANY else ""
            raise ServiceError(f"{error}, after {_times(attempt)}{remedy}", error.status)
        if not error.after:
            spread = 0.5 + 0.5 * zlib.crc32(data) / 2**32  # requests that failed together come back apart
            self._pace.sleep(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 1)) * spread)

    def _once(self, data: bytes) -> dict[str, Any]:
        address = f"{self._place.url}/chat/completions"
        deadline = self._pace.clock() + self._place.timeout
        try:
            with self._opener.open(_request(address, data, self._key), timeout=self._place.timeout) as response:
                return self._parsed(_read(response, deadline, self._pace.clock))
        except HTTPError as error:
            with error:
                self._refused(error)
        except TimeoutError:
            raise _PassingError(f"no answer within {self._place.timeout} s") from None
        except (OSError, HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, TimeoutError):
                raise _PassingError(f"no answer within {self._place.timeout} s") from None
            shown = self._key.cleaned(f"{type(reason).__name__}: {reason}")
            if isinstance(reason, SSLCertVerificationError):
                why = f"the certificate of {address} is not trusted ({shown}){_CERTIFICATES}"
                raise ServiceError(why, _NOT_TRUSTED) from None
            raise _PassingError(f"the service at {address} cannot be reached ({shown})") from None

    def _parsed(self, content: bytes) -> dict[str, Any]:
        try:
            reply = self._key.cleaned(json.loads(content))
        except (ValueError, RecursionError):
            raise _PassingError(f"the reply is no JSON: {self._shown(content)}") from None
        if not isinstance(reply, dict):
            raise _PassingError(f"the reply is no JSON object: {self._shown(content)}")
        return reply

    def _refused(self, error: HTTPError) -> NoReturn:
        try:
            said = self._shown(error.read(_MOST_BYTES))
        except (OSError, HTTPException):
            said = ""
        if 300 <= error.code < 400:
            target = self._key.cleaned(error.headers.get("Location", "another address"))
            raise ServiceError(f"the service redirects to {target}, where the key does not go; name that", error.code)
        why = f"the service answers {error.code}: {said}"
        if error.code in PASSING:
            raise _PassingError(why, error.code, seconds(error.headers.get("Retry-After"), datetime.now(UTC)))
        raise ServiceError(why, error.code) from None

    def _shown(self, content: bytes) -> str:
        """The message in what a service said, or its beginning."""
        text = content.decode("utf-8", "replace")
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = text
        for name in ("error", "message"):
            found = found.get(name, found) if isinstance(found, dict) else found
        cleaned = self._key.cleaned(found)
        plain = cleaned if isinstance(cleaned, str) else json.dumps(cleaned, ensure_ascii=False)
        return " ".join(plain.split())[:_SHOWN] or "nothing"


def _opener(place: Place) -> OpenerDirector:
    """Of https and, where it was allowed, http; a proxy of the environment is used, but not for this machine."""
    return build_opener(_Stay(), *([ProxyHandler({})] if place.loopback else []))


def _request(address: str, data: bytes, key: Key) -> Request:
    headers = {"Content-Type": "application/json", "User-Agent": f"vlgate/{__version__}"}
    return Request(address, data, {**headers, **key.headers()})  # noqa: S310  # http or https: see Place


def _read(response: HTTPResponse, deadline: float, clock: Callable[[], float]) -> bytes:
    """The whole reply; the timeout of a socket alone would let a service that sends byte by byte go on for ever."""
    parts: list[bytes] = []
    size = 0
    while part := response.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if clock() > deadline:
            raise TimeoutError
        if size > _MOST_BYTES:
            raise ValueError(f"the reply is larger than {_MOST_BYTES:,} bytes")
    if response.length:  # bytes that were announced and did not come
        raise HTTPException(f"the reply ends {response.length} bytes early")
    return b"".join(parts)


def _times(number: int) -> str:
    return "1 attempt" if number == 1 else f"{number} attempts"

"""One request to a service over HTTP: sent once, cut off in time, and what went wrong.

It is the standard library's ``urllib``, from threads. What another library adds is connections that stay open, and a
connection costs a millisecond or some, where the model takes tenths of a second and more. Redirects are not followed,
since the key would go with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from http.client import HTTPException, HTTPResponse
from ssl import SSLCertVerificationError
from typing import IO, Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from vlgate import __version__
from vlgate.errors import ModelReplyError
from vlgate.models.served_pace import seconds
from vlgate.models.served_place import Key, Place

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same request may succeed: busy, overloaded, a gateway's timeout."""
_NOT_TRUSTED = 495  # nginx's number for it; the service itself said nothing
_MOST_BYTES = 1 << 26
_CERTIFICATES = "; if it is right, name the file of its authority in the variable SSL_CERT_FILE"
_SHOWN = 300  # characters of what a service said


class ServiceError(ModelReplyError):
    """A request that a service did not answer; ``status`` is what it said instead, 0 where it said nothing."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


class PassingError(Exception):
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


class Sender:
    """What sends requests to a service's address, each once; threads may share it."""

    def __init__(self, place: Place, key: Key, clock: Callable[[], float]) -> None:
        self._place = place
        self._key = key
        self._clock = clock
        self._opener = _opener(place)

    def send(self, data: bytes) -> dict[str, Any]:
        """Send a request.

        Returns: the reply's JSON object, with stars for the key.
        Raises: ServiceError, or PassingError where the same request may succeed later.
        """
        address = f"{self._place.url}/chat/completions"
        deadline = self._clock() + self._place.timeout
        try:
            with self._opener.open(_request(address, data, self._key), timeout=self._place.timeout) as response:
                return self._parsed(_read(response, deadline, self._clock))
        except HTTPError as error:
            with error:
                self._refused(error)
        except TimeoutError:
            raise PassingError(f"no answer within {self._place.timeout} s") from None
        except (OSError, HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, TimeoutError):
                raise PassingError(f"no answer within {self._place.timeout} s") from None
            shown = self._key.cleaned(f"{type(reason).__name__}: {reason}")
            if isinstance(reason, SSLCertVerificationError):
                why = f"the certificate of {address} is not trusted ({shown}){_CERTIFICATES}"
                raise ServiceError(why, _NOT_TRUSTED) from None
            raise PassingError(f"the service at {address} cannot be reached ({shown})") from None

    def _parsed(self, content: bytes) -> dict[str, Any]:
        try:
            reply = self._key.cleaned(json.loads(content))
        except (ValueError, RecursionError):
            raise PassingError(f"the reply is no JSON: {self._shown(content)}") from None
        if not isinstance(reply, dict):
            raise PassingError(f"the reply is no JSON object: {self._shown(content)}")
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
            raise PassingError(why, error.code, seconds(error.headers.get("Retry-After"), datetime.now(UTC)))
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

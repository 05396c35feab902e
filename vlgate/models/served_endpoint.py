"""Requests to a service that may be slow, busy or gone: paced, and sent again where it may help."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from vlgate.models.served_http import PassingError, Sender, ServiceError
from vlgate.models.served_pace import Pace
from vlgate.models.served_place import Key, Place

_TOO_MANY = 429
_FIRST_PAUSE, _LONGEST_PAUSE, _MOST_PATIENCE = 0.5, 30.0, 300.0


class Endpoint:
    """The address that a service's models are asked at; threads may share it."""

    def __init__(self, place: Place, key: Key, pace: Pace) -> None:
        self._place = place
        self._pace = pace
        self._down = False  # since the last request ran out of retries: the next ones are sent once only
        self._stopped = False
        self._sender = Sender(place, key, pace.clock)

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
                reply = self._sender.send(data)
            except PassingError as error:
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

    def _pause(self, error: PassingError, attempt: int, attempts: int, data: bytes) -> None:
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


def _times(number: int) -> str:
    return "1 attempt" if number == 1 else f"{number} attempts"

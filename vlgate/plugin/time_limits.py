"""How long a model may take: ``--call-timeout``, and what follows from pytest-timeout if that is in use."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vlgate.inference.call_limit import Allowed, CallLimit
from vlgate.run.options import Options

if TYPE_CHECKING:
    from vlgate.checks.check import Check

_PLUGIN = ("timeout", "pytest_timeout")  # the names that pytest-timeout is registered under
_CORRECT = "allow more with --call-timeout, ask less at once with --batch-size, or correct the model"


class TimeLimits:
    """The limits of one process of a session."""

    def __init__(self, config: pytest.Config, worker: int | None) -> None:
        """Keep the standard error of the user, which pytest replaces while a test runs."""
        self.config = config
        stderr = _standard_error()
        config.add_cleanup(lambda: os.close(stderr))
        self.calls = CallLimit(who="vlgate", stderr=stderr)
        if worker is not None:
            given: dict[str, str] = config.workerinput  # type: ignore[attr-defined]
            self.calls.who = f"vlgate, worker {given['workerid']}"
            self.calls.note = _note(given)
        config.add_cleanup(self.calls.close)
        self.stopped = ""

    def apply(self, options: Options) -> None:
        """Limit every call of the model if the user asks for it.

        Raises: OptionError if the system starts no further process.
        """
        if options.call_timeout is not None:
            seconds, place = options.call_timeout, options.results
            kept = f"{place} keeps what was asked so far" if self.calls.note is None else "the run is incomplete"
            remedy = f"the process ends with status 1, and {kept}; {_CORRECT}"
            self.calls.allowed = Allowed(seconds=lambda _: seconds, remedy=remedy)
            self.calls.start()

    def observe(self, call: pytest.CallInfo[None]) -> None:
        """Note a test that pytest-timeout stopped."""
        if (
            call.excinfo is None or call.excinfo.typename != "Failed"
        ):  # an exception of a model may not even have a text
            return
        message = str(call.excinfo.value)
        if message.startswith("Timeout "):
            self.stopped = message

    def within(self, checks: Callable[[], tuple[Check, ...]]) -> tuple[Check, ...]:
        """Run the checks of the model, unless a test was stopped because the model took too long."""
        if self.stopped:
            from vlgate.checks.check import Check

            why = f"the model was not asked again, because a test was stopped: {self.stopped}"
            return (Check(name="model", outcome="failed", why=why),)
        self.limit_calls()
        return checks()

    def limit_calls(self) -> None:
        """Limit the calls of the model after the last test as pytest-timeout limits a test, if it does.

        A worker does not know whether a test of another worker was stopped. So a call of n requests may take at most n
        times as long as a test.
        """
        seconds = _per_test(self.config)
        if self.calls.allowed is None and seconds > 0:
            remedy = f"a test may take {seconds:g} s (pytest-timeout); the process ends with status 1; {_CORRECT}"
            self.calls.allowed = Allowed(seconds=lambda n: n * seconds, remedy=remedy)


def late_call(node: Any) -> str:
    """Return which call of a worker's model was late, and remove the worker's note; empty if none was."""
    note = _note(getattr(node, "workerinput", {}))
    found = ""
    with suppress(OSError):
        found = note.read_text(encoding="utf-8")
        note.unlink()
    return found


def _note(given: dict[str, str]) -> Path:
    """The file through which a worker that is about to end says why; its name cannot be guessed."""
    return Path(tempfile.gettempdir()) / f"vlgate-{given.get('testrunuid')}-{given.get('workerid')}"


def _standard_error() -> int:
    try:
        return os.dup(2)
    except OSError:  # it is closed
        return os.open(os.devnull, os.O_WRONLY)


def _per_test(config: pytest.Config) -> float:
    """The seconds that pytest-timeout allows a test; 0 if it is not in use."""
    if not any(config.pluginmanager.hasplugin(name) for name in _PLUGIN):
        return 0.0
    try:
        given = config.getoption("timeout", None), os.environ.get("PYTEST_TIMEOUT"), config.getini("timeout")
        return float(next((value for value in given if value not in {None, ""}), 0))
    except (TypeError, ValueError):  # it has no such option, or its value is not a number, which it says itself
        return 0.0

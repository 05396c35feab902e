"""A limit on the time that one call of a model may take: the process ends with status 1 if a call takes longer.

Three things work together, because a call may hang in C code that holds Python's global lock:

- a second process, ``guard.py``, says which call takes too long;
- a thread of ``faulthandler``, which needs no lock, then writes the traceback and ends the process;
- if the call returns late, but before that, the process waits for its end.
"""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from vlgate.errors import OptionError

_GUARD = Path(__file__).with_name("guard.py")
_ENDS = 1.0  # seconds after the limit until the process ends; the guard speaks before that
_IDLE: AbstractContextManager[None] = nullcontext()

Watch = Callable[[str, int], AbstractContextManager[None]]
"""Takes the name of a model's method and the number of requests, and gives the context that the call runs in."""


def unwatched(called: str, n: int) -> AbstractContextManager[None]:  # noqa: ARG001  # a Watch that watches nothing
    return _IDLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """How long a call of n requests may take, and the sentence that says what to do if it takes longer."""

    seconds: Callable[[int], float]
    remedy: str


@dataclass(slots=True, kw_only=True)
class CallLimit:
    """The limit on the calls of one process; without ``allowed`` there is none, and no guard is started."""

    # ``who`` is how the message calls this process, ``stderr`` a file descriptor for it. ``note`` is a file that says
    # which call was late, for another process to read.

    who: str
    stderr: int
    note: Path | None = None
    allowed: Allowed | None = None
    _guard: subprocess.Popen[str] | None = field(default=None, init=False, repr=False)

    def watch(self, called: str, n: int) -> AbstractContextManager[None]:
        return _IDLE if self.allowed is None else self._limited(called, n, self.allowed)

    def start(self) -> None:
        if self._guard is not None:
            return
        command = [sys.executable, "-I", str(_GUARD), str(self.note or "")]
        null, pipe = subprocess.DEVNULL, subprocess.PIPE
        try:
            self._guard = subprocess.Popen(  # noqa: S603  # our own script, in its own session: Ctrl-C is for the run
                command, stdin=pipe, stdout=null, stderr=self.stderr, text=True, start_new_session=True
            )
        except OSError as error:
            message = f"--call-timeout: the process that watches the model cannot be started ({error.strerror})"
            raise OptionError(f"{message}; free some memory, or leave the option out") from None

    def close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            with suppress(OSError):
                guard.stdin.close()  # type: ignore[union-attr]
            guard.wait()

    @contextmanager
    def _limited(self, called: str, n: int, allowed: Allowed) -> Iterator[None]:
        self.start()
        limit = allowed.seconds(n)
        what = f"{called}() of {n} request{'s' if n > 1 else ''} did not return within {limit:g} s"
        self._tell({"limit": limit, "what": what, "says": f"{self.who}: {what}; {allowed.remedy}"})
        faulthandler.dump_traceback_later(limit + _ENDS, exit=True, file=self.stderr)
        start = time.monotonic()
        try:
            yield
        finally:
            if time.monotonic() - start >= limit:
                time.sleep(2 * _ENDS)  # faulthandler ends the process meanwhile
                os._exit(1)
            faulthandler.cancel_dump_traceback_later()
            self._tell({})

    def _tell(self, content: dict[str, object]) -> None:
        stream: IO[str] | None = None if self._guard is None else self._guard.stdin
        if stream is not None:
            with suppress(OSError, ValueError):  # a guard that was killed; faulthandler ends a late call without it
                stream.write(json.dumps(content) + "\n")
                stream.flush()

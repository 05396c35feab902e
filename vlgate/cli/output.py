"""Standard output whose reader may leave early, as in ``vlgate misses RUN | head``: the exit status stays the same."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO


class _Patient(io.TextIOBase):
    """Writes to a stream; what is written after its reader has left is dropped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._drop()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def _drop(self) -> None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self._stream.fileno())  # Python flushes what is left when it exits
        os.close(null)


@contextmanager
def patient_output() -> Iterator[None]:
    """Let a command end with its own exit status, whether or not somebody reads what it prints.

    Raises: OSError if what was printed cannot be written for another reason, such as a full disk.
    """
    if sys.stdout is None:  # it is closed, and print() writes nothing
        yield
        return
    patient = _Patient(sys.stdout)
    with redirect_stdout(patient):
        yield
        patient.flush()  # so that an error shows here, not when Python exits

"""Standard output of a command: its reader may leave early, and no text of a file or model controls the terminal."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from vlgate.errors import escaped

OWN_STYLES = ("\x1b[1;4m", "\x1b[0m")
"""The sequences that commands write themselves, to mark a text; they do no harm in the text of a file either."""
_STYLED = re.compile(f"({'|'.join(map(re.escape, OWN_STYLES))})")


class _Patient(io.TextIOBase):
    """Writes to a stream, escaped; what is written after its reader has left is dropped.

    ``terminal`` is the stream itself, for images.
    """

    def __init__(self, stream: TextIO) -> None:
        self.terminal = self._stream = stream

    def write(self, text: str) -> int:
        try:
            self._stream.write("".join(part if part in OWN_STYLES else escaped(part) for part in _STYLED.split(text)))
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

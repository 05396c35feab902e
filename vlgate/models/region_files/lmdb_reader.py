"""Reads the entries of an LMDB through a process of its own, which may die of a damaged page while the run goes on."""

from __future__ import annotations

import subprocess
import sys
import weakref
from importlib.util import find_spec
from pathlib import Path

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.missing import missing_package
from vlgate.models.region_files.records import AGAIN

DATA = "data.mdb"
"""The data file of a database that is a folder."""
_SCRIPT = Path(__file__).with_name("lmdb_process.py")
_DIED = "the process that read it was killed, so a page of the file is damaged"


class Reader:
    """An LMDB, open for reading. If its process dies of an entry, the next entry is read by another one."""

    def __init__(self, path: Path) -> None:
        """Open a database: a folder with ``data.mdb``, or a single file.

        Raises: ModelLoadError if it cannot be read, or lmdb is not installed.
        """
        if find_spec("lmdb") is None:
            raise missing_package("lmdb", "lmdb")
        self._path = path
        try:
            self._process, listed = self._started()
            self.keys = [bytes.fromhex(key).decode() for key in listed.decode().split("\n") if key]
        except (OSError, ValueError) as error:
            raise ModelLoadError(f"{path}: cannot be read as an LMDB ({error}); {AGAIN}") from None

    def get(self, key: str) -> bytes | None:
        """Return an entry; None if there is none.

        Raises: ValueError if it cannot be read.
        """
        if self._process.poll() is not None:
            self._process, _ = self._started()
        try:
            self._process.stdin.write(key.encode().hex().encode() + b"\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise ValueError(_DIED) from None
        return _received(self._process)

    def _started(self) -> tuple[subprocess.Popen[bytes], bytes]:
        """Start the process, and return it with its list of the keys."""
        command = [sys.executable, "-P", str(_SCRIPT), str(self._path), str(int(self._path.is_dir()))]
        process = subprocess.Popen(  # noqa: S603  # our own script
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the run
        )
        weakref.finalize(self, _end, process)
        return process, _received(process) or b""


def _received(process: subprocess.Popen[bytes]) -> bytes | None:
    """The next content; None for no entry. Raises ValueError with the message of the process, or if it dies."""
    stream = process.stdout
    head = stream.read(9) if stream is not None else b""
    length = int.from_bytes(head[1:], "big")
    content = stream.read(length) if stream is not None and len(head) == 9 else b""
    if len(head) < 9 or len(content) < length:
        process.kill()
        process.wait()
        raise ValueError(_DIED)
    if head[:1] == b"-":
        raise ValueError(content.decode(errors="replace"))
    return content if head[:1] == b"+" else None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()

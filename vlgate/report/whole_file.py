"""Write a file so that it appears whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from time import time

_PART = re.compile(r"\..+\.([0-9]{1,10})\.part")
_STALE = 3600  # seconds


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """Give the body of a ``with`` statement a path to write to, which becomes ``file`` at its end.

    The content is on the disk before it gets its name, so that neither a full disk nor a crash leaves half a file.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "figures.json"
    >>> with whole_file(file) as part:
    ...     _ = part.write_text("{}")
    >>> file.read_text()
    '{}'

    Yields: the path of a temporary file in the same folder, which does not exist yet.
    Raises: OSError, which names ``file``, if the file cannot be written; whatever the body raises. An earlier file of
        that name is kept then.
    """
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    _tidied(file.parent)
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(file)
        _sync_folder(file.parent)
    except OSError as error:
        raise OSError(error.errno or 0, error.strerror or str(error), str(file)) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(file: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all; half of a surrogate pair, which UTF-8 lacks, is written as ``?``.

    Raises: OSError, which names ``file``, if it cannot be written.
    """
    with whole_file(file) as part:
        part.write_bytes(text.encode("utf-8", "replace"))


def remove_left_over(folder: Path, *, locked: bool = False) -> None:
    """Remove the temporary files that killed processes have left in a folder.

    Args:
        folder: where they are.
        locked: whether this process alone writes runs there and has not begun. Otherwise a file must be an hour old,
            because the number of a process on another machine says nothing here.
    """
    with suppress(OSError):
        for file in folder.glob(".*.part"):
            known = _PART.fullmatch(file.name)
            if known is None or not _ended(int(known[1]), locked=locked):
                continue
            with suppress(OSError):
                if locked or time() - file.stat().st_mtime > _STALE:
                    file.unlink()


@lru_cache(maxsize=1024)
def _tidied(folder: Path) -> None:
    """Look once into each folder, because a set of cases writes thousands of files into one."""
    remove_left_over(folder)


def _ended(process: int, *, locked: bool) -> bool:
    if os.name == "nt":  # there, the call below would end the process
        return False
    if process == os.getpid():
        return locked  # in a container, the killed process often had the same number
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # it is another user's
        return False
    return False


def _sync_folder(folder: Path) -> None:
    """Store the new name on the disk too; some file systems, and Windows, cannot do that for a folder."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

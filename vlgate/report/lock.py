"""A lock on a results folder, which keeps two runs out of one folder.

The operating system holds the lock for the process: it ends with the process, however that ends, so the file of a
process that was killed stops nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from vlgate.errors import OptionError

LOCK = ".vlgate-lock"


def lock(folder: Path, option: str = "--results") -> Callable[[], None]:
    """Lock a folder, which ``option`` has named, for this process.

    Returns: a function that releases the lock and removes its file.
    Raises: OptionError, which names the other process, if one holds the lock; OSError if the file cannot be made.
    """
    file = folder / LOCK
    while True:
        opened = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            taken = _taken(opened)
            current = taken and _is_at(opened, file)
            if current:
                os.ftruncate(opened, 0)
                os.write(opened, f"{os.getpid()}\n".encode())
                return lambda: _release(opened, file)
            if not taken:
                _refuse(f"{option} {folder}", opened)
        except BaseException:
            os.close(opened)
            raise
        os.close(opened)  # another run removed the file as it ended, between the two calls: lock the new file


def _taken(opened: int) -> bool:
    """Lock an open file if nobody holds its lock; a system without such locks does not keep runs apart."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        return True
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, such as some network drives
        return True
    return True


def _is_at(opened: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), file.stat())
    except FileNotFoundError:
        return False


def _refuse(named: str, opened: int) -> NoReturn:
    holder = os.pread(opened, 32, 0).decode("ascii", "replace").strip() or "?"
    raise OptionError(
        f"{named}: process {holder} is writing a run into this folder; wait until it ends, or name another folder"
    )


def _release(opened: int, file: Path) -> None:
    with suppress(OSError):  # the folder may be gone
        file.unlink(missing_ok=True)
    os.close(opened)

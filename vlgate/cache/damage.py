"""A damaged file of replies is set aside."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path


def inode(file: Path) -> int | None:
    """Return the number by which the file system knows a file; None if it is not there."""
    try:
        return file.stat().st_ino
    except OSError:
        return None


def set_aside(file: Path) -> Path | None:
    """Rename a file of replies and the files that SQLite keeps beside it.

    Returns: its new place; None if it is not there, because another process has set it aside.
    Raises: OSError if it cannot be renamed.
    """
    aside = file.with_name(f"{file.stem}-damaged-{time.time_ns()}{file.suffix}")
    try:
        file.rename(aside)
    except FileNotFoundError:
        return None
    for end in ("-wal", "-shm"):
        with suppress(OSError):
            file.with_name(file.name + end).rename(aside.with_name(aside.name + end))
    return aside

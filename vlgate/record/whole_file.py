"""Write a file so that it appears whole or not at all, and keep two runs out of one folder."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from time import time
from typing import NoReturn

from vlgate.errors import OptionError

_PART = re.compile(r"\..+\.([0-9]{1,10})\.part")
_STALE = 3600  # seconds


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    # The content is on the disk before it gets its name, so neither a full disk nor a crash leaves half a file
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    _tidied(file.parent)  # cached: a set of cases writes thousands of files into one folder
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(file)
        with suppress(OSError):  # the new name too; some file systems, and Windows, cannot do that for a folder
            opened = os.open(file.parent, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)
    except OSError as error:
        raise OSError(error.errno or 0, error.strerror or str(error), str(file)) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(file: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all; half of a surrogate pair, which UTF-8 lacks, is written as ``?``."""
    with whole_file(file) as part:
        part.write_bytes(text.encode("utf-8", "replace"))


def remove_left_over(folder: Path, *, locked: bool = False) -> None:
    # Unless this process alone writes there, a file must be an hour old: the number of a process on another machine
    # says nothing here
    with suppress(OSError):
        for file in folder.glob(".*.part"):
            known = _PART.fullmatch(file.name)
            if known is None or not _ended(int(known[1]), locked=locked):
                continue
            with suppress(OSError):
                if locked or time() - file.stat().st_mtime > _STALE:
                    file.unlink()


_tidied = lru_cache(maxsize=1024)(remove_left_over)


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


# The operating system holds the lock for the process: it ends with the process, however that ends, so the file of a
# process that was killed stops nobody.

LOCK = ".vlgate-lock"


def lock(folder: Path, option: str = "--results") -> Callable[[], None]:
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
    # A system without such locks does not keep runs apart
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

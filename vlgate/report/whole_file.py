"""Write a file so that it appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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


def _sync_folder(folder: Path) -> None:
    """Store the new name on the disk too; some file systems, and Windows, cannot do that for a folder."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

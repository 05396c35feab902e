"""The folder of a set: who may write into it, and the blocks of candidates that stay there until the set is whole.

A run keeps each block of candidates in ``.making``, so that a run that is killed goes on with the next block. That
folder is removed when all files of the set are there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from vlgate.errors import OptionError
from vlgate.making.sets.writing import WHY
from vlgate.report.lock import lock
from vlgate.report.whole_file import write_whole
from vlgate.sources.reading.image_finder import is_plain

BIAS, PAGE = "bias.json", "bias.md"
"""The files of the report on a set."""

_WORK = ".making"
_OPTIONS = "options.json"


class SetFolder:
    """The folder of one set."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        """Name the folder, and the options that decide the candidates."""
        self.folder = folder
        self._work = folder / _WORK
        self._options = json.dumps(options, sort_keys=True)
        self.resumed = False

    def open(self, *, overwrite: bool) -> None:
        """Make the folder ready for a run; ``resumed`` says whether an interrupted run with the same options goes on.

        Raises: OptionError if the folder holds a set, or blocks of a run with other options, and ``overwrite`` is
            false; OSError if it cannot be written.
        """
        self.resumed = self._same()
        if not overwrite:
            self._refuse_used()
        if not self.resumed:
            shutil.rmtree(self._work, ignore_errors=True)
            self._work.mkdir(exist_ok=True)
            write_whole(self._work / _OPTIONS, self._options)

    def discard(self) -> None:
        """Remove the blocks."""
        shutil.rmtree(self._work, ignore_errors=True)

    def close(self) -> None:
        """Remove the folder of blocks if it has none, as after an error in the first block."""
        if self._work.is_dir() and [one.name for one in self._work.iterdir()] == [_OPTIONS]:
            self.discard()

    def block(self, number: int) -> Any:
        """Return the content of a block of an earlier run, None if there is none."""
        try:
            return json.loads((self._work / f"{number:06d}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def keep(self, number: int, content: Any) -> None:
        """Keep a block."""
        write_whole(self._work / f"{number:06d}.json", json.dumps(content, ensure_ascii=False))

    def finish(self, files: Mapping[str, str], report: Mapping[str, str], *, overwrite: bool) -> None:
        """Write the report, then the files of the set, each whole; the blocks are removed after that.

        The files of an earlier set are removed first, so that the folder never holds cases of two sets.

        Raises: OptionError if a file is there that no set has written, and ``overwrite`` is false; OSError, which names
            the file, if one cannot be written.
        """
        earlier = _files_of(self.folder / BIAS)
        foreign = next((name for name in files if (self.folder / name).exists() and name not in earlier), None)
        if foreign is not None and not overwrite:
            raise OptionError(f"--out {self.folder}: {foreign} is there already; {_REMEDY}")
        for name in earlier:
            (self.folder / name).unlink(missing_ok=True)
        for name, text in {**report, **files}.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / name, text)
        self.discard()

    def _same(self) -> bool:
        try:
            return (self._work / _OPTIONS).read_text(encoding="utf-8") == self._options
        except (OSError, ValueError):
            return False

    def _refuse_used(self) -> None:
        if self.resumed:
            return
        used = next((name for name in (BIAS, PAGE, WHY) if (self.folder / name).exists()), None)
        if used is not None:
            raise OptionError(f"--out {self.folder}: holds {used} of an earlier set; {_REMEDY}")
        if (self._work / _OPTIONS).exists():
            what = "an interrupted run with other options left its work here"
            raise OptionError(f"--out {self.folder}: {what}; {_REMEDY}")


@contextmanager
def opened(folder: Path, options: Mapping[str, Any], *, overwrite: bool) -> Iterator[SetFolder]:
    """Give the body of a ``with`` statement the folder of a set, locked and ready for a run with these options.

    Raises: OptionError, which names the folder, in the cases of ``SetFolder.open``, if another process writes a set
        into it, or if it cannot be written.
    """
    try:
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        release = lock(folder, "--out")
        found = SetFolder(folder, options)
        try:
            found.open(overwrite=overwrite)
            yield found
        finally:
            found.close()
            release()
            if made and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        if str(folder) not in str(error.filename):
            raise
        why = error.strerror or str(error)
        raise OptionError(f"--out {folder}: cannot be written ({why}); name another folder") from None


def digest(file: Path) -> str:
    """Return the beginning of a file's SHA-256, in hexadecimal digits; empty if it cannot be read."""
    found = sha256()
    if not file.is_file():  # reading a pipe would block for ever
        return ""
    try:
        with file.open("rb") as stream:
            while piece := stream.read(2**20):
                found.update(piece)
    except OSError:  # its reader says what is wrong
        return ""
    return found.hexdigest()[:16]


_REMEDY = "replace it with --overwrite, or name another folder"


def _files_of(report: Path) -> Sequence[str]:
    """Return the files of the set that a report is about, as far as they are plain names."""
    try:
        names = json.loads(report.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [name for name in names if isinstance(name, str) and is_plain(name)] if isinstance(names, list) else []

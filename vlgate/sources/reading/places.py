"""Finding a benchmark's file in the user's data folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from vlgate.errors import DataError


def only_file(folders: Iterable[Path], *names: str) -> Path | None:
    """Return the file that a data folder has under one of the names; None if there is no such file.

    >>> only_file([Path("nowhere")], "bla/annotations/coordination_captions.json") is None
    True

    Raises: DataError if there are several files. A file that is reached twice, by a link or because a folder is given
    twice, counts once.
    """
    places = [folder / name for folder in folders for name in names]
    found = list({place.resolve(): place for place in places if place.exists()}.values())
    if len(found) > 1:
        raise DataError(found[0], None, f"is also in {found[1]}", "keep one of them, or give one data folder only")
    return found[0] if found else None

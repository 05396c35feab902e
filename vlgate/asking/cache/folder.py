"""Where the replies are kept, and how much of the disk they may take."""

import os
from pathlib import Path

DEFAULT_SIZE = 10 * 2**30
LEAST_LIMIT = 10**7
"""The least limit: the size is looked at after 4,096 new replies, which may be 8 MB of rows of 512 numbers."""
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_BEGINNINGS = {"k": 2**10, "m": 2**20, "g": 2**30}


def default_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("vlgate", appauthor=False)


def file_in_the_way(folder: Path) -> Path | None:
    for place in (folder, *folder.parents):
        if os.path.exists(place):  # noqa: PTH110  # Path.exists raises if a folder above may not be read
            return None if place.is_dir() else place
    return None


def parsed_size(text: str) -> int:
    """A number of bytes as a user writes it.

    >>> parsed_size("10GB"), parsed_size("500 MiB"), parsed_size("2g")
    (10000000000, 524288000, 2147483648)
    """
    bare = text.strip().lower()
    number = bare.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = bare[len(number) :]
    factor = _UNITS.get(unit, _BEGINNINGS.get(unit))
    if factor is None:
        raise ValueError(text)
    size = float(number) * factor
    if not LEAST_LIMIT <= size < 2**62:  # also if it is NaN
        raise ValueError(text)
    return int(size)


def shown_size(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"

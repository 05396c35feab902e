"""Where the replies are kept, and how much of the disk they may take."""

from __future__ import annotations

from pathlib import Path

DEFAULT_LIMIT = 10 * 2**30
"""The size limit of a cache in bytes, unless a run names another."""
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_BEGINNINGS = {"k": 2**10, "m": 2**20, "g": 2**30}


def default_folder() -> Path:
    """Return the folder in which this user's programs keep what they can make again: ``~/.cache/vlgate`` on Linux."""
    from platformdirs import user_cache_path

    return user_cache_path("vlgate", appauthor=False)


def parsed_size(text: str) -> int:
    """Return a number of bytes as a user writes it.

    Raises: ValueError if it is not a size above 0.

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
    if not 1 <= size < 2**62:  # also if it is NaN
        raise ValueError(text)
    return int(size)


def shown_size(size: int) -> str:
    """Return a number of bytes as a reader wants it.

    >>> shown_size(512), shown_size(3_500_000), shown_size(10 * 2**30)
    ('512 B', '3.5 MB', '10.7 GB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"

"""Read ``measures.toml``: what each task measures, in a sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import MappingProxyType

FILE = Path(__file__).with_suffix(".toml")


def measures(task: str) -> str:
    """Return the sentence that says what a task measures; empty for a user's own task.

    >>> measures("valse/actant-swap")
    'Who acts on whom in the image?'
    """
    found = sentences()
    return found.get(task) or next((said for key, said in found.items() if fnmatchcase(task, key)), "")


@cache
def sentences() -> Mapping[str, str]:
    """Return all sentences by task id or pattern, in the order of the file."""
    return MappingProxyType(tomllib.loads(FILE.read_text(encoding="utf-8")))

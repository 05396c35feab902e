"""Lists of words that decide whether a noun phrase gives a foil, from ``word_lists.tsv``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from vlgate.perturb.ontology.tables import rows_of

_FILE = Path(__file__).with_name("word_lists.tsv")


def words(name: str) -> frozenset[str]:
    """Return a list of words.

    Raises: KeyError if there is no list of that name.

    >>> "policeman" in words("male")
    True
    """
    return _lists()[name]


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for row in rows_of(_FILE.name, _FILE.read_text(encoding="utf-8"), "list", "meaning", "words"):
        found[row["list"]] = found.get(row["list"], frozenset[str]()) | frozenset(row["words"].split())
    return MappingProxyType(found)

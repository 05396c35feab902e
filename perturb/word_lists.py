"""Lists of words, such as the nouns that name the picture, from ``word_lists.tsv``."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType


def words(name: str) -> frozenset[str]:
    """Return a list of words; KeyError if there is none of that name.

    >>> "policeman" in words("male")
    True
    """
    return _lists()[name]


def is_body_part(name: str) -> bool:
    head = name.rpartition(" ")[2]
    return head in words("body part") or (head.endswith("s") and head[:-1] in words("body part"))


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    lists: dict[str, frozenset[str]] = {}
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, listed = line.partition("\t")
            lists[name] = lists.get(name, frozenset()) | frozenset(listed.split())
    return MappingProxyType(lists)

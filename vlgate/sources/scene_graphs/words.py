"""Checks the words that a user's own file adds to the vocabulary, and fills in the fields that are left out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from vlgate.errors import instead_of
from vlgate.sources.scene_graphs.checks import Faults, shown
from vlgate.sources.scene_graphs.stream import Member

Words = Mapping[str, tuple[Mapping[str, Any], ...]]

_TEXT, _TRUTH, _WHOLE, _TEXTS = "a string", "true or false", "an integer", "a list of strings"
WORDS: Mapping[str, Mapping[str, tuple[str, Any]]] = MappingProxyType(
    {
        "nouns": {"name": (_TEXT, None), "number": (_TEXT, "singular"), "parents": (_TEXTS, ())},
        "attributes": {
            "name": (_TEXT, None),
            "category": (_TEXT, ""),
            "before": (_TRUTH, True),
            "after": (_TEXT, ""),
            "rank": (_WHOLE, 4),
        },
        "relations": {
            "name": (_TEXT, None),
            "text": (_TEXT, None),
            "that": (_TRUTH, True),
            "inverse": (_TEXT, ""),
            "asymmetric": (_TRUTH, False),
        },
    },
)
"""The kinds of words and the fields of each: (type, default). The default None means that the field is required."""

NUMBERS = ("singular", "plural", "mass")


def words(member: Member, faults: Faults) -> Words:
    """Return the words of a user's own file by their kind, each with all its fields.

    Raises: DataError for a fault, if the mode of ``faults`` is "fail". Faults are a key other than ``words``, a kind or
    field that is not in ``WORDS``, a field that is missing or of the wrong type, a ``number`` that is not in
    ``NUMBERS``, and a name that is repeated within a kind.
    """
    faults.refuse_unknown({member.key: None}, ("graphs", "words"), "(the whole file)")
    if member.key == "graphs":
        faults.found("'graphs'", "graphs that are not a list", shown(member.value))
    if member.key == "words" and type(member.value) is not dict:
        faults.found("'words'", "words that are not an object", shown(member.value))
    if member.key != "words" or type(member.value) is not dict:
        return {}
    for key in member.repeated:
        faults.found("'words'", "a repeated key in one object", repr(key))
    faults.refuse_unknown(member.value, tuple(WORDS), "'words'")
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for kind in WORDS:
        entries = member.value.get(kind, [])
        if type(entries) is not list:
            faults.found(f"'words', {kind}", "words that are not a list", shown(entries))
        for position, entry in enumerate(entries if type(entries) is list else (), 1):
            where = f"'words', {kind}, {position}"
            word = _word(entry, kind, where, faults)
            if word is not None and word["name"] in found.setdefault(kind, {}):
                faults.found(where, "a word that was given before", repr(word["name"]))
            elif word is not None:
                found[kind][word["name"]] = word
    return {kind: tuple(found.get(kind, {}).values()) for kind in WORDS}


def _word(entry: Any, kind: str, where: str, faults: Faults) -> Mapping[str, Any] | None:
    fields = WORDS[kind]
    if type(entry) is not dict:
        faults.found(where, "a word that is not an object", shown(entry))
        return None
    faults.refuse_unknown(entry, tuple(fields), where)
    word = {}
    for name, (wanted, otherwise) in fields.items():
        value = entry.get(name, otherwise)
        if not _is(value, wanted) or (name == "name" and not value.strip()):
            known = f", {instead_of(name, entry)}" if name not in entry else ""
            faults.found(where, f"no {name} that is {wanted}", f"{shown(entry.get(name))}{known}")
            return None
        word[name] = tuple(value) if wanted == _TEXTS else value
    if word.get("number", "mass") not in NUMBERS:
        faults.found(where, f"a number that is none of {', '.join(NUMBERS)}", shown(word["number"]))
        return None
    return word


def _is(value: Any, wanted: str) -> bool:
    if wanted == _TEXTS:
        return isinstance(value, (list, tuple)) and all(type(one) is str and one.strip() for one in value)
    return type(value) is {_TEXT: str, _TRUTH: bool, _WHOLE: int}[wanted]

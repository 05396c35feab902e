"""Plurals and singulars of nouns, looked up: a noun that neither a table nor a dictionary has is left alone.

The ontology's tables (``ontology/objects.tsv`` and ``attributes.tsv``) answer first, then the dictionary of
``lemminflect``, which comes from the SPECIALIST Lexicon of the National Library of Medicine. The library's rules for
words outside its dictionary are not used: a rule makes "cooky" of "cookies" and "bu" of "bus".

97 % of the 23,298 words behind "a" or a number in the captions of COCO val2017 have an answer. ``inflect`` is
wrong about 17 plurals and 9 singulars of the ontology, and takes 1.5 s to import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from vlgate.perturb.dictionary import forms, lemmas
from vlgate.perturb.grammar import capitalised_like

_TABLES = Path(__file__).parent / "ontology"

# One aircraft, two aircraft (Quirk et al. 1985, 5.87). The table gives them no other form, except "fishes", which are
# several kinds of fish; captions count "three fish".
_UNCHANGED = frozenset({"aircraft", "bison", "deer", "fish", "moose", "salmon", "sheep", "shrimp", "tuna"})
# Garments and tools of two halves without a singular (Quirk et al. 1985, 5.76), for which the dictionary has one.
_PLURAL_ONLY = frozenset(
    {"bellows", "briefs", "capris", "corduroys", "culottes", "cutoffs", "cut-offs", "flannels", "spectacles"}
)
# Nouns without a plural (Quirk et al. 1985, 5.9), for which the dictionary has one.
_UNCOUNTABLE = frozenset(
    (
        *("accommodation", "advice", "damage", "education", "employment", "equipment", "evidence", "help", "housing"),
        *("information", "knowledge", "laughter", "leisure", "machinery", "mail", "pottery", "safety", "software"),
    )
)
_ABBREVIATION = re.compile(r"(?P<one>[A-Z]+[A-RTUVWY])(?P<s>s?)")  # TV, TVs; not GPS
# "A slice of pizza" is a slice: the last word of such a phrase is not the one that changes.
_JOINED = re.compile(r" (?:and|at|by|for|from|in|of|on|or|to|with) ")


def plural(noun: str) -> str | None:
    """Return the plural of a singular noun or noun phrase, or None if it has none or is not known.

    >>> [plural(noun) for noun in ("cup", "wooden box", "body of water", "fish", "woman")]
    ['cups', 'wooden boxes', 'bodies of water', 'fish', 'women']
    >>> plural("furniture"), plural("pants"), plural("gribbleflax")
    (None, None, None)
    """
    found = _ABBREVIATION.fullmatch(noun)
    if found:
        return None if found["s"] else f"{noun}s"
    return _of_phrase(noun, _plural)


def singular(noun: str) -> str | None:
    """Return the singular of a plural noun or noun phrase, or None if it has none, is not a plural, or is not known.

    >>> [singular(noun) for noun in ("cups", "cookies", "wooden boxes", "fish")]
    ['cup', 'cookie', 'wooden box', 'fish']
    >>> singular("glass"), singular("scissors"), singular("gribbleflaxes")
    (None, None, None)
    """
    found = _ABBREVIATION.fullmatch(noun)
    if found:
        return found["one"] if found["s"] else None
    return _of_phrase(noun, _singular)


def may_be_plural(word: str) -> bool:
    """Return whether a word is a known plural or ends like one; "bus" does, too.

    >>> [may_be_plural(word) for word in ("women", "gizmos", "scissors", "glass", "cup")]
    [True, True, True, False, False]
    """
    return regular_singular(word) is not None or singular(word) is not None


def either_number(noun: str) -> frozenset[str]:
    """Return a noun with the plural that the table has and the one that spelling suggests, to look names up by.

    One of them may not be English ("scissorses"), so that no text is made of them. The dictionary is not asked: this
    is part of reading the ontology, which should not take 0.3 s longer.

    >>> sorted(either_number("calf")), sorted(either_number("sky"))
    (['calf', 'calfs', 'calves'], ['skies', 'sky'])
    """
    number, other = _table().get(noun, ("", ""))
    return frozenset((noun, regular_plural(noun), *((other,) if other and number == "singular" else ())))


def regular_plural(noun: str) -> str:
    """Return the plural of a singular noun by the rules of spelling alone.

    >>> [regular_plural(noun) for noun in ("axolotl", "box", "berry", "woman")]
    ['axolotls', 'boxes', 'berries', 'womans']
    """
    if re.search(r"(?:s|x|z|ch|sh)$", noun):
        return noun + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", noun) + "s"


def regular_singular(noun: str) -> str | None:
    """Return the singular of a plural noun by the rules of spelling alone, or None if it does not end like a plural.

    >>> [regular_singular(noun) for noun in ("axolotls", "boxes", "berries", "cookies", "glass")]
    ['axolotl', 'box', 'berry', 'cooky', None]
    """
    if re.search(r"[^aeiou]ies$", noun):
        return noun[:-3] + "y"
    if re.search(r"(?:ss|x|ch|sh)es$", noun):
        return noun[:-2]
    return noun[:-1] if re.search(r"[^s]s$", noun) else None


@cache
def _of_phrase(noun: str, inflect: Callable[[str], str | None]) -> str | None:
    """Inflect a phrase that the table has, else the last word of a phrase."""
    lower = noun.lower()
    first, blank, head = ("", "", lower) if lower in _table() else lower.rpartition(" ")
    if blank and _JOINED.search(lower):
        return None
    found = inflect(head)
    if found is None or noun[1:] != lower[1:]:  # capitals inside a word have rules of their own
        return None
    return capitalised_like(noun, f"{first}{blank}{found}")


def _plural(noun: str) -> str | None:
    if noun in _UNCHANGED:
        return noun
    if noun in _table():
        number, other = _table()[noun]
        return other or None if number == "singular" else None
    if noun in _UNCOUNTABLE:
        return None
    forms = _plurals(noun)
    # If the noun is its own first plural it may be "sheep" or "furniture": the dictionary does not say which.
    return forms[0] if forms and forms[0] != noun and noun in _lemmas(noun) else None


def _singular(noun: str) -> str | None:
    if noun in _UNCHANGED:
        return noun
    if noun in _table():
        number, other = _table()[noun]
        return other or None if number == "plural" else None
    lemmas = _lemmas(noun)
    # "Scissors" is its own lemma, and so is "glass"; "bases" has two.
    sure = len(lemmas) == 1 and noun not in lemmas and noun not in _PLURAL_ONLY and noun in _plurals(lemmas[0])
    return lemmas[0] if sure else None


@cache
def _table() -> Mapping[str, tuple[str, str]]:
    """The ontology's words: (number, other form) by name, both "" for an attribute that is not a noun, such as "red".

    They are read here because the package ``ontology`` needs this module, and in 5 ms, since nothing is checked.
    """
    attributes = {name: ("", "") for (name,) in _cells("attributes.tsv", "name")}
    nouns = {name: (number, other) for name, number, other in _cells("objects.tsv", "name", "number", "other_number")}
    return MappingProxyType(attributes | nouns)


def _cells(file: str, *columns: str) -> Iterator[tuple[str, ...]]:
    """Read some columns of a table of the ontology."""
    lines = (_TABLES / file).read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines if line and line[0] != "#")
    at = [header.index(column) for column in columns]
    return (tuple(row[n] for n in at) for row in rows)


def _plurals(noun: str) -> tuple[str, ...]:
    """The plurals of a noun in the dictionary, the usual one first."""
    return forms(noun, "NOUN").get("NNS", ())


def _lemmas(noun: str) -> tuple[str, ...]:
    """The words of the dictionary that have ``noun`` as a form; itself if it is one of them."""
    return lemmas(noun, "NOUN")

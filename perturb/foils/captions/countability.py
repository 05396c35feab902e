"""Nouns whose number says little about what an image shows, by the reason."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from vlgate.perturb.foils.captions.word_lists import words

GROUP = "the noun names a quantity or a group"
IMAGE = "the noun names the picture"
SUBSTANCE = "the noun may name a substance"
MORE = "more of it may be there than the caption tells"
PAIRED = "the noun comes in pairs or has two halves"

_LISTS = MappingProxyType(
    {
        GROUP: "group",
        "the noun names a part or a side": "part",
        IMAGE: "image",
        "the noun names an event, a time or something abstract": "abstract",
        MORE: "unbounded",
        SUBSTANCE: "substance",
        PAIRED: "paired",
    }
)


def reason_of(noun: str) -> str | None:
    """Return why the number of a noun in the singular says little, or None if it is a countable object.

    >>> reason_of("group"), reason_of("giraffe")
    ('the noun names a quantity or a group', None)
    """
    return _reasons().get(noun)


def has_kind(noun: str, reason: str) -> bool:
    """Whether a noun in the singular is in the list of ``GROUP``, ``IMAGE``, ``SUBSTANCE``, ``MORE`` or ``PAIRED``.

    >>> has_kind("ski", PAIRED)
    True
    """
    return noun in words(_LISTS[reason])


@cache
def _reasons() -> Mapping[str, str]:
    found = {noun: reason for reason, name in reversed(tuple(_LISTS.items())) for noun in words(name)}
    return MappingProxyType(found)

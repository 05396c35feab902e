"""Which spatial prepositions contradict each other, about which things: the table ``prepositions.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

_FILE = "prepositions.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Prepositions of a caption and of its foil about the same thing, after a noun or one of the verbs ``heads``.

    If it is ``singular``, it does not hold for several things: nobody sits on horses.
    """

    things: frozenset[str]
    heads: frozenset[str]
    captions: tuple[str, ...]
    foils: tuple[str, ...]
    singular: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Absurd:
    """Prepositions of foils that nobody would say of such a subject and such a thing: "a bus inside cars"."""

    subjects: frozenset[str]
    things: frozenset[str]
    foils: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrasts:
    """The table: what one preposition is, what is spatial, what may be true together, and what contradicts.

    ``sequences`` are those of two or more words by their first word, the longest first.
    """

    sequences: Mapping[str, tuple[tuple[str, ...], ...]]
    spatial: frozenset[str]
    together: Mapping[str, frozenset[str]]
    not_somewhere: frozenset[str]
    rows: tuple[Contrast, ...]
    absurd: tuple[Absurd, ...] = ()

    def is_absurd(self, subject: str, name: str, thing: str) -> bool:
        """Return whether nobody would say a preposition of a subject and a thing, both by their lemmas.

        >>> contrasts().is_absurd("bus", "inside", "car"), contrasts().is_absurd("cat", "inside", "car")
        (True, False)
        """
        return any(name in one.foils and thing in one.things and subject in one.subjects for one in self.absurd)

    def compatible(self, one: str, other: str) -> bool:
        """Return whether two prepositions may both be true of one photograph.

        >>> table = contrasts()
        >>> table.compatible("on", "on top of"), table.compatible("on", "under")
        (True, False)
        """
        return one == other or other in self.together.get(one, frozenset())

    def opposite(self, name: str, thing: str, *, several: bool, head: str | None) -> tuple[str, ...]:
        """Return the prepositions that contradict ``name`` about a thing.

        Args:
            name: the preposition of the caption.
            thing: the lemma of the noun behind it.
            several: whether the noun is a plural.
            head: the lemma of the verb before it; None for a noun.

        >>> contrasts().opposite("above", "sink", several=False, head="hang")
        ('below', 'under', 'beneath', 'underneath')
        """
        found = [
            row.foils
            for row in self.rows
            if name in row.captions
            and thing in row.things
            and (head is None or head in row.heads)
            and not (row.singular and several)
        ]
        return tuple(dict.fromkeys(foil for foils in found for foil in foils))


@cache
def contrasts() -> Contrasts:
    """Return the table, read once."""
    text = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    return parsed_contrasts(text)


def parsed_contrasts(text: str) -> Contrasts:
    """Read a table from the text of its file.

    Raises: ValueError if a contrast names things or verbs that are not listed, a preposition that is not spatial, or a
        pair that may be true together.
    """
    raw = tomllib.loads(text)
    spatial = frozenset(raw["spatial"])
    together = _together(raw["together"])
    rows = tuple(_row(one, raw) for one in raw["contrasts"])
    for row in rows:
        _check(row, spatial, together)
    sequences: dict[str, tuple[tuple[str, ...], ...]] = {}
    for words in sorted((tuple(one.split()) for one in raw["sequences"]), key=len, reverse=True):
        sequences[words[0]] = (*sequences.get(words[0], ()), words)
    return Contrasts(
        sequences=MappingProxyType(sequences),
        spatial=spatial,
        together=MappingProxyType(together),
        not_somewhere=frozenset(raw["not_somewhere"].split()),
        rows=rows,
        absurd=tuple(_absurd(one, raw) for one in raw.get("absurd", ())),
    )


def _together(rows: Collection[str]) -> dict[str, frozenset[str]]:
    groups = [frozenset(row.split("|")) for row in rows]
    return {name: frozenset().union(*(one for one in groups if name in one)) for group in groups for name in group}


def _row(one: Mapping[str, Any], raw: Mapping[str, Any]) -> Contrast:
    return Contrast(
        things=frozenset(_listed(raw["things"], one["things"], "things")),
        heads=frozenset(_listed(raw["heads"], one["heads"], "heads")),
        captions=tuple(one["captions"].split("|")),
        foils=tuple(one["foils"].split("|")),
        singular=bool(one.get("singular", False)),
    )


def _absurd(one: Mapping[str, Any], raw: Mapping[str, Any]) -> Absurd:
    subjects, things = (frozenset(_listed(raw["things"], one[what], "things")) for what in ("subjects", "things"))
    return Absurd(subjects=subjects, things=things, foils=frozenset(one["foils"].split("|")))


def _listed(lists: Mapping[str, str], names: str, what: str) -> Iterator[str]:
    for name in names.split("|"):
        if name not in lists:
            raise ValueError(f"{_FILE}: {what}={name!r} is not listed under [{what}]: {', '.join(lists)}")
        yield from lists[name].split()


def _check(row: Contrast, spatial: Collection[str], together: Mapping[str, frozenset[str]]) -> None:
    for name in (*row.captions, *row.foils):
        if name not in spatial:
            raise ValueError(f"{_FILE}: {name!r} of a contrast is not in spatial")
    for one in row.captions:
        for other in row.foils:
            if other in together.get(one, frozenset()):
                raise ValueError(f"{_FILE}: {one!r} and {other!r} are a contrast and may be true together")

"""What follows from the name of an object: what it is, what it may be called, and what it may have unannotated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from vlgate.errors import nearest
from vlgate.perturb.ontology.nouns import Noun

GARMENT = "clothing"
"""Who wears one garment may be there unannotated, with a head and hands; no other garment follows from it."""

Names = frozenset[str]
Links = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Names that are used for the same things.

    ``names`` are used for each other, and so are their hyponyms. A name of ``also`` may stand for ``names`` and they
    for it, but its hyponyms may not: a gadget may be called a device, and a device a gadget, but not every kind of
    device.
    """

    names: Names
    also: Names = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Closures:
    """Nouns and the links between them beyond their hypernyms; every answer is computed once per name.

    ``overlaps`` are names that are used for the same things (cup, mug, glass). ``senses`` are further hypernyms, which
    hold only for some things of a name ("bat": animal, sports equipment). ``parts`` are what things of a name may have
    (car: tire), and ``wholes`` what they may belong to (paw: animal). All of them are given in one grammatical number
    and hold in both.
    """

    nouns: Mapping[str, Noun]
    overlaps: tuple[Overlap, ...] = ()
    senses: Links = field(default_factory=dict)
    parts: Links = field(default_factory=dict)
    wholes: Links = field(default_factory=dict)
    _below: Links = field(init=False, repr=False, compare=False)
    _maybe_below: Links = field(init=False, repr=False, compare=False)
    _sharing: Links = field(init=False, repr=False, compare=False)
    _also: Links = field(init=False, repr=False, compare=False)
    _alone: Links = field(init=False, repr=False, compare=False)
    _known: dict[tuple[str, str], Names] = field(init=False, repr=False, compare=False, default_factory=dict)
    _above: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Reverse the links.

        Raises: ValueError for a name in them that is not a noun of the table.
        """
        below = [(parent, noun.name) for noun in self.nouns.values() for parent in noun.parents]
        maybe = [(parent, name) for name, parents in self.senses.items() for parent in parents]
        for setting, pairs in (
            ("_below", below),
            ("_maybe_below", maybe),
            ("_sharing", [(one, two) for group in self.overlaps for one in group.names for two in group.names]),
            ("_also", [(one, two) for group in self.overlaps for one in group.names for two in group.also]),
            ("_alone", [(two, one) for group in self.overlaps for one in group.names for two in group.also]),
        ):
            object.__setattr__(self, setting, _linked(pairs))
        for links in (self.senses, self.parts, self.wholes, self._sharing, self._also):
            for name in (*links, *(name for names in links.values() for name in names)):
                self._noun(name)

    def hypernyms(self, name: str) -> tuple[str, ...]:
        """Return all names above ``name`` and their synonyms, nearest first; without itself and its own synonyms."""
        if name not in self._above:
            own = (self._noun(name).name, *self.nouns[name].same)
            found: dict[str, None] = {}
            level = list(own)
            while level:
                parents = dict.fromkeys(parent for one in level for parent in self.nouns[one].parents)
                twins = dict.fromkeys(twin for one in parents for twin in (one, *self.nouns[one].same))
                level = [one for one in twins if one not in found]
                found.update(dict.fromkeys(level))
            self._above[name] = tuple(found)
        return self._above[name]

    def hyponyms(self, name: str) -> Names:
        """Return all names below ``name``, in its number; without itself and its own synonyms."""
        return self._once("below", name)

    def certain(self, name: str) -> Names:
        """Return what a thing of that name certainly is: the name, its synonyms and its hypernyms."""
        return self._once("certain", name)

    def possible(self, name: str) -> Names:
        """Return all that a thing of that name might be called."""
        return self._once("possible", name)

    def beside(self, name: str) -> Names:
        """Return what a thing of that name may come with, unannotated: its parts, its wholes and their parts."""
        return self._once("beside", name)

    def having(self, name: str) -> Names:
        """Return what a thing of that name itself may have, unannotated; no part of ``beside`` that is not its own."""
        return self._once("having", name)

    def _once(self, question: str, name: str) -> Names:
        known = self._known.get((question, name))
        if known is None:
            self._noun(name)
            known = self._known[question, name] = getattr(self, f"_find_{question}")(name)
        return known

    def _noun(self, name: str) -> Noun:
        noun = self.nouns.get(name)
        if noun is None:
            raise ValueError(f"name={name!r} is not a noun of the ontology; {nearest(name, self.nouns)}")
        return noun

    def _find_below(self, name: str) -> Names:
        own = {name, *self.nouns[name].same}
        return frozenset(self._reach(own, self._below) - own)

    def _find_certain(self, name: str) -> Names:
        return frozenset((name, *self.nouns[name].same, *self.hypernyms(name)))

    def _find_possible(self, name: str) -> Names:
        # A thing may be whatever is below its name, and whatever overlaps with that or with its hypernyms: a coffee
        # cup, since it is a cup, may be called a glass. Senses are followed from the name itself only: a device may be
        # a fan, and a fan a spectator, but a device is never a spectator.
        own, certain = self._forms({name}), self._forms(self.certain(name))
        users = self._forms(self._reach(own, self._below)) | certain
        shared = self._follow(users, self._sharing) | self._follow(own, self._alone)
        narrower = shared | own | self._follow(users - certain | own, self._maybe_below)
        found = self._reach(self._forms(narrower), self._below) | self._follow(certain, self.senses)
        return self._all_above(found | self._follow(users, self._also) | certain)

    def _kinds(self, name: str) -> set[str]:
        # What an "animal" has depends on the kind of animal, so the parts of all hyponyms count.
        return self._forms({*self.certain(name), *self._reach(self._forms({name}), self._below)})

    def _find_having(self, name: str) -> Names:
        return self._all_above(self._follow(self._kinds(name), self.parts))

    def _find_beside(self, name: str) -> Names:
        kinds = self._kinds(name)
        wholes = self._forms(self._follow(kinds, self.wholes))
        owners = self._forms(above for whole in wholes for above in self.certain(whole))
        brought = self._follow(owners, self.parts)
        if name == GARMENT or GARMENT in self.certain(name):
            brought = {part for part in brought if GARMENT not in self.certain(part)}
        return self._all_above(self._follow(kinds, self.parts) | brought | wholes)

    def _all_above(self, names: Collection[str]) -> Names:
        """Return the names, all that is certainly above them, and the other forms of all these."""
        found: set[str] = set()
        new = self._forms(names)
        while new:
            new |= {twin for name in new for twin in self.nouns[name].same}
            found |= new
            new = {parent for name in new for parent in self.nouns[name].parents} - found
        return frozenset(self._forms(found))

    def _reach(self, names: Collection[str], links: Links) -> set[str]:
        found: set[str] = set()
        new = set(names)
        while new:
            new |= {twin for name in new for twin in self.nouns[name].same}
            found |= new
            new = self._follow(new, links) - found
        return found

    def _forms(self, names: Iterable[str]) -> set[str]:
        """Return the names with their synonyms and all of these in the other number."""
        found = set(names)
        found |= {twin for name in found for twin in self.nouns[name].same}
        return found | {other for name in found if (other := self.nouns[name].other)}

    @staticmethod
    def _follow(names: Collection[str], links: Links) -> set[str]:
        return {target for name in names for target in links.get(name, ())}


def _linked(pairs: Iterable[tuple[str, str]]) -> Links:
    links: dict[str, dict[str, None]] = defaultdict(dict)
    for source, target in pairs:
        links[source][target] = None
    return {source: tuple(targets) for source, targets in links.items()}

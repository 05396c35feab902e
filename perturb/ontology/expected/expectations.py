"""The settings of things, the values that suit them, and what they can do.

CARETS draws false objects and attributes from what the scene graphs show together (section 4). In few graphs that says
little, so that a cow is denied in an office. The tables of this folder say what nobody would wonder at. They know the
nouns of the curated ontology; of any other noun they know what its hypernyms have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

_LIVING = frozenset(
    ("person", "people", "animal", "animals", "couple", "crowd", "family", "group", "team", "bear", "bears")
)
_NONE: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType({})
Names = Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What is expected of things, by their names and classes, each in both numbers.

    ``places`` are the settings of a thing; ``listed`` are the values of a category that suit it, by
    category and name; ``doers`` is who can do what a relation says, by the relation's first word. ``contrasts`` are
    groups of persons that may be offered beside each other. ``grounds`` are places and what everything stands on,
    ``movable`` what they are not told apart by; ``body`` are parts of bodies, and ``lifeless`` are attributes that
    do not describe a person or an animal; ``odd`` are relations that one image alone does not make usual.
    ``covers`` are what lies on or around things, and ``fleeting`` what things give off, which tells none apart.
    ``scenes`` are places that are around all of an image, ``everyday`` what everybody wears, ``tiny`` animals that are
    offered only beside each other, and ``vague`` attributes that say too little. ``company`` is what an image must show
    some of if it lacks a thing that is found nearly anywhere.
    ``shades`` are attributes that shade into each other, ``gathered`` words for several things at once, ``enclosing``
    what hides what is in it, and ``unasked`` what nobody asks for or nobody can deny. ``rests`` is where things of a
    name usually are, and ``needs`` is what an image must show some of if an action is offered.
    ``stands`` is where things can be, by a relation, their names, and the landmarks. ``clashes`` are attributes of
    which a thing has one at most, ``unclear`` those with several senses, and ``motley`` what has several colors by
    nature.
    ``usual`` are things that nearly every image of a setting shows, annotated or not.

    Methods take ``names``, the name of a thing and its hypernyms, nearest first.
    """

    places: Mapping[str, frozenset[str]] = field(default_factory=dict)
    listed: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=lambda: _NONE)
    doers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    contrasts: tuple[frozenset[str], ...] = ()
    grounds: frozenset[str] = frozenset()
    movable: frozenset[str] = frozenset()
    body: frozenset[str] = frozenset()
    lifeless: frozenset[str] = frozenset()
    odd: frozenset[str] = frozenset()
    covers: frozenset[str] = frozenset()
    fleeting: frozenset[str] = frozenset()
    scenes: frozenset[str] = frozenset()
    everyday: frozenset[str] = frozenset()
    tiny: frozenset[str] = frozenset()
    vague: frozenset[str] = frozenset()
    company: Mapping[str, frozenset[str]] = field(default_factory=dict)
    usual: Mapping[str, frozenset[str]] = field(default_factory=dict)
    shades: tuple[frozenset[str], ...] = ()
    gathered: frozenset[str] = frozenset()
    enclosing: frozenset[str] = frozenset()
    unasked: frozenset[str] = frozenset()
    rests: Mapping[str, frozenset[str]] = field(default_factory=dict)
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stands: tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...] = ()
    clashes: tuple[frozenset[str], ...] = ()
    unclear: frozenset[str] = frozenset()
    motley: frozenset[str] = frozenset()

    def settings(self, names: Names) -> frozenset[str]:
        """Return the settings of such a thing; empty if it is not known.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> sorted(curated_expectations().settings(("cow", "animal")))
        ['farm']
        """
        return next((self.places[name] for name in names if name in self.places), frozenset())

    def values(self, names: Names, category: str) -> frozenset[str] | None:
        """Return the values of ``category`` that suit such a thing; None if no list says.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> sorted(curated_expectations().values(("apple", "fruit", "food"), "color"))
        ['green', 'light green', 'red', 'yellow']
        """
        found = (self.listed.get((category, name)) for name in names)
        return next((values for values in found if values is not None), None)

    def says(self, names: Names, attribute: str, category: str) -> bool:
        """Return whether an attribute may describe such a thing.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> expected.says(("horse", "animal"), "green", "color"), expected.says(("dog", "animal"), "elongated", "")
        (False, False)
        """
        if attribute in self.unclear or (attribute in self.lifeless and not _LIVING.isdisjoint(names)):
            return False
        values = self.values(names, category)
        return values is None or attribute in values

    def beside(self, names: Names) -> frozenset[str] | None:
        """Return what an image shows some of if such a thing might be there; None if no line says.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> "bed" in expected.beside(("shirt", "clothing")), "carrot" in expected.beside(("shirt", "clothing"))
        (True, False)
        """
        return next((self.company[name] for name in names if name in self.company), None)

    def does(self, names: Names, relation: str) -> bool:
        """Return whether such a thing can do what a relation says of it; True if no line is about the relation.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> expected.does(("kite", "toy"), "wearing"), expected.does(("kite", "toy"), "on")
        (False, True)
        """
        able = self.doers.get(relation.partition(" ")[0])
        return able is None or not able.isdisjoint(names)

    def contrast(self, one: str, other: str) -> bool:
        """Return whether two names of persons may be offered beside each other.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> expected.contrast("man", "woman"), expected.contrast("gentleman", "batter")
        (True, False)
        """
        return any(one in group and other in group for group in self.contrasts)

    def near(self, one: str, other: str) -> bool:
        """Return whether two attributes shade into each other, so that a question never offers both.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> expected.near("white", "gray"), expected.near("gray", "black"), expected.near("white", "black")
        (True, True, False)
        """
        return any(one in group and other in group for group in self.shades)

    def settled(self, names: Names, landmark: Names) -> bool:
        """Return whether such a thing usually is on, in or at such a landmark, so that the landmark tells nothing.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> expected.settled(("chair", "furniture"), ("floor",)), expected.settled(("bag",), ("floor",))
        (True, False)
        """
        return any(not self.rests[name].isdisjoint(landmark) for name in names if name in self.rests)

    def can_be(self, names: Names, relation: str, landmark: Names) -> bool:
        """Return whether such a thing can have such a relation to a landmark; True if no line is about the relation.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> [expected.can_be(("cow", "animal"), "standing on", (one,)) for one in ("tree", "grass")]
        [False, True]
        """
        padded = f" {relation} "
        for words, things, landmarks in self.stands:
            said = any(padded.startswith(f" {word} ") or padded.endswith(f" {word} ") for word in words)
            if said and not things.isdisjoint(names):
                return not landmarks.isdisjoint(landmark)
        return True

    def clash(self, attribute: str, others: Iterable[str]) -> bool:
        """Return whether an attribute of a thing contradicts one of its other attributes.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> expected.clash("small", ("red", "tall")), expected.clash("small", ("small", "red"))
        (True, False)
        """
        beside = frozenset(others) - {attribute}
        return any(attribute in group and not group.isdisjoint(beside) for group in self.clashes)

    def locates(self, landmark: Names, names: Names) -> bool:
        """Return whether a landmark tells a thing apart: a pig tells no street apart.

        >>> from vlgate.perturb.ontology.expected import curated_expectations
        >>> expected = curated_expectations()
        >>> expected.locates(("pig", "animal"), ("street", "road")), expected.locates(("street", "road"), ("pig",))
        (False, True)
        """
        return self.grounds.isdisjoint(names) or self.movable.isdisjoint(landmark)

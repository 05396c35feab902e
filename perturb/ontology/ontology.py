"""What the words of scene graphs mean: which names fit an object, which attributes exclude each other, how both read.

Questions whose truth is computed from a scene graph rest on this: a name is false in a picture only where no object may
be called so or may have such a part without its being annotated (CARETS, section 4: false objects are filtered by the
graph's objects, their hypernyms and unannotated sub-parts).
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from vlgate.perturb.ontology.attributes import Attribute, Attributes, Reading, curated_attributes
from vlgate.perturb.ontology.closures import Closures, Names, Overlap
from vlgate.perturb.ontology.curated import curated_objects
from vlgate.perturb.ontology.nouns import Noun, check_nouns

_EMPTY: Mapping[str, Collection[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ontology:
    """Nouns with what follows from them, and attributes and relations with how they read.

    ``objects`` holds the first, ``words`` the second. Every method raises ValueError, which names the nearest known
    noun, for a name that is none of ``nouns``; ``knows`` asks first.

    >>> ontology = default_ontology()
    >>> ontology.hypernyms("dog")
    ('animal',)
    >>> sorted(ontology.certain("sofa"))
    ['couch', 'furniture', 'seat', 'sofa']
    """

    objects: Closures
    words: Attributes

    @property
    def nouns(self) -> Mapping[str, Noun]:
        """The nouns by name."""
        return self.objects.nouns

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes by name."""
        return self.words.attributes

    @property
    def relations(self) -> Mapping[str, Reading]:
        """How relations read, by name."""
        return self.words.relations

    def knows(self, name: str) -> bool:
        """Whether ``name`` is one of the nouns."""
        return name in self.objects.nouns

    def hypernyms(self, name: str) -> tuple[str, ...]:
        """Return all names above ``name``, nearest first, synonyms of them included; not itself.

        >>> default_ontology().hypernyms("duck")
        ('bird', 'animal')
        """
        return self.objects.hypernyms(name)

    def hyponyms(self, name: str) -> tuple[str, ...]:
        """Return all names below ``name``, sorted; those of its own number, as far as they have both."""
        return tuple(sorted(self.objects.hyponyms(name)))

    def certain(self, name: str) -> Names:
        """Return what an object of that name certainly is: the name, its synonyms and its hypernyms."""
        return self.objects.certain(name)

    def possible(self, name: str) -> Names:
        """Return all names that an object annotated ``name`` might be called without being wrong.

        These are what it certainly is, everything below, names used for the same things, the other number of all these
        and what is above them. It is meant to be too large rather than too small.

        >>> default_ontology().possible("mug") >= {"mug", "cup", "cups", "container"}
        True
        """
        return self.objects.possible(name)

    def parts(self, name: str) -> Names:
        """Return what may be in a picture with an object of that name without being annotated.

        These are the parts of such things, inherited from what they are and of every kind that they may be, the clothes
        of a person, what a room or a street holds; and what a part belongs to, with its parts: where a paw is, an
        animal may be.

        >>> "tires" in default_ontology().parts("taxi")
        True
        """
        return self.objects.beside(name)

    def antonym(self, attribute: str, name: str) -> str | None:
        """Return the opposite of ``attribute`` as said of an object ``name``, or None.

        >>> default_ontology().antonym("short", "hair"), default_ontology().antonym("short", "pole")
        ('long', 'tall')
        """
        return self.words.antonym(attribute, (name, *self.hypernyms(name)))

    def exclusive(self, one: str, other: str) -> bool:
        """Whether two attributes are of one category and no one thing can be both."""
        return self.words.exclusive(one, other)

    def acts(self, name: str, attribute: str) -> bool:
        """Whether the action ``attribute`` ("walking") can be asked of an object of that name."""
        return self.words.acts((name, *self.hypernyms(name)), attribute)

    def extended(
        self,
        nouns: Iterable[Noun],
        *,
        overlaps: Iterable[frozenset[str]] = (),
        parts: Mapping[str, Collection[str]] = _EMPTY,
    ) -> Ontology:
        """Return an ontology with further nouns, groups of names used for the same things, and parts by whole.

        Raises: ValueError for a noun that is known already, and for whatever ``check_nouns`` finds.

        >>> more = default_ontology().extended([Noun(name="axolotl", number="singular", parents=("animal",))])
        >>> more.hypernyms("axolotl")
        ('animal',)
        """
        table = dict(self.nouns)
        for noun in nouns:
            if noun.name in table:
                raise ValueError(f"name={noun.name!r} is a noun of the ontology already; leave it out")
            table[noun.name] = noun
        check_nouns(table)
        joined = {whole: (*self.objects.parts.get(whole, ()), *found) for whole, found in parts.items()}
        objects = Closures(
            nouns=MappingProxyType(table),
            overlaps=(*self.objects.overlaps, *(Overlap(names=group) for group in overlaps)),
            senses=self.objects.senses,
            parts=MappingProxyType({**self.objects.parts, **joined}),
            wholes=self.objects.wholes,
        )
        return replace(self, objects=objects)


@functools.cache
def default_ontology() -> Ontology:
    """Return the curated ontology of this folder's files, read once."""
    return Ontology(objects=curated_objects(), words=curated_attributes())

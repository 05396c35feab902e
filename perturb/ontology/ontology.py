"""The ontology: which names fit an object, which attributes exclude each other, and the wordings of both.

Whether the answer to a generated question is right depends on it. A name counts as false in an image only if no object
may be called so or may have such a part unannotated (CARETS, section 4: false objects are filtered by the graph's
objects, their hypernyms and unannotated sub-parts).
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from vlgate.perturb.ontology.attributes import Attribute, Attributes, Reading, curated_attributes
from vlgate.perturb.ontology.expectations import Expectations, curated_expectations
from vlgate.perturb.ontology.nouns import Closures, Names, Noun, Overlap, check_nouns, curated_objects

_EMPTY: Mapping[str, Collection[str]] = MappingProxyType({})
_MANY = 30  # values of a category, if no list says which


@dataclass(frozen=True, slots=True, kw_only=True)
class Ontology:
    """Nouns and what follows from them (``objects``), and attributes and relations with their wordings (``words``).

    ``expected`` has the settings of things, the values that suit them, and what they can do.

    Every method except ``knows`` raises ValueError, which names the nearest known noun, for a name that is not in
    ``nouns``.
    """

    objects: Closures
    words: Attributes
    expected: Expectations = field(default_factory=curated_expectations)

    @property
    def nouns(self) -> Mapping[str, Noun]:
        return self.objects.nouns

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        return self.words.attributes

    @property
    def relations(self) -> Mapping[str, Reading]:
        return self.words.relations

    def knows(self, name: str) -> bool:
        return name in self.objects.nouns

    def hypernyms(self, name: str) -> tuple[str, ...]:
        return self.objects.hypernyms(name)

    def hyponyms(self, name: str) -> tuple[str, ...]:
        """Return all names below ``name``, sorted; those of its own grammatical number, if they have both."""
        return tuple(sorted(self.objects.hyponyms(name)))

    def certain(self, name: str) -> Names:
        return self.objects.certain(name)

    def possible(self, name: str) -> Names:
        return self.objects.possible(name)

    def parts(self, name: str) -> Names:
        """Return what may be in an image with an object of that name without being annotated."""
        return self.objects.beside(name)

    def own_parts(self, name: str) -> Names:
        return self.objects.having(name)

    def antonym(self, attribute: str, name: str) -> str | None:
        return self.words.antonym(attribute, (name, *self.hypernyms(name)))

    def exclusive(self, one: str, other: str) -> bool:
        return self.words.exclusive(one, other)

    def acts(self, name: str, attribute: str) -> bool:
        return self.words.acts((name, *self.hypernyms(name)), attribute)

    def suits(self, name: str, attribute: str) -> bool | None:
        """Whether ``attribute`` is a plausible answer for an object of that name; None if no table says."""
        known, names = self.attributes.get(attribute), self.named(name)
        values = self.expected.values(names, known.category) if known else None
        if values is not None:
            return attribute in values
        return self.words.acts(names, attribute) if attribute in self.words.actors else None

    def narrows(self, name: str, attribute: str) -> int:
        """Return how many values of the attribute's category such an object may have; 30 if no list says."""
        category = self.attributes[attribute].category
        values = self.expected.values(self.named(name), category) if category else None
        return len(values) if values is not None else _MANY

    def named(self, name: str) -> tuple[str, ...]:
        """Return ``name``, its synonyms and all names above them, nearest first."""
        return (name, *self.nouns[name].same, *self.hypernyms(name))

    def settings(self, name: str) -> frozenset[str]:
        return self.expected.settings(self.named(name))

    def extended(
        self,
        nouns: Iterable[Noun],
        *,
        overlaps: Iterable[frozenset[str]] = (),
        parts: Mapping[str, Collection[str]] = _EMPTY,
    ) -> Ontology:
        table = dict(self.nouns)
        for noun in nouns:
            if noun.name in table:
                raise ValueError(f"name={noun.name!r} is a noun of the ontology already; leave it out")
            table[noun.name] = noun
        check_nouns(table)
        joined = {whole: (*self.objects.parts.get(whole, ()), *part) for whole, part in parts.items()}
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
    return Ontology(objects=curated_objects(), words=curated_attributes())

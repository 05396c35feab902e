"""The arguments of questions: phrases for the things of an image, things that it does not show, and other images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from vlgate.perturb.ontology import Reading
from vlgate.perturb.questions.chance import drawn, pick
from vlgate.perturb.questions.corpus import Corpus, ObjectView, View
from vlgate.perturb.questions.phrases import NounPhrase

T = TypeVar("T")
TRIES = 8  # random choices before another argument is taken
ENOUGH = 4  # candidate images, one of which is drawn in proportion to its likelihood
DESCRIBED = 0.5  # the share of phrases with an attribute


@dataclass(frozen=True, slots=True)
class Named:
    """A thing and the phrase that names it, with its image, its position there, and the attributes in the phrase."""

    view: View
    number: int
    phrase: NounPhrase
    adjectives: tuple[str, ...]

    @property
    def thing(self) -> ObjectView:
        """The thing itself."""
        return self.view.things[self.number]

    @property
    def key(self) -> tuple[str, str]:
        """Its name and attribute, a key of ``Corpus.places``."""
        return self.phrase.noun, self.adjectives[0] if self.adjectives else ""


class Arguments:
    """Draws the arguments of questions from a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        """Keep the images that show something that can be asked about.

        Raises: ValueError if none does.
        """
        self.corpus = corpus
        self.ontology = corpus.ontology
        self.views = tuple(view for view in corpus.views if view.askable)
        if not self.views:
            reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(corpus.left_out.items()))
            unknown = ", ".join(repr(name) for name, _ in corpus.unknown.most_common(5))
            remedy = f"; add these names to the ontology: {unknown}" if unknown else ""
            raise ValueError(
                f"graphs={len(corpus.views)!r}: none has an object that can be asked about ({reasons}){remedy}"
            )
        self._phrases: dict[tuple[str, tuple[str, ...]], NounPhrase] = {}
        self._classes: dict[str, tuple[str, ...]] = {}
        self._actions: dict[str, bool] = {}
        self._going: dict[tuple[str, str], bool] = {}
        self._asked: dict[tuple[ObjectView, str], list[tuple[str, str]]] = {}
        self._lone: dict[ObjectView, tuple[tuple[str, str], ...]] = {}
        self._ways: dict[str, tuple[tuple[View, int, tuple[Any, ...]], ...]] = {}

    def phrase(self, name: str, adjectives: tuple[str, ...] = ()) -> NounPhrase:
        """Return the phrase of a known name and attributes; the same object each time."""
        key = name, adjectives
        if key not in self._phrases:
            attributes = self.ontology.attributes
            ordered = tuple(sorted(adjectives, key=lambda word: attributes[word].rank))
            self._phrases[key] = NounPhrase(name, self.ontology.nouns[name].number, ordered)
        return self._phrases[key]

    def compound(self, adjectives: tuple[str, ...], name: str) -> bool:
        """Whether an attribute and the name make another noun, as "white board" does."""
        return any(f"{word} {name}" in self.ontology.nouns for word in adjectives)

    def goes(self, adjectives: tuple[str, ...], name: str) -> bool:
        """Whether a class of a thing goes with the thing's attributes: a banana may be ripe, food may not."""
        return all(self._goes_with(word, name) for word in adjectives)

    def _goes_with(self, adjective: str, name: str) -> bool:
        if (adjective, name) not in self._going:
            words = self.ontology.words
            category = words.attributes[adjective].category
            asked = not category or words.asked((name, *self.ontology.hypernyms(name)), category)
            apart = not self.corpus.unsaid(name, adjective) and not self.compound((adjective,), name)
            self._going[adjective, name] = asked and apart
        return self._going[adjective, name]

    def classes(self, name: str) -> tuple[str, ...]:
        """The hypernyms of ``name`` that can be asked about, nearest first."""
        if name not in self._classes:
            nouns = self.ontology.nouns
            self._classes[name] = tuple(word for word in self.ontology.hypernyms(name) if nouns[word].askable)
        return self._classes[name]

    def lone(self, thing: ObjectView) -> tuple[tuple[str, str], ...]:
        """The attributes that can stand after "is" and are the thing's only ones of their category, with the category.

        With another attribute of the category the answer would be unclear: a thing may be both black and white.
        """
        if thing not in self._lone:
            attributes = self.ontology.attributes
            known = self.corpus.known(thing.object.attributes)
            categories = [attributes[word].category for word in known]
            self._lone[thing] = tuple(
                (word, category)
                for word, category in zip(known, categories, strict=True)
                if attributes[word].after
                and category
                and categories.count(category) == 1
                and not self.corpus.unsaid(thing.name, word)
            )
        return self._lone[thing]

    def asked_for(self, thing: ObjectView, kind: str) -> list[tuple[str, str]]:
        """The lone attributes of a thing that a choice question can ask for, with their categories.

        ``kind`` is "attribute" or "action"; an action is asked for only if the thing can do it.
        """
        if (thing, kind) not in self._asked:
            words, name = self.ontology.words, thing.name
            self._asked[thing, kind] = [
                (word, category)
                for word, category in self.lone(thing)
                if words.categories[category].kind == kind
                and words.categories[category].noun
                and words.asked((name, *self.ontology.hypernyms(name)), category)
                and (kind == "attribute" or self.ontology.acts(name, word))
            ]
        return self._asked[thing, kind]

    def among(self, chance: Random, what: str, ways: Callable[[View, int], Sequence[T]]) -> tuple[View, int, T] | None:
        """Draw a thing that can be asked about in some way, and a way.

        ``ways`` is called once for each thing; its results are kept under the name ``what``.

        Returns: the image, the thing's position and the way; None if no thing has one.
        """
        if what not in self._ways:
            every = ((view, number) for view in self.views for number in view.askable)
            found = ((view, number, tuple(ways(view, number))) for view, number in every)
            self._ways[what] = tuple(place for place in found if place[2])
        places = self._ways[what]
        if not places:
            return None
        view, number, offered = pick(chance, places)
        return view, number, pick(chance, offered)

    def shown(self, chance: Random) -> Named:
        """Draw a thing of an image, with one of its attributes or none."""
        view = pick(chance, self.views)
        return self.named(chance, view, pick(chance, view.askable))

    def named(self, chance: Random, view: View, number: int) -> Named:
        """Name a thing, with one of its attributes or none."""
        thing = view.things[number]
        plain = not thing.adjectives or chance.random() >= DESCRIBED
        adjectives = () if plain else (pick(chance, thing.adjectives),)
        return Named(view, number, self.phrase(thing.name, adjectives), adjectives)

    def another(self, chance: Random, one: Named) -> Named | None:
        """Draw another thing of the same image such that neither it nor ``one`` can be called the other."""
        for _ in range(TRIES):
            number = pick(chance, one.view.askable)
            other = one.view.things[number]
            if number != one.number and not self.akin(one.thing.name, other.name):
                return self.named(chance, one.view, number)
        return None

    def akin(self, one: str, other: str) -> bool:
        """Whether a thing called ``one`` might be called ``other`` or a part of it, or the other way round."""
        masks, bits = self.corpus.masks, self.corpus.bits
        mine, others = masks(one), masks(other)
        return bool((mine[0] | mine[1]) & bits[other] or (others[0] | others[1]) & bits[one])

    def absent(self, name: str, view: View) -> bool:
        """Whether nothing in the image could be called ``name``."""
        return not view.might & self.corpus.bits[name]

    def unseen(self, chance: Random, view: View) -> NounPhrase | None:
        """Draw something that the image does not show, but that is often shown with what it does show."""
        for _ in range(TRIES):
            companions = self.corpus.companions.get(pick(chance, view.names))
            name = companions.draw(chance) if companions else ""
            if name and self.absent(name, view):
                return self.phrase(name, self.usual(chance, name))
        return None

    def usual(self, chance: Random, name: str) -> tuple[str, ...]:
        """Draw an attribute that such things often have, or none."""
        adjectives = self.corpus.adjectives.get(name)
        return (adjectives.draw(chance),) if adjectives and chance.random() < DESCRIBED else ()

    def elsewhere(self, chance: Random, *names: str) -> View | None:
        """Draw an image without anything of these names, with a preference for images that they would go with."""
        bits, found = 0, []
        for name in names:
            bits |= self.corpus.bits[name]
        for _ in range(TRIES):
            view = pick(chance, self.views)
            if not view.might & bits:
                found.append(view)
                if len(found) == ENOUGH:
                    break
        return self._plausible(chance, found, names)

    def with_one(self, chance: Random, shown: tuple[str, str], absent: str) -> tuple[View, int] | None:
        """Draw an image that shows one thing, by name and attribute, and nothing that could be called ``absent``."""
        places, bit = self.corpus.places.get(shown, ()), self.corpus.bits[absent]
        found = {}
        for _ in range(TRIES if places else 0):
            view, number = pick(chance, places)
            if not view.might & bit:
                found[view] = number
                if len(found) == ENOUGH:
                    break
        view_found = self._plausible(chance, list(found), (absent,))
        return None if view_found is None else (view_found, found[view_found])

    def _plausible(self, chance: Random, views: list[View], names: tuple[str, ...]) -> View | None:
        if len(views) < 2:
            return views[0] if views else None
        likelihood = self.corpus.likelihood
        return drawn(chance, views, [1e-3 + sum(likelihood(name, view) for name in names) for view in views])

    def related(self, chance: Random, one: Named) -> tuple[NounPhrase, int] | None:
        """Add one of a thing's relations to its phrase.

        Returns: the phrase and the position of the other thing; None if it has no relation with a wording.
        """
        links = one.view.links.get(one.number, ())
        if any(map(self.action, one.adjectives)):  # not "a sitting girl sitting on the bench"
            links = tuple(link for link in links if not self.action(link[0].text.partition(" ")[0]))
        if not links:
            return None
        reading, number = pick(chance, links)
        other = self.named(chance, one.view, number)
        return joined(one.phrase, reading, other.phrase), number

    def action(self, word: str) -> bool:
        """Whether a word says what somebody is doing: "sitting", "skiing", "parked"."""
        if word not in self._actions:
            attribute = self.ontology.attributes.get(word)
            category = attribute and self.ontology.words.categories.get(attribute.category)
            self._actions[word] = bool(category and category.kind == "action")
        return self._actions[word]

    def only(self, one: Named) -> bool:
        """Whether the phrase with "the" can mean nothing else in the image.

        No other object may be called so, unless one of its attributes excludes one in the phrase. If the thing is
        something that others have unannotated (a wheel), the image has at most one object that would have it.
        """
        return self.single(one.view, one.number, one.phrase.noun, one.adjectives)

    def single(self, view: View, number: int, name: str, adjectives: tuple[str, ...]) -> bool:
        """Whether ``name`` with these attributes can mean no other thing of the image than the one at ``number``."""
        bit, wholes = self.corpus.bits[name], 0
        for place, other in enumerate(view.things):
            if place != number and other.possible & bit and not self._ruled_out(other, adjectives):
                return False
            wholes += bool(other.parts & bit)
        return wholes <= 1

    def _ruled_out(self, other: ObjectView, adjectives: tuple[str, ...]) -> bool:
        known, exclusive = self.ontology.attributes, self.ontology.exclusive
        return any(
            exclusive(adjective, attribute)
            for adjective in adjectives
            for attribute in other.object.attributes
            if attribute in known
        )


def joined(phrase: NounPhrase, reading: Reading, other: NounPhrase) -> NounPhrase:
    """Return ``phrase`` with its relation to ``other``: "cup", "on" and "table" make "cup on the table"."""
    return NounPhrase(phrase.noun, phrase.number, phrase.attributes, reading.text, other, reading.that)

"""The arguments of questions: phrases for the things of an image, things that it does not show, and other images."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from vlgate.perturb.kept import kept
from vlgate.perturb.questions.chance import Link, Links, Ways, Weighted, joined, of_side, pick
from vlgate.perturb.questions.corpus import OF_PIECES, Corpus
from vlgate.perturb.questions.drafts import NounPhrase, ObjectView, View
from vlgate.perturb.questions.plausible import FEW, TRIES, Plausible
from vlgate.perturb.questions.shares import RELEASE, Shares

_CLOSE = frozenset(("color", "pattern", "pose", "activity", "sport"))
_VAGUE = frozenset(
    ("seat", "seats", "device", "devices", "container", "containers", "body part", "body parts", "trunk", "trunks")
)
"""Classes that nobody uses for a thing whose own name is known: "is there a wood seat", of a chair."""


@dataclass(frozen=True, slots=True)
class Named:
    """A thing and the phrase that names it, with its image, its position there, and the attributes in the phrase."""

    view: View
    number: int
    phrase: NounPhrase
    adjectives: tuple[str, ...]

    @property
    def thing(self) -> ObjectView:
        return self.view.things[self.number]

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """Its name and attributes, a key of ``Corpus.places``."""
        return self.phrase.noun, self.adjectives


class Arguments:
    """Draws the arguments of questions from a corpus."""

    def __init__(self, corpus: Corpus, shares: Shares = RELEASE) -> None:
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
        self.shares = shares
        self.plausible = Plausible(corpus, self.views)
        self.links = Links(self.views, shares.power, self.ontology.expected.odd if len(self.views) >= FEW else ())
        # How often a thing that has an attribute is given any, or two if it has two that go together: more often than
        # the shares say, because many things have none.
        things = [view.things[number] for view in self.views for number in view.askable]
        with_one = sum(bool(thing.adjectives) for thing in things) or 1
        with_two = sum(bool(corpus.pairs(thing)) for thing in things) or 1
        self._once = (shares.one + shares.two) * len(things) / with_one
        self._twice = shares.two * len(things) / with_two
        self._kept: dict[Any, Any] = {}
        self._choices: dict[Hashable, Weighted] = {}
        self._alone: dict[tuple[View, int, tuple[str, ...]], bool] = {}
        self.ways = Ways(self.views, shares.power)

    @kept
    def phrase(self, name: str, adjectives: tuple[str, ...] = ()) -> NounPhrase:
        """Return the phrase of a known name and attributes; the same object each time."""
        attributes = self.ontology.attributes
        ordered = tuple(sorted(adjectives, key=lambda word: attributes[word].rank))
        return NounPhrase(name, self.ontology.nouns[name].number, ordered)

    def compound(self, adjectives: tuple[str, ...], name: str) -> bool:
        """Whether an attribute and the name make another noun, as "white board" does."""
        return any(f"{word} {name}" in self.ontology.nouns for word in adjectives)

    def goes(self, adjectives: tuple[str, ...], name: str, *, closely: bool = False) -> bool:
        """Whether a class of a thing goes with the thing's attributes: a banana may be ripe, food may not."""
        # If ``closely``, only colors, patterns and actions do, which mean the same of a thing whatever it is called.
        return all(self._goes_with(word, name, closely) for word in adjectives)

    @kept
    def _goes_with(self, adjective: str, name: str, closely: bool) -> bool:
        words = self.ontology.words
        category = words.attributes[adjective].category
        asked = category in _CLOSE if closely else bool(category) and adjective not in OF_PIECES
        asked = asked and words.asked((name, *self.ontology.hypernyms(name)), category)
        return asked and not self.corpus.unsaid(name, adjective) and not self.compound((adjective,), name)

    @kept
    def classes(self, name: str) -> tuple[str, ...]:
        """The hypernyms of ``name`` that can be asked about, nearest first, without those that say too little."""
        nouns, above = self.ontology.nouns, self.ontology.hypernyms(name)
        return tuple(word for word in above if nouns[word].askable and word not in _VAGUE)

    @kept
    def lone(self, thing: ObjectView) -> tuple[tuple[str, str], ...]:
        """The attributes that can stand after "is" and are a thing's only ones of their category, with the category."""
        # With another attribute of the category the answer would be unclear: a thing may be both black and white.
        attributes = self.ontology.attributes
        known = self.corpus.known(thing.object.attributes)
        categories = [attributes[word].category for word in known]
        return tuple(
            (word, category)
            for word, category in zip(known, categories, strict=True)
            if attributes[word].after
            and category
            and categories.count(category) == 1
            and not self.corpus.unsaid(thing.name, word)
            and not self.ontology.expected.clash(word, thing.object.attributes)
        )

    @kept
    def asked_for(self, thing: ObjectView, kind: str) -> list[tuple[str, str]]:
        """The lone attributes of a thing that a choice question can ask for, with their categories."""
        # ``kind`` is "attribute" or "action"; an action is asked for only if the thing can do it.
        words, name = self.ontology.words, thing.name
        return [
            (word, category)
            for word, category in self.lone(thing)
            if words.categories[category].kind == kind
            and words.categories[category].noun
            and words.asked((name, *self.ontology.hypernyms(name)), category)
            and (self.ontology.acts if kind == "action" else self.ontology.suits)(name, word) is not False
        ]

    @kept
    def said(self, name: str, attribute: str) -> bool:
        """Whether a thing of that name might be such: of blue food, not an apple."""
        suits = self.ontology.suits(name, attribute)
        if self.ontology.attributes[attribute].category in {"color", "pattern", "shade"}:
            suits = not self.corpus.unsaid(name, attribute)
        return attribute in self.corpus.tally.attributes.get(name, ()) if suits is None else suits

    def choices(self, key: Hashable, words: Weighted, keeps: Callable[[str], bool]) -> Weighted:
        """The words that a condition holds of; the same for the same key, whatever the others are."""
        if key not in self._choices:
            self._choices[key] = words.kept(keeps)
        return self._choices[key]

    def shown(self, chance: Random) -> Named:
        """Draw a thing of an image, with one of its attributes or none."""
        view = pick(chance, self.views)
        return self.named(chance, view, pick(chance, view.askable))

    def named(self, chance: Random, view: View, number: int) -> Named:
        """Name a thing, with one or two of its attributes or none."""
        thing = view.things[number]
        adjectives = self.described(chance, thing, thing.adjectives)
        return Named(view, number, self.phrase(thing.name, adjectives), adjectives)

    def described(self, chance: Random, thing: ObjectView, usable: Sequence[str]) -> tuple[str, ...]:
        """Draw one or two of the attributes that may be used, or none, in the shares of `Shares`."""
        if not usable:
            return ()
        drawn = chance.random()
        if drawn < self._twice and len(usable) > 1:
            pairs = [both for both in self.corpus.pairs(thing) if both[0] in usable and both[1] in usable]
            if pairs:
                return pick(chance, pairs)
        return (pick(chance, usable),) if drawn < self._once else ()

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
        return bool((mine.possible | mine.own) & bits[other] or (others.possible | others.own) & bits[one])

    def unseen(self, chance: Random, view: View) -> NounPhrase | None:
        """Draw something that the image does not show, but that is often shown with what it does show."""
        name = self.plausible.unseen(chance, view)
        if not name:
            return None
        usual = self.usual(chance, name)
        return self.phrase(name, usual if all(self.there(view, word) for word in usual) else ())

    def there(self, view: View, action: str) -> bool:
        """Whether an image shows some of what an action needs: nothing swims without water."""
        needed = self.ontology.expected.needs.get(action)
        return needed is None or any(
            name in needed for thing in view.things if thing.known for name in self.ontology.certain(thing.name)
        )

    def usual(self, chance: Random, name: str) -> tuple[str, ...]:
        """Draw an attribute that such things often have, or none."""
        adjectives, share = self.corpus.adjectives.get(name), self.shares.one + self.shares.two
        return (adjectives.draw(chance),) if adjectives and chance.random() < share else ()

    def side(self, chance: Random, kind: str) -> bool | None:
        """Draw whether a relation says left or right; None if it is as in the graphs."""
        share = self.shares.sideways.get(kind)
        return None if share is None else chance.random() < share

    def related(self, chance: Random, one: Named, side: bool | None = None) -> tuple[NounPhrase, int] | None:
        """Add one of the relations that tell a thing apart to its phrase, of the ``side`` of `links.of_side`."""
        links = of_side(one.view.marks.get(one.number, ()), side)
        return self.linked(chance, one, pick(chance, links)) if links else None

    def linked(self, chance: Random, one: Named, link: Link) -> tuple[NounPhrase, int] | None:
        """Add a relation to the phrase of a thing; None if both say what it does, as in "a sitting girl sitting"."""
        reading, number = link
        words, said = reading.text.split(" "), one.adjectives
        if (self.action(words[0]) and any(map(self.action, said))) or not {*words}.isdisjoint(said):
            return None
        other = self.named(chance, one.view, number)
        if not other.adjectives and other.thing.name in self.ontology.expected.everyday:
            if not other.thing.adjectives:
                return None  # "the man wearing the pants"
            adjectives = (pick(chance, other.thing.adjectives),)
            other = Named(one.view, number, self.phrase(other.thing.name, adjectives), adjectives)
        if not {*words}.isdisjoint(other.adjectives):  # "walking behind the walking man"
            return None
        if not self.alone(one.view, number, other.phrase):
            return None
        return joined(one.phrase, reading, other.phrase), number

    def alike(self, one: str, other: str) -> bool:
        """Whether a thing called ``one`` might be called ``other``, or the other way round."""
        masks, bits = self.corpus.masks, self.corpus.bits
        return bool(masks(one).possible & bits[other] or masks(other).possible & bits[one])

    @kept
    def action(self, word: str) -> bool:
        """Whether a word says what somebody is doing: "sitting", "skiing", "parked"."""
        attribute = self.ontology.attributes.get(word)
        category = attribute and self.ontology.words.categories.get(attribute.category)
        return bool(category and category.kind == "action")

    def alone(self, view: View, number: int, phrase: NounPhrase) -> bool:
        """Whether no other thing of the image is annotated so that "the ..." would mean it as well."""
        key, certain, name = (view, number, phrase.attributes), self.ontology.certain, phrase.noun
        if key not in self._alone:
            self._alone[key] = not any(
                (thing.name in certain(name) or name in certain(thing.name))
                and not self._ruled_out(thing, phrase.attributes)
                for index, thing in enumerate(view.things)
                if index != number and thing.known
            )
        return self._alone[key]

    def only(self, one: Named) -> bool:
        """Whether the phrase with "the" can mean nothing else in the image."""
        # No other object may be called so, unless one of its attributes excludes one in the phrase. If the thing is
        # something that others have unannotated (a wheel), the image has at most one object that would have it.
        return self.single(one.view, one.number, one.phrase.noun, one.adjectives)

    def single(self, view: View, number: int, name: str, adjectives: tuple[str, ...]) -> bool:
        """Whether ``name`` with these attributes can mean no other thing of the image than the one at ``number``."""
        bit, wholes = self.corpus.bits[name], 0
        for index, other in enumerate(view.things):
            if index != number and other.masks.possible & bit and not self._ruled_out(other, adjectives):
                return False
            wholes += bool(other.masks.own & bit)
        return wholes <= 1

    def _ruled_out(self, other: ObjectView, adjectives: tuple[str, ...]) -> bool:
        known, exclusive = self.ontology.attributes, self.ontology.exclusive
        return any(
            exclusive(adjective, attribute)
            for adjective in adjectives
            if adjective not in other.object.attributes
            for attribute in other.object.attributes
            if attribute in known
        )

"""Questions whether a thing has an attribute, answered by yes or no (CARETS, Q4), with the attribute's opposite."""

from __future__ import annotations

from collections import defaultdict
from random import Random

from vlgate.perturb.questions.arguments import Arguments, Named
from vlgate.perturb.questions.chance import pick
from vlgate.perturb.questions.corpus import View
from vlgate.perturb.questions.drafts import Draft, Kind
from vlgate.perturb.questions.phrases import NounPhrase
from vlgate.perturb.questions.verification import identity

Place = tuple[View, int]


class Opposites:
    """The things of a corpus that have an attribute with an opposite, by name and attribute."""

    def __init__(self, arguments: Arguments) -> None:
        """Go through all things once."""
        self._arguments = arguments
        self._places: dict[tuple[str, str], list[Place]] = defaultdict(list)
        for view in arguments.views:
            for number in view.askable:
                for attribute in self._attributes(view, number):
                    self._places[view.things[number].name, attribute].append((view, number))
        self._all = [(name, attribute, place) for (name, attribute), places in self._places.items() for place in places]

    def draft(self, chance: Random, *, yes: bool, related: bool = False) -> Draft | None:
        """Is the cup large? It is, or it is known to be small.

        The thing and its attribute are drawn first, then a thing of the same name, in any picture, that has the
        opposite; the answer decides which of the two is asked about. So the text says nothing about the answer.

        Returns: the draft with the opposite as ``opposite``, or None where the phrase could mean another thing, or
        nothing of that name has the opposite.
        """
        if not self._all:
            return None
        name, attribute, place = pick(chance, self._all)
        opposite = self._arguments.ontology.antonym(attribute, name) or ""
        others = self._places.get((name, opposite))
        if not others:
            return None
        adjectives = self._description(chance, place, (attribute, opposite))
        first, second = self._named(place, name, adjectives), self._named(pick(chance, others), name, adjectives)
        if first is None or second is None:
            return None
        return self._asked(chance, (first, second), (attribute, opposite), (yes, related))

    def _asked(
        self, chance: Random, found: tuple[Named, Named], attributes: tuple[str, str], wanted: tuple[bool, bool]
    ) -> Draft | None:
        yes, related = wanted
        one = found[0 if yes else 1]
        x: NounPhrase = one.phrase
        objects: tuple[str, ...] = (identity(one),)
        if related:  # both must be related to something, or a thing that seldom is would give its answer away
            phrases = [self._arguments.related(chance, named) for named in found]
            if phrases[0] is None or phrases[1] is None:
                return None
            x, number = phrases[0 if yes else 1] or (x, 0)
            objects = (*objects, one.view.things[number].object.id)
        kind: Kind = "attribute-related" if related else "attribute"
        answer = "yes" if yes else "no"
        return Draft(
            kind,
            one.view,
            answer,
            x,
            objects,
            attribute=attributes[0],
            opposite=attributes[1],
            counterpart=found[1 if yes else 0].view,
        )

    def _attributes(self, view: View, number: int) -> list[str]:
        """Those that have an opposite."""
        thing, antonym = view.things[number], self._arguments.ontology.antonym
        return [word for word, _ in self._arguments.lone(thing) if antonym(word, thing.name) is not None]

    def _description(self, chance: Random, place: Place, asked: tuple[str, str]) -> tuple[str, ...]:
        """Draw an attribute of another category to describe the thing with, or none."""
        ontology = self._arguments.ontology
        categories = {ontology.attributes[name].category for name in asked}
        view, number = place
        usable = [
            word for word in view.things[number].adjectives if ontology.attributes[word].category not in categories
        ]
        return (pick(chance, usable),) if usable and chance.random() < 0.5 else ()

    def _named(self, place: Place, name: str, adjectives: tuple[str, ...]) -> Named | None:
        view, number = place
        has = set(view.things[number].adjectives)
        if not has.issuperset(adjectives) or not self._arguments.single(view, number, name, adjectives):
            return None
        return Named(view, number, self._arguments.phrase(name, adjectives), adjectives)

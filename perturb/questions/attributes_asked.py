"""Questions whether a thing has an attribute, answered by yes or no, with the attribute's opposite (CARETS, Q4)."""

from __future__ import annotations

from collections import defaultdict
from random import Random

from vlgate.perturb.questions.arguments import DESCRIBED, Arguments, Named
from vlgate.perturb.questions.chance import pick
from vlgate.perturb.questions.corpus import View
from vlgate.perturb.questions.drafts import Draft, Kind

Place = tuple[View, int]


class Opposites:
    """The things of a corpus that have an attribute with an opposite and a name that can mean nothing else.

    If ``related``, only things with a relation to another thing are taken, and the phrase contains the relation.
    """

    def __init__(self, arguments: Arguments, *, related: bool = False) -> None:
        """Find the things."""
        self._arguments = arguments
        self._related = related
        self._places: dict[tuple[str, str, str], list[Place]] = defaultdict(list)
        for view in arguments.views:
            for number in view.links if related else view.askable:
                self._add(view, number)
        antonym = arguments.ontology.antonym
        self._all = [
            (name, attribute, opposite, place)
            for (name, attribute, adjective), places in self._places.items()
            if not adjective and (name, opposite := antonym(attribute, name) or "", "") in self._places
            for place in places
        ]

    def draft(self, chance: Random, *, yes: bool) -> Draft | None:
        """Draft a question such as "Is the cup large?"; if the answer is no, the cup is annotated as small.

        A thing and its attribute are drawn first, then a thing of the same name, in any image, that has the opposite.
        The answer decides which of the two is asked about, so the text says nothing about the answer.

        Returns: the draft with ``opposite``, or None if no thing has an attribute whose opposite another thing of that
        name has.
        """
        if not self._all:
            return None
        name, attribute, opposite, place = pick(chance, self._all)
        adjective = self._description(chance, place, name, (attribute, opposite))
        found = place, pick(chance, self._places[name, opposite, adjective])
        (view, number), (counterpart, _) = found if yes else found[::-1]
        adjectives = (adjective,) if adjective else ()
        phrase = self._arguments.phrase(name, adjectives)
        one = Named(view, number, phrase, adjectives)
        x, objects = phrase, tuple[str, ...]((one.thing.object.id,))
        if self._related:
            relation = self._arguments.related(chance, one)
            if relation is None:
                return None
            x, objects = relation[0], (*objects, view.things[relation[1]].object.id)
        kind: Kind = "attribute-related" if self._related else "attribute"
        return Draft(
            kind,
            view,
            "yes" if yes else "no",
            x,
            objects,
            attribute=attribute,
            opposite=opposite,
            counterpart=counterpart,
        )

    def _add(self, view: View, number: int) -> None:
        arguments, thing = self._arguments, view.things[number]
        antonym, attributes = arguments.ontology.antonym, arguments.ontology.attributes
        lone = [(word, category) for word, category in arguments.lone(thing) if antonym(word, thing.name) is not None]
        if not lone or not arguments.single(view, number, thing.name, ()):
            return
        for word, category in lone:
            others = (name for name in thing.adjectives if attributes[name].category != category)
            for adjective in ("", *others):
                self._places[thing.name, word, adjective].append((view, number))

    def _description(self, chance: Random, place: Place, name: str, asked: tuple[str, str]) -> str:
        """Draw an attribute of another category that a thing with the opposite has too, or none ("")."""
        attribute, opposite = asked
        view, number = place
        category = self._arguments.ontology.attributes[attribute].category
        usable = [
            word
            for word in view.things[number].adjectives
            if self._arguments.ontology.attributes[word].category != category and (name, opposite, word) in self._places
        ]
        return pick(chance, usable) if usable and chance.random() < DESCRIBED else ""

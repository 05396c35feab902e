"""Questions whether a thing has an attribute, answered by yes or no, with the attribute's opposite (CARETS, Q4)."""

from __future__ import annotations

from collections import defaultdict
from random import Random

from vlgate.perturb.questions.arguments import Arguments, Named
from vlgate.perturb.questions.chance import Weighted, pick
from vlgate.perturb.questions.drafts import Draft
from vlgate.perturb.questions.phrases import NounPhrase
from vlgate.perturb.questions.shares import BLACK_WHITE
from vlgate.perturb.questions.telling import suggests, tells
from vlgate.perturb.questions.views import View

Place = tuple[View, int]


class Opposites:
    """The things of a corpus that have an attribute with an opposite and a name that can mean nothing else.

    If ``related``, only things with a relation to another thing are taken, and the phrase contains the relation.
    """

    def __init__(self, arguments: Arguments, *, related: bool = False) -> None:
        """Find the things."""
        self._arguments = arguments
        self._related = related
        self._usable: dict[tuple[Place, str, tuple[str, str]], list[str]] = {}
        self._places: dict[tuple[str, str, str], list[Place]] = defaultdict(list)
        for view in arguments.views:
            for number in view.marks if related else view.askable:
                self._add(view, number)
        antonym = arguments.ontology.antonym
        self._pairs: dict[str, list[tuple[str, str, str, Place]]] = defaultdict(list)
        self._alone: dict[tuple[str, str], list[tuple[str, Place]]] = defaultdict(list)
        for (name, attribute, adjective), places in self._places.items():
            opposite = antonym(attribute, name) or ""
            if adjective:
                continue
            if (name, opposite, "") in self._places:
                self._pairs[_words(attribute, opposite)] += [(name, attribute, opposite, place) for place in places]
            else:
                self._alone[attribute, opposite].append((name, places[0]))
        for (attribute, opposite), found in self._alone.items():
            if (opposite, attribute) in self._alone:
                self._pairs[_words(attribute, opposite)] += [(name, attribute, opposite, at) for name, at in found]
        self._drawn = self._weighted()

    def _weighted(self) -> Weighted:
        """The pairs of opposites, by their share."""
        shares = self._arguments.shares
        weights = {words: len(places) ** shares.power for words, places in self._pairs.items()}
        colors = _words(*BLACK_WHITE)
        if shares.black_white is not None and colors in weights and len(weights) > 1:
            rest = sum(weights.values()) - weights[colors]
            weights[colors] = rest * shares.black_white / (1 - shares.black_white)
        return Weighted(weights)

    def draft(self, chance: Random, *, yes: bool, side: bool | None = None) -> Draft | None:
        """Draft a question such as "Is the cup large?"; if the answer is no, the cup is annotated as small.

        A thing and its attribute are drawn first, then a thing of the same name, in any image, that has the opposite.
        The answer decides which of the two is asked about, so the text says nothing about the answer. If no thing of
        that name has the opposite, one of another name is drawn that also has no opposite.

        Returns: the draft with ``opposite``, or None if no thing has an attribute whose opposite another thing has.
        """
        if not self._drawn:
            return None
        name, attribute, opposite, place = pick(chance, self._pairs[self._drawn.draw(chance)])
        places, names, adjective = self._places.get((name, opposite, "")), (name, name), ""
        if places:
            adjective = self._description(chance, place, name, (attribute, opposite))
            found = place, pick(chance, self._places[name, opposite, adjective])
        else:
            other, at = pick(chance, self._alone[opposite, attribute])
            names, found = (name, other), (place, at)
        phrases = [self._arguments.phrase(one, (adjective,) if adjective else ()) for one in names]
        ends = [Named(*at, one, one.attributes) for at, one in zip(found, phrases, strict=True)]
        one, counterpart = (ends[0], ends[1]) if yes else (ends[1], ends[0])
        said = self._said(chance, (one, counterpart), (attribute, opposite), side)
        if said is None:
            return None
        # A thing without an opposite of its name is asked for one of the two words only: the answers for both words
        # are never equal, so that the one would tell the other.
        asked = attribute if places else _words(attribute, opposite)
        # The limit is the same for both answers together: with one for each, the answers so far would tell the next.
        often = max(1, min(len(self._places[name, attribute, ""]), len(places or ())))
        return Draft(
            "attribute-related" if self._related else "attribute",
            one.view,
            "yes" if yes else "no",
            *said,
            attribute=attribute,
            opposite=opposite,
            counterpart=counterpart.view,
            rare=tuple((f"{each} {asked}", often) for each in dict.fromkeys(names)),
        )

    def _said(
        self, chance: Random, ends: tuple[Named, Named], words: tuple[str, str], side: bool | None
    ) -> tuple[NounPhrase, tuple[str, ...]] | None:
        """The phrase and the ids of its objects; None if one of the two lacks the relation that is wanted."""
        one = ends[0]
        if not self._related:
            return one.phrase, (one.thing.object.id,)
        # Both images must have a relation, or one of the two answers would be found more often.
        relation, beside = (self._arguments.related(chance, each, side) for each in ends)
        if relation is None or beside is None or tells(relation[0], words):
            return None
        return relation[0], (one.thing.object.id, one.view.things[relation[1]].object.id)

    def _add(self, view: View, number: int) -> None:
        arguments, thing = self._arguments, view.things[number]
        antonym, attributes = arguments.ontology.antonym, arguments.ontology.attributes
        names = thing.name, *arguments.ontology.hypernyms(thing.name)
        lone = [
            (word, category)
            for word, category in arguments.lone(thing)
            if (opposite := antonym(word, thing.name)) is not None
            and not suggests(thing.object.attributes, category)
            and arguments.ontology.words.asked(names, category)
            and arguments.ontology.expected.says(names, opposite, category)
        ]
        if not lone or not arguments.single(view, number, thing.name, ()):
            return
        for word, category in lone:
            others = (name for name in thing.adjectives if attributes[name].category != category)
            for adjective in ("", *others):
                self._places[thing.name, word, adjective].append((view, number))

    def _description(self, chance: Random, place: Place, name: str, asked: tuple[str, str]) -> str:
        """Draw an attribute of another category that a thing with the opposite has too, or none ("")."""
        (attribute, opposite), attributes = asked, self._arguments.ontology.attributes
        key = place, name, asked
        if key not in self._usable:
            category = attributes[attribute].category
            adjectives = place[0].things[place[1]].adjectives
            self._usable[key] = [
                word
                for word in adjectives
                if attributes[word].category != category and (name, opposite, word) in self._places
            ]
        usable = self._usable[key]
        return pick(chance, usable) if usable and chance.random() < self._arguments.shares.one else ""


def _words(attribute: str, opposite: str) -> str:
    return " ".join(sorted((attribute, opposite)))

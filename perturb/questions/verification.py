"""Questions about what an image shows, answered by yes or no (CARETS, Q1 to Q4)."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from vlgate.perturb.graphs.absence import is_measured
from vlgate.perturb.questions.answer_leaks import suggests, tells
from vlgate.perturb.questions.arguments import Arguments, Named
from vlgate.perturb.questions.chance import Weighted, pick
from vlgate.perturb.questions.drafts import Draft, NounPhrase, View
from vlgate.perturb.questions.shares import BLACK_WHITE
from vlgate.perturb.scene_graph import Box, SceneObject

# Each function draws what to ask before it looks at the wanted answer, and finds an image for which the answer is yes
# and one for which it is no. So the text says nothing about the answer, and what is absent from an image is plausible
# there.

_PERSONS = frozenset(("person", "people"))
_LARGER = 1.5  # the most by which the area of one covered thing is larger than that of the other
_WITHIN = frozenset(("in", "inside", "within", "aboard", "driving", "riding"))


def about_object(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question such as "Is there a red cup?"; if the answer is no, the image shows no cup at all."""
    one = arguments.shown(chance)
    without = arguments.plausible.without(chance, one.phrase.noun, like=one.view)
    if without is None or not _acts_there(arguments, one, without):
        return None
    if yes:
        return Draft("object", one.view, "yes", one.phrase, (identity(one),), counterpart=without)
    return Draft("object", without, "no", one.phrase, (None,), counterpart=one.view)


def covered(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft two questions about two things of an image, which is shown twice, with one and with the other covered."""
    # Everything that might be such a thing is covered. The two things take up about as much of the image, so that
    # neither the covered area nor its size or place tells an answer without the question and what is left to be seen.
    one = arguments.shown(chance)
    hidden = _hidden(arguments, one)
    if hidden is None:
        return None
    numbers = [number for number in one.view.askable if number != one.number]
    chance.shuffle(numbers)
    for number in numbers:
        other = arguments.named(chance, one.view, number)
        others = None if arguments.akin(one.thing.name, other.thing.name) else _hidden(arguments, other)
        if others is not None and _exchangeable(hidden, others):
            answers = ("yes", "no") if yes else ("no", "yes")
            first, second = (
                Draft("object", one.view, answer, said.phrase, tuple(item.id for item in objects))
                for answer, said, objects in zip(answers, (one, other), (hidden, others), strict=True)
            )
            return replace(first, mate=second)
    return None


def _hidden(arguments: Arguments, named: Named) -> list[SceneObject] | None:
    """The objects that might be such a thing; None if one may have it as a part, or they are more than half."""
    graph, bit = named.view.graph, arguments.corpus.bits[named.phrase.noun]
    if any(thing.masks.beside & bit for thing in named.view.things):
        return None
    alike = [thing.object for thing in named.view.things if thing.masks.possible & bit]
    too_much = graph.width and graph.height and 2 * _area(alike) > graph.width * graph.height
    return None if too_much else alike


def _exchangeable(some: Sequence[SceneObject], others: Sequence[SceneObject]) -> bool:
    apart = not any(_overlap(one.box, other.box) for one in some for other in others)
    small, large = sorted((_area(some), _area(others)))
    return apart and len(some) == len(others) and large <= _LARGER * small


def _area(objects: Sequence[SceneObject]) -> float:
    return sum(item.box.w * item.box.h for item in objects)


def _overlap(box: Box, other: Box) -> bool:
    across = min(box.x + box.w, other.x + other.w) > max(box.x, other.x)
    return across and min(box.y + box.h, other.y + other.h) > max(box.y, other.y)


def about_related_object(
    arguments: Arguments, chance: Random, *, yes: bool, side: bool | None, drawn: Counter[str]
) -> Draft | None:
    """Draft a question such as "Is there a red cup on the table?"."""
    # If the answer is no, the image shows a table, but no cup at all. ``side`` and ``drawn`` are as for
    # `links.Links.draw`.
    place = arguments.links.draw(chance, side, drawn)
    if place is None:
        return None
    view, number, link = place
    one = arguments.named(chance, view, number)
    if arguments.alike(one.phrase.noun, view.things[link[1]].name):
        return None
    related = arguments.linked(chance, one, link)
    if related is None or (other := related[0].other) is None or _unseen_there(arguments, related[0], other):
        return None
    places = arguments.corpus.places.get((other.noun, other.attributes), ())
    found = arguments.plausible.with_one(chance, places, one.phrase.noun, view)
    if found is None or not arguments.alone(*found, other):
        return None
    if yes:
        objects = (identity(one), one.view.things[related[1]].object.id)
        return Draft("object-related", one.view, "yes", related[0], objects, counterpart=found[0])
    without, present = found
    there = (None, without.things[present].object.id)
    return Draft("object-related", without, "no", related[0], there, counterpart=one.view)


def conjunction(arguments: Arguments, chance: Random, *, yes: bool, alike: bool = False) -> Draft | None:
    """Draft a question such as "Is there both a cup and a ball?"."""
    # If the answer is no, the image shows one of the two; each is missing equally often. If ``alike``, both take an
    # article or none does, so that they may stand in either order; otherwise one with an article stands first.
    first = arguments.shown(chance)
    second = arguments.another(chance, first)
    if second is None or (alike and _bare(first.phrase) != _bare(second.phrase)):
        return None
    if not all(arguments.plausible.asked(one.phrase.noun) for one in (first, second)):
        return None
    if _bare(first.phrase) > _bare(second.phrase):
        first, second = second, first
    first_missing = chance.random() < 0.5
    present, absent = (second, first) if first_missing else (first, second)
    places = arguments.corpus.places.get(present.key, ())
    found = arguments.plausible.with_one(chance, places, absent.phrase.noun, first.view)
    if found is None:
        return None
    if yes:
        objects = (identity(first), identity(second))
        return Draft("conjunction", first.view, "yes", first.phrase, objects, second.phrase, counterpart=found[0])
    there = found[0].things[found[1]].object.id
    objects_found = (None, there) if first_missing else (there, None)
    return Draft("conjunction", found[0], "no", first.phrase, objects_found, second.phrase, counterpart=first.view)


def disjunction(arguments: Arguments, chance: Random, *, yes: bool, alike: bool = False) -> Draft | None:
    """Draft a question such as "Is there a cup or a ball?"; if the answer is no, the image shows neither."""
    # If it is yes, the image shows one of them only, so that "either" may be read both ways. ``alike`` is as for
    # `conjunction`.
    one = arguments.shown(chance)
    phrase = arguments.unseen(chance, one.view)
    if phrase is None or arguments.akin(phrase.noun, one.phrase.noun):
        return None
    if alike and _bare(phrase) != _bare(one.phrase):
        return None
    without = arguments.plausible.without(chance, one.phrase.noun, phrase.noun, like=one.view)
    if without is None or not _acts_there(arguments, one, without):
        return None
    operands: list[tuple[NounPhrase, str | None]] = [(one.phrase, identity(one)), (phrase, None)]
    if chance.random() < 0.5:
        operands.reverse()
    operands.sort(key=lambda operand: _bare(operand[0]))
    (x, x_id), (y, y_id) = operands
    if yes:
        return Draft("disjunction", one.view, "yes", x, (x_id, y_id), y, counterpart=without)
    return Draft("disjunction", without, "no", x, (None, None), y, counterpart=one.view)


def renamed(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question about a thing by its name or class, and the same by a word above or below it (section 4.2 b)."""
    # The paper goes up if the answer is yes, which follows then, and down if it is no. So the words of the perturbed
    # questions tell their answers. Here the answer decides neither word nor direction: what an image shows may be
    # called by both words, and what it does not show is not there under the more general one.

    def ranks(view: View, number: int) -> list[tuple[str, str]]:
        lows = view.things[number].name, *arguments.classes(view.things[number].name)
        return [(low, high) for low in lows for high in arguments.classes(low)]

    drawn = arguments.ways.draw(chance, "ranked", ranks)
    if drawn is None:
        return None
    (view, number, (low, high)), up = drawn, chance.random() < 0.5
    without = arguments.plausible.without(chance, low, like=view, hidden=arguments.corpus.bits[high])
    if without is None:
        return None
    one = arguments.named(chance, view, number)
    said = all(arguments.goes(one.adjectives, word, closely=True) for word in (low, high))
    adjectives = one.adjectives if said else ()
    asked, instead = (arguments.phrase(word, adjectives) for word in ((low, high) if up else (high, low)))
    if yes:
        return Draft("object", view, "yes", asked, (identity(one),), instead=instead, counterpart=without)
    return Draft("object", without, "no", asked, (None,), instead=instead, counterpart=view)


def _acts_there(arguments: Arguments, named: Named, view: View) -> bool:
    """Whether what a phrase says that a thing does may be done in another image: nobody runs in a bedroom."""
    return all(arguments.there(view, word) for word in named.adjectives)


def _unseen_there(arguments: Arguments, phrase: NounPhrase, other: NounPhrase) -> bool:
    """Whether nobody can say that such a thing is not there: a man inside the train."""
    ontology, words = arguments.ontology, phrase.relation.split(" ")
    if ontology.expected.enclosing.isdisjoint(ontology.named(other.noun)) or words[:2] == ["in", "front"]:
        return False
    person = not _PERSONS.isdisjoint(ontology.named(phrase.noun))
    return not _WITHIN.isdisjoint(words) or (person and words[-1] == "on")


def _bare(phrase: NounPhrase) -> bool:
    """Whether its indefinite form has no article, as "cups" and "grass"."""
    return phrase.number != "singular"


def identity(one: Named) -> str:
    return one.thing.object.id


# Questions whether a thing has an attribute, answered by yes or no, with the attribute's opposite (CARETS, Q4).

Place = tuple[View, int]
BESIDE = "beside its opposite"
"""In place of an adjective: the image shows another thing of the name that has the opposite."""


class Opposites:
    """The things of a corpus that have an attribute with an opposite, and a phrase that can mean nothing else.

    If ``related``, only things with a relation to another thing are taken, and the phrase contains the relation.
    """

    def __init__(self, arguments: Arguments, *, related: bool = False) -> None:
        self._arguments = arguments
        self._related = related
        self._usable: dict[tuple[Place, str, tuple[str, str]], list[str]] = {}
        self._places: dict[tuple[str, str, str], list[Place]] = defaultdict(list)
        # What is large only beside its like: the things of an image by name and word, with what tells them apart.
        self._beside: dict[tuple[View, str, str], dict[int, list[str]]] = defaultdict(dict)
        for view in arguments.views:
            for number in view.marks if related else view.askable:
                self._add(view, number)
        self._pairs: dict[str, list[tuple[str, str, str, Place]]] = defaultdict(list)
        self._alone: dict[tuple[str, str], list[tuple[str, Place]]] = defaultdict(list)
        self._pair()
        weights = {words: len(places) ** arguments.shares.power for words, places in self._pairs.items()}
        colors, black_white = _words(*BLACK_WHITE), arguments.shares.black_white
        if black_white is not None and colors in weights and len(weights) > 1:
            rest = sum(weights.values()) - weights[colors]
            weights[colors] = rest * black_white / (1 - black_white)
        self._drawn = Weighted(weights)  # the pairs of opposites, by their share

    def _pair(self) -> None:
        antonym = self._arguments.ontology.antonym
        for (view, name, attribute), things in self._beside.items():
            opposite = antonym(attribute, name) or ""
            if (view, name, opposite) in self._beside:
                places = [(view, number) for number in things]
                self._places[name, attribute, BESIDE] += places
                self._pairs[_words(attribute, opposite)] += [(name, attribute, opposite, place) for place in places]
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

    def draft(self, chance: Random, *, yes: bool, side: bool | None = None) -> Draft | None:
        """Draft a question such as "Is the cup open?"; if the answer is no, the cup is annotated as closed."""
        # A thing and its attribute are drawn first, then a thing of the same name, in any image, that has the opposite.
        # The answer decides which of the two is asked about, so the text says nothing about the answer. If no thing of
        # that name has the opposite, one of another name is drawn that also has no opposite. What is large only beside
        # its like is asked for beside the small one.
        if not self._drawn:
            return None
        name, attribute, opposite, place = pick(chance, self._pairs[self._drawn.draw(chance)])
        kind = BESIDE if (place[0], name, opposite) in self._beside else ""
        places = self._places.get((name, opposite, kind), ())
        ends = self._ends(chance, name, (attribute, opposite), place)
        one, counterpart = ends if yes else ends[::-1]
        said = self._said(chance, (one, counterpart), (attribute, opposite), side)
        if said is None:
            return None
        # A thing without an opposite of its name is asked for one of the two words only: the answers for both words
        # are never equal, so that the one would tell the other.
        asked = attribute if places else _words(attribute, opposite)
        # The limit is the same for both answers together: with one for each, the answers so far would tell the next.
        often = max(1, min(len(self._places[name, attribute, kind]), len(places)))
        return Draft(
            "attribute-related" if self._related else "attribute",
            one.view,
            "yes" if yes else "no",
            *said,
            attribute=attribute,
            opposite=opposite,
            counterpart=counterpart.view,
            rare=tuple((f"{each.thing.name} {asked}", often) for each in ends[: 1 if places else 2]),
        )

    def _ends(self, chance: Random, name: str, asked: tuple[str, str], place: Place) -> tuple[Named, Named]:
        """The thing that has the attribute and one that has the opposite, each with its phrase."""
        (attribute, opposite), view = asked, place[0]
        if rivals := self._beside.get((view, name, opposite)):
            rival, told = pick(chance, list(rivals)), self._beside[view, name, attribute][place[1]]
            return self._named(place, name, pick(chance, told)), self._named(
                (view, rival), name, pick(chance, rivals[rival])
            )
        if (name, opposite, "") in self._places:
            adjective = self._description(chance, place, name, asked)
            at = pick(chance, self._places[name, opposite, adjective])
            return self._named(place, name, adjective), self._named(at, name, adjective)
        other, at = pick(chance, self._alone[opposite, attribute])
        return self._named(place, name), self._named(at, other)

    def _named(self, place: Place, name: str, adjective: str = "") -> Named:
        phrase = self._arguments.phrase(name, (adjective,) if adjective else ())
        return Named(*place, phrase, phrase.attributes)

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
        sole = arguments.single(view, number, thing.name, ())
        for word, category in lone:
            others = [name for name in thing.adjectives if attributes[name].category != category]
            if is_measured(thing.name, category, arguments.ontology):
                for adjective in ("", *others) if sole else ():
                    self._places[thing.name, word, adjective].append((view, number))
            elif telling := [one for one in others if self._tells_apart(view, number, one)]:
                self._beside[view, thing.name, word][number] = telling

    def _tells_apart(self, view: View, number: int, adjective: str) -> bool:
        ontology, name = self._arguments.ontology, view.things[number].name
        measured = is_measured(name, ontology.attributes[adjective].category, ontology)
        return measured and self._arguments.single(view, number, name, (adjective,))

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

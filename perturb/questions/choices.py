"""Questions that offer two or three choices: of objects, attributes and actions (CARETS, Q5 to Q7)."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from types import MappingProxyType
from typing import TypeVar

from vlgate.perturb.ontology import Ontology
from vlgate.perturb.questions.answer_leaks import suggests, tells
from vlgate.perturb.questions.arguments import Arguments, Named
from vlgate.perturb.questions.chance import Link, Weighted, sideways
from vlgate.perturb.questions.drafts import Draft, Kind, NounPhrase, View
from vlgate.perturb.questions.plausible import TRIES
from vlgate.perturb.questions.verification import identity

T = TypeVar("T")
_HINTS = MappingProxyType(
    {"color": frozenset(("material", "shade", "pattern")), "material": frozenset(("color", "texture", "hardness"))}
)
"""Categories that suggest a value of another: a chrome lamp is not asked for its color."""
# What says as much of one kind of thing as of another: a large animal is a giraffe, no duck.
_NEUTRAL = frozenset(("color", "pattern", "material", "pose", "activity", "sport", "mood"))
_SEEN_ONLY = 8  # settings or fewer of a landmark, which tell what somebody does beside it
_AT_HOME = 3  # settings or fewer of a landmark and of the right choice, which the landmark then suggests
_STILL = frozenset(("wearing", "holding", "carrying"))
"""What somebody does whatever else he does: who points at something is not asked whether he is jumping."""
_PERSONS = frozenset(("person", "people"))
NARROW = 1.5  # times the values that the right choice may have, which a false one may have at most
THREE = 0.6  # of the candidates, so that enough with three choices are found


def of_objects(
    arguments: Arguments, chance: Random, *, related: bool, side: bool | None, drawn: Counter[str]
) -> Draft | None:
    """Draft a question such as "Is the black animal a cow or a horse?"."""
    # The false choices have the same hypernym, and are not in the image. ``side`` and ``drawn`` are as for
    # `links.Links.draw`.

    def ways(view: View, number: int) -> list[tuple[str, tuple[str, ...]]]:
        return _classes(arguments, view, number, related=related)

    found = _drawn(arguments, chance, ("classes", ways), side, drawn if related else None)
    if found is None:
        return None
    view, number, link, (name, adjectives) = found
    thing = view.things[number]
    bits, akin, suits = arguments.corpus.bits, arguments.akin, arguments.plausible.suits
    contrast, tiny = arguments.ontology.expected.contrast, arguments.ontology.expected.tiny
    persons = not _PERSONS.isdisjoint(arguments.ontology.certain(thing.name))

    # A relation that says which thing is meant leaves others of its kind unannotated.
    hidden = view.named if link is not None and not sideways(link[0].text) else view.might

    def beside(word: str, other: str) -> bool:
        return (word in tiny) == (other in tiny) and not akin(word, other) and (not persons or contrast(word, other))

    def alike(word: str, attribute: str) -> bool:
        return arguments.ontology.narrows(thing.name, attribute) >= arguments.ontology.narrows(word, attribute) / NARROW

    def fits(word: str, so_far: list[str]) -> bool:
        return (
            not hidden & bits[word]
            and all(arguments.said(word, adjective) and alike(word, adjective) for adjective in adjectives)
            and suits(word, view)
            and all(beside(word, other) for other in so_far)
        )

    known = arguments.corpus.below(name, thing.number)
    words = arguments.choices((thing.name, name), known, lambda word: beside(word, thing.name))
    false = _false(chance, words, fits)
    named = Named(view, number, arguments.phrase(name, adjectives), adjectives)
    kind: Kind = "object-choice-related" if related else "object-choice-described"
    return _draft(arguments, chance, named, (kind, name, (thing.name, *false)), link)


def of_attributes(
    arguments: Arguments, chance: Random, *, related: bool, action: bool, side: bool | None, drawn: Counter[str]
) -> Draft | None:
    """Draft a question such as "What color is the cup, red or blue?", "What is the man doing, walking or sitting?"."""
    # The false choices are of the same category, and no thing can have two of the choices.
    asked = "action" if action else "attribute"

    def ways(view: View, number: int) -> list[tuple[str, str]]:
        thing = view.things[number]
        found = arguments.asked_for(thing, asked)
        motley = not arguments.ontology.expected.motley.isdisjoint(arguments.ontology.named(thing.name))
        return [
            one for one in found if not suggests(thing.object.attributes, one[1]) and not (motley and one[1] == "color")
        ]

    found = _drawn(arguments, chance, (asked, ways), side, drawn if related else None)
    if found is None:
        return None
    view, number, link, (attribute, category) = found
    one = _described(arguments, chance, (view, number), category)
    if not arguments.only(one):
        return None
    ontology, name = arguments.ontology, one.thing.name
    seen = arguments.corpus.tally.attributes.get(name, ())

    def believed(word: str) -> bool:
        suits = ontology.acts(name, word) if action else ontology.suits(name, word)
        if suits is None:  # no table says; anything may have any color, but of materials only those that are seen
            suits = category != "material" or word in seen
        return suits and bool(ontology.attributes[word].after) and _differ(ontology, word, attribute)

    def fits(word: str, so_far: list[str]) -> bool:
        return arguments.there(view, word) and all(_differ(ontology, word, other) for other in so_far)

    words = arguments.corpus.categories[category]
    words = arguments.choices((name, attribute), words, believed)
    false = _false(chance, words, fits)
    kind: Kind = (
        ("action-choice-related" if related else "action-choice")
        if action
        else ("attribute-choice-related" if related else "attribute-choice")
    )
    return _draft(arguments, chance, one, (kind, category, (attribute, *false)), link)


def _differ(ontology: Ontology, one: str, other: str) -> bool:
    return ontology.exclusive(one, other) and not ontology.expected.near(one, other)


def _drawn(
    arguments: Arguments,
    chance: Random,
    asked: tuple[str, Callable[[View, int], Sequence[T]]],
    side: bool | None,
    drawn: Counter[str] | None,
) -> tuple[View, int, Link | None, T] | None:
    """Draw a thing and a way to ask about it, and one of its relations unless ``drawn`` is None."""
    what, ways = asked
    if drawn is not None:
        return arguments.ways.along(chance, what, side, ways, drawn)
    found = arguments.ways.draw(chance, what, ways)
    return None if found is None else (found[0], found[1], None, found[2])


def _draft(
    arguments: Arguments, chance: Random, named: Named, asked: tuple[Kind, str, tuple[str, ...]], link: Link | None
) -> Draft | None:
    kind, category, choices = asked
    if len(choices) < 2:
        return None
    x, objects = named.phrase, tuple[str, ...]((identity(named),))
    if link is not None:
        if category in arguments.ontology.expected.gathered and sideways(link[0].text):
            return None
        relation = arguments.linked(chance, named, link)
        if relation is None or _tells(arguments, relation[0], kind, choices):
            return None
        x, objects = relation[0], (*objects, named.view.things[relation[1]].object.id)
    if tells(x, choices):
        return None
    return Draft(kind, named.view, choices[0], x, objects, category=category, choices=choices)


def _tells(arguments: Arguments, phrase: NounPhrase, kind: Kind, choices: tuple[str, ...]) -> bool:
    # "The woman sitting on the bench" names an action, "the man near the wave" a sport, of a kite and a teddy bear only
    # the bear wears a jacket, and what is parked at the airport is rather an airplane than a jeep.
    ontology, first = arguments.ontology, phrase.relation.partition(" ")[0]
    other = phrase.other.noun if phrase.other else ""
    if kind.startswith("action"):
        sport = any(ontology.attributes[word].category == "sport" for word in choices)
        doing = first.endswith("ing") and first not in _STILL
        return doing or arguments.action(first) or (sport and 0 < len(ontology.settings(other)) <= _SEEN_ONLY)
    if not kind.startswith("object"):
        return False
    able = [ontology.expected.does(ontology.named(word), phrase.relation) for word in choices]
    acting = {ontology.acts(word, first) for word in choices} if first in ontology.words.actors else {True}
    there, apart = ontology.settings(other), [ontology.settings(word) for word in choices]
    if 0 < len(there) <= _AT_HOME and 0 < len(apart[0]) <= _AT_HOME < max(map(len, apart)):
        return True
    at_home = [not there or not each or bool(there & each) for each in apart]
    return not all(able) or len(acting) > 1 or (at_home[0] and not all(at_home))


def _classes(arguments: Arguments, view: View, number: int, *, related: bool) -> list[tuple[str, tuple[str, ...]]]:
    thing = view.things[number]
    nouns = arguments.ontology.nouns
    neutral = (word for word in thing.adjectives if arguments.ontology.attributes[word].category in _NEUTRAL)
    told: list[tuple[str, ...]] = [()] if related else [(word,) for word in neutral]
    return [
        (name, adjectives)
        for name in arguments.classes(thing.name)
        for adjectives in told
        if (nouns[name].number == "plural") == (thing.number == "plural")  # not "is the furniture chairs or beds"
        and arguments.goes(adjectives, name)
        and arguments.single(view, number, name, adjectives)
    ]


def _described(arguments: Arguments, chance: Random, place: tuple[View, int], category: str) -> Named:
    view, number = place
    thing, attributes = view.things[number], arguments.ontology.attributes
    action = arguments.ontology.words.categories[category].kind == "action"
    usable = [
        word
        for word in thing.adjectives
        if attributes[word].category not in {category, *_HINTS.get(category, ())}
        and not (action and arguments.action(word))
        and not suggests((word,), category)
    ]
    adjectives = arguments.described(chance, thing, usable)
    return Named(view, number, arguments.phrase(thing.name, adjectives), adjectives)


def _false(chance: Random, words: Weighted | None, fits: Callable[[str, list[str]], bool]) -> tuple[str, ...]:
    """Draw one or two false choices, each of which fits those before; empty if too few were found."""
    wanted = 2 if chance.random() < THREE else 1
    found: list[str] = []
    if not words:
        return ()
    for _ in range(TRIES):
        word = words.draw(chance)
        if word not in found and fits(word, found):
            found.append(word)
            if len(found) == wanted:
                return tuple(found)
    return ()

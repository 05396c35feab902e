"""Questions that offer two or three choices: of objects, attributes and actions (CARETS, Q5 to Q7)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from vlgate.perturb.questions.arguments import Arguments, Named
from vlgate.perturb.questions.chance import Weighted
from vlgate.perturb.questions.corpus import View
from vlgate.perturb.questions.drafts import Draft, Kind
from vlgate.perturb.questions.links import of_side
from vlgate.perturb.questions.plausible import TRIES
from vlgate.perturb.questions.telling import tells
from vlgate.perturb.questions.verification import identity

_NATURAL = frozenset(
    ("animal", "animals", "hair", "mane", "fur", "tail", "feather", "feathers", "plant", "plants", "grass")
)
_GARISH = frozenset(
    (
        "pink",
        "purple",
        "blue",
        "light blue",
        "dark blue",
        "navy",
        "navy blue",
        "teal",
        "turquoise",
        "silver",
        "maroon",
        "khaki",
        "lavender",
        "violet",
        "magenta",
        "aqua",
        "olive",
        "olive green",
        "lime green",
        "neon",
        "bronze",
    )
)
"""False choices that do not suit what grows, unless the graphs have them there."""
THREE = 0.6  # of the candidates, so that enough with three choices are found


def of_objects(arguments: Arguments, chance: Random, *, related: bool, side: bool | None = None) -> Draft | None:
    """Draft a question such as "Is the black animal a cow or a horse?".

    The false choices have the same hypernym, and are not in the image. ``side`` is as for `links.Links.draw`.

    Returns: the draft, or None if the class could mean another thing of the image, or no false choice was found.
    """

    def ways(view: View, number: int) -> list[tuple[str, tuple[str, ...]]]:
        """How the thing can be asked about."""
        told = not related or of_side(view.links.get(number, ()), side)
        return _classes(arguments, view, number, related=related) if told else []

    drawn = arguments.among(chance, f"classes, {related=}, {side=}", ways)
    if drawn is None:
        return None
    view, number, (name, adjectives) = drawn
    thing = view.things[number]
    absent, akin = arguments.absent, arguments.akin

    def fits(word: str, so_far: list[str]) -> bool:
        """Whether a word is a false choice beside those so far."""
        return absent(word, view) and not any(akin(word, other) for other in (thing.name, *so_far))

    false = _false(chance, arguments.corpus.below(name, thing.number), fits)
    one = Named(view, number, arguments.phrase(name, adjectives), adjectives)
    kind: Kind = "object-choice-related" if related else "object-choice-described"
    return _draft(arguments, chance, one, (kind, name, (thing.name, *false)), side)


def of_attributes(
    arguments: Arguments, chance: Random, *, related: bool, action: bool, side: bool | None = None
) -> Draft | None:
    """Draft a question such as "What color is the cup, red or blue?" or "What is the man doing, walking or sitting?".

    The false choices are of the same category, and no thing can have two of the choices. No question is asked about a
    thing with two attributes of the category.

    Returns: the draft, or None if the phrase could mean another thing, or no false choice was found.
    """
    asked = "action" if action else "attribute"

    def ways(view: View, number: int) -> list[tuple[str, str]]:
        """How the thing can be asked about."""
        told = not related or of_side(view.links.get(number, ()), side)
        return arguments.asked_for(view.things[number], asked) if told else []

    drawn = arguments.among(chance, f"{asked}, {related=}, {side=}", ways)
    if drawn is None:
        return None
    view, number, (attribute, category) = drawn
    one = _described(arguments, chance, (view, number), category)
    if not arguments.only(one):
        return None
    ontology, name = arguments.ontology, one.thing.name
    seen = arguments.corpus.tally.attributes.get(name, ())
    grown = not _NATURAL.isdisjoint((name, *ontology.hypernyms(name)))

    def fits(word: str, so_far: list[str]) -> bool:
        """Whether a word is a false choice beside those so far."""
        alone = all(ontology.exclusive(word, other) for other in (attribute, *so_far))
        suits = word in seen or (ontology.suits(name, word) and not (grown and word in _GARISH))
        return alone and suits and bool(ontology.attributes[word].after) and (not action or ontology.acts(name, word))

    false = _false(chance, arguments.corpus.categories[category], fits)
    kind: Kind = (
        ("action-choice-related" if related else "action-choice")
        if action
        else ("attribute-choice-related" if related else "attribute-choice")
    )
    return _draft(arguments, chance, one, (kind, category, (attribute, *false)), side)


def _draft(
    arguments: Arguments, chance: Random, one: Named, asked: tuple[Kind, str, tuple[str, ...]], side: bool | None
) -> Draft | None:
    """Ask about a thing, with a relation to another if the kind asks for it.

    Returns: the draft; None if there is no false choice, or the words tell the right one.
    """
    kind, category, choices = asked
    if len(choices) < 2:
        return None
    x, objects = one.phrase, tuple[str, ...]((identity(one),))
    if kind.endswith("-related"):
        relation = arguments.related(chance, one, side)
        if relation is None or _tells(arguments, relation[0].relation, category):
            return None
        x, objects = relation[0], (*objects, one.view.things[relation[1]].object.id)
    if tells(x, choices):
        return None
    return Draft(kind, one.view, choices[0], x, objects, category=category, choices=choices)


def _tells(arguments: Arguments, relation: str, category: str) -> bool:
    """Whether a relation gives the answer away: "the woman sitting on the bench" names an action."""
    asked = arguments.ontology.words.categories.get(category)
    return asked is not None and asked.kind == "action" and arguments.action(relation.split(" ", maxsplit=1)[0])


def _classes(arguments: Arguments, view: View, number: int, *, related: bool) -> list[tuple[str, tuple[str, ...]]]:
    """The hypernyms of a thing that can mean no other thing, each with an attribute unless there is a relation."""
    if related and number not in view.links:
        return []
    thing = view.things[number]
    nouns = arguments.ontology.nouns
    told: list[tuple[str, ...]] = [()] if related else [(word,) for word in thing.adjectives]
    return [
        (name, adjectives)
        for name in arguments.classes(thing.name)
        for adjectives in told
        if (nouns[name].number == "plural") == (thing.number == "plural")  # not "is the furniture chairs or beds"
        and arguments.goes(adjectives, name)
        and arguments.single(view, number, name, adjectives)
    ]


def _described(arguments: Arguments, chance: Random, place: tuple[View, int], category: str) -> Named:
    """Name a thing without an attribute of the category asked for, and without an action if one is asked for."""
    view, number = place
    thing, attributes = view.things[number], arguments.ontology.attributes
    action = arguments.ontology.words.categories[category].kind == "action"
    usable = [
        word
        for word in thing.adjectives
        if attributes[word].category != category and not (action and arguments.action(word))
    ]
    adjectives = arguments.described(chance, thing, usable)
    return Named(view, number, arguments.phrase(thing.name, adjectives), adjectives)


def _false(chance: Random, words: Weighted | None, fits: Callable[[str, list[str]], bool]) -> tuple[str, ...]:
    """Draw one or two false choices, each of which fits those before; empty if too few were found."""
    wanted = 2 if chance.random() < THREE else 1
    found: list[str] = []
    for _ in range(TRIES if words else 0):
        word = words.draw(chance) if words else ""
        if word not in found and fits(word, found):
            found.append(word)
            if len(found) == wanted:
                return tuple(found)
    return ()

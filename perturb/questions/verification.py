"""Questions about what an image shows, answered by yes or no (CARETS, Q1 to Q3).

Each function draws what to ask before it looks at the wanted answer, and finds an image for which the answer is yes and
one for which it is no. So the text says nothing about the answer, and what is absent from an image is plausible there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from vlgate.perturb.questions.arguments import Arguments, Named
from vlgate.perturb.questions.drafts import Draft
from vlgate.perturb.questions.phrases import NounPhrase
from vlgate.perturb.questions.views import View
from vlgate.perturb.scene_graph import Box, SceneObject

_PERSONS = frozenset(("person", "people"))
_LARGER = 1.5  # the most by which the area of one covered thing is larger than that of the other
_WITHIN = frozenset(("in", "inside", "within", "aboard", "driving", "riding"))


def about_object(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question such as "Is there a red cup?"; if the answer is no, the image shows no cup at all.

    Returns: the draft, or None if no image without the thing was found.
    """
    one = arguments.shown(chance)
    without = arguments.plausible.without(chance, one.phrase.noun, like=one.view)
    if without is None or not _acts_there(arguments, one, without):
        return None
    if yes:
        return Draft("object", one.view, "yes", one.phrase, (identity(one),), counterpart=without)
    return Draft("object", without, "no", one.phrase, (None,), counterpart=one.view)


def covered(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft two questions about two things of an image, which is shown twice, with one and with the other covered.

    Everything that might be such a thing is covered. The two things take up about as much of the image, so that
    neither the covered area nor its size or place tells an answer without the question and what is left to be seen.

    Returns: the draft, whose ``objects`` must be covered, with the other question as its ``mate``; None if the thing
        may be a part of another, more than half of the image would be covered, or no other thing fits.
    """
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


def _hidden(arguments: Arguments, one: Named) -> list[SceneObject] | None:
    """The objects that might be such a thing; None if one may have it as a part, or they are more than half."""
    graph, bit = one.view.graph, arguments.corpus.bits[one.phrase.noun]
    if any(thing.masks.beside & bit for thing in one.view.things):
        return None
    alike = [thing.object for thing in one.view.things if thing.masks.possible & bit]
    too_much = graph.width and graph.height and 2 * _area(alike) > graph.width * graph.height
    return None if too_much else alike


def _exchangeable(some: Sequence[SceneObject], others: Sequence[SceneObject]) -> bool:
    """Whether as many boxes of about the same area cover each, and none of these covers a part of the other."""
    apart = not any(_overlap(one.box, other.box) for one in some for other in others)
    small, large = sorted((_area(some), _area(others)))
    return apart and len(some) == len(others) and large <= _LARGER * small


def _area(objects: Sequence[SceneObject]) -> float:
    return sum(item.box.w * item.box.h for item in objects)


def _overlap(one: Box, other: Box) -> bool:
    across = min(one.x + one.w, other.x + other.w) > max(one.x, other.x)
    return across and min(one.y + one.h, other.y + other.h) > max(one.y, other.y)


def about_related_object(
    arguments: Arguments, chance: Random, *, yes: bool, side: bool | None, drawn: Counter[str]
) -> Draft | None:
    """Draft a question such as "Is there a red cup on the table?".

    If the answer is no, the image shows a table, but no cup at all. ``side`` and ``drawn`` are as for
    `links.Links.draw`.

    Returns: the draft, or None if nothing has a relation, or no image shows the other thing alone.
    """
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
    """Draft a question such as "Is there both a cup and a ball?".

    If the answer is no, the image shows one of the two; each is missing equally often. If ``alike``, both take an
    article or none does, so that they may stand in either order; otherwise one with an article stands first.

    Returns: the draft, or None if the image shows nothing of another kind, or no image shows only one of them.
    """
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
    """Draft a question such as "Is there a cup or a ball?"; if the answer is no, the image shows neither.

    If it is yes, the image shows one of them only, so that "either" may be read both ways. ``alike`` is as for
    `conjunction`.

    Returns: the draft, or None if there is no second operand, or every image shows one of them.
    """
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
    """Draft a question about a thing by its name or class, and the same by a word above or below it (section 4.2 b).

    The paper goes up if the answer is yes, which follows then, and down if it is no. So the words of the perturbed
    questions tell their answers. Here the answer decides neither word nor direction: what an image shows may be called
    by both words, and what it does not show is not there under the more general one.

    Returns: the draft with the perturbed phrase as ``instead``, or None if no such word or image was found.
    """
    drawn = arguments.ways.draw(chance, "ranked", lambda view, number: _ranks(arguments, view.things[number].name))
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


def _acts_there(arguments: Arguments, one: Named, view: View) -> bool:
    """Whether what a phrase says that a thing does may be done in another image: nobody runs in a bedroom."""
    return all(arguments.there(view, word) for word in one.adjectives)


def _unseen_there(arguments: Arguments, phrase: NounPhrase, other: NounPhrase) -> bool:
    """Whether nobody can say that such a thing is not there: a man inside the train."""
    ontology, words = arguments.ontology, phrase.relation.split(" ")
    if ontology.expected.enclosing.isdisjoint(ontology.named(other.noun)) or words[:2] == ["in", "front"]:
        return False
    person = not _PERSONS.isdisjoint(ontology.named(phrase.noun))
    return not _WITHIN.isdisjoint(words) or (person and words[-1] == "on")


def _ranks(arguments: Arguments, name: str) -> list[tuple[str, str]]:
    """A name and each of its classes, and each of these with those above it."""
    return [(low, high) for low in (name, *arguments.classes(name)) for high in arguments.classes(low)]


def _bare(phrase: NounPhrase) -> bool:
    """Whether its indefinite form has no article, as "cups" and "grass"."""
    return phrase.number != "singular"


def identity(one: Named) -> str:
    """Return the id of a thing in its graph."""
    return one.thing.object.id

"""Questions about what an image shows, answered by yes or no (CARETS, Q1 to Q3).

Each function draws what to ask before it looks at the wanted answer, and finds an image for which the answer is yes and
one for which it is no. So the text says nothing about the answer, and what is absent from an image is plausible there.
"""

from __future__ import annotations

from random import Random

from vlgate.perturb.questions.arguments import Arguments, Named
from vlgate.perturb.questions.chance import pick
from vlgate.perturb.questions.drafts import Draft

BOTH_THERE = 1 / 3  # the share of disjunctions drawn with both operands in the image, where the answer is yes


def about_object(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question such as "Is there a red cup?"; if the answer is no, the image shows no cup at all.

    Returns: the draft, or None if no image without the thing was found.
    """
    one = arguments.shown(chance)
    without = arguments.elsewhere(chance, one.phrase.noun)
    if without is None:
        return None
    if yes:
        return Draft("object", one.view, "yes", one.phrase, (identity(one),), counterpart=without)
    return Draft("object", without, "no", one.phrase, (None,), counterpart=one.view)


def covered(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question about a thing whose answer becomes no if everything that might be such a thing is covered.

    ``objects`` are those that must be covered.

    Returns: the draft, or None if the thing may be a part of another, or more than half of the image would be covered.
    """
    one = arguments.shown(chance)
    graph, bit = one.view.graph, arguments.corpus.bits[one.phrase.noun]
    if any(thing.parts & bit for thing in one.view.things):
        return None
    alike = [thing.object for thing in one.view.things if thing.possible & bit]
    if (
        graph.width
        and graph.height
        and 2 * sum(box.w * box.h for box in (item.box for item in alike)) > (graph.width * graph.height)
    ):
        return None
    return Draft("object", one.view, "yes" if yes else "no", one.phrase, tuple(item.id for item in alike))


def about_related_object(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question such as "Is there a red cup on the table?".

    If the answer is no, the image shows no cup at all, or no table at all.

    Returns: the draft, or None if nothing has a relation, or no image shows the one without the other.
    """
    found_one = arguments.among(chance, "related", lambda view, number: view.links.get(number, ()))
    if found_one is None:
        return None
    one = arguments.named(chance, *found_one[:2])
    related = arguments.related(chance, one)
    if related is None or (other := related[0].other) is None:
        return None
    key = other.noun, "".join(other.attributes)
    if arguments.akin(one.phrase.noun, other.noun):
        return None
    first_missing = chance.random() < 0.5
    found = (
        arguments.with_one(chance, key, one.phrase.noun)
        if first_missing
        else arguments.with_one(chance, one.key, other.noun)
    )
    if found is None:
        return None
    if yes:
        objects = (identity(one), one.view.things[related[1]].object.id)
        return Draft("object-related", one.view, "yes", related[0], objects, counterpart=found[0])
    view, number = found
    present = view.things[number].object.id
    there = (None, present) if first_missing else (present, None)
    return Draft("object-related", view, "no", related[0], there, counterpart=one.view)


def conjunction(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question such as "Is there both a cup and a ball?".

    If the answer is no, the image shows one of the two; each is missing equally often.

    Returns: the draft, or None if the image shows nothing of another kind, or no image shows only one of them.
    """
    first = arguments.shown(chance)
    second = arguments.another(chance, first)
    if second is None:
        return None
    first_missing = chance.random() < 0.5
    present, absent = (second, first) if first_missing else (first, second)
    found = arguments.with_one(chance, present.key, absent.phrase.noun)
    if found is None:
        return None
    if yes:
        objects = (identity(first), identity(second))
        return Draft("conjunction", first.view, "yes", first.phrase, objects, second.phrase, counterpart=found[0])
    there = found[0].things[found[1]].object.id
    objects_found = (None, there) if first_missing else (there, None)
    return Draft("conjunction", found[0], "no", first.phrase, objects_found, second.phrase, counterpart=first.view)


def disjunction(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question such as "Is there a cup or a ball?"; if the answer is no, the image shows neither.

    Returns: the draft, or None if there is no second operand, or every image shows one of them.
    """
    one = arguments.shown(chance)
    second: Named | None = arguments.another(chance, one) if chance.random() < BOTH_THERE else None
    phrase = second.phrase if second else arguments.unseen(chance, one.view)
    if phrase is None or arguments.akin(phrase.noun, one.phrase.noun):
        return None
    without = arguments.elsewhere(chance, one.phrase.noun, phrase.noun)
    if without is None:
        return None
    operands = [(one.phrase, identity(one)), (phrase, identity(second) if second else None)]
    if chance.random() < 0.5:
        operands.reverse()
    (x, x_id), (y, y_id) = operands
    if yes:
        return Draft("disjunction", one.view, "yes", x, (x_id, y_id), y, counterpart=without)
    return Draft("disjunction", without, "no", x, (None, None), y, counterpart=one.view)


def more_general(arguments: Arguments, chance: Random, *, yes: bool) -> Draft | None:
    """Draft a question about a word that has both hypernyms and hyponyms (ONTOLOGICAL-INV, section 4.2 b).

    If the word is true, so is its hypernym; if it is false, so is its hyponym. The distribution of words is the same
    for both answers. In the paper's own data, original questions with the answer no ask about general words only.

    Returns: the draft with the perturbed phrase as ``instead``, or None if no such word was found.
    """
    drawn = arguments.among(chance, "ranked", lambda view, number: _ranked(arguments, view.things[number].name))
    without = None if drawn is None else arguments.elsewhere(chance, drawn[2])
    if drawn is None or without is None:
        return None
    one, name = arguments.named(chance, *drawn[:2]), drawn[2]
    up, down = pick(chance, arguments.classes(name)), arguments.corpus.below(name).draw(chance)
    # Whether the attribute is said may not depend on the answer, so it must go with both.
    adjectives = one.adjectives if all(arguments.goes(one.adjectives, word) for word in (name, up, down)) else ()
    asked, instead = (arguments.phrase(word, adjectives) for word in (name, up if yes else down))
    if yes:
        return Draft("object", one.view, "yes", asked, (identity(one),), instead=instead, counterpart=without)
    return Draft("object", without, "no", asked, (None,), instead=instead, counterpart=one.view)


def _ranked(arguments: Arguments, name: str) -> list[str]:
    """Those of the name and its hypernyms that have hypernyms and, in the graphs, hyponyms."""
    below = arguments.corpus.below
    return [word for word in (name, *arguments.classes(name)) if arguments.classes(word) and below(word)]


def identity(one: Named) -> str:
    """Return the id of a thing in its graph."""
    return one.thing.object.id

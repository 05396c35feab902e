"""What is true of a drawn scene, told from its graph and a text alone: nothing here is shared with what makes texts.

The graphs of the drawn world are complete: a thing, an attribute or an action that is not annotated is not there.
"""

import re
from pathlib import Path

from builders import table

# What else each drawn thing is called, by hand; what is not here has no other name among the nouns that foils put in.
CALLED = dict(table(Path(__file__).with_suffix(".tsv"), "called"))
VERBS = {f"{verb}s": f"{verb}ing" for verb in ("wear", "hold", "lift", "pull", "kick")}
VERBS |= {f"{verb}es": f"{verb}ing" for verb in ("push", "watch")}
VERBS |= {"rides": "riding", "sits on": "sitting on", "chases": "chasing", "carries": "carrying"}
PASSIVE = {f"{verb}ed": f"{verb}ing" for verb in ("push", "lift", "pull", "kick", "watch")}
PASSIVE |= {"chased": "chasing", "carried": "carrying"}
_ACTIVE = "chases|pushes|lifts|pulls|carries|kicks|watches"
POSED = ("sitting", "standing", "lying", "jumping", "running", "walking", "kneeling", "sleeping")


def _aligned(a, b):
    return a.x < b.x + b.w and b.x < a.x + a.w


PLACES = {
    "to the left of": lambda a, b: a.x + a.w <= b.x,
    "to the right of": lambda a, b: b.x + b.w <= a.x,
    "above": lambda a, b: a.y + a.h <= b.y,
    "below": lambda a, b: b.y + b.h <= a.y,
    "over": lambda a, b: a.y + a.h <= b.y and _aligned(a, b),
    **dict.fromkeys(("under", "beneath"), lambda a, b: b.y + b.h <= a.y and _aligned(a, b)),
}
ANNOTATED = {
    **dict.fromkeys(("on", "on top of"), ("on", "sitting on", "riding")),
    **dict.fromkeys(("above", "over"), ("on", "sitting on", "riding")),
    **dict.fromkeys(("under", "beneath", "below"), ("under",)),
    **dict.fromkeys(("in", "inside"), ("in",)),
}
ACTIONS = (
    "wearing holding riding chasing pushing lifting pulling carrying kicking watching washing burning painting selling "
    "throwing kicking burying breaking leading feeding carrying"
).split()
_PLACE = "|".join((*PLACES, "on top of", "on", "inside", "in front of", "in", "behind"))
_ACTION = "|".join((*ACTIONS, *(f"{pose} on" for pose in POSED)))
_VERB = "|".join(VERBS)


def things(phrase, graph):
    """The things that a phrase may mean: "a red shirt", "the man", "shorts"."""
    words = re.sub(r"^(?:an?|the) ", "", phrase)
    return [
        object_ for object_ in graph.objects.values() if any(_means(words, name, object_) for name in _names(object_))
    ]


def _names(thing):
    return (thing.name, *CALLED.get(thing.name, "").split())


def _means(words, name, thing):
    """Whether words are a name with attributes of the thing before it, or a pose behind it."""
    before, found, behind = f" {words} ".partition(f" {name} ")
    return bool(found) and {*before.split(), *behind.split()} <= set(thing.attributes)


def _linked(one, other):
    return {relation.name for relation in one.relations if relation.object == other.id}


def _overlap(a, b):
    return a.x < b.x + b.w and b.x < a.x + a.w and a.y < b.y + b.h and b.y < a.y + a.h


def _stands(one, relation, other, graph):
    """Whether one thing has a relation to another: annotated, or shown by the boxes and the order of drawing."""
    links = _linked(one, other)
    if relation in {"behind", "in front of"}:
        order = list(graph.objects)
        earlier = order.index(one.id) < order.index(other.id)
        return (
            _overlap(one.box, other.box) and earlier == (relation == "behind") and not links and not _linked(other, one)
        )
    pose, _, on = relation.partition(" ")
    if relation in links or links & set(ANNOTATED.get(relation, ())):
        return True
    if pose in POSED and on == "on":
        return pose in one.attributes and bool(links & set(ANNOTATED["on"]))
    return relation in PLACES and PLACES[relation](one.box, other.box)


def related(first, relation, second, graph):
    return any(
        _stands(one, relation, other, graph)
        for one in things(first, graph)
        for other in things(second, graph)
        if one.id != other.id
    )


def both(who, one, thing, other, second, graph):
    """Whether one person does two things."""
    return any(
        all(
            any(_stands(person, VERBS[verb], found, graph) for found in things(phrase, graph))
            for verb, phrase in ((one, thing), (other, second))
        )
        for person in things(who, graph)
    )


def _together(first, second, graph):
    return bool(things(first, graph)) and bool(things(second, graph))


RULES = (
    (rf"(the \w+) (?:who )?({_VERB}) (.+?) (?:and )?({_VERB}) (.+)", both),
    (rf"(the \w+) ({_ACTIVE}) (the \w+)", lambda a, verb, b, graph: related(a, VERBS[verb], b, graph)),
    (r"(the \w+) is (\w+) by (the \w+)", lambda a, verb, b, graph: related(b, PASSIVE[verb], a, graph)),
    (rf"(.+?) ({_PLACE}|{_ACTION}) (.+)", related),
    (r"(.+) and (.+)", _together),
    (r"(.+)", lambda phrase, graph: bool(things(phrase, graph))),
)


def holds(text, graph):
    """Whether a text is true of a scene."""
    for pattern, rule in RULES:
        if match := re.fullmatch(pattern, text):
            return rule(*match.groups(), graph)
    raise AssertionError(text)

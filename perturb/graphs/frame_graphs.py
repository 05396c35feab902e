"""Scene graphs of role frames (SWiG) and of human-object interactions (HAKE): the same foils are made of them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject
from vlgate.perturb.text.sentences import Verb, read_predicate

_ROLE = re.compile(r"\b[A-Z]{3,}\b")
_AGENT = "agent"
_UNSEEN = frozenset(("place",))  # where it happens is the whole image
_PREPOSITIONS = frozenset(
    "against at by down from in inside into off on onto over through to toward towards under up with".split()
) | {"out of"}
# Verbs of HICO that need other words before the thing: "jump bicycle" is to jump with one, "blow cake" its candles.
_UNSAID = frozenset(
    ("blow", "drink_with", "grind", "jump", "no_interaction", "pour", "run", "serve", "sip", "stick", "toast", "wave")
)

Corners = tuple[float, float, float, float]  # the left, upper, right and lower edge of a box


def graph_of_frame(
    image: str, template: str, roles: Mapping[str, str], boxes: Mapping[str, Box], size: tuple[int, int] | None = None
) -> SceneGraph:
    """Return what a role frame says of an image as a scene graph: its things, and what the agent does to each."""
    # ``template`` is imSitu's sentence of the verb, whose roles are in capitals. The words before a role make the
    # relation: of "an AGENT cuts the ITEM with a TOOL" the agent is "cutting" the item and "cutting with" the tool.
    # Roles without a noun or a box are left out, and so is the place.
    seen = {role: " ".join(noun.lower().split()) for role, noun in roles.items() if role in boxes and noun.strip()}
    relations = tuple(
        Relation(name=name, object=role)
        for role, name in _relations(template)
        if role in seen and role not in _UNSEEN and role != _AGENT
    )
    objects = {
        role: SceneObject(id=role, name=noun, box=boxes[role], relations=relations if role == _AGENT else ())
        for role, noun in seen.items()
        if role not in _UNSEEN
    }
    width, height = size or (None, None)
    return SceneGraph(id=image, objects=objects, width=width, height=height)


def graph_of_interactions(
    image: str, interactions: Iterable[tuple[Corners, str, str, Corners]], size: tuple[int, int] | None = None
) -> SceneGraph:
    """Return human-object interactions of an image as a scene graph."""
    # Each is (the person's box, the verb, the object, the object's box), with HICO's names ("sit_on", "dining_table").
    # Equal boxes are one thing. What is "no_interaction", or no verb, is left out, and so are verbs that do not read
    # before the thing ("jump bicycle").
    names: dict[tuple[str, Corners], str] = {}
    told: dict[str, list[Relation]] = {}
    for person, verb, thing, place in interactions:
        predicate = read_predicate(verb.replace("_", " ")) if verb not in _UNSAID else None
        a = names.setdefault(("person", person), str(len(names) + 1))
        b = names.setdefault((thing.replace("_", " ").lower(), place), str(len(names) + 1))
        if predicate is not None and a != b:
            told.setdefault(a, []).append(Relation(name=predicate.verb.participle, object=b))
    objects: dict[str, SceneObject] = {}
    for (name, (left, top, right, bottom)), number in names.items():
        if right > left and bottom > top:
            box = Box(x=left, y=top, w=right - left, h=bottom - top)
            objects[number] = SceneObject(id=number, name=name, box=box, relations=tuple(told.get(number, ())))
    width, height = size or (None, None)
    return SceneGraph(id=image, objects=objects, width=width, height=height)


def _relations(template: str) -> Iterator[tuple[str, str]]:
    found = list(_ROLE.finditer(template))
    if not found or found[0][0] != _AGENT.upper():
        return
    verb: Verb | None = None
    for before, role in pairwise(found):
        words = re.sub(r"[^a-z ]", " ", template[before.end() : role.start()].lower())
        link = re.sub(r"\b(?:a|an|the|some|his|her|their)\b", " ", words)
        link = " ".join(link.split())
        if verb is None:
            predicate = read_predicate(link)
            if predicate is None or predicate.passive:
                return
            verb = predicate.verb
            yield role[0].lower(), verb.participle
        elif link in _PREPOSITIONS:
            yield role[0].lower(), Verb(base=verb.base, rest=link).participle

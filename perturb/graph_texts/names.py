"""Whether a thing of one name may be called another, and whether two attributes contradict each other."""

from __future__ import annotations

from collections.abc import Iterable

from vlgate.perturb.ontology import Ontology
from vlgate.perturb.scene_graph import SceneGraph, SceneObject


def may_be_called(named: str, name: str, ontology: Ontology) -> bool:
    """Return whether a thing that is annotated ``named`` may be called ``name`` by somebody else.

    A name that the ontology does not know counts by its last word; if that is unknown too, by the words they share.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> [may_be_called("mug", name, default_ontology()) for name in ("cup", "cups", "fork")]
    [True, True, False]
    """
    if named == name:
        return True
    one, other = known_form(named, ontology), known_form(name, ontology)
    if one is None or other is None:
        return not set(named.split()).isdisjoint(name.split())
    return other in ontology.possible(one)


class Namesakes:
    """The things of a graph that may be called by a name; each name is compared once."""

    def __init__(self, graph: SceneGraph, ontology: Ontology) -> None:
        """Group the things by their names."""
        self._ontology = ontology
        self._things: dict[str, list[SceneObject]] = {}
        for thing in graph.objects.values():
            self._things.setdefault(thing.name, []).append(thing)
        self._called: dict[str, tuple[SceneObject, ...]] = {}

    def of(self, name: str) -> tuple[SceneObject, ...]:
        """Return the things that may be called so, those of one name together."""
        if name not in self._called:
            alike = (things for named, things in self._things.items() if may_be_called(named, name, self._ontology))
            self._called[name] = tuple(thing for things in alike for thing in things)
        return self._called[name]


def same_kind(one: str, other: str, ontology: Ontology) -> bool:
    """Return whether one name says what the other does: they are equal, synonyms, or one is above the other.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> [same_kind("sneakers", name, default_ontology()) for name in ("shoes", "hat")]
    [True, False]
    """
    a, b = known_form(one, ontology), known_form(other, ontology)
    return one == other or (a is not None and b is not None and (a in ontology.certain(b) or b in ontology.certain(a)))


def known_form(name: str, ontology: Ontology) -> str | None:
    """Return the name if the ontology knows it, else its last word if it knows that, else None."""
    if ontology.knows(name):
        return name
    head = name.rpartition(" ")[2]
    return head if ontology.knows(head) else None


def contradict(some: Iterable[str], others: Iterable[str], ontology: Ontology) -> bool:
    """Return whether a thing with the first attributes cannot have one of the others.

    Attributes of several colors ("red and black") count by their parts: none of a color's parts may go together.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> ontology = default_ontology()
    >>> contradict(["white", "old"], ["blue"], ontology), contradict(["red and white"], ["red"], ontology)
    (True, False)
    """
    mine = [parts_of(attribute) for attribute in some]
    theirs = [parts_of(attribute) for attribute in others]
    return any(
        any(_all_exclusive(one, other, ontology) for one in mine)
        and not any(set(one) & set(other) for one in mine for other in theirs)
        for other in theirs
    )


def parts_of(attribute: str) -> tuple[str, ...]:
    """Return the attributes that "and" joins: ("red", "black") of "red and black"."""
    return tuple(attribute.split(" and "))


def _all_exclusive(one: tuple[str, ...], other: tuple[str, ...], ontology: Ontology) -> bool:
    return all(ontology.exclusive(a, b) for a in one for b in other)

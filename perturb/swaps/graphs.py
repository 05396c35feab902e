"""Facts from scene graphs: attributes and relations of things that have a name of their own in the graph.

If a graph has two things with one name, or with names that may mean the same, no fact about one of them is used: "a cup
behind a plate" may be true of the other cup as well. If an image may have more things of a name than its graph, facts
about them are not used.
"""

from __future__ import annotations

from collections import Counter

from vlgate.perturb.graph_texts.settled import has_others
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.perturb.swaps.scenes import Fact, Has, Relates, Scene, Vocabulary


def graph_scene(graph: SceneGraph, vocabulary: Vocabulary) -> Scene:
    """Return what a graph says of its image."""
    known = {name: one for name, one in graph.objects.items() if vocabulary.knows(one.name)}
    facts: set[Fact] = set()
    for thing in known.values():
        facts |= {Has(thing.name, value) for value in thing.attributes if vocabulary.attribute(value)}
        for relation in thing.relations:
            if relation.object in known and vocabulary.one_way(relation.name):
                facts.add(Relates(thing.name, relation.name, known[relation.object].name))
    names = Counter(thing.name for thing in graph.objects.values())
    several = {
        name
        for name in {thing.name for thing in known.values()}
        if sum(number for other, number in names.items() if vocabulary.possible(name, other)) > 1
        or has_others(name, graph, vocabulary.ontology)
    }
    return Scene(image=graph.id, facts=frozenset(facts), several=frozenset(several))

"""The words of a collection of scene graphs, counted by what they stand with: the replacements of VL-CheckList."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vlgate.perturb.graph_texts.phrases import wording
from vlgate.perturb.ontology import Ontology, default_ontology
from vlgate.perturb.scene_graph import SceneGraph

SUBJECT, OBJECT = "subject", "object"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The names of a collection, counted.

    ``names`` counts them all, ``placed`` by (role, text of the relation), and ``beside`` by (role, text of the
    relation, name of the other thing).
    """

    names: Counter[str]
    placed: Mapping[tuple[str, str], Counter[str]]
    beside: Mapping[tuple[str, str, str], Counter[str]]


def vocabulary_of(graphs: Iterable[SceneGraph], ontology: Ontology | None = None) -> Vocabulary:
    """Count the names in graphs that the ontology knows.

    >>> vocabulary_of([]).names
    Counter()
    """
    known = default_ontology() if ontology is None else ontology
    names: Counter[str] = Counter()
    placed: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    beside: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for graph in graphs:
        for thing in graph.objects.values():
            names.update([thing.name] if known.knows(thing.name) else [])
            for relation in thing.relations:
                text, other = wording(relation.name, known), graph.objects.get(relation.object)
                if not text or other is None:
                    continue
                for role, one, beyond in ((SUBJECT, thing.name, other.name), (OBJECT, other.name, thing.name)):
                    if known.knows(one):
                        placed[role, text][one] += 1
                        beside[role, text, beyond][one] += 1
    return Vocabulary(names=names, placed=dict(placed), beside=dict(beside))

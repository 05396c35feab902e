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
    """``beside`` counts names by (role, text of the relation), ``names`` counts them all, and ``attributes`` too."""

    beside: Mapping[tuple[str, str], Counter[str]]
    names: Counter[str]
    attributes: Counter[str]


def vocabulary_of(graphs: Iterable[SceneGraph], ontology: Ontology | None = None) -> Vocabulary:
    """Count the names and attributes that the ontology knows in graphs.

    >>> vocabulary_of([]).names
    Counter()
    """
    known = default_ontology() if ontology is None else ontology
    beside: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    names: Counter[str] = Counter()
    attributes: Counter[str] = Counter()
    for graph in graphs:
        for thing in graph.objects.values():
            names[thing.name] += known.knows(thing.name)
            attributes.update(one for one in thing.attributes if one in known.attributes)
            for relation in thing.relations:
                text, other = wording(relation.name, known), graph.objects.get(relation.object)
                if text and other is not None:
                    beside[SUBJECT, text][thing.name] += known.knows(thing.name)
                    beside[OBJECT, text][other.name] += known.knows(other.name)
    return Vocabulary(beside={place: +found for place, found in beside.items()}, names=+names, attributes=attributes)

"""The words of a question fit its noun, and none of them gives the answer away: one test for each class of fault."""

from __future__ import annotations

import pytest

from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import Corpus
from vlgate.perturb.questions.arguments import Arguments
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject

ONTOLOGY = default_ontology()


def image(*things, relations=()):
    """A graph of things such as "gray elephant standing", with (position, relation, position) between them."""
    made = {}
    for place, (name, *attributes) in enumerate(things):
        links = tuple(Relation(name=text, object=str(other)) for at, text, other in relations if at == place)
        box = Box(x=0, y=0, w=90, h=90)
        made[str(place)] = SceneObject(
            id=str(place), name=name, box=box, attributes=tuple(attributes), relations=links
        )
    return SceneGraph(id="image", objects=made, width=900, height=700)


@pytest.mark.parametrize(
    ("noun", "attributes", "said"),
    [
        ("dog", ("brown", "standing"), "standing brown dog"),
        ("bus", ("public", "white"), "white public bus"),
        ("car", ("white", "parked", "large"), "large parked white car"),
        ("shirt", ("hanging", "red"), "hanging red shirt"),
        ("cup", ("disposable", "white", "plastic", "small"), "small white disposable plastic cup"),
        ("shirt", ("striped", "blue", "old"), "old blue striped shirt"),
    ],
)
def test_adjectives_stand_in_their_usual_order(noun, attributes, said):
    arguments = Arguments(Corpus([image((noun, *attributes))], ONTOLOGY))
    assert arguments.phrase(noun, attributes).bare == said

"""Small scene graphs for the tests, written in few words."""

from vlgate.perturb.graphs.absence import WHOLE
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject


def thing(number, name, box, *, attributes=(), **relations):
    """An object; ``relations`` map a predicate with underscores to the ids of the others, separated by blanks."""
    return SceneObject(
        id=number,
        name=name,
        box=Box(x=box[0], y=box[1], w=box[2], h=box[3]),
        attributes=tuple(attributes),
        relations=tuple(
            Relation(name=name.replace("_", " "), object=other)
            for name, others in relations.items()
            for other in others.split()
        ),
    )


def graph(*things, size=(1000, 1000), image="1"):
    """A graph of these objects; ``size`` may be None."""
    width, height = size or (None, None)
    return SceneGraph(id=image, objects={one.id: one for one in things}, width=width, height=height)


def whole(*things, **more):
    """A graph of these objects and enough others to tell all that its image shows."""
    others = [thing(f"other {index}", "floor", (900, 900, 9, 9)) for index in range(WHOLE)]
    return graph(*things, *others, **more)

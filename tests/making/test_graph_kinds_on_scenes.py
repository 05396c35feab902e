"""What is made of drawn scenes is true and false as it says, by an evaluator that shares nothing with its makers."""

import pytest
from scene_truth import holds

from vlgate.fixtures.scenes.groups import holding
from vlgate.fixtures.scenes.people_actions import ACTIONS, acting
from vlgate.fixtures.scenes.scene_graphs import scene_of, world_graphs
from vlgate.making.kinds.kind import Work, kind
from vlgate.making.tools import ToolOptions, Tools
from vlgate.perturb.foils.candidates import Foil, SentenceSet
from vlgate.seeds import generator

PEOPLE = ("man", "woman", "boy", "girl")
HELD = ("kite", "umbrella", "balloon")


def acted(seed, number):
    """Scenes of two people, one of whom does something to the other."""
    for index in range(number):
        chance = generator(f"{seed}/acted/{index}", n_bytes=32)
        doer, other = map(str, chance.choice(PEOPLE, 2, replace=False))
        group = acting(chance, list(ACTIONS)[index % len(ACTIONS)], doer, other)
        yield scene_of(chance, [group], key=f"acted-{seed}-{index}", others=int(chance.integers(0, 3)))


def couples(seed, number):
    """Scenes of two people with hats, each of whom holds something."""
    for index in range(number):
        chance = generator(f"{seed}/couples/{index}", n_bytes=32)
        names, held = chance.choice(PEOPLE, 2, replace=False), chance.choice(HELD, 2, replace=False)
        groups = [holding(chance, str(name), str(one), hat=True) for name, one in zip(names, held, strict=True)]
        yield scene_of(chance, groups, key=f"couples-{seed}-{index}")


SCENES = {
    "active-passive": acted,
    "coordination": couples,
    "relative-clause": couples,
    "object": world_graphs,
    "attribute": world_graphs,
    "relation": lambda seed, number: [*world_graphs(seed, number // 2), *acted(seed, number - number // 2)],
    "word-swap": lambda seed, number: [*world_graphs(seed, number // 2), *acted(seed, number - number // 2)],
}


def claims(name, graphs):
    """Yield what a kind claims: the graph, a text, and whether it is true."""
    shown = {graph.id: graph for graph in graphs}
    make_some = kind(name).start(Work(inputs=graphs, tools=Tools(ToolOptions()), seed=0))
    for made in make_some(graphs):
        for candidate in made.found.candidates:
            if isinstance(candidate, Foil):
                graph = shown[made.image.removesuffix(".jpg")]
                yield from ((graph, candidate.caption, True), (graph, candidate.foil, False))
            elif isinstance(candidate, SentenceSet):
                yield from ((shown[made.image], text, True) for text in candidate.true)
                yield from ((shown[made.image], text, False) for text in candidate.false)
            else:
                for index, image in enumerate(candidate.images):
                    yield shown[image], candidate.captions[index], True
                    yield shown[image], candidate.captions[1 - index], False


@pytest.mark.parametrize("name", SCENES)
def test_captions_are_true_and_foils_are_false(name):
    found = list(claims(name, list(SCENES[name](0, 160 if name == "word-swap" else 80))))
    wrong = [(graph.id, text, truth) for graph, text, truth in found if holds(text, graph) != truth]
    assert len(found) >= 40
    assert not wrong

"""GQA's scene graphs: ``train_sceneGraphs.json`` and ``val_sceneGraphs.json``.

Hudson and Manning 2019, "GQA: A New Dataset for Real-World Visual Reasoning and Compositional Question Answering",
section 3.1 (https://cs.stanford.edu/people/dorarad/gqa/download.html, "Scene Graphs"). A file is one object ``{image
id: graph}``; graphs of every other format are converted to this form before they are checked:

    {"2407890": {"width": 640, "height": 480, "location": "kitchen", "weather": "sunny",
                 "objects": {"271881": {"name": "chair", "x": 220, "y": 310, "w": 50, "h": 80,
                                        "attributes": ["brown", "small"],
                                        "relations": [{"name": "on", "object": "275312"}]}}}}

The image's name is the image id. Sizes, location, attributes and relations are optional. A field ``complete``, which
GQA's files do not have, counts as in a user's own file; other fields are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vlgate.errors import nearest
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.scene_graphs.checks import Checker, shown
from vlgate.sources.scene_graphs.stream import OWN_KEYS, Member


def graphs(members: Iterable[Member], checker: Checker) -> Iterator[SceneGraph]:
    """Yield the graphs of a file of GQA, in the order of the file.

    Raises: DataError for a fault, if the checker's mode is "fail".
    """
    for member in members:
        if type(member.value) is not dict:
            hint = f"{shown(member.value)} (in a file of your own: {nearest(member.key, OWN_KEYS)})"
            checker.faults.found(f"graph {shown(member.key)}", "a graph that is not an object", hint)
            continue
        graph = checker.graph(member.key, member.value, member.repeated)
        if graph is not None:
            yield graph

"""Partial scene graphs from the released questions of CARETS: what their ``assignment`` says of each image.

An object of a question that has an id is in the image, with its attributes and its relation. The released files have no
boxes, so that every object gets the same one; the graphs say what is asked about, not its place.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject

Record = dict[str, Any]
BOX = Box(x=0, y=0, w=200, h=200)


def originals(folder: Path) -> Iterator[tuple[str, Record]]:
    """Yield the name of the file and the record of every question that is not perturbed, in the order of the files."""
    for file in sorted(folder.glob("*.json")):
        for record in json.loads(file.read_text("utf-8")):
            if record["question_id"][-1].isdigit():
                yield file.name, record


def rebuilt(folder: Path, least: int = 1) -> list[SceneGraph]:
    """Return a graph for each image with ``least`` objects or more in the originals in ``folder``."""
    names: dict[str, dict[str, str]] = defaultdict(dict)
    attributes: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    relations: dict[tuple[str, str], dict[Relation, None]] = defaultdict(dict)
    for _, record in originals(folder):
        image, asked = record["img_id"], record["assignment"]
        for place in "12":
            if (identity := asked.get(f"obj{place}_id")) is not None:
                names[image].setdefault(identity, asked[f"obj{place}"])
                attributes[image, identity].update(dict.fromkeys(asked.get(f"attrs{place}", ())))
        if asked.get("obj1_id") is not None:
            if "category1" in asked:
                attributes[image, asked["obj1_id"]].update(record["label"])
            if "2rel1" in asked and asked["obj2_id"] is not None:
                relations[image, asked["obj1_id"]][Relation(name=asked["2rel1"], object=asked["obj2_id"])] = None
    return [
        SceneGraph(
            id=image,
            objects={
                identity: SceneObject(
                    id=identity,
                    name=name,
                    box=BOX,
                    attributes=tuple(attributes[image, identity]),
                    relations=tuple(relation for relation in relations[image, identity] if relation.object in found),
                )
                for identity, name in found.items()
            },
        )
        for image, found in sorted(names.items())
        if len(found) >= least
    ]

"""The edits of a case's drawn scenes as moves, without those that would change what its texts say of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from math import cos, inf, radians, sin
from typing import TYPE_CHECKING

from vlgate.perturb.inflection import either_number
from vlgate.shrink.moves import Move, perturbed
from vlgate.shrink.scene_edits import SceneEdit, scene_edits
from vlgate.shrink.texts import text_of
from vlgate.shrink.truth import Truth, graph_of
from vlgate.types import Case, images_of

if TYPE_CHECKING:
    from vlgate.fixtures.scenes.graph import Graph

NAMED = "a thing that the texts name"
"""What an edit is about whose thing is of a kind that the texts name."""
_COMPARED = re.compile(
    r"\b(?:larger|bigger|smaller|taller|shorter|higher|lower|large|small|big|tiny|\w+est|left-?most|right-?most|top-?most"
    r"|bottom-?most|size|near\w*|close\w*|far|next)\b"
)
"""Words that compare sizes and places: a small difference decides them, so a thing is neither moved nor resized."""


_CLEAR = 12
"""A blur's sigma times this is at most the longer side of the smallest thing, whose state can then still be seen."""
_LOST = 0.1
"""The share of a thing's width or height that a crop or a turn may leave out."""


def scene_moves(case: Case, truth: Truth) -> tuple[tuple[Move, ...], ...]:
    """Return the edits of each drawn image of a case, in directions, each from the smallest to the largest.

    Args:
        case: the case.
        truth: what decides whether an edited scene leaves the truths as they were.
    """
    texts = " ".join(text_of(request).words for request in case.requests).lower()
    fixed = _COMPARED.search(texts) is not None
    images = {image.key: image for request in case.requests for image in images_of(request)}
    found: list[tuple[Move, ...]] = []
    for number, (key, image) in enumerate(images.items(), start=1):
        graph = graph_of(image)
        for direction in scene_edits(graph) if graph is not None else ():
            if fixed and direction[0].act not in ("recolour", "remove"):
                continue
            moves = [_move(edit, key, number if len(images) > 1 else 0, texts) for edit in direction]
            if fixed and direction[0].act == "remove" and moves[0].about == NAMED:
                continue  # what the other one is compared with
            kept = tuple(move for move in moves if truth.keeps(perturbed(case, (move,))))
            found += [kept] if kept else []
    return tuple(found)


def uncut(moves: tuple[Move, ...], graphs: Collection[Graph]) -> tuple[Move, ...]:
    """Return a direction of image changes without those after which a drawn thing is not seen whole and clearly."""
    if moves[0].kind == "blur":
        longer = [max(thing["w"], thing["h"]) for graph in graphs for thing in graph["objects"].values()]
        return tuple(move for move in moves if move.strength <= min(longer, default=inf) / _CLEAR)
    if moves[0].kind == "crop":
        return tuple(move for move in moves if all(_inside(graph, move.strength) for graph in graphs))
    if moves[0].kind == "turn":
        return tuple(move for move in moves if all(_within(graph, move.strength) for graph in graphs))
    return moves


def _inside(graph: Graph, share: float) -> bool:
    """Whether all things are inside an image that loses this share at each side."""
    across, down = graph["width"] * share, graph["height"] * share
    return all(
        thing["x"] >= across - _LOST * thing["w"]
        and thing["y"] >= down - _LOST * thing["h"]
        and thing["x"] + thing["w"] <= graph["width"] - across + _LOST * thing["w"]
        and thing["y"] + thing["h"] <= graph["height"] - down + _LOST * thing["h"]
        for thing in graph["objects"].values()
    )


def _within(graph: Graph, degrees: float) -> bool:
    """Whether the boxes of all things are on the image after a turn about its middle."""
    width, height, angle = graph["width"], graph["height"], radians(degrees)
    for thing in graph["objects"].values():
        for right, low in ((0, 0), (0, 1), (1, 0), (1, 1)):
            inset = (1 - 2 * right) * _LOST, (1 - 2 * low) * _LOST
            x = thing["x"] + (right + inset[0]) * thing["w"] - width / 2
            y = thing["y"] + (low + inset[1]) * thing["h"] - height / 2
            for turn in (angle, -angle):
                across, down = x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn)
                if abs(across) > width / 2 or abs(down) > height / 2:
                    return False
    return True


def _move(edit: SceneEdit, key: str, number: int, texts: str) -> Move:
    where = f"{number}." if number else ""
    named = any(re.search(rf"\b{re.escape(form)}\b", texts) for form in _forms(edit.thing))
    return Move(
        kind=f"{edit.act} {where}{edit.name} ",
        strength=edit.strength,
        says=f"{edit.says}{f' in image {number}' if number else ''}",
        distance=edit.size,
        of=key,
        redraw=edit.redraw,
        family="scene",
        about=NAMED if named else "another thing",
    )


def _forms(thing: str) -> Iterator[str]:
    """The kind of a thing, one or several: "teddy bear" of "red teddy bear"."""
    yield from either_number(thing)
    if " " in thing:
        yield from _forms(thing.partition(" ")[2])

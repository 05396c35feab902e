"""Edits of a drawn scene as moves: one thing moved, resized, recoloured or removed, its texts still true or false."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache, partial
from math import cos, inf, log2, radians, sin

import numpy as np

from vlgate.fixtures.scenes.graph import SMALL_BELOW, GqaObject, GqaRelation, Graph, relation_of
from vlgate.fixtures.scenes.objects.catalogue import CATALOGUE
from vlgate.fixtures.scenes.objects.people import BUILDS
from vlgate.fixtures.scenes.shapes import ALL_COLOURS, COVERINGS, MATERIALS
from vlgate.perturb.text.grammar import either_number
from vlgate.probes.shrink.moves import Move, Truth, graph_of, perturbed, text_of
from vlgate.types import Case, images_of

# Here an edit only has to leave a scene that the world itself could have made: every thing whole, apart from the
# others, and of its class of size. Whether the texts stay true or false is decided by ``truth``.

MARGIN = 4  # pixels between a thing and the border, as in every scene
GAP = 8  # pixels between two things, as in every scene
SKY = 0.4  # the upper share of a scene: clouds and the sun stay there
SMALLEST = 28  # pixels of the longer side; smaller things are hard to recognise
FARTHEST = 48  # the most pixels that a thing is moved by; such a move has the size 1
STEPS = (*range(1, 17), *range(18, FARTHEST + 1, 2))
FACTORS = tuple(1 + step / 20 for step in range(1, 21))
"""A thing becomes this many times as large or as small; twice has the size 1."""
_SIDES: Mapping[str, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_PLACES = frozenset(("to the left of", "to the right of", "above", "below"))
_OWN_SIZE = frozenset(("tall", "short", "long"))  # states that are sizes


def scene_edits(graph: Graph, key: str = "", number: int = 0, texts: str = "") -> Iterator[tuple[Move, ...]]:
    # The edits of one image, by its key; ``number`` tells it from the others of a case, and is 0 if there are none.
    # A thing on, in or under another one, in front of it, or worn or held by somebody, is only recoloured, because what
    # the texts may say of the two follows from both places.
    # Distances: a move counts its pixels as a share of ``FARTHEST``, a resizing the logarithm to base 2 of its factor,
    # a new colour the distance of the two in CIELAB as a share of the largest one of the palette, and a removal 1.
    for name in graph["objects"]:
        for direction in _of_thing(graph, name, key, number, texts):
            redrawn = ((edit, edit.redraw(graph)) for edit in direction if edit.redraw is not None)
            possible = tuple(edit for edit, after in redrawn if _possible(graph, after, name, edit.kind.split()[0]))
            if possible:
                yield possible


def called(thing: GqaObject) -> str:
    colours = [word for word in thing["attributes"] if word in ALL_COLOURS]
    return " ".join((*colours[:1], thing["name"]))


def _of_thing(graph: Graph, name: str, key: str, number: int, texts: str) -> Iterator[tuple[Move, ...]]:
    thing = graph["objects"][name]
    what, words = called(thing), thing["attributes"]
    named = any(re.search(rf"\b{re.escape(form)}\b", texts) for form in _forms(what))
    edit = partial(Move, of=key, family="scene", about=NAMED if named else "another thing")
    own, where = (f"{number}.{name} ", f" in image {number}") if number else (f"{name} ", "")
    yield tuple(
        edit(
            kind=f"recolour {own}",
            strength=list(ALL_COLOURS).index(colour),
            distance=distance,
            says=f"the {what} turned {colour}{where}",
            redraw=partial(_with, name=name, attributes=[colour if word in ALL_COLOURS else word for word in words]),
        )
        for colour, distance in _other_colours(thing)
    )
    if name in _tied(graph) or thing["name"] in BUILDS:
        return
    for side, (across, down) in _SIDES.items():
        yield tuple(
            edit(
                kind=f"move {side} {own}",
                strength=step,
                distance=step / FARTHEST,
                says=f"the {what} moved {step} pixel{'s' * (step > 1)} {'' if down else 'to the '}{side}{where}",
                redraw=partial(_with, name=name, x=thing["x"] + across * step, y=thing["y"] + down * step),
            )
            for step in STEPS
        )
    if _OWN_SIZE.isdisjoint(thing["attributes"]):
        for act, power in (("enlarge", 1), ("reduce", -1)):
            yield tuple(
                edit(
                    kind=f"{act} {own}",
                    strength=round(factor**power, 4),
                    distance=log2(factor),
                    says=f"the {what} drawn {factor**power:.3g} times as wide and high{where}",
                    redraw=partial(_with, name=name, **_resized(thing, factor**power)),
                )
                for factor in FACTORS
            )
    if len(graph["objects"]) > 1:
        says, redraw = f"the {what} taken away{where}", partial(_without, name=name)
        yield (edit(kind=f"remove {own}", strength=1, distance=1.0, says=says, redraw=redraw),)


def _tied(graph: Graph) -> set[str]:
    found: set[str] = set()
    for name, thing in graph["objects"].items():
        others = [link["object"] for link in thing["relations"] if link["name"] not in _PLACES]
        found |= {name, *others} if others else set()
        found |= {name} if "visible" in thing else set()
    return found


def _possible(graph: Graph, edited: Graph, name: str, act: str) -> bool:
    thing = edited["objects"].get(name)
    if thing is None or act == "recolour":
        return True
    before = graph["objects"][name]
    longer = max(thing["w"], thing["h"])
    small = max(before["w"], before["h"]) < SMALL_BELOW
    if act in ("enlarge", "reduce") and ((longer < SMALL_BELOW) != small or longer < SMALLEST):
        return False
    known = CATALOGUE.get(thing["name"])
    lowest = graph["height"] * SKY if known is not None and known.aloft else graph["height"] - MARGIN
    right, low = thing["x"] + thing["w"], thing["y"] + thing["h"]
    inside = min(thing["x"], thing["y"]) >= MARGIN and right <= graph["width"] - MARGIN
    lowest = max(lowest, before["y"] + before["h"])
    others = (other for own, other in graph["objects"].items() if own != name)
    return inside and low <= lowest and all(_apart(thing, other) or not _apart(before, other) for other in others)


def _apart(gqa_object: GqaObject, other: GqaObject) -> bool:
    across = max(gqa_object["x"], other["x"]) - min(gqa_object["x"] + gqa_object["w"], other["x"] + other["w"])
    down = max(gqa_object["y"], other["y"]) - min(gqa_object["y"] + gqa_object["h"], other["y"] + other["h"])
    return max(across, down) >= GAP


def _other_colours(thing: GqaObject) -> list[tuple[str, float]]:
    own = next((word for word in thing["attributes"] if word in ALL_COLOURS), None)
    known = CATALOGUE.get(thing["name"])
    if own is None or known is None or not {*MATERIALS, *COVERINGS}.isdisjoint(thing["attributes"]):
        return []
    apart = _colour_distances()
    return sorted(((other, apart[own, other]) for other in known.colours if other != own), key=lambda found: found[1])


@lru_cache(maxsize=1)
def _colour_distances() -> dict[tuple[str, str], float]:
    import cv2

    rgb = np.array([list(ALL_COLOURS.values())], dtype=np.float32) / 255
    lab = cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)[0]
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    apart = apart / apart.max()
    names = list(ALL_COLOURS)
    return {(a, b): float(apart[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if a != b}


def _resized(thing: GqaObject, factor: float) -> dict[str, int]:
    width, height = max(1, round(thing["w"] * factor)), max(1, round(thing["h"] * factor))
    x, y = thing["x"] + (thing["w"] - width) // 2, thing["y"] + (thing["h"] - height) // 2
    return {"x": x, "y": y, "w": width, "h": height}


def _without(graph: Graph, *, name: str) -> Graph:
    objects = {
        one: {**thing, "relations": [link for link in thing["relations"] if link["object"] != name]}
        for one, thing in graph["objects"].items()
        if one != name
    }
    return {**graph, "objects": objects}  # type: ignore[typeddict-item]  # mypy takes a spread record for a dict


def _with(graph: Graph, /, *, name: str, **fields: object) -> Graph:
    thing = {**graph["objects"][name], **fields}
    objects: dict[str, GqaObject] = {**graph["objects"], name: thing}  # type: ignore[dict-item]
    found = {one: {**other, "relations": _relations(objects, one, name)} for one, other in objects.items()}
    return {**graph, "objects": found}  # type: ignore[typeddict-item]


def _relations(objects: Mapping[str, GqaObject], one: str, edited: str) -> list[GqaRelation]:
    kept: list[GqaRelation] = [
        link for link in objects[one]["relations"] if link["name"] not in _PLACES or edited not in (one, link["object"])
    ]
    for other, thing in objects.items():
        if other != one and edited in (one, other):
            place = relation_of(objects[one], thing)
            tied = any(link["object"] == other for link in kept)
            if place is not None and not tied:
                kept.append({"name": place, "object": other})
    return kept


NAMED = "a thing that the texts name"  # what an edit is about whose thing is of a kind that the texts name
_COMPARED = re.compile(
    r"\b(?:larger|bigger|smaller|taller|shorter|higher|lower|large|small|big|tiny|\w+est|left-?most|right-?most|top-?most"
    r"|bottom-?most|size|near\w*|close\w*|far|next)\b"
)  # words that compare sizes and places: a small difference decides them, so a thing is neither moved nor resized

_CLEAR = 12
"""A blur's sigma times this is at most the longer side of the smallest thing, whose state can then still be seen."""
_LOST = 0.1  # the share of a thing's width or height that a crop or a turn may leave out


def scene_moves(case: Case, truth: Truth) -> tuple[tuple[Move, ...], ...]:
    texts = " ".join(text_of(request).words for request in case.requests).lower()
    fixed = _COMPARED.search(texts) is not None
    images = {image.key: image for request in case.requests for image in images_of(request)}
    found: list[tuple[Move, ...]] = []
    for number, (key, image) in enumerate(images.items(), start=1):
        graph = graph_of(image)
        several = number if len(images) > 1 else 0
        for moves in scene_edits(graph, key, several, texts) if graph is not None else ():
            act = moves[0].kind.split()[0]
            # a removed thing may be what the other one is compared with
            if fixed and (act not in ("recolour", "remove") or (act == "remove" and moves[0].about == NAMED)):
                continue
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


def _forms(thing: str) -> Iterator[str]:
    """The kind of a thing, one or several: "teddy bear" of "red teddy bear"."""
    yield from either_number(thing)
    if " " in thing:
        yield from _forms(thing.partition(" ")[2])

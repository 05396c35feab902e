"""Things in the drawn scenes of trials: how large they are, where they stand, and which have no place in a trial."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from vlgate.fixtures.scenes.graph import HEIGHT, WIDTH, GqaObject, Graph
from vlgate.fixtures.scenes.objects.catalogue import CATALOGUE
from vlgate.fixtures.scenes.outlines import extent
from vlgate.fixtures.scenes.palette import COLOURS, LOCATIONS

Point = tuple[float, float]

KINDS = (
    *("apple", "bag", "ball", "bell", "boat", "book", "car", "chair", "clock", "cup", "fish", "hat", "house", "kite"),
    *("mushroom", "plate", "star", "table", "tree", "umbrella"),
)
"""Kinds whose names are one word that everybody knows, and whose outlines differ."""
SQUARE = ("bag", "ball", "bell", "boat", "cup", "house", "kite", "plate", "star", "umbrella")
"""Those that come in all colours and are about as wide as they are high."""
NARROW = ("balloon", "candle", "ladder", "vase")
"""Kinds that are much higher than they are wide."""
PATTERNED = ("bag", "cup", "flag", "hat", "shirt", "umbrella")
COLOURED = tuple(kind for kind in KINDS if set(COLOURS) <= set(CATALOGUE[kind].colours))
CELLS = 4
"""Cells in a row and in a column of a scene with many things."""


def one_of(chance: np.random.Generator, words: Collection[str], besides: Collection[str] = ()) -> str:
    """Choose one of some words that is none of ``besides``."""
    return str(chance.choice([word for word in words if word not in besides]))


def two_of(chance: np.random.Generator, words: Collection[str]) -> tuple[str, str]:
    """Choose two different words."""
    one, other = chance.choice(list(words), 2, replace=False)
    return str(one), str(other)


def placed(
    looks: Sequence[str], side: float, centre: Point, measure: Callable[[float, float], float] = max
) -> GqaObject:
    """Return a thing around a centre, moved into the image if it would not be inside.

    Args:
        looks: its kind, its colour, and perhaps its pattern.
        side: the ``measure`` of its width and height, in pixels: the longer side, or ``min`` for the shorter one.
        centre: x and y in pixels.
        measure: what ``side`` is.
    """
    kind, *attributes = looks
    left, top, right, bottom = extent(CATALOGUE[kind].look(attributes))
    scale = side / measure(right - left, bottom - top)
    width, height = max(1, round((right - left) * scale)), max(1, round((bottom - top) * scale))
    x = int(np.clip(round(centre[0] - width / 2), 0, WIDTH - width))
    y = int(np.clip(round(centre[1] - height / 2), 0, HEIGHT - height))
    return {"name": kind, "x": x, "y": y, "w": width, "h": height, "attributes": list(attributes), "relations": []}


def scene(chance: np.random.Generator, things: Sequence[GqaObject]) -> Graph:
    """Return the graph of some things before a random background, the first furthest back."""
    objects = {str(number): thing for number, thing in enumerate(things)}
    return {"width": WIDTH, "height": HEIGHT, "location": one_of(chance, sorted(LOCATIONS)), "objects": objects}


def anywhere(chance: np.random.Generator) -> Point:
    """Return a point of the image."""
    return float(chance.uniform(0, WIDTH)), float(chance.uniform(0, HEIGHT))


def cells(chance: np.random.Generator, number: int) -> list[Point]:
    """Return the centres of so many different cells of the image."""
    side = WIDTH / CELLS
    chosen = chance.choice(CELLS * CELLS, number, replace=False)
    return [((cell % CELLS + 0.5) * side, (cell // CELLS + 0.5) * side) for cell in chosen.tolist()]


def phrase(*words: str) -> str:
    """Return words with the article that they take.

    >>> phrase("red", "cup"), phrase("umbrella")
    ('a red cup', 'an umbrella')
    """
    said = " ".join(words)
    return f"{'an' if said[0] in 'aeiou' else 'a'} {said}"

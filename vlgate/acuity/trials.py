"""The trials of each faculty: a fresh drawn scene at a level, a text that is true of it, and one that is false.

The two texts differ in more than one way wherever the faculty allows it, so that a trial needs its own faculty only:
who cannot tell colours still tells a cup from a star.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from vlgate.acuity import placing
from vlgate.acuity.placing import anywhere, cells, one_of, phrase, placed, scene, two_of
from vlgate.acuity.shades import pairs, weight_of
from vlgate.acuity.wordy import before
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import Graph
from vlgate.fixtures.scenes.objects.patterns import PATTERNS
from vlgate.fixtures.scenes.palette import COLOURS
from vlgate.perturb.images.graded import graded, mixture
from vlgate.perturb.inflection import plural
from vlgate.perturb.numbers import NUMBER_WORDS
from vlgate.seeds import generator
from vlgate.types import LazyImage, Match

Chance = np.random.Generator
IN_A_CELL = 52
"""The longer side of one of many things, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One image with a true and a false text; ``place`` is the position of its level among those of the faculty."""

    image: LazyImage
    true: str
    false: str
    place: int

    @property
    def requests(self) -> tuple[Match, Match]:
        """The true and the false text, each with the image."""
        return Match(image=self.image, text=self.true), Match(image=self.image, text=self.false)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a trial shows and says: the graph, and if colours are mixed the graph in the other colour."""

    graph: Graph
    true: str
    false: str
    other: Graph | None = None


def trial(faculty: str, level: float, place: int, seed: str) -> Trial:
    """Make the trial of a seed at a level; every random choice of it depends on the seed alone."""
    made = _SCENES[faculty](generator(seed, n_bytes=32), level)
    image = _drawn(made.graph, f"acuity-{seed.replace('/', '-')}")
    if made.other is not None:
        image = mixture(image, _drawn(made.other, f"{image.key}-other"), level_weight(made, level))
    elif faculty in {"blur", "contrast"}:
        image = graded(image, faculty, level)
    return Trial(image=image, true=made.true, false=made.false, place=place)


def level_weight(made: Scene, level: float) -> float:
    """Return the weight of the other colour in a scene whose two shades are ``level`` apart in CIELAB."""
    graphs = (made.graph, made.other or made.graph)
    one, other = (graph["objects"]["0"]["attributes"][0] for graph in graphs)
    return weight_of(one, other, level)


def _drawn(graph: Graph, key: str) -> LazyImage:
    return LazyImage(key=key, load=Drawing(graph=graph), where="drawn from a scene graph, vlgate acuity")


def _there(*words: str) -> str:
    return f"There is {phrase(*words)}."


def _noun(chance: Chance, level: float) -> Scene:
    kind, other = two_of(chance, placing.SQUARE)
    colour = one_of(chance, COLOURS)
    thing = placed((kind, colour), level, anywhere(chance), min)
    return Scene(graph=scene(chance, [thing]), true=_there(kind), false=_there(other))


def _colour(chance: Chance, _: float) -> Scene:
    known = pairs()
    colours = known[int(chance.integers(len(known)))]
    true, false = (colours[place] for place in chance.permutation(2))
    kind, centre = one_of(chance, placing.COLOURED), anywhere(chance)
    shown, other = (placed((kind, colour), 110, centre) for colour in (true, false))
    graph = scene(chance, [shown])
    return Scene(
        graph=graph,
        other={**graph, "objects": {"0": other}},
        true=f"The {kind} is {true}.",
        false=f"The {kind} is {false}.",
    )


def _count(chance: Chance, level: float) -> Scene:
    number, kind, colour = int(level), one_of(chance, placing.SQUARE), one_of(chance, COLOURS)
    things = [placed((kind, colour), IN_A_CELL, centre) for centre in cells(chance, number)]
    wrong = number + (1 if number == 1 or chance.random() < 0.5 else -1)
    true, false = (
        f"There is exactly one {kind}." if one == 1 else f"There are exactly {NUMBER_WORDS[one]} {plural(kind)}."
        for one in (number, wrong)
    )
    return Scene(graph=scene(chance, things), true=true, false=false)


def _left_right(chance: Chance, level: float) -> Scene:
    kinds, colours = two_of(chance, placing.NARROW), two_of(chance, COLOURS)
    middle = float(chance.uniform(22 + level / 2, 202 - level / 2))
    down = float(chance.uniform(40, 184))
    first_is_left = chance.random() < 0.5
    side = -1 if first_is_left else 1
    things = [
        placed((kinds[one], colours[one]), IN_A_CELL, (middle + way * level / 2, down))
        for one, way in ((0, side), (1, -side))
    ]
    # Ten words at most; two things need no second colour to be told apart by kind or by colour.
    left, right = (
        f"{phrase(colours[0], kinds[0])} is to the {way} of {phrase(kinds[1])}." for way in ("left", "right")
    )
    true, false = (left, right) if first_is_left else (right, left)
    return Scene(graph=scene(chance, things), true=_begun(true), false=_begun(false))


def _begun(text: str) -> str:
    return text[0].upper() + text[1:]


def _size(chance: Chance, level: float) -> Scene:
    kinds, colours = two_of(chance, placing.SQUARE), two_of(chance, COLOURS)
    small = float(chance.uniform(54, 60))
    first_is_large = chance.random() < 0.5
    sides = (small * level, small) if first_is_large else (small, small * level)
    places = chance.permutation([56, 168]).tolist()
    things = [
        placed((kinds[one], colours[one]), sides[one], (places[one], float(chance.uniform(66, 158))), _mean)
        for one in (0, 1)
    ]
    first, second = (f"the {colour} {kind}" for colour, kind in zip(colours, kinds, strict=True))
    larger, smaller = (_begun(f"{first} is {way} than {second}.") for way in ("larger", "smaller"))
    true, false = (larger, smaller) if first_is_large else (smaller, larger)
    return Scene(graph=scene(chance, things), true=true, false=false)


def _mean(width: float, height: float) -> float:
    return float(np.sqrt(width * height))


def _contrast(chance: Chance, _: float) -> Scene:
    kinds, colours = two_of(chance, placing.COLOURED), two_of(chance, COLOURS)
    thing = placed((kinds[0], colours[0]), 110, anywhere(chance))
    true, false = (_there(colour, kind) for colour, kind in zip(colours, kinds, strict=True))
    return Scene(graph=scene(chance, [thing]), true=true, false=false)


def _blur(chance: Chance, _: float) -> Scene:
    kinds, patterns = two_of(chance, placing.PATTERNED), two_of(chance, PATTERNS)
    thing = placed((kinds[0], one_of(chance, COLOURS), patterns[0]), 120, anywhere(chance))
    true, false = (_there(pattern, kind) for pattern, kind in zip(patterns, kinds, strict=True))
    return Scene(graph=scene(chance, [thing]), true=true, false=false)


def _clutter(chance: Chance, level: float) -> Scene:
    kinds, colours = two_of(chance, placing.SQUARE), two_of(chance, COLOURS)
    centre = (float(chance.uniform(60, 164)), float(chance.uniform(60, 164)))
    thing = placed((kinds[0], colours[0]), 90, centre)
    covering = []
    for _ in range(int(level)):
        looks = one_of(chance, placing.COLOURED, kinds), one_of(chance, COLOURS, colours)
        at = (thing["x"] + chance.uniform(0, thing["w"]), thing["y"] + chance.uniform(0, thing["h"]))
        covering.append(placed(looks, float(chance.uniform(26, 36)), at))
    true, false = (_there(colour, kind) for colour, kind in zip(colours, kinds, strict=True))
    return Scene(graph=scene(chance, [thing, *covering]), true=true, false=false)


def _text_length(chance: Chance, level: float) -> Scene:
    kinds = [str(kind) for kind in chance.choice(placing.SQUARE, 5, replace=False)]
    colours = [str(colour) for colour in chance.choice(list(COLOURS), 5, replace=False)]
    *shown, absent = zip(colours, kinds, strict=True)
    corners = [((cell % 2 + 0.5) * 112, (cell // 2 + 0.5) * 112) for cell in chance.permutation(4).tolist()]
    things = [placed((kind, colour), 72, at) for (colour, kind), at in zip(shown, corners, strict=True)]
    said = before(chance, shown[1:], int(level) - 3)
    true, false = (f"{said} {_there(*words)}".strip() for words in (shown[0], absent))
    return Scene(graph=scene(chance, things), true=true, false=false)


def _distractors(chance: Chance, level: float) -> Scene:
    kind, colours, patterns = one_of(chance, placing.PATTERNED), two_of(chance, COLOURS), two_of(chance, PATTERNS)
    plain = one_of(chance, COLOURS, colours)
    first, *others = cells(chance, int(level) + 1)
    thing = placed((kind, colours[0], patterns[0]), IN_A_CELL, first)
    things = [thing, *(placed((kind, plain), IN_A_CELL, at) for at in others)]
    true, false = (_there(pattern, colour, kind) for pattern, colour in zip(patterns, colours, strict=True))
    return Scene(graph=scene(chance, things), true=true, false=false)


_SCENES: Mapping[str, Callable[[Chance, float], Scene]] = MappingProxyType(
    {
        "noun": _noun,
        "colour": _colour,
        "count": _count,
        "left-right": _left_right,
        "size": _size,
        "contrast": _contrast,
        "blur": _blur,
        "clutter": _clutter,
        "text-length": _text_length,
        "distractors": _distractors,
    }
)

"""The trials of each faculty: a fresh drawn scene at a level, a text that is true of it, and one that is false."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import HEIGHT, WIDTH, GqaObject, Graph
from vlgate.fixtures.scenes.objects.catalogue import CATALOGUE
from vlgate.fixtures.scenes.shapes import COLOURS, LOCATIONS, PATTERNS, extent
from vlgate.perturb.images.graded import graded, mixture
from vlgate.perturb.text.grammar import plural
from vlgate.perturb.text.rewriting import NUMBER_WORDS
from vlgate.seeds import generator
from vlgate.types import FloatArray, LazyImage, Match

LEAST = 86.0  # the least distance of the two colours of a trial: that of the easy end
_STEPS = 40  # of a bisection: a weight to 1e-12


@cache  # eight colours
def pairs() -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in combinations(COLOURS, 2) if distance(*pair, 0.0) >= LEAST)


def weight_of(one: str, other: str, level: float) -> float:
    """Return the share of the other colour at which the shade and its mirror image are ``level`` apart, 0 to 0.5."""
    # The mirror image is the other colour with the same share of the first one. OpenCV's conversion has steps of less
    # than 0.1.
    near, far = 0.0, 0.5
    if distance(one, other, near) <= level:
        return near
    for _ in range(_STEPS):
        middle = (near + far) / 2
        near, far = (middle, far) if distance(one, other, middle) > level else (near, middle)
    return near


def distance(one: str, other: str, weight: float) -> float:
    """Return the distance in CIELAB (CIE 1976) of a shade with this share of the other colour from its mirror image."""
    first, second = (np.array(COLOURS[name], np.float64) for name in (one, other))
    shade, mirror = (lab((1 - share) * first + share * second) for share in (weight, 1 - weight))
    return float(np.linalg.norm(shade - mirror))


def lab(rgb: FloatArray) -> FloatArray:
    """Return the CIELAB coordinates of a colour in sRGB, 0 to 255, shape (3,), for the white of D65."""
    import cv2

    pixel = (rgb / 255).astype(np.float32)[None, None]
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_RGB2Lab)[0, 0], dtype=np.float64)


Chance = np.random.Generator
Point = tuple[float, float]

KINDS = (
    "apple bag ball bell boat book car chair clock cup fish hat house kite mushroom plate star table tree umbrella"
).split()  # kinds whose names are one word that everybody knows, and whose outlines differ
SQUARE = ("bag", "ball", "bell", "boat", "cup", "house", "kite", "plate", "star", "umbrella")
"""Those that come in all colours and are about as wide as they are high."""
NARROW = ("balloon", "candle", "ladder", "vase")  # kinds that are much higher than they are wide
PATTERNED = ("bag", "cup", "flag", "hat", "shirt", "umbrella")
COLOURED = tuple(kind for kind in KINDS if set(COLOURS) <= set(CATALOGUE[kind].colours))
CELLS = 4  # cells in a row and in a column of a scene with many things


def one_of(chance: Chance, words: Collection[str], besides: Collection[str] = ()) -> str:
    return str(chance.choice([word for word in words if word not in besides]))


def two_of(chance: Chance, words: Collection[str]) -> tuple[str, str]:
    one, other = chance.choice(list(words), 2, replace=False)
    return str(one), str(other)


def placed(
    looks: Sequence[str], side: float, centre: Point, measure: Callable[[float, float], float] = max
) -> GqaObject:
    kind, *attributes = looks
    left, top, right, bottom = extent(CATALOGUE[kind].look(attributes))
    scale = side / measure(right - left, bottom - top)
    width, height = max(1, round((right - left) * scale)), max(1, round((bottom - top) * scale))
    x = int(np.clip(round(centre[0] - width / 2), 0, WIDTH - width))
    y = int(np.clip(round(centre[1] - height / 2), 0, HEIGHT - height))
    return {"name": kind, "x": x, "y": y, "w": width, "h": height, "attributes": list(attributes), "relations": []}


def anywhere(chance: Chance) -> Point:
    return float(chance.uniform(0, WIDTH)), float(chance.uniform(0, HEIGHT))


def cells(chance: Chance, number: int) -> list[Point]:
    side = WIDTH / CELLS
    chosen = chance.choice(CELLS * CELLS, number, replace=False)
    return [((cell % CELLS + 0.5) * side, (cell // CELLS + 0.5) * side) for cell in chosen.tolist()]


def phrase(*words: str) -> str:
    said = " ".join(words)
    return f"{'an' if said[0] in 'aeiou' else 'a'} {said}"


_FORMS = {
    4: ("The {noun} is {colour}.",),
    5: ("There is {phrase}.", "{Phrase} is visible."),
    6: ("{Phrase} can be seen.", "The picture shows {phrase}.", "{Phrase} can be found."),
}  # sentences by the number of their words, an article and "colour noun" included


def before(chance: Chance, things: Sequence[tuple[str, str]], words: int) -> str:
    """Return true sentences about things, each a colour and a noun, with so many words in all."""
    lengths: list[int] = []
    while words:
        # Lengths that leave a rest that no sentences have are not drawn.
        fits = [length for length in _FORMS if words - length not in {1, 2, 3, 7} and words >= length]
        if not fits:
            known = "expected 0, 4, 5, 6 or more than 7"
            raise ValueError(f"words={words!r}: no sentences of 4 to 6 words have so many; {known}")
        lengths.append(int(chance.choice(fits)))
        words -= lengths[-1]
    sentences = []
    for number, length in enumerate(lengths):
        colour, noun = things[number % len(things)]
        form, name = str(chance.choice(_FORMS[length])), phrase(colour, noun)
        sentences.append(form.format(noun=noun, colour=colour, phrase=name, Phrase=_begun(name)))
    return " ".join(sentences)


# The two texts differ in more than one way wherever the faculty allows it, so that a trial needs its own faculty only:
# who cannot tell colours still tells a cup from a star.

IN_A_CELL = 52  # the longer side of one of many things, in pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    image: LazyImage
    true: str
    false: str
    place: int  # the position of its level among those of the faculty

    @property
    def requests(self) -> tuple[Match, Match]:
        return Match(image=self.image, text=self.true), Match(image=self.image, text=self.false)


Told = tuple[Sequence[GqaObject], str, str]  # things, the first furthest back, a true text and a false one


def trial(faculty: str, level: float, place: int, seed: str) -> Trial:
    chance = generator(seed, n_bytes=32)
    things, true, false = _SCENES[faculty](chance, level)
    key = f"acuity-{seed.replace('/', '-')}"
    shown, *others = [things[:1], things[1:]] if faculty == "colour" else [things]
    objects = {str(number): thing for number, thing in enumerate(shown)}
    location = one_of(chance, sorted(LOCATIONS))
    graph: Graph = {"width": WIDTH, "height": HEIGHT, "location": location, "objects": objects}
    image = _drawn(graph, key)
    for other in others:  # the two shades are ``level`` apart
        one, mixed = (colours[0]["attributes"][0] for colours in (shown, other))
        mirror = _drawn({**graph, "objects": {"0": other[0]}}, f"{key}-other")
        image = mixture(image, mirror, weight_of(one, mixed, level))
    if faculty in {"blur", "contrast"}:
        image = graded(image, faculty, level)
    return Trial(image=image, true=true, false=false, place=place)


def _drawn(graph: Graph, key: str) -> LazyImage:
    return LazyImage(key=key, load=Drawing(graph=graph), where="drawn from a scene graph, vlgate analyse acuity")


def _there(*words: str) -> str:
    return f"There is {phrase(*words)}."


def _noun(chance: Chance, level: float) -> Told:
    kind, other = two_of(chance, SQUARE)
    colour = one_of(chance, COLOURS)
    thing = placed((kind, colour), level, anywhere(chance), min)
    return [thing], _there(kind), _there(other)


def _colour(chance: Chance, _: float) -> Told:
    known = pairs()
    colours = known[int(chance.integers(len(known)))]
    true, false = (colours[place] for place in chance.permutation(2))
    kind, centre = one_of(chance, COLOURED), anywhere(chance)
    shown, other = (placed((kind, colour), 110, centre) for colour in (true, false))
    return (shown, other), f"The {kind} is {true}.", f"The {kind} is {false}."


def _count(chance: Chance, level: float) -> Told:
    number, kind, colour = int(level), one_of(chance, SQUARE), one_of(chance, COLOURS)
    things = [placed((kind, colour), IN_A_CELL, centre) for centre in cells(chance, number)]
    wrong = number + (1 if number == 1 or chance.random() < 0.5 else -1)
    true, false = (
        f"There is exactly one {kind}." if one == 1 else f"There are exactly {NUMBER_WORDS[one]} {plural(kind)}."
        for one in (number, wrong)
    )
    return things, true, false


def _left_right(chance: Chance, level: float) -> Told:
    kinds, colours = two_of(chance, NARROW), two_of(chance, COLOURS)
    middle = float(chance.uniform(22 + level / 2, 202 - level / 2))
    down = float(chance.uniform(40, 184))
    first_is_left = chance.random() < 0.5
    side = -1 if first_is_left else 1
    things = [
        placed((kinds[one], colours[one]), IN_A_CELL, (middle + way * level / 2, down))
        for one, way in ((0, side), (1, -side))
    ]
    # Ten words at most; two things need no second colour to be told apart by kind or by colour.
    first, second = phrase(colours[0], kinds[0]), phrase(kinds[1])
    left, right = (f"{first} is to the {way} of {second}." for way in ("left", "right"))
    true, false = (left, right) if first_is_left else (right, left)
    return things, _begun(true), _begun(false)


def _begun(text: str) -> str:
    return text[0].upper() + text[1:]


def _mean(width: float, height: float) -> float:
    return float(np.sqrt(width * height))


def _size(chance: Chance, level: float) -> Told:
    kinds, colours = two_of(chance, SQUARE), two_of(chance, COLOURS)
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
    return things, true, false


def _contrast(chance: Chance, _: float) -> Told:
    kinds, colours = two_of(chance, COLOURED), two_of(chance, COLOURS)
    thing = placed((kinds[0], colours[0]), 110, anywhere(chance))
    true, false = (_there(colour, kind) for colour, kind in zip(colours, kinds, strict=True))
    return [thing], true, false


def _blur(chance: Chance, _: float) -> Told:
    kinds, patterns = two_of(chance, PATTERNED), two_of(chance, PATTERNS)
    thing = placed((kinds[0], one_of(chance, COLOURS), patterns[0]), 120, anywhere(chance))
    true, false = (_there(pattern, kind) for pattern, kind in zip(patterns, kinds, strict=True))
    return [thing], true, false


def _clutter(chance: Chance, level: float) -> Told:
    kinds, colours = two_of(chance, SQUARE), two_of(chance, COLOURS)
    centre = (float(chance.uniform(60, 164)), float(chance.uniform(60, 164)))
    thing = placed((kinds[0], colours[0]), 90, centre)
    covering = []
    for _ in range(int(level)):
        looks = one_of(chance, COLOURED, kinds), one_of(chance, COLOURS, colours)
        at = (thing["x"] + chance.uniform(0, thing["w"]), thing["y"] + chance.uniform(0, thing["h"]))
        covering.append(placed(looks, float(chance.uniform(26, 36)), at))
    true, false = (_there(colour, kind) for colour, kind in zip(colours, kinds, strict=True))
    return [thing, *covering], true, false


def _text_length(chance: Chance, level: float) -> Told:
    kinds = [str(kind) for kind in chance.choice(SQUARE, 5, replace=False)]
    colours = [str(colour) for colour in chance.choice(list(COLOURS), 5, replace=False)]
    *shown, absent = zip(colours, kinds, strict=True)
    corners = [((cell % 2 + 0.5) * 112, (cell // 2 + 0.5) * 112) for cell in chance.permutation(4).tolist()]
    things = [placed((kind, colour), 72, at) for (colour, kind), at in zip(shown, corners, strict=True)]
    said = before(chance, shown[1:], int(level) - 3)
    true, false = (f"{said} {_there(*words)}".strip() for words in (shown[0], absent))
    return things, true, false


def _distractors(chance: Chance, level: float) -> Told:
    kind, colours, patterns = one_of(chance, PATTERNED), two_of(chance, COLOURS), two_of(chance, PATTERNS)
    plain = one_of(chance, COLOURS, colours)
    first, *others = cells(chance, int(level) + 1)
    thing = placed((kind, colours[0], patterns[0]), IN_A_CELL, first)
    things = [thing, *(placed((kind, plain), IN_A_CELL, at) for at in others)]
    true, false = (_there(pattern, colour, kind) for pattern, colour in zip(patterns, colours, strict=True))
    return things, true, false


_MAKERS = (_noun, _colour, _count, _left_right, _size, _contrast, _blur, _clutter, _text_length, _distractors)
_SCENES = {maker.__name__.removeprefix("_").replace("_", "-"): maker for maker in _MAKERS}  # by the names of faculties

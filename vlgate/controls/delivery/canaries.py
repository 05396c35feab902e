"""The canaries: drawn pictures of one coloured thing, the text that is true of each, and texts that are not.

Nothing in the texts tells which is true: each thing and each colour is in true and in false texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vlgate.fixtures.scenes.draw import draw
from vlgate.fixtures.scenes.graph import HEIGHT, WIDTH, PlacedObject, graph_of
from vlgate.perturb.images.pixels import Pixels

SIDE = 96  # pixels of a thing, of 224
# The second colour is the one that is nearest if red and blue are exchanged, or far from the first if nothing is.
_SHOWN = (
    ("umbrella", "red", "blue"),
    ("house", "blue", "red"),
    ("tree", "green", "pink"),
    ("chair", "pink", "purple"),
    ("car", "yellow", "blue"),
    ("boat", "purple", "pink"),
    ("flower", "pink", "purple"),
    ("fish", "blue", "red"),
    ("book", "red", "blue"),
    ("cup", "green", "yellow"),
    ("hat", "purple", "green"),
    ("table", "brown", "blue"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A thing of one colour; ``other`` is a colour that it does not have, ``beside`` a thing that it is not."""

    kind: str
    colour: str
    other: str
    beside: str

    @property
    def pixels(self) -> Pixels:
        """The picture, of shape (224, 224, 3), on white paper."""
        return drawn(self.kind, self.colour)

    def texts(self, form: str = "There is a {} {}.") -> tuple[str, ...]:
        """Return the text that is true, and three that are not: another colour, another thing, and both."""
        looks = (
            (self.colour, self.kind),
            (self.other, self.kind),
            (self.colour, self.beside),
            (self.other, self.beside),
        )
        return tuple(form.format(*look) for look in looks)


CANARIES: tuple[Canary, ...] = tuple(
    Canary(kind=kind, colour=colour, other=other, beside=_SHOWN[(place + 1) % len(_SHOWN)][0])
    for place, (kind, colour, other) in enumerate(_SHOWN)
)


@lru_cache(maxsize=len(_SHOWN))
def drawn(kind: str, colour: str) -> Pixels:
    """Draw a thing on white paper, shape (224, 224, 3); the array is shared and cannot be written to."""
    thing = PlacedObject(kind=kind, colour=colour, centre=(WIDTH // 2, HEIGHT // 2), side=SIDE)
    pixels: Pixels = np.array(draw(graph_of((thing,), "paper")))
    pixels[(pixels >= 248).all(axis=2)] = 255  # paper is nearly white; only white can be transparent
    pixels.flags.writeable = False
    return pixels

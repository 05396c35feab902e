"""Is a file opened as it is meant: transparent pixels on white, the EXIF orientation applied?

Only a model that opens files by itself can fail here: ``LazyImage.load`` does both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from vlgate.controls.delivery.asking import Asker
from vlgate.controls.delivery.canaries import CANARIES, Canary
from vlgate.controls.delivery.findings import Finding
from vlgate.controls.delivery.likeness import follows
from vlgate.perturb.images.encodings import as_transparent, as_turned
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import FloatArray

SHOWN = CANARIES[:6]
HIDDEN = (90, 160, 90)
"""The colour under the transparent pixels: no colour of a thing, neither white nor black."""
_SEEN = {
    (True, False): "transparent pixels are seen as black ones",
    (False, True): "transparent pixels show the colour that is stored under them, which is black in most files",
    (True, True): "transparent pixels are seen as black, or in the colour that is stored under them, and not as white",
}


def opened(asker: Asker, plain: FloatArray) -> Iterator[Finding]:
    """Yield what is wrong with the way in which files are opened.

    Args:
        asker: asks the model.
        plain: the replies to all canaries as they are, shape (12, 4).
    """
    right = plain[: len(SHOWN)]
    replies = _asked(asker, "alpha", lambda one: as_transparent(one.pixels, HIDDEN))
    black = follows(replies, _asked(asker, "black", lambda one: _instead(one, (0, 0, 0))), right)
    hidden = follows(replies, _asked(asker, "hidden", lambda one: _instead(one, HIDDEN)), right)
    if black or hidden:
        yield Finding(bug="alpha on black", why=_SEEN[black, hidden])
    replies = _asked(asker, "exif", lambda one: as_turned(one.pixels))
    if follows(replies, _asked(asker, "stored", lambda one: np.rot90(one.pixels)), right):
        yield Finding(
            bug="EXIF ignored", why="a photograph that EXIF turns upright is seen as it is stored, on its side"
        )


def _instead(canary: Canary, colour: tuple[int, int, int]) -> Pixels:
    """Return a canary with another colour in place of white."""
    pixels = canary.pixels
    white = (pixels == 255).all(axis=2, keepdims=True)
    return np.where(white, np.array(colour, np.uint8), pixels)


def _asked(asker: Asker, name: str, content: Callable[[Canary], bytes | Pixels]) -> FloatArray:
    images = [asker.image(f"{name}/{place}.png", content(one)) for place, one in enumerate(SHOWN)]
    return asker.scores(images, [one.texts() for one in SHOWN])

"""In which frame does a model see a picture that is not square, and how is a large one made smaller?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vlgate.controls.delivery.asking import Asker
from vlgate.controls.delivery.canaries import CANARIES, Canary
from vlgate.controls.delivery.findings import Finding
from vlgate.controls.delivery.likeness import LEAST, NEAR, distance, spread
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import FloatArray

SHOWN = CANARIES[:6]
ENLARGED = 2
_BLOCK = 4  # pixels of a block in which the texture has the mean of the plain colour
_ALIASED = (
    0.65  # of what picked pixels change; the models of the package 0.22 and 0.43, with the nearest pixel 0.92, 0.82
)
_OTHER_PIXELS = 0.2  # of the same; with the nearest pixel 0.36 and 0.93, and 0 for a model that does not resize


def frame(asker: Asker) -> str:
    """Return how a picture of 2 : 1 becomes square: "stretched", "cropped" or "padded", or "" if it is none of these.

    The replies to it are compared with those to squares that were made of it in each way.
    """
    wide = _asked(asker, "wide", _wide)
    ways = {"stretched": _stretched, "cropped": _cropped, "padded": _padded}
    apart = {name: distance(wide, _asked(asker, name, way)) for name, way in ways.items()}
    nearest, second, last = sorted(apart, key=lambda name: apart[name])
    clear = apart[nearest] <= NEAR * apart[second] and apart[last] > LEAST * spread(wide)
    return nearest if clear else ""


def wrong_frame(found: str, declared: str) -> Finding | None:
    """Return a finding if a picture is not seen in the frame that the model says."""
    if not declared or found in {"", declared} or (declared, found) == ("kept", "padded"):
        return None  # a border changes no aspect
    bug = "stretched aspect" if found == "stretched" else "wrong aspect"
    why = f"a picture of 2 : 1 is {found}, and the model says that it sees pictures {declared}"
    return Finding(bug=bug, why=why)


def aliased(asker: Asker) -> Finding | None:
    """Return a finding if a fine texture changes the replies, although its mean is the plain colour.

    A filter that averages sees nothing of it. One that takes every n-th pixel, or interpolates between two, sees
    patches of wrong colours (Parmar, Zhang and Zhu 2022, section 3), which depend on the pixels that it takes: light
    and dark exchanged give other replies. A model that does not resize sees the texture itself, and both alike.
    """
    fine = _asked(asker, "fine", _textured)
    plain = _asked(asker, "mean", lambda one: _averaged(_textured(one)))
    picked = distance(_asked(asker, "every-4th", lambda one: _every_4th(_textured(one))), plain)
    if not (picked > LEAST * spread(plain) and distance(fine, plain) > _ALIASED * picked):
        return None
    if distance(fine, _asked(asker, "exchanged", lambda one: _textured(one, -1))) <= _OTHER_PIXELS * picked:
        return None
    why = "a texture that a resize averages away changes the replies as if single pixels were picked"
    return Finding(bug="wrong resize filter", why=why)


def _asked(asker: Asker, name: str, pixels: Callable[[Canary], Pixels]) -> FloatArray:
    images = [asker.image(f"{name}/{place}.png", pixels(one)) for place, one in enumerate(SHOWN)]
    return asker.scores(images, [one.texts() for one in SHOWN])


def _wide(canary: Canary) -> Pixels:
    """Return a canary with the next one to its right, of shape (224, 448, 3)."""
    after = CANARIES[(CANARIES.index(canary) + 1) % len(CANARIES)]
    return np.concatenate([canary.pixels, after.pixels], axis=1)


def _stretched(canary: Canary) -> Pixels:
    from PIL import Image

    side = canary.pixels.shape[0]
    return np.array(Image.fromarray(_wide(canary)).resize((side, side), Image.Resampling.BICUBIC))


def _cropped(canary: Canary) -> Pixels:
    side = canary.pixels.shape[0]
    return _wide(canary)[:, side // 2 : side // 2 + side]


def _padded(canary: Canary) -> Pixels:
    half = canary.pixels.shape[0] // 2
    return np.pad(_wide(canary), ((half, half), (0, 0), (0, 0)), constant_values=255)


def _textured(canary: Canary, first: int = 1) -> Pixels:
    """Return a canary at twice its size with a chequered texture whose mean over each block is the canary's colour.

    ``first`` is 1 or -1, which exchanges the light and the dark pixels.
    """
    pixels = _blocks(canary.pixels, ENLARGED).astype(np.int64)
    height, width = pixels.shape[:2]
    down, across = np.indices((height, width))
    block = (down // _BLOCK * 7 + across // _BLOCK * 13) % 5 % 2  # irregular, so that no step of a resize matches it
    sign = np.where((down + across + block) % 2 == 0, first, -first)[..., None]
    return np.asarray(pixels + sign * np.minimum(pixels, 255 - pixels), dtype=np.uint8)


def _averaged(pixels: Pixels) -> Pixels:
    rows, columns = (side // _BLOCK for side in pixels.shape[:2])
    means = pixels.reshape(rows, _BLOCK, columns, _BLOCK, 3).mean(axis=(1, 3))
    return _blocks(np.rint(means).astype(np.uint8), _BLOCK)


def _every_4th(pixels: Pixels) -> Pixels:
    return _blocks(pixels[1::_BLOCK, 2::_BLOCK], _BLOCK)


def _blocks(pixels: Pixels, side: int) -> Pixels:
    """Enlarge an image by repeating its pixels."""
    return pixels.repeat(side, axis=0).repeat(side, axis=1)

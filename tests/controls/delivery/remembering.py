"""A matcher that needs no training: it remembers how each thing looks, and compares small pictures with that."""

import re
from functools import lru_cache
from zlib import crc32

import numpy as np
from PIL import Image

from vlgate.probes.controls.canaries import CANARIES, drawn

_SAID = re.compile(r"(?:There is a|a photo of a|^)\s*(\w+) (\w+)\.?$")
_SIDE = 32


class Remembering:
    """Scores a text by how near the picture is to the thing that it names; other wordings mean nothing to it."""

    aspect = "stretched"

    def match(self, pairs):
        seen = {image: small(image.load()) for image in dict.fromkeys(pair.image for pair in pairs)}
        return np.array([_score(seen[pair.image], pair.text) for pair in pairs])


def small(image):
    """The pixels of an image at the size that the matcher sees, shape (32, 32, 3), in -1..1."""
    return np.asarray(image.resize((_SIDE, _SIDE), Image.Resampling.BOX), dtype=np.float64) / 127.5 - 1


def _score(seen, text):
    named = _SAID.search(text)
    if named is None:  # it takes the text for another one
        one = CANARIES[crc32(text.encode()) % len(CANARIES)]
        return -float(np.abs(seen - _remembered(one.kind, one.colour)).mean())
    return -float(np.abs(seen - _remembered(named[2], named[1])).mean())


@lru_cache(maxsize=200)
def _remembered(kind, colour):
    return small(Image.fromarray(drawn(kind, colour)))

"""The variants of an image that a control shows instead of it: each a file, drawn by the seed and the image's key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from vlgate.perturb.images.benign import MOST_PIXELS, pad, rescale, shift
from vlgate.perturb.images.encodings import LOSSLESS, Encoding, as_jpeg, as_png, as_progressive
from vlgate.perturb.images.pixels import Pixels

OWN = ""
"""The reference of a variant that is compared with the image itself."""
_FACTORS = (0.98, 0.99, 1.01, 1.02)
Make = Callable[[Pixels, np.random.Generator], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A file instead of an image; ``make`` returns None if it does not apply.

    ``family`` is the name of the family that it counts in, and ``reference`` the variant whose verdict its own is
    compared with: that of the image itself, or of the one with the same pixels.
    """

    family: str
    make: Make
    reference: str = OWN


def _encoded(encode: Encoding) -> Make:
    return lambda pixels, _: encode(pixels)


def _padded(pixels: Pixels, chance: np.random.Generator) -> bytes:
    return as_png(pad(pixels, int(chance.integers(1, MOST_PIXELS + 1))))


def _shifted(pixels: Pixels, chance: np.random.Generator) -> bytes:
    """Shift by 1 to 4 pixels to a side, and by 1 to 4 up or down."""
    right, down = (int(one) for one in chance.integers(1, MOST_PIXELS + 1, 2) * chance.choice((-1, 1), 2))
    return as_png(shift(pixels, right, down))


def _rescaled(pixels: Pixels, chance: np.random.Generator) -> bytes:
    return as_png(rescale(pixels, float(chance.choice(_FACTORS))))


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        **{name: Variant(family="reencoded", make=_encoded(encode)) for name, encode in LOSSLESS.items()},
        "jpeg": Variant(family="jpeg", make=_encoded(as_jpeg)),
        "progressive": Variant(family="reencoded", make=_encoded(as_progressive), reference="jpeg"),
        "shift": Variant(family="shift", make=_shifted),
        "pad": Variant(family="pad", make=_padded),
        "rescale": Variant(family="rescale", make=_rescaled),
    }
)
"""All variants, by name; one that another one refers to comes before it."""
FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "reencoded": "the same pixels in another file: PNG, turned by EXIF, palette, transparent white, CMYK; "
        "progressive against baseline JPEG",
        "shift": "moved by 1 to 4 pixels across and down",
        "pad": "a border of 1 to 4 pixels",
        "rescale": "1 or 2 % larger or smaller",
        "jpeg": "JPEG of quality 95",
    }
)
"""What the variants of each family are."""

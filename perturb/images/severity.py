"""How strong a perturbation is: severities 1 to 5, as ImageNet-C has them (Hendrycks and Dietterich 2019)."""

from __future__ import annotations

from hashlib import sha256
from typing import TypeVar

import numpy as np

SEVERITIES = (1, 2, 3, 4, 5)

# The side of the pictures for which ImageNet-C gives its lengths.
_SIDE = 224

T = TypeVar("T")


def at(severity: int, table: tuple[T, ...]) -> T:
    """Return a table's entry for a severity.

    Raises: ValueError where the severity is not 1, 2, 3, 4 or 5.
    """
    if severity not in SEVERITIES:
        raise ValueError(f"severity={severity!r}: expected 1, 2, 3, 4 or 5, from mild to strong")
    return table[severity - 1]


def scale_of(shape: tuple[int, ...]) -> float:
    """Return by what ImageNet-C's lengths grow for a picture of ``shape`` (h, w, ...): its shorter side over 224.

    So a severity looks the same to a model, whatever the size of the file. Never below 1.
    """
    return max(1.0, min(shape[:2]) / _SIDE)


def generator(name: str, seed: int) -> np.random.Generator:
    """Return the random numbers of one perturbation under one seed; nothing else uses them up.

    >>> generator("rotate", 0).random() == generator("rotate", 0).random()
    True
    """
    return np.random.default_rng(int.from_bytes(sha256(f"{name}/{seed}".encode()).digest()[:16], "big"))

"""Severities 1 to 5 of perturbations, after ImageNet-C (Hendrycks and Dietterich 2019).

An image can still be read at every severity. ``contrast``, ``defocus_blur`` and ``motion_blur`` of ImageNet-C go
further; docs/severities.md has the figures.
"""

from __future__ import annotations

from typing import TypeVar

SEVERITIES = (1, 2, 3, 4, 5)

# The side of the images for which ImageNet-C gives its lengths.
_SIDE = 224

T = TypeVar("T")


def at(severity: int, table: tuple[T, ...]) -> T:
    """Return a table's entry for a severity.

    Raises: ValueError if the severity is not 1, 2, 3, 4 or 5.
    """
    if severity not in SEVERITIES:
        raise ValueError(f"severity={severity!r}: expected 1, 2, 3, 4 or 5, from mild to strong")
    return table[severity - 1]


def scale_of(shape: tuple[int, ...]) -> float:
    """Return the factor of ImageNet-C's lengths for an image of ``shape`` (h, w, ...): its shorter side over 224.

    So a severity looks the same to a model, whatever the size of the file. The factor is at least 1.
    """
    return max(1.0, min(shape[:2]) / _SIDE)

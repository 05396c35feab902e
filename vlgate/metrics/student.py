"""Quantiles of Student's t distribution, for intervals over few images; numpy has none, and scipy is not required."""

from __future__ import annotations

from functools import lru_cache
from math import cos, pi, sin, sqrt, tan
from statistics import NormalDist

_MANY = 100  # above, the expansion is exact to 1e-9 for confidences up to 0.9999


@lru_cache(maxsize=1024)
def two_sided(confidence: float, freedom: int) -> float:
    """Return the t between whose negative and itself Student's distribution holds ``confidence``.

    Args:
        confidence: the probability between -t and t.
        freedom: the degrees of freedom.

    Returns: t, above 0.
    Raises: ValueError if ``freedom`` is below 1 or ``confidence`` is not between 0 and 1.

    >>> round(two_sided(0.95, 9), 3)
    2.262
    """
    if freedom < 1 or not 0.0 < confidence < 1.0:
        raise ValueError(
            f"two_sided(confidence={confidence!r}, freedom={freedom!r}): expected a confidence between 0 and 1, and at "
            "least 1 degree of freedom"
        )
    if freedom > _MANY:
        return _expanded(NormalDist().inv_cdf(0.5 + confidence / 2), freedom)
    low, high = 0.0, pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _central(middle, freedom) < confidence else (low, middle)
    return sqrt(freedom) * tan(low)


def _expanded(x: float, freedom: int) -> float:
    """The Cornish-Fisher expansion (Abramowitz, Stegun 1964, 26.7.5)."""
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / float(freedom) ** power for power, term in enumerate(terms, start=1))


def _central(angle: float, freedom: int) -> float:
    """The probability between -t and t, with t = sqrt(freedom) tan(angle) (Abramowitz, Stegun 1964, 26.7.3 and 4)."""
    odd = freedom % 2
    term, total = 1.0, 0.0
    for step in range(freedom // 2):
        total += term
        term *= cos(angle) ** 2 * (2 * step + 1 + odd) / (2 * step + 2 + odd)
    if not odd:
        return sin(angle) * total
    return 2 / pi * (angle + sin(angle) * cos(angle) * total)

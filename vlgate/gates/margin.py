"""A threshold with a margin: the highest one that the same model passes in nearly all new samples of cases."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import Clusters
from vlgate.metrics.stats import proportion
from vlgate.seeds import generator
from vlgate.types import FloatArray

_DRAWS = 1_000  # at least, so that a rate of 95 % is within 1.4 % of the exact one, 19 times in 20
_MORE = 20_000  # if no image has two cases, because such samples cost little
_STEP = Decimal("0.01")
_SHARES = np.sin((np.arange(200) + 0.5) * np.pi / 400) ** 2  # even steps of the arcsine, which is Jeffreys' prior
_ALIKE = (np.arange(20) + 0.5) / 20  # how much the cases of an image are alike: any correlation is as likely before


def threshold_with_margin(values: FloatArray, groups: Clusters, misses: float, name: str) -> tuple[Decimal, float]:
    """Return the highest threshold of two decimals that new samples of the same model's cases pass often enough.

    A sample passes if the lower end of its interval of 95 % reaches the threshold, which is never above the lower end
    that was measured.

    Args:
        values: what each case contributes to the metric, shape (n,), 1 for a right one.
        groups: the images of the cases.
        misses: the share of new samples that may miss the threshold, above 0.
        name: names the gate, and seeds the samples.

    Returns: the threshold, and the share of new samples that pass it.

    >>> cases = Clusters(codes=np.arange(40), sizes=np.ones(40))
    >>> threshold_with_margin(np.ones(40), cases, 0.05, "a gate")[0]
    Decimal('0.83')
    """
    draws = max(_MORE if groups.single else _DRAWS, round(1 / misses))
    lows = np.sort(np.fromiter(_new_lows(values, groups, draws, generator(f"new samples:{name}")), np.float64, draws))
    least = min(lows[max(0, int(misses * (draws + 1)) - 1)], proportion(values, groups).low)
    threshold = Decimal(repr(float(least))).quantize(_STEP, rounding=ROUND_FLOOR)
    return threshold, float((lows >= float(threshold)).mean())


def _new_lows(values: FloatArray, groups: Clusters, draws: int, random: np.random.Generator) -> Iterator[float]:
    """Yield the lower ends of new samples with as many images and cases.

    The true share is not known, nor how much the cases of an image are alike. Each sample takes both from what the
    measured one leaves open, so that the number of right cases of an image is beta-binomial, and so is their sum if
    each case has an image of its own.
    """
    sizes = groups.sizes.astype(np.int64)
    right = np.floor(np.bincount(groups.codes, weights=values, minlength=len(sizes))).astype(np.int64)
    likely = _likely(right, sizes)
    order = np.argsort(groups.codes, kind="stable")
    inside = np.empty(len(values))  # the number of a case within its image
    inside[order] = np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    known: dict[int, float] = {}  # without shared images, the number of right cases decides
    for place in random.choice(likely.size, draws, p=likely.reshape(-1)):
        share, alike = _SHARES[place // _ALIKE.size], _ALIKE[place % _ALIKE.size]
        if groups.single:
            count = int(random.binomial(len(values), share))
            if count not in known:
                known[count] = proportion((np.arange(len(values)) < count).astype(np.float64), groups).low
            yield known[count]
            continue
        spread = (1 - alike) / alike
        counts = random.binomial(sizes, random.beta(share * spread, (1 - share) * spread, len(sizes)))
        yield proportion((inside < counts[groups.codes]).astype(np.float64), groups).low


def _likely(right: NDArray[np.int64], sizes: NDArray[np.int64]) -> FloatArray:
    """The probability of each share and likeness of the grid, given how many cases of each image are right."""
    spread = (1 - _ALIKE) / _ALIKE
    a, b = _SHARES[:, None] * spread, (1 - _SHARES[:, None]) * spread
    logs = np.zeros(a.shape)
    for number in range(int(sizes.max())):
        logs += np.log(a + number) * (right > number).sum()
        logs += np.log(b + number) * (sizes - right > number).sum()
        logs -= np.log(spread + number) * (sizes > number).sum()
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())

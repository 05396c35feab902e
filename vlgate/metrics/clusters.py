"""The design effect: how many independent cases those of shared images are worth; Student's t for few images."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin, sqrt, tan
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from vlgate.types import Case, Compare, FloatArray, Match, Matches, Request, images_of

# Quantiles of Student's t distribution, for intervals over few images; numpy has none, and scipy is not required.

_MANY = 100  # above, the expansion is exact to 1e-9 for confidences up to 0.9999


@lru_cache(maxsize=1024)
def two_sided(confidence: float, freedom: int) -> float:
    """Return the t between whose negative and itself Student's distribution holds ``confidence``."""
    if freedom < 1 or not 0.0 < confidence < 1.0:
        expected = "expected a confidence between 0 and 1, and at least 1 degree of freedom"
        raise ValueError(f"two_sided(confidence={confidence!r}, freedom={freedom!r}): {expected}")
    if freedom > _MANY:
        x = NormalDist().inv_cdf(0.5 + confidence / 2)
        # the Cornish-Fisher expansion (Abramowitz, Stegun 1964, 26.7.5)
        terms = (
            (x**3 + x) / 4,
            (5 * x**5 + 16 * x**3 + 3 * x) / 96,
            (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
            (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
        )
        return x + sum(term / float(freedom) ** power for power, term in enumerate(terms, start=1))
    low, high = 0.0, pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _central(middle, freedom) < confidence else (low, middle)
    return sqrt(freedom) * tan(low)


def _central(angle: float, freedom: int) -> float:
    # the probability between -t and t, with t = sqrt(freedom) tan(angle) (Abramowitz, Stegun 1964, 26.7.3 and 4)
    odd = freedom % 2
    term, total = 1.0, 0.0
    for step in range(freedom // 2):
        total += term
        term *= cos(angle) ** 2 * (2 * step + 1 + odd) / (2 * step + 2 + odd)
    return 2 / pi * (angle + sin(angle) * cos(angle) * total) if odd else sin(angle) * total


# Cases of one image are not independent: the design effect says how many independent cases they are worth.

BETWEEN = " | "  # what stands between the keys of the images of one request in the files of a run
_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

_PRIOR = 2.0  # of 0, 1, 2 and 4 the weight that covers best; see benchmarks/coverage.py
_PRIOR_OF_SIZES = 0.2  # the smallest with at most 4 % false passes; see benchmarks/false_passes.py
_ROUNDING = 1e-12
_NAME_GOES_ON = re.compile(r"/|\.[A-Za-z]\w{2,3}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """The clusters of n cases: ``codes``, shape (n,), number them, ``sizes``, shape (c,), counts their cases."""

    codes: NDArray[np.int64]
    sizes: FloatArray

    @property
    def single(self) -> bool:
        return len(self.sizes) == len(self.codes)

    @property
    def equal(self) -> bool:
        return bool((self.sizes == self.sizes[0]).all())

    def take(self, rows: NDArray[np.intp]) -> Clusters:
        """Return the clusters of some of the cases; a case whose row is named twice counts twice."""
        all_of_them = len(rows) == len(self.codes) and bool((rows == np.arange(len(rows))).all())
        return self if all_of_them else numbered(self.codes[rows])

    def repeated(self, times: int) -> Clusters:
        return self if times == 1 else Clusters(codes=np.repeat(self.codes, times), sizes=self.sizes * times)

    def joined(self, sets: NDArray[np.int64]) -> Clusters:
        """Return the clusters if the cases of a set are in one; ``sets``, shape (n,), numbers them, -1 for none."""
        names: dict[int, list[str]] = {}
        for number, code in zip(sets.tolist(), self.codes.astype(str).tolist(), strict=True):
            names.setdefault(number, []).append(code)
        names.pop(-1, None)
        above = connected(names.values())
        return clusters([above.get(code, code) for code in self.codes.astype(str).tolist()])

    def effect(
        self, deviations: FloatArray, independent: float, confidence: float, surplus: float = 0.0
    ) -> tuple[float, float]:
        """Estimate the design effect of an estimate that is a sum over cases, and what it means for an interval.

        The design effect is the variance between clusters (Kish, Frankel 1974: the ratio estimator, linearized),
        divided by that of independent cases. Few clusters estimate it badly, and deviations that come from few clusters
        do so too. So it is averaged with its largest value ``sum(sizes**2) / n``, which holds if the cases of an image
        are all alike: with weights ``g**3`` and 2; ``g = sum(d**2)**2 / sum(d**4)`` is the number of clusters that the
        deviations come from. Without it, intervals of proportions near 0 or 1 cover too little (Franco et al. 2019,
        section 4).

        In an interval each of the two is multiplied with ``(t / z)**2``. The degrees of freedom of the estimate are
        Satterthwaite's (1946), ``2 c g / (c - g)``, from the kurtosis of the deviations; for c clusters of equal size
        that is about c, and less if few of them are large. They are at most c - 1. The interval is the wider one of
        that of clusters and that of independent cases.

        If few large clusters are right by chance, their deviations are small and say nothing of how much they vary. So
        both results are at least those of the variance plus ``surplus``, which compares the cases within a cluster;
        see there. It is averaged with the largest value, too: with weights ``h**2`` and ``0.2 * (1 - h / c)``; ``h`` is
        the number of clusters that matter by their sizes, ``sum(sizes**2)**2 / sum(sizes**4)`` (Carter, Schnepel,
        Steigerwald 2017). In an interval it has c - 1 degrees of freedom.

        - ``deviations``: shape (c,), the sum over each cluster of what its cases contribute; their sum is 0.

        Returns: the design effect, and the factor of the variance of independent cases in an interval.
        """
        if self.single:
            return 1.0, 1.0
        n, count = len(self.codes), len(self.sizes)
        largest = float((self.sizes**2).sum()) / n
        if count == 1:
            return largest, largest
        widest = largest * _student(confidence, count - 1)
        if independent <= 0.0:
            return largest, widest
        squares = np.sort(deviations**2)  # sorted, so that the order of the cases changes no digit
        total = float(squares.sum())
        expected = independent * (1 - largest / n)
        estimate = total / expected
        even = total <= _ROUNDING * independent  # the clusters do not differ
        sources = count if even else total * total / float((squares**2).sum())
        freedom = 2 * count * sources / max(_ROUNDING, count - sources)
        wide = estimate * _student(confidence, max(1, round(min(freedom, count - 1))))
        large = float((self.sizes**2).sum()) ** 2 / float((self.sizes**4).sum())
        within, prior = (total + surplus) / expected, _PRIOR_OF_SIZES * (1 - large / count)
        least = _average(max(1.0, within), large**2, largest, prior)
        least_wide = _average(max(1.0, within * widest / largest), large**2, widest, prior)
        return (
            max(least, _average(estimate, sources**3, largest, _PRIOR)),
            max(least_wide, _average(wide, sources**3, widest, _PRIOR)),
        )

    def surplus(self, squares: FloatArray, expected: FloatArray | None = None) -> float:
        """Return how much more the sums of clusters vary than their deviations tell, from squared contributions."""
        # The cases of a cluster that are more alike than those of the whole task are so in other samples, too, in which
        # the cluster is another one. The variance of m cases is ``m`` times what their squared contributions lack of
        # those of any m cases, plus the squared deviation. That is the analysis of variance between and within clusters
        # (Fleiss, Cuzick 1979), weighted by size. For clusters of equal size it adds up to 0.
        # ``expected``, shape (n,), is what such cases contribute on average; None for the mean of all squares.
        if self.equal:
            return 0.0
        lacking = (float(np.sort(squares).mean()) if expected is None else expected) - squares
        # Whole units add up alike in any order of the cases, up to 2**52 of them.
        unit = float(np.abs(lacking).max()) * 2.0 ** (int(self.sizes.max()).bit_length() - 52)
        if unit <= 0.0:
            return 0.0
        sums = np.bincount(self.codes, weights=np.rint(lacking / unit))
        return unit * float(np.sort(self.sizes * sums).sum())


def photograph(key: str) -> str:
    """Return the key of the image that a region or a perturbed image was made from: cases of both are alike."""
    # A ``#`` before the end of a file's name is part of the name.
    name, _, rest = key.rpartition("#")
    return photograph(name) if name and not _NAME_GOES_ON.search(rest) else key


def connected(sets: Iterable[Iterable[str]]) -> dict[str, str]:
    """Return the component of each image, by key: the smallest photograph that sets of images connect it to."""
    above: dict[str, str] = {}  # a smaller photograph for each that cases connect to one
    photographs: dict[str, str] = {}
    for keys in sets:
        first = ""
        for key in keys:
            name = photographs.get(key)
            if name is None:
                name = photographs[key] = photograph(key)
            if first and name != first:
                low, high = sorted((_top(above, name), _top(above, first)))
                above[high] = low
            first = name
    if above:
        for key, name in photographs.items():  # in place, because a dict of a million images takes 80 MB
            photographs[key] = _top(above, name)
    return photographs


def case_clusters(cases: Sequence[Case]) -> tuple[str, ...]:
    return _component_names([case.id for case in cases], map(image_keys, cases))


def recorded_clusters(ids: Sequence[str], images: Sequence[Sequence[str | None]], *, together: bool) -> tuple[str, ...]:
    # Cases that share any image are in one cluster, and so are those that other cases connect: the clusters are the
    # connected components of all images of all cases. The order of the images of a case makes no difference.
    keys = [[key for key in of_case if key] for of_case in images]
    if together:
        keys = [[key for joined in of_case for key in joined.split(BETWEEN)] for of_case in keys]
    return _component_names(ids, keys)


def image_keys(case: Case) -> list[str]:
    """Return the keys of all images of a case; those of images shown together are read as the files of a run are."""
    if isinstance(case.requests, Matches):
        return [case.requests.image.key]
    shown = [(image.key, isinstance(request, Compare)) for request in case.requests for image in images_of(request)]
    return [key for joined, together in shown for key in (joined.split(BETWEEN) if together else (joined,))]


def _component_names(ids: Sequence[str], keys: Iterable[Sequence[str]]) -> tuple[str, ...]:
    first: list[str | None] = []

    def noted() -> Iterator[Sequence[str]]:  # so that the keys of all cases are not in memory at once
        for own in keys:
            first.append(own[0] if own else None)
            yield own

    components = connected(noted())
    return tuple(case if key is None else components[key] for case, key in zip(ids, first, strict=True))


def _top(above: dict[str, str], name: str) -> str:
    while (up := above.get(name, name)) != name:
        above[name] = name = above.get(up, up)
    return name


def ordinal(place: int) -> str:
    number = place + 1
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return _WORDS[place] if place < len(_WORDS) else f"{number}{ending}"


def clusters(names: Sequence[str] | NDArray[np.str_]) -> Clusters:
    numbers: dict[str, int] = {}
    given = names.tolist() if isinstance(names, np.ndarray) else names
    codes = np.fromiter((numbers.setdefault(name, len(numbers)) for name in given), dtype=np.int64, count=len(given))
    return Clusters(codes=codes, sizes=np.bincount(codes).astype(np.float64))


def each(n: int) -> Clusters:
    return Clusters(codes=np.arange(n), sizes=np.ones(n))


def numbered(codes: NDArray[np.int64]) -> Clusters:
    sizes = np.bincount(codes)
    there = sizes > 0
    numbers = codes if there.all() else (np.cumsum(there) - 1)[codes]
    return Clusters(codes=numbers, sizes=sizes[there].astype(np.float64))


def _average(estimate: float, weight: float, largest: float, prior: float) -> float:
    return (weight * estimate + prior * largest) / (weight + prior)


def _student(confidence: float, freedom: int) -> float:
    """How much larger a variance must be for z to give the interval that Student's t gives."""
    return (two_sided(confidence, freedom) / NormalDist().inv_cdf(0.5 + confidence / 2)) ** 2


def image_of(request: Request) -> str | None:
    """Return the key of the image of a request; several keys are joined by ``BETWEEN``; None without an image."""
    if isinstance(request, Match):  # the most frequent kind
        return request.image.key
    return BETWEEN.join(image.key for image in images_of(request)) or None

"""Cases of one image are not independent: the design effect says how many independent cases they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.student import two_sided
from vlgate.types import Case, Compare, FloatArray, Shape, images_of

BETWEEN = " | "
"""What stands between the keys of the images of one request in the files of a run."""
_SHOWN_TOGETHER = frozenset(("image_choice", "question_quad", "twin_questions"))  # by the first request already
_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

_PRIOR = 2.0  # of 0, 1, 2 and 4 the weight that covers best; see benchmarks/coverage.py
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """The clusters of n cases: ``codes`` of shape (n,) number them, ``sizes`` of shape (c,) counts their cases."""

    codes: NDArray[np.int64]
    sizes: FloatArray

    @property
    def single(self) -> bool:
        """Whether each case has a cluster of its own."""
        return len(self.sizes) == len(self.codes)

    def take(self, rows: NDArray[np.intp]) -> Clusters:
        """Return the clusters of some of the cases; a case whose row is named twice counts twice."""
        all_of_them = len(rows) == len(self.codes) and bool((rows == np.arange(len(rows))).all())
        return self if all_of_them else numbered(self.codes[rows])

    def effect(self, deviations: FloatArray, independent: float, confidence: float) -> tuple[float, float]:
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

        Args:
            deviations: shape (c,), the sum over each cluster of what its cases contribute; their sum is 0.
            independent: the sum of the squared contributions that is expected of n independent cases.
            confidence: of the two-sided interval.

        Returns: the design effect, and the factor of the variance of independent cases in an interval with the
            normal's z; both are at least 1, 1.0 if each case has a cluster of its own, and n if there is one cluster.
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
        found = total / (independent * (1 - largest / n))
        even = total <= _ROUNDING * independent  # the clusters do not differ
        sources = count if even else total * total / float((squares**2).sum())
        freedom = 2 * count * sources / max(_ROUNDING, count - sources)
        wide = found * _student(confidence, max(1, round(min(freedom, count - 1))))
        weight = sources**3
        return (
            max(1.0, float(weight * found + _PRIOR * largest) / (weight + _PRIOR)),
            max(1.0, float(weight * wide + _PRIOR * widest) / (weight + _PRIOR)),
        )


def photograph(key: str) -> str:
    """Return the key of the image that a region or a perturbed image was made from: cases of both are alike.

    >>> photograph("2343.jpg#10,20,30,40"), photograph("2343.jpg")
    ('2343.jpg', '2343.jpg')
    """
    return key.partition("#")[0] or key


def cluster_of(case: Case, shape: Shape) -> str:
    """Return the name of the cluster of a case; see ``recorded_cluster``."""
    first, truth = case.requests[0], case.truths[0]
    keys = BETWEEN.join(image.key for image in images_of(first))
    return recorded_cluster(shape, case.id, keys, str(truth), together=isinstance(first, Compare))


def recorded_cluster(shape: Shape, case: str, images: str | None, truth: str, *, together: bool) -> str:
    """Return the name of the cluster of a case, from what the files of a run say of its first request.

    It is the photograph that the request is about: its first image, or that of the text if several are shown to choose
    from, whatever their order.

    Args:
        shape: the shape of the case.
        case: its id, which is the name if it has no image.
        images: the key of the image, or those of several, joined by ``BETWEEN``; None or empty without one.
        truth: the right answer.
        together: whether the case is asked with its images together.

    >>> recorded_cluster("image_choice", "1", "b.jpg | a.jpg", "second", together=True)
    'a.jpg'
    >>> recorded_cluster("pair", "1", "a.jpg#0,0,9,9", "true", together=False)
    'a.jpg'
    """
    if not images:
        return case
    if not together or shape not in _SHOWN_TOGETHER:
        return photograph(images)
    shown = images.split(BETWEEN)
    names = list(map(ordinal, range(len(shown)))) if shape == "image_choice" else []
    return photograph(shown[names.index(truth)] if truth in names else shown[0])


def ordinal(place: int) -> str:
    """Return the word for the position of a candidate, counted from 0.

    >>> ordinal(0), ordinal(9), ordinal(10), ordinal(21)
    ('first', 'tenth', '11th', '22nd')
    """
    if place < len(_WORDS):
        return _WORDS[place]
    number = place + 1
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def clusters(names: Sequence[str] | NDArray[np.str_]) -> Clusters:
    """Group cases by the names of their images, shape (n,).

    >>> clusters(["a.jpg", "b.jpg", "a.jpg"]).sizes.tolist()
    [2.0, 1.0]
    """
    numbers: dict[str, int] = {}
    given = names.tolist() if isinstance(names, np.ndarray) else names
    codes = np.fromiter((numbers.setdefault(name, len(numbers)) for name in given), dtype=np.int64, count=len(given))
    return Clusters(codes=codes, sizes=np.bincount(codes).astype(np.float64))


def numbered(codes: NDArray[np.int64]) -> Clusters:
    """Group cases by the numbers of their images, shape (n,)."""
    _, numbers = np.unique(codes, return_inverse=True)
    numbers = numbers.reshape(-1).astype(np.int64)
    return Clusters(codes=numbers, sizes=np.bincount(numbers).astype(np.float64))


def _student(confidence: float, freedom: int) -> float:
    """How much larger a variance must be for z to give the interval that Student's t gives."""
    return (two_sided(confidence, freedom) / NormalDist().inv_cdf(0.5 + confidence / 2)) ** 2

"""Groups of images that must stay together when a task is divided into folds for cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from vlgate.metrics.clusters import connected
from vlgate.types import Case, images_of

FOLDS = 10


def tied_images(cases: Iterable[Case]) -> dict[str, str]:
    """Return the group of each image, by key: the smallest photograph among those that cases connect.

    The images of one case stay together, and so do the regions of one photograph; see ``metrics.clusters.connected``.
    If a quad were divided, a classifier would learn its texts with reversed truths.

    >>> tied_images([])
    {}
    """
    return connected([image.key for request in case.requests for image in images_of(request)] for case in cases)


def fold_of(group: str) -> int:
    """Return the fold of a group of images, in 0..FOLDS - 1: a hash of the group's name.

    >>> fold_of("2357834.jpg") == fold_of("2357834.jpg")
    True
    """
    return int.from_bytes(blake2b(group.encode(), digest_size=8).digest(), "big") % FOLDS

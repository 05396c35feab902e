"""Does a picture arrive at all, is it the right one, in the right order, and is it looked at anew?

Each question compares replies about one picture with replies about another, so it needs no truth.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vlgate.controls.delivery.asking import Asker
from vlgate.controls.delivery.canaries import CANARIES
from vlgate.controls.delivery.findings import Finding
from vlgate.controls.delivery.likeness import LEAST, distance, spread
from vlgate.types import FloatArray

SHOWN = CANARIES[:8]
TEXTS = (SHOWN[0].texts()[0], SHOWN[4].texts()[0])
"""All pictures are asked the same, so that only the picture can make replies differ."""
LOST = "lost image"
"""The fault of a model whose replies do not depend on the picture."""
_SAME = 1e-6
_PAIR = 2


def alone(asker: Asker) -> FloatArray:
    """Return the replies to each picture in a call of its own, shape (8, 2)."""
    return np.concatenate(
        [asker.scores([asker.image(f"alone/{place}.png", one.pixels)], [TEXTS]) for place, one in enumerate(SHOWN)]
    )


def lost(apart: FloatArray) -> Finding | None:
    """Return a finding if all pictures have the same replies, up to rounding.

    Args:
        apart: the replies of ``alone``.
    """
    if float(np.ptp(apart, axis=0).max()) > _SAME * max(1.0, float(np.abs(apart).max())):
        return None
    why = f"{len(apart)} different pictures get the same scores, so no picture arrives, or the same one each time"
    return Finding(bug=LOST, why=why, or_else=("wrong image",))


def by_name(asker: Asker, apart: FloatArray) -> bool:
    """Return whether a copy of a picture in a file of another name gets another reply."""
    copies = np.concatenate(
        [asker.scores([asker.image(f"copy-of-{place}.png", SHOWN[place].pixels)], [TEXTS]) for place in range(_PAIR)]
    )
    return distance(copies, apart[:_PAIR]) > LEAST * spread(apart)


def misplaced(asker: Asker, apart: FloatArray) -> Finding | None:
    """Return a finding if pictures that are asked together get the replies of other ones of the call."""
    images = [asker.image(f"together/{place}.png", one.pixels) for place, one in enumerate(SHOWN)]
    together = asker.scores(images, [TEXTS] * len(images))
    near = LEAST * spread(apart)
    apart_by = np.abs(together[:, None] - apart[None]).mean(axis=2)
    got = apart_by.argmin(axis=1)
    # A reply that is right, or like no other one, says nothing about places.
    if (np.diag(apart_by) <= near).all() or (apart_by.min(axis=1) > near).any():
        return None
    moved = int((got != np.arange(len(got))).sum())
    said = f"in one call {moved} of {len(got)} pictures get the reply that another one gets in a call of its own"
    if not _all_differ(apart, near):
        return Finding(bug="image order swapped", why=said, or_else=("wrong image",))
    if len(set(got.tolist())) == len(got):
        return Finding(bug="image order swapped", why=f"{said}, each another one")
    return Finding(bug="wrong image", why=f"{said}, and several get that of the same one")


def _all_differ(apart: FloatArray, near: float) -> bool:
    """Return whether the replies to each picture are unlike those to any other, so that they tell which one it was."""
    between = np.abs(apart[:, None] - apart[None]).mean(axis=2)
    return bool((between[~np.eye(len(apart), dtype=bool)] > near).all())


def kept(asker: Asker, apart: FloatArray) -> Iterator[Finding]:
    """Yield a finding if a file with new content, or another file of the same name, gets the old reply."""
    asker.scores([asker.image("kept/first/same.png", SHOWN[0].pixels)], [TEXTS])
    tried = (
        ("kept/first/same.png", 1, "stale cache", "a file that got new content keeps the reply to the old content"),
        (
            "kept/second/same.png",
            2,
            "wrong image",
            "a file gets the reply to a file of the same name in another folder",
        ),
    )
    for name, place, bug, why in tried:
        reply = asker.scores([asker.image(name, SHOWN[place].pixels)], [TEXTS])[0]
        old = min(distance(reply, apart[earlier]) for earlier in range(place))
        if distance(reply, apart[place]) > LEAST * spread(apart) >= old:
            yield Finding(bug=bug, why=why)

"""Whether explanations of right answers point at the object that decides, which the scene graph tells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vlgate.explaining.changes import images_of
from vlgate.explaining.deciding import Deciding, deciding
from vlgate.explaining.rates import Hit, hit
from vlgate.explaining.record import Explanation
from vlgate.fixtures.reader.reading import Reading
from vlgate.types import Case, Match


def hits(found: Explanation, case: Case, reading: Reading) -> Iterator[tuple[str, Hit]]:
    """Yield each method of an explanation with whether it points at an object that decides, for each image.

    Maps of attention count for texts that are true, or for the first text of an image about which none is.

    Args:
        found: the explanation of a case that the model gets right.
        case: the case.
        reading: what reads the texts of the drawn world.
    """
    for which, image in enumerate(images_of(case)):
        known = deciding(case, image, reading)
        if known is None:
            continue
        for finding in found.findings:
            parts = [part for part in finding.measured if part.image == which]
            if parts:
                effects = np.array([part.effect for part in parts], dtype=np.float64)
                boxes = [part.box for part in parts if part.box is not None]
                yield finding.method, hit(boxes, effects, known.boxes, known.decides)
        yield from _attended(found, case, which, known)


def _attended(found: Explanation, case: Case, which: int, known: Deciding) -> Iterator[tuple[str, Hit]]:
    true = {one.text for one, truth in zip(case.requests, case.truths, strict=True) if isinstance(one, Match) and truth}
    seen = [one for one in found.attended if one.image == which]
    seen = [one for one in seen if one.text in true] or seen[:1]
    for one in seen[:1]:
        yield one.method, hit(one.boxes, np.array(one.weights), known.boxes, known.decides)

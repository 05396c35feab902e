"""Whether explanations of right answers point at the object that decides, which the scene graph tells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vlgate.explaining.changes import images_of, text_swaps, texts_at
from vlgate.explaining.deciding import Deciding, deciding, deciding_exchange, deciding_words
from vlgate.explaining.rates import Hit, hit
from vlgate.explaining.record import Explanation
from vlgate.fixtures.reader.reading import Reading
from vlgate.types import Case, Match, Shape


def hits(found: Explanation, case: Case, shape: Shape, reading: Reading) -> Iterator[tuple[str, Hit]]:
    """Yield each method of an explanation with whether it points at what decides, for each image, or for the texts.

    Maps of attention count for texts that are true, or for the first text of an image about which none is.

    Args:
        found: the explanation of a case that the model gets right.
        case: the case.
        shape: the shape of its task.
        reading: what reads the texts of the drawn world.
    """
    images = images_of(case)
    for which, image in enumerate(images):
        whole = deciding(case, image, reading)
        between = deciding_exchange(case, image, images[1 - which], reading) if len(images) == 2 else None
        for finding in found.findings:
            known = between if finding.method == "exchange between images" else whole
            if known is not None:
                for method, boxes, effects in finding.of_image(which):
                    yield method, hit(boxes, effects, known.boxes, known.decides)
        if whole is not None:
            yield from _attended(found, case, which, whole)
    yield from _words(found, case, shape, reading)


def _words(found: Explanation, case: Case, shape: Shape, reading: Reading) -> Iterator[tuple[str, Hit]]:
    """Whether the exchange of words with the largest effect is one that changes what the texts say.

    A case counts if its exchanged texts can be read, and some of them say something else and some do not.
    """
    effects = {
        part.word: part.effect
        for finding in found.findings
        if finding.method == "exchange between texts"
        for part in finding.measured
        if part.effect is not None
    }
    told: dict[str, bool | None] = {}
    for (one, other), swap in text_swaps(case, shape):
        texts = texts_at(case, (one, other))
        told[swap.words] = deciding_words(case, dict(zip(texts, swap.texts, strict=True)), reading)
    if set(told.values()) != {True, False} or set(told) - set(effects):
        return
    strongest = max(told, key=lambda words: effects[words])
    right = effects[strongest] > 0 and bool(told[strongest])
    chance = sum(map(bool, told.values())) / len(told)
    yield (
        "exchange between texts",
        Hit(touches=right, points=right, leads=right, chance_touches=chance, chance_points=chance, chance_leads=chance),
    )


def _attended(found: Explanation, case: Case, which: int, known: Deciding) -> Iterator[tuple[str, Hit]]:
    true = {one.text for one, truth in zip(case.requests, case.truths, strict=True) if isinstance(one, Match) and truth}
    shown = [one for one in found.attended if one.image == which]
    for method in dict.fromkeys(one.method for one in shown):
        seen = [one for one in shown if one.method == method]
        one = next((one for one in seen if one.text in true), seen[0])
        yield one.method, hit(one.boxes, np.array(one.weights), known.boxes, known.decides)

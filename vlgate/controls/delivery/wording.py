"""Is a text read to its end?"""

from __future__ import annotations

from vlgate.controls.delivery.asking import Asker
from vlgate.controls.delivery.canaries import CANARIES
from vlgate.controls.delivery.findings import Finding

SHOWN = CANARIES[:4]
_BEFORE = "This is a picture on white paper."  # seven words, true of every canary
REPEATED = (0, 1, 2)
"""How many times these words stand before the words that decide: the texts have 5, 12 and 19 words."""


def truncated(asker: Asker) -> Finding | None:
    """Return a finding if texts that differ only in their end get the same scores.

    If the model says that it cut a text, there is no finding.
    """
    for times in REPEATED:
        texts = [tuple(" ".join([*[_BEFORE] * times, text]) for text in one.texts()) for one in SHOWN]
        images = [asker.image(f"long-{times}-{place}.png", one.pixels) for place, one in enumerate(SHOWN)]
        scores = asker.scores(images, texts)
        if (scores == scores[:, :1]).all():
            if asker.cut(images[0], texts[0][0]):
                return None
            words = len(texts[0][0].split())
            why = (
                f"texts of {words} words that differ only in their last words get the same scores, and the model does "
                "not say that it cuts them"
            )
            return Finding(bug="truncated text", why=why)
    return None

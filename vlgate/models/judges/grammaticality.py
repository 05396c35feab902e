"""Grammaticality: a classifier trained on CoLA, and the likelihood of a text against that of its original.

GRUEN (Zhu and Bhat 2020), which VALSE applies, adds the two for each sentence. Its sum depends on the models that it
was tuned for, so the parts are given here on their own, each in 0..1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vlgate.errors import NoReplyError
from vlgate.models.judges.classifier import Classifier, load_classifier
from vlgate.models.judges.plausibility import Plausibility, plausibility
from vlgate.types import FloatArray

_LABELS = (("unacceptable", "ungrammatical"), ("acceptable", "grammatical"))


class Acceptability:
    """A classifier of acceptable and unacceptable sentences, as those trained on CoLA (Warstadt et al. 2019)."""

    def __init__(self, classifier: Classifier) -> None:
        """Wrap a classifier whose labels are unacceptable and acceptable."""
        self.fingerprint = classifier.fingerprint
        self._classifier = classifier

    def acceptability(self, texts: Sequence[str]) -> FloatArray:
        """Return the probability that each text is acceptable, shape (n,)."""
        return np.asarray(self._classifier.probabilities(texts)[:, 1], dtype=np.float64)


class Likelihood:
    """The likelihood of a language model as a judge of grammaticality."""

    def __init__(self, model: Plausibility) -> None:
        """Wrap a language model."""
        self._model = model

    def acceptability(self, texts: Sequence[str]) -> FloatArray:
        """Return the mean probability of a token (the geometric mean) in 0..1 for each text, shape (n,)."""
        return np.asarray(1 / self._model.perplexity(texts), dtype=np.float64)

    def against(self, originals: Sequence[str], texts: Sequence[str]) -> FloatArray:
        """Return how likely each text is in proportion to its original, at most 1, shape (n,).

        The original is the caption, which somebody wrote; a foil much less likely than it may be ungrammatical.

        Raises: NoReplyError if there are not as many originals as texts, or if one is too short.
        """
        if len(originals) != len(texts):
            raise NoReplyError((), f"{len(originals)} originals for {len(texts)} texts; give one for each")
        both = self._model.perplexity([*originals, *texts])
        return np.asarray(np.minimum(1, both[: len(texts)] / both[len(texts) :]), dtype=np.float64)


def grammaticality(
    weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32"
) -> Acceptability | Likelihood:
    """Load a classifier of acceptability, or a language model as ``likelihood:NAME``.

    The arguments and errors are those of ``load_classifier`` and ``plausibility``.
    """
    kind, _, name = weights.partition(":")
    if kind == "likelihood" and name:
        return Likelihood(plausibility(name, device, folder=folder, dtype=dtype))
    return Acceptability(load_classifier(weights, folder, _LABELS, device=device, dtype=dtype))

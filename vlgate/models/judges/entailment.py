"""Natural language inference: does a caption entail its foil, contradict it, or neither?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vlgate.models.judges.classifier import Classifier, load_classifier
from vlgate.types import FloatArray

PAPER = "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli"
"""The model of VALSE (section 4.3)."""

_LABELS = (("entail",), ("neutral",), ("contradict",))


class EntailmentModel:
    """A model of natural language inference with three labels."""

    def __init__(self, classifier: Classifier) -> None:
        """Wrap a classifier whose labels are entailment, neutral and contradiction."""
        self.fingerprint = classifier.fingerprint
        self._classifier = classifier

    def infer(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the probabilities of entailment, neutral and contradiction for (premise, hypothesis), shape (n, 3)."""
        return self._classifier.probabilities(pairs)


def entailment(weights: str, device: str = "cpu", *, folder: Path = Path(), dtype: str = "float32") -> EntailmentModel:
    """Load a model of natural language inference; the arguments and errors are those of ``load_classifier``."""
    return EntailmentModel(load_classifier(weights or PAPER, folder, _LABELS, device=device, dtype=dtype))

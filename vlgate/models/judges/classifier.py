"""Load classifiers of texts and find their labels by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.hub import pretrained, split_options
from vlgate.models.judges.batches import scored
from vlgate.models.text.checks import longest_text
from vlgate.models.text.likelihood import log_probabilities
from vlgate.models.text.text_only import ENDLESS, loaded
from vlgate.types import FloatArray


class Classifier:
    """A sequence classification model of transformers whose labels have a known meaning.

    ``fingerprint`` changes with everything that its replies depend on. ``cut_texts`` holds the items so far that were
    longer than the model's context and lost their end.
    """

    def __init__(self, model: Any, tokenizer: Any, *, columns: Sequence[int], fingerprint: str) -> None:
        """Wrap a model in evaluation mode; ``columns`` are the positions of the labels that are wanted, in order."""
        self.fingerprint = fingerprint
        self.cut_texts: set[str | tuple[str, str]] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._columns = list(columns)
        self._longest = longest_text(model, tokenizer, ENDLESS)

    def probabilities(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> FloatArray:
        """Return the probability of each wanted label for texts or pairs of texts, shape (n, labels)."""
        return scored(texts, len(self._columns), self._batch)

    def _batch(self, texts: list[Any]) -> FloatArray:
        import torch

        rows = self._tokenizer(texts, truncation=False, verbose=False)["input_ids"]
        self.cut_texts.update(text for text, row in zip(texts, rows, strict=True) if len(row) > self._longest)
        limits = {"truncation": True, "max_length": self._longest} if self._longest < ENDLESS else {}
        inputs = self._tokenizer(texts, padding=True, return_tensors="pt", **limits).to(self._model.device)
        with torch.inference_mode():
            likely = log_probabilities(self._model(**inputs).logits)
        return np.exp(np.asarray(likely.cpu().numpy(), dtype=np.float64))[:, self._columns]


def load_classifier(
    weights: str, folder: Path, wanted: Sequence[Sequence[str]], *, device: str, dtype: str
) -> Classifier:
    """Load a classifier.

    Args:
        weights: a hub repository or a folder. ``?labels=A,B`` names the labels, in the model's order, if its
            configuration does not.
        folder: the folder that the user started in.
        wanted: for each label, what its name may begin with, in lower case.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError if the checkpoint cannot be loaded, lacks weights, or if its labels cannot be told.
    """
    name, chosen = split_options(weights, ("labels",))
    source = pretrained(name, folder)
    model, tokenizer, what = loaded(source, "AutoModelForSequenceClassification", device, dtype)
    if tokenizer.pad_token_id is None:
        raise ModelLoadError(f"{source.asked}: its tokenizer has no padding token; save it with the model's own one")
    labels = [model.config.id2label[place] for place in range(model.config.num_labels)]
    if "labels" in chosen:
        labels = _given(chosen["labels"], labels, source.asked)
    columns = _columns(labels, wanted, source.asked)
    return Classifier(model, tokenizer, columns=columns, fingerprint=f"{what} {','.join(labels)}")


def _given(text: str, labels: Sequence[str], asked: str) -> list[str]:
    given = text.split(",")
    if len(given) != len(labels):
        raise ModelLoadError(f"{asked}: labels={text!r} names {len(given)} labels, but the model has {len(labels)}")
    return given


def _columns(labels: Sequence[str], wanted: Sequence[Sequence[str]], asked: str) -> list[int]:
    found = []
    for beginnings in wanted:
        places = [place for place, label in enumerate(labels) if label.strip().lower().startswith(tuple(beginnings))]
        if len(places) != 1 or len(labels) != len(wanted):
            names = ",".join(one[0] for one in wanted)
            raise ModelLoadError(
                f"{asked} has the labels {', '.join(labels)}; expected {names}; name another model, or say what its "
                f"labels are, in its order: {asked}?labels={names}"
            )
        found += places
    return found

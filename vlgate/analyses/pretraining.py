"""How much a model was pretrained on, and how that goes with its figures on Winoground (Thrush et al. 2022, §6.3)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from vlgate.analyses.records import Row, Table
from vlgate.analyses.resampling import correlate, correlated
from vlgate.errors import OptionError
from vlgate.published.figures import figures

SCORES = ("text", "image", "group")
OUTLIER = "CLIP (ViT-B/32)"
"""The model that Table 7 leaves out, because it saw a hundred times as much as the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Millions of images and of captions that a model was pretrained on."""

    images: float
    captions: float


def sizes() -> dict[str, Size]:
    """Return the sizes that the paper prints, by the paper's names of the models (Table 2).

    >>> sizes()["VinVL"]
    Size(images=1.89, captions=4.87)
    """
    text = (resources.files("vlgate.analyses") / "pretraining.toml").read_text(encoding="utf-8")
    return {name: Size(**size) for name, size in tomllib.loads(text)["winoground"].items()}


def given_sizes(texts: Sequence[str]) -> dict[str, Size]:
    """Read sizes as a user gives them, ``NAME=IMAGES,CAPTIONS`` in millions.

    >>> given_sizes(["lxmert=0.18,9.18"])
    {'lxmert': Size(images=0.18, captions=9.18)}

    Raises: OptionError if a text has another form.
    """
    found: dict[str, Size] = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        try:
            images, captions = (float(number) for number in numbers.split(","))
        except ValueError:
            images = captions = -1.0
        if not name or not (0 < images < float("inf") and 0 < captions < float("inf")):
            raise OptionError(f"--pretraining {text!r}: expected NAME=IMAGES,CAPTIONS in millions, as lxmert=0.18,9.18")
        found[name] = Size(images=images, captions=captions)
    return found


def published_scores() -> dict[str, dict[str, float]]:
    """Return the text, image and group scores of the models that the paper prints a size of (Table 3)."""
    found: dict[str, dict[str, float]] = {name: {} for name in sizes() if name != OUTLIER}
    for figure in figures("winoground"):
        if figure.table == "3" and figure.model in found:
            found[figure.model][figure.metric] = figure.value
    return found


def size_table(scores: Mapping[str, Mapping[str, float]], known: Mapping[str, Size], title: str, about: str) -> Table:
    """Correlate the sizes of models with their scores.

    Args:
        scores: the text, image and group score of each model.
        known: the sizes of the models; a model without one is left out.
        title: of the table.
        about: which models these are.
    """
    names = [name for name in scores if name in known]
    rows: list[Row] = []
    for modality in ("images", "captions"):
        x = np.array([getattr(known[name], modality) for name in names])
        for metric in SCORES:
            found = correlate(x, np.array([scores[name][metric] for name in names]))
            rows.append(correlated((modality, metric), found))
    return Table(
        title=title, about=about, labels=("pretraining", "score"), value="correlation", rows=tuple(rows), more=("p",)
    )

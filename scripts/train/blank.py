"""The twins of the models, which see one blank image in place of all: what they reach is what the texts alone tell.

``python -m pytest --model=train.blank:lxmert:FOLDER`` runs one, with this folder's parent on the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vlgate.models.dual import open_clip
from vlgate.models.regions import lxmert as lxmert_adapter
from vlgate.models.regions.lxmert import LxmertPretrained
from vlgate.types import Ask, DualEncoder, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    from PIL.Image import Image


def blank() -> Image:
    """Return the image that a twin sees."""
    from PIL import Image

    return Image.new("RGB", (400, 300), (250, 250, 248))


NOTHING = LazyImage(key="blank", load=blank)


class BlankLxmert:
    """LXMERT that sees the blank image."""

    decision_threshold = 0.0

    def __init__(self, model: LxmertPretrained) -> None:
        """Take the model."""
        self._model = model

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Score the texts alone, shape (n,)."""
        return self._model.match([replace(pair, image=NOTHING) for pair in pairs])

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """Answer the questions without their images."""
        return self._model.answer([replace(question, image=NOTHING) for question in questions])


class BlankClip:
    """A dual encoder that sees the blank image."""

    def __init__(self, model: DualEncoder) -> None:
        """Take the model."""
        self._model = model

    def encode_images(self, images: Sequence[LazyImage]) -> FloatArray:
        """Encode the blank image n times, shape (n, d)."""
        return np.repeat(self._model.encode_images([NOTHING]), len(images), axis=0)

    def encode_texts(self, texts: Sequence[str]) -> FloatArray:
        """Encode texts, shape (n, d)."""
        return self._model.encode_texts(texts)


def lxmert(weights: str, folder: Path) -> BlankLxmert:
    """Load the twin of an LXMERT from its folder."""
    model = lxmert_adapter.build(weights, folder)
    if not isinstance(model, LxmertPretrained):
        raise TypeError(f"{weights} matches or answers only; a twin is trained to do both")
    return BlankLxmert(model)


def clip(weights: str, folder: Path) -> BlankClip:
    """Load the twin of a model of open_clip from its folder."""
    return BlankClip(open_clip.build(weights, folder))

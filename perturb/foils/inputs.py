"""What coreference is made from: a dialog about an image."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question of a dialog and its answer: "is she wearing a helmet", "yes, she is"."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    """The caption of an image, and the turns of a dialog about the image in their order, as in VisDial."""

    caption: str
    turns: tuple[Turn, ...]

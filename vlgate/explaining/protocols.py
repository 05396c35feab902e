"""What a model may offer in addition, so that it can be explained in its own terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from vlgate.explaining.record import Attended
from vlgate.types import FloatArray, LazyImage, Match


@runtime_checkable
class Boxed(Protocol):
    """A model that sees an image as boxes, such as one on the regions of a detector."""

    def boxes(self, images: Sequence[LazyImage]) -> Sequence[FloatArray]:
        """Return the boxes of each image, shape (n, 4): left, top, right and bottom, each in 0..1."""


@runtime_checkable
class Attends(Protocol):
    """A model that tells what it attends to."""

    def attended(self, pairs: Sequence[Match]) -> Sequence[Attended]:
        """Return a map for each pair; its ``image`` is 0."""


@runtime_checkable
class RollsOut(Protocol):
    """A transformer that tells what it attends to through all of its layers."""

    def attention_rollout(self, pairs: Sequence[Match]) -> Sequence[Attended]:
        """Return a map for each pair, or none at all; its ``image`` is 0."""

"""What a model on regions attends to: a weight for each of its boxes."""

from __future__ import annotations

from vlgate.explaining.record import Attended
from vlgate.types import FloatArray

METHOD = "attention to regions"


def attention(text: str, boxes: FloatArray, weights: FloatArray, method: str = METHOD) -> Attended:
    """Return the attention of a text to the boxes of an image, in 0..1 of the largest.

    Args:
        text: the text.
        boxes: n boxes, shape (n, 4), in 0..1.
        weights: their weights, shape (n,), at least 0.
        method: the name of the method.
    """
    most = float(weights.max()) or 1.0
    return Attended(
        method=method,
        image=0,
        text=text,
        boxes=tuple((float(x1), float(y1), float(x2), float(y2)) for x1, y1, x2, y2 in boxes),
        weights=tuple(float(weight) / most for weight in weights),
    )

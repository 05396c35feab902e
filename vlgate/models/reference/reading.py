"""``reader``: the reading oracle of the drawn scenes."""

from __future__ import annotations

from vlgate.fixtures.reader.reader import Reader


def reader() -> Reader:
    """Return the model that reads each text by itself, and looks at the scene graph that the image is drawn from.

    >>> reader().decision_threshold
    0.5
    """
    return Reader()

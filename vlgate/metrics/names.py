"""Metrics that need to be told apart by name, whatever the shape of the cases; ``shapes`` has those of each shape."""

from collections.abc import Mapping

from vlgate.metrics.measures import GROUPED
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Shape

# Of how many verdicts a case is made up in a metric that counts them one by one; in the others it has one.
PARTS: Mapping[str, int] = {"acc": 2, "sen_acc": 2, "q_acc": 2, "i_acc": 2, "q_image_acc": 4, "read": 2}
PARTIAL = frozenset(("precision", "recall", "f1", *GROUPED))
"""The metrics that are by definition over a part of the cases, or over groups of them."""
_FLIPS = ("flip_rate", *(f"flip_rate_{family}" for family in ("reencoded", "shift", "pad", "rescale", "jpeg")))
CONTROLLED: Mapping[str, str] = {"visual_gain": "look", **dict.fromkeys(_FLIPS, "delivery")}
"""The figures of controls that a gate may name, each with the name of its control; every task can have them."""
DIFFERENCES = frozenset(("visual_gain",))
"""The figures in -1..1: differences of two shares of the same cases, 0 for a model that does not look."""
LOWER_IS_BETTER = frozenset(("set_error", "prior_rate", "other_rate", "unread_rate"))
"""The metrics that are rates of errors."""


def applies(metric: str, shape: Shape) -> bool:
    """Return whether tasks of a shape can have a metric, or a figure of a control.

    >>> applies("group", "quad"), applies("group", "pair"), applies("visual_gain", "pair"), applies("macro", "set")
    (True, False, True, True)
    """
    return metric in CONTROLLED or metric in GROUPED or metric in SHAPES[shape].metrics

"""Which metrics a gate may name."""

from __future__ import annotations

from collections.abc import Mapping

from vlgate.errors import nearest
from vlgate.metrics.grouped import GROUPED
from vlgate.metrics.names import CONTROLLED, NAMES
from vlgate.metrics.variants import how_it_differs
from vlgate.types import Shape


def why_no_gate(metric: str, tasks: Mapping[str, Shape]) -> tuple[str, str] | None:
    """Return why no gate of some tasks may name a metric, and the remedy; None if one may.

    A metric of a variant, such as ``accuracy@release``, is there to reproduce a published figure. It may count a tie or
    an unread answer as right, so that a model that does not look reaches it: it decides no gate.

    >>> why_no_gate("acc_r@valse_paper_ties", {"valse/existence": "pair"})[1]
    'name acc_r, which a gate may judge'
    """
    own = {name for shape in tasks.values() for name in NAMES[shape]}
    if metric in {*own, *GROUPED, *CONTROLLED}:
        return None
    said = next(filter(None, (how_it_differs(metric, task) for task in tasks)), "")
    if said:
        name = metric.partition("@")[0]
        problem = f"{metric} is {name} by another definition, for published figures, and decides no gate ({said})"
        return problem, f"name {name}, which a gate may judge"
    return f"{metric!r} is not a metric of these tasks", nearest(metric, [*sorted(own), *CONTROLLED])

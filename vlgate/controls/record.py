"""What the controls of a run found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vlgate.metrics.controlled import ControlledTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """What one control found in a run.

    Attributes:
        name: the name of the control.
        limit: the most cases of a task that it was asked about.
        tasks: what it measured, by task id; a task without a judged case is absent.
        model: what it measured about the model itself; None if it does not apply.
        seconds: how long it took.
        lacking: why it could not be asked to its end; empty if it was.
    """

    name: str
    limit: int
    tasks: Mapping[str, ControlledTask] = field(default_factory=dict)
    model: ControlledTask | None = None
    seconds: float = 0.0
    lacking: str = ""

    @property
    def requests(self) -> int:
        """How many requests the control asked."""
        return sum(one.requests for one in (*self.tasks.values(), *([self.model] if self.model else [])))


def of_task(found: Iterable[Controlled], task: str) -> dict[str, ControlledTask]:
    """Return what some controls measured of a task, by the names of the controls."""
    return {one.name: one.tasks[task] for one in found if task in one.tasks}

"""What controls measure on the cases of a task."""

from vlgate.metrics.controlled.figures import ControlledTask, Figure

__all__ = ["ControlledTask", "Figure"]

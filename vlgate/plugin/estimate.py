"""How long a run will take: said before it starts if that is long, and corrected at its end if it was wrong."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from vlgate.inference.pace import Pace

if TYPE_CHECKING:
    from vlgate.run.controlling import Cost

LONG = 60.0  # seconds; nothing is said about a shorter run
_OFF = 1.5  # an estimate that is off by more is called wrong


class Estimate:
    """The estimate of one session, from the pace of its model."""

    def __init__(self, pace: Pace, cases: int, workers: int) -> None:
        """Estimate the time that ``workers`` processes take to ask ``cases``."""
        self.pace = pace
        self.cases = cases
        self.seconds = pace.seconds_for(cases, workers)
        self.started = monotonic()

    def line(self) -> str:
        """Return the line to print before the run; empty if it is a short one."""
        if self.seconds < LONG:
            return ""
        rate = self.cases / self.seconds
        return (
            f"vlgate: about {spoken(self.seconds)} to ask {self.cases:,} cases ({rate:,.3g} per second, measured on "
            f"{self.pace.cases}); --quick asks 30 of each task"
        )

    def more(self, cost: Cost) -> str:
        """Return the line that says how long a control takes, in one process; empty if that is a short time."""
        seconds = cost.seconds(self.pace.seconds_for(1))
        if seconds < LONG:
            return ""
        return f"vlgate: about {spoken(seconds)} more for the {cost.requests:,} requests of the control {cost.name}"

    def correction(self) -> str:
        """Return the line to print after the last case; empty if the estimate was right, or the run short."""
        took = monotonic() - self.started
        if max(took, self.seconds) < LONG or max(took, self.seconds) <= _OFF * min(took, self.seconds):
            return ""
        return f"vlgate: the estimate before the run was {spoken(self.seconds)}; it took {spoken(took)}"


def spoken(seconds: float) -> str:
    """Return a time in the unit that a person would use.

    >>> spoken(8), spoken(150), spoken(9000)
    ('8 s', '2.5 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    value, unit = (seconds / 60, "min") if seconds < 2 * 3600 else (seconds / 3600, "h")
    return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"

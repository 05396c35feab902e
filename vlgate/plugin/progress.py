"""Progress and duration of a run: what it will cost, how long it will take, and how far it is."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vlgate.asking.predictor import Pace
    from vlgate.run.probing import Cost


# How long a run will take: said before it starts if that is long, and corrected at its end if it was wrong.

LONG = 60.0  # seconds; nothing is said about a shorter run
_OFF = 1.5  # an estimate that is off by more is called wrong


class Estimate:
    def __init__(self, pace: Pace, cases: int, workers: int) -> None:
        self.pace = pace
        self.cases = cases
        self.seconds = pace.seconds_for(cases, workers)
        self.started = monotonic()

    def line(self) -> str:
        if self.seconds < LONG:
            return ""
        rate = self.cases / self.seconds
        return (
            f"vlgate: about {spoken(self.seconds)} to ask {self.cases:,} cases ({rate:,.3g} per second, measured on "
            f"{self.pace.cases}); --quick asks 30 of each task"
        )

    def more(self, cost: Cost) -> str:
        seconds = cost.seconds(self.pace.seconds_for(1))
        if seconds < LONG:
            return ""
        return f"vlgate: about {spoken(seconds)} more for the {cost.requests:,} requests of the control {cost.name}"

    def correction(self) -> str:
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


_DEAR, _MUCH = 0.1, 5.0  # the share of a run, and the seconds, from which checks are worth a line


def checks_line(took: float, whole: float, *, verbose: bool = False) -> str:
    """Return how much of a run its checks took; without ``verbose``, nothing if they took little.

    >>> checks_line(9, 60), checks_line(4, 9), checks_line(9, 600)
    ('vlgate: checks of the model and controls took 15% of 1.0 min', '', '')
    """
    if not verbose and (took < _MUCH or took <= _DEAR * whole):
        return ""
    return f"vlgate: checks of the model and controls took {took / whole:.0%} of {spoken(whole)}"


# The progress of a long run: a bar in a terminal, plain lines in a log.

_EVERY = 15.0  # seconds between two plain lines


class Progress:
    def __init__(self, reporter: Any, total: int, *, bar: bool) -> None:
        self.reporter = reporter
        self.total = total
        self.done = 0
        self.started = self.last = monotonic()
        self.bar = _bar(reporter, total) if bar else None

    @property
    def draws(self) -> bool:
        return self.bar is not None

    def advance(self, cases: int) -> None:
        self.done += cases
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], advance=cases, refresh=True)
            return
        now = monotonic()
        if now - self.last >= _EVERY and self.done < self.total:
            self.last = now
            if self.reporter._tw.width_of_current_line:  # noqa: SLF001  # pytest's letters are on this line
                self.reporter.write_line("")
            self.reporter.write_line(self.line(now - self.started))

    def line(self, seconds: float) -> str:
        rate = self.done / max(seconds, 1e-9)
        left = (self.total - self.done) / rate if rate else float("inf")
        return f"vlgate: {self.done:,} of {self.total:,} cases, {rate:,.0f} per second, {left:,.0f} s left"

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


def _bar(reporter: Any, total: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed or 0:,.0f} per second")

    # Write to the file of pytest's own writer, because standard output is captured during tests.
    console = Console(file=reporter._tw._file, force_terminal=True)  # noqa: SLF001
    columns = (BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task("cases", total=total)
    bar.start()
    return bar

"""A live count on long runs: a bar in a terminal, plain lines in a log."""

from __future__ import annotations

from time import monotonic
from typing import Any

_EVERY = 15.0  # seconds between two plain lines


class Progress:
    """Counts judged cases, and says how fast they come and how long the rest will take."""

    def __init__(self, reporter: Any, total: int, *, bar: bool) -> None:
        """Count to ``total`` on pytest's terminal reporter; ``bar`` draws, otherwise lines are printed."""
        self.reporter = reporter
        self.total = total
        self.done = 0
        self.started = self.last = monotonic()
        self.bar = _bar(reporter, total) if bar else None

    @property
    def draws(self) -> bool:
        """True where a bar takes the place of pytest's letters."""
        return self.bar is not None

    def advance(self, cases: int) -> None:
        """Count more cases."""
        self.done += cases
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], advance=cases, refresh=True)
            return
        now = monotonic()
        if now - self.last >= _EVERY and self.done < self.total:
            self.last = now
            if self.reporter._tw.width_of_current_line:  # noqa: SLF001  # letters stand there
                self.reporter.write_line("")
            self.reporter.write_line(self.line(now - self.started))

    def line(self, seconds: float) -> str:
        """The count in words, ``seconds`` after the start.

        Returns: as ``vlgate: 12,400 of 100,000 cases, 2,310 a second, 38 s left``.
        """
        rate = self.done / max(seconds, 1e-9)
        left = (self.total - self.done) / rate if rate else float("inf")
        return f"vlgate: {self.done:,} of {self.total:,} cases, {rate:,.0f} a second, {left:,.0f} s left"

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()


def _bar(reporter: Any, total: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Cases a second."""

        def render(self, task: Task) -> Text:
            """The rate in words."""
            return Text(f"{task.speed or 0:,.0f} a second")

    # pytest's own writer holds the terminal, since standard output is captured during tests.
    console = Console(file=reporter._tw._file, force_terminal=True)  # noqa: SLF001
    columns = (BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task("cases", total=total)
    bar.start()
    return bar

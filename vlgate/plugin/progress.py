"""The progress of a long run: a bar in a terminal, plain lines in a log."""

from __future__ import annotations

from time import monotonic
from typing import Any

_EVERY = 15.0  # seconds between two plain lines


class Progress:
    """Counts judged cases, and shows their rate and the time that is left."""

    def __init__(self, reporter: Any, total: int, *, bar: bool) -> None:
        """Count up to ``total`` on pytest's terminal reporter, with a bar if ``bar`` is true, otherwise with lines."""
        self.reporter = reporter
        self.total = total
        self.done = 0
        self.started = self.last = monotonic()
        self.bar = _bar(reporter, total) if bar else None

    @property
    def draws(self) -> bool:
        """Whether a bar replaces pytest's letters."""
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
            if self.reporter._tw.width_of_current_line:  # noqa: SLF001  # pytest's letters are on this line
                self.reporter.write_line("")
            self.reporter.write_line(self.line(now - self.started))

    def line(self, seconds: float) -> str:
        """Return the line to print ``seconds`` after the start.

        For example ``vlgate: 12,400 of 100,000 cases, 2,310 per second, 38 s left``.
        """
        rate = self.done / max(seconds, 1e-9)
        left = (self.total - self.done) / rate if rate else float("inf")
        return f"vlgate: {self.done:,} of {self.total:,} cases, {rate:,.0f} per second, {left:,.0f} s left"

    def close(self) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.stop()


def _bar(reporter: Any, total: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Cases per second."""

        def render(self, task: Task) -> Text:
            """Return the rate as text."""
            return Text(f"{task.speed or 0:,.0f} per second")

    # Write to the file of pytest's own writer, because standard output is captured during tests.
    console = Console(file=reporter._tw._file, force_terminal=True)  # noqa: SLF001
    columns = (BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task("cases", total=total)
    bar.start()
    return bar

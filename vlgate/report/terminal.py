"""The result table that the terminal shows at the end of a run."""

from __future__ import annotations

from io import StringIO

from vlgate.report.abilities import ability_lines
from vlgate.report.comparison import comparison_lines
from vlgate.report.remarks import average_lines, error_rate_lines, shortcut_lines, variant_lines
from vlgate.report.rows import HEADINGS, blind_line, chance_line, coverage_line, decision_lines, rows, unit_line
from vlgate.run.options import Options
from vlgate.run.results import RunResult

_STYLE = {
    "pass": "green",
    "fail": "bold red",
    "inconclusive": "bold yellow",
    "cannot": "magenta",
    "not run": "dim",
    None: "",
}
_WIDTH = 500  # wider than any row, so that no figure is cut off; a terminal wraps the lines that are too long for it


def terminal_table(run: RunResult, *, width: int, colour: bool) -> str:
    """Draw the result table.

    Args:
        run: the result of the run.
        width: the width of the terminal in characters; longer rows are not cut.
        colour: whether the text may contain escape codes.

    Returns: lines of text: the table, then the cases that were not judged, and the gates that did not pass.
    """
    from rich.console import Console
    from rich.table import Table as Drawn

    out = StringIO()
    console = Console(file=out, width=max(width, _WIDTH), force_terminal=colour, no_color=not colour)
    drawn = Drawn(box=None, pad_edge=False, header_style="bold" if colour else "")
    for heading in HEADINGS:
        drawn.add_column(
            heading, justify="right" if heading in {"n", "value", "chance", "blind"} else "left", no_wrap=True
        )
    for row in rows(run):
        drawn.add_row(*row.cells, style=_STYLE[row.outcome])
    if drawn.row_count:
        console.print(drawn)
    for line in _remarks(run):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def closing_lines(run: RunResult) -> list[str]:
    """Return the lines below the table: counts of cases, what changed, what the model can do, how often gates err."""
    compared = [] if run.comparison is None else comparison_lines(run.comparison)
    return [unit_line(run), *compared, *ability_lines(run), *error_rate_lines(run.error_rates)] if run.results else []


def results_line(options: Options) -> str:
    """Return the line that names the thresholds file and the results folder."""
    gates = "no thresholds file: nothing is gated"
    if options.thresholds is not None:
        gates = f"gates from {options.thresholds}"
    return f"{gates}; results in {options.results}"


def _remarks(run: RunResult) -> list[str]:
    judged = [line for result in run.results if (line := coverage_line(result)) is not None]
    warnings = [
        line
        for decision in run.decisions
        for say in (chance_line, blind_line)
        if (line := say(run, decision)) is not None
    ]
    none = (
        []
        if any(decision.outcome not in {"not run", "cannot"} for decision in run.decisions)
        else ["no gate was judged"]
    )
    others = [*average_lines(run), *variant_lines(run), *shortcut_lines(run)]
    lines = [*judged, *decision_lines(run), *warnings, *others, *run.notes, *none]
    return ["", *lines] if lines else []

"""The result table at the end of a run in the terminal."""

from __future__ import annotations

from io import StringIO

from vlgate.options import Options
from vlgate.report.remarks import average_lines, shortcut_lines, variant_lines
from vlgate.report.rows import HEADINGS, blind_line, coverage_line, rows
from vlgate.results import RunResult

_STYLE = {"pass": "green", "fail": "bold red", "inconclusive": "bold yellow", "not run": "dim", None: ""}
_WIDTH = 500  # wider than any table: a terminal wraps a line that is too long for it, but a figure is never cut off


def terminal_table(result: RunResult, *, width: int, colour: bool) -> str:
    """Draw the result table.

    Args:
        result: of the run.
        width: of the terminal in characters; a table that needs more takes more.
        colour: whether the text may hold escape codes.

    Returns: lines of text: the table, then what was not judged, and each gate that did not pass with its reason.
    """
    from rich.console import Console
    from rich.table import Table

    out = StringIO()
    console = Console(file=out, width=max(width, _WIDTH), force_terminal=colour, no_color=not colour)
    table = Table(box=None, pad_edge=False, header_style="bold" if colour else "")
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in {"n", "value", "blind"} else "left", no_wrap=True)
    for row in rows(result):
        table.add_row(*row.cells, style=_STYLE[row.outcome])
    if table.row_count:
        console.print(table)
    for line in _remarks(result):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def results_line(options: Options) -> str:
    """Where the gates are written and the run's files are."""
    return f"gates of {options.thresholds}; results in {options.results}"


def _remarks(result: RunResult) -> list[str]:
    judged = [line for table in result.tables if (line := coverage_line(table)) is not None]
    gates = [
        f"{decision.outcome}: {decision.gate.id}: {decision.why}"
        for decision in result.decisions
        if decision.outcome != "pass"
    ]
    warnings = [line for decision in result.decisions if (line := blind_line(result, decision)) is not None]
    none = [] if any(decision.outcome != "not run" for decision in result.decisions) else ["no gate was judged"]
    beside = [*average_lines(result), *variant_lines(result), *shortcut_lines(result)]
    lines = [*judged, *gates, *warnings, *beside, *result.notes, *none]
    return ["", *lines] if lines else []

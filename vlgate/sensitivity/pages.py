"""The matrix as a table for the terminal, and as a heat map in HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator

from vlgate.models.reference.defects import SAYS
from vlgate.sensitivity.matrix import Cell, Matrix

LEAST = 0.01
"""The least share of guessed cases that is worth a line."""
_SAME = "."  # not below the figure of the intact model
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>vlgate sensitivity</title>
<style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 2em }}
table {{ border-collapse: collapse }}
td, th {{ border: 1px solid #ddd; padding: 2px 5px; text-align: right; font-weight: normal }}
thead th {{ writing-mode: vertical-rl; transform: rotate(180deg); text-align: left }}
tbody th {{ text-align: left; white-space: nowrap }}
.claimed {{ font-weight: bold }}
.wrong {{ outline: 3px solid #d00000; outline-offset: -3px }}
</style>
<h1>Which task catches which defect</h1>
<p>Each cell is the main metric of a task for a model with one defect; the intact model has 1.00 if nothing else is
said. The darker a cell, the lower. Bold: the task claims to catch the defect. Framed in red: the cell is not as
claimed.</p>
<table><thead><tr><th></th>{heads}</tr></thead><tbody>
{rows}
</tbody></table>
<h2>Defects</h2>
<dl>
{defects}
</dl>
</html>
"""


def lines(matrix: Matrix) -> Iterator[str]:
    """Yield the lines of the table: one row per defect, one numbered column per task, and what is wrong.

    "." is a figure that is not below the intact model's, and "!" marks a cell that is not as claimed.
    """
    width = max(map(len, (*matrix.defects, "defect")))
    yield "".join(["defect".ljust(width), *(f"{number:>6}" for number, _ in enumerate(matrix.tasks, start=1))])
    for defect in matrix.defects:
        cells = (matrix.cells.get((task, defect)) for task in matrix.tasks)
        yield "".join([defect.ljust(width), *map(_figure, cells)]).rstrip()
    yield ""
    yield from (f"{number:>3}  {task}" for number, task in enumerate(matrix.tasks, start=1))
    yield ""
    wrong = matrix.problems
    yield f"{len(matrix.cells)} cells, {len(wrong)} not as claimed"
    yield from wrong


def needs(matrix: Matrix) -> Iterator[str]:
    """Yield what each task about photographs needs: the defects with which a model has to guess, most often first.

    Tasks about drawn scenes are left out, because the models were asked about them; so are defects that make fewer than
    one case in a hundred a guess.
    """
    for task in matrix.tasks:
        cells = [cell for defect in matrix.defects for cell in [matrix.cells.get((task, defect))] if cell is not None]
        guessed = [(cell.guessed, cell) for cell in cells if cell.guessed is not None and cell.guessed >= LEAST]
        for share, cell in sorted(guessed, key=lambda one: -one[0]):
            figure = f"{cell.metric.value:.2f} ({cell.metric.low:.2f} to {cell.metric.high:.2f})"
            yield f"{task}: {cell.defect} guesses {share:.0%}, reaches {figure}"


def page(matrix: Matrix) -> str:
    """Return the heat map as a page in HTML that needs no other file."""
    heads = "".join(f"<th>{html.escape(task)}</th>" for task in matrix.tasks)
    rows = (
        f"<tr><th>{defect}</th>{''.join(_square(matrix.cells.get((task, defect))) for task in matrix.tasks)}</tr>"
        for defect in matrix.defects
    )
    defects = (f"<dt>{defect}</dt><dd>{html.escape(SAYS[defect])}</dd>" for defect in matrix.defects)
    return _PAGE.format(heads=heads, rows="\n".join(rows), defects="\n".join(defects))


def record(matrix: Matrix) -> dict[str, object]:
    """Return the matrix as a JSON object: the cells, and what is wrong."""
    cells = [
        {
            "task": cell.task,
            "defect": cell.defect,
            "value": cell.metric.value,
            "low": cell.metric.low,
            "high": cell.metric.high,
            "n": cell.metric.n,
            "intact": cell.intact,
            "claimed": cell.claimed,
            "guessed": cell.guessed,
            "caught": cell.caught,
        }
        for cell in matrix.cells.values()
    ]
    return {"schema": 1, "cells": cells, "problems": matrix.problems}


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return " " * 6
    figure = _SAME if cell.metric.value >= cell.intact else f"{cell.metric.value:.2f}"
    return f"{figure}{'!' if cell.problem else ' '}".rjust(6)


def _square(cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    share = cell.metric.value / cell.intact if cell.intact else 1.0
    light = round(45 + 55 * min(1.0, share))
    names = " ".join(name for name, holds in (("claimed", cell.claimed), ("wrong", cell.problem)) if holds)
    said = f"{cell.task}, {cell.defect}: {cell.metric.low:.3f} to {cell.metric.high:.3f}"
    style = f"background:hsl(28 85% {light}%)"
    return f'<td class="{names}" style="{style}" title="{html.escape(said)}">{cell.metric.value:.2f}</td>'

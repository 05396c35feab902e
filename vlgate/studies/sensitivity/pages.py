"""The matrix as a table for the terminal, and as a heat map in HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

from vlgate.models.reference.defects import SAYS
from vlgate.studies.sensitivity.matrix import STAYS, Cell, Matrix

LEAST = 0.01
"""The least share of guessed cases that is worth a line."""
_SAME = "."  # not below the figure of the intact model
_PAGE = Path(__file__).with_name("page.html").read_text(encoding="utf-8")


def lines(matrix: Matrix) -> Iterator[str]:
    """Yield the lines of the table, the interval of each cell below the intact figure, and what is wrong."""
    yield from table(matrix)
    yield ""
    below = [cell for cell in matrix.cells.values() if not _is_intact(cell)]
    width = max((len(cell.task) for cell in below), default=0)
    for task in matrix.tasks:
        for cell in (cell for cell in below if cell.task == task):
            mark = "!" if cell.problem else "?" if cell.unclear else " "
            yield f"{mark} {task.ljust(width)}  {_interval(cell)}  {cell.defect}"
    yield ""
    yield from counted(matrix)


def table(matrix: Matrix) -> Iterator[str]:
    """Yield one row per defect, with one numbered column per task, and the names of the tasks.

    "." is a figure that is not below the intact model's, "?" marks one that is, with an interval that reaches above
    ``STAYS`` of it, and "!" marks a cell that is not as claimed.
    """
    width = max(map(len, (*matrix.defects, "defect")))
    yield "".join(["defect".ljust(width), *(f"{number:>6}" for number, _ in enumerate(matrix.tasks, start=1))])
    for defect in matrix.defects:
        row = defect.ljust(width)
        for cell in (matrix.cells.get((task, defect)) for task in matrix.tasks):
            figure = ""
            if cell is not None:
                value = _SAME if _is_intact(cell) else f"{cell.metric.value:.2f}"
                figure = f"{value}{'!' if cell.problem else '?' if cell.unclear else ' '}"
            row += figure.rjust(6)
        yield row.rstrip()
    yield ""
    for number, task in enumerate(matrix.tasks, start=1):
        dot = next((cell for cell in matrix.cells.values() if cell.task == task and _is_intact(cell)), None)
        yield f"{number:>3}  {task}{'' if dot is None else f'  . = {_interval(dot)}'}"


def counted(matrix: Matrix) -> Iterator[str]:
    """Yield the number of unclear cells, that of the cells that are not as claimed, and what is wrong with these."""
    if matrix.unclear:
        yield f"{matrix.unclear} unclear (?): below the intact figure, the interval reaches above {STAYS} of it"
    wrong = matrix.problems
    yield f"{len(matrix.cells)} cells, {len(wrong)} not as claimed"
    yield from wrong


def needs(matrix: Matrix) -> Iterator[str]:
    """Yield what each task about photographs needs: the defects with which a model guesses, most often first."""
    # Tasks about drawn scenes are left out, because the models were asked about them; so are defects that make fewer
    # than one case in a hundred a guess.
    for task in matrix.tasks:
        cells = [cell for defect in matrix.defects for cell in [matrix.cells.get((task, defect))] if cell is not None]
        guessed = [(cell.guessed, cell) for cell in cells if cell.guessed is not None and cell.guessed >= LEAST]
        for share, cell in sorted(guessed, key=lambda one: -one[0]):
            figure = f"{cell.metric.value:.2f} ({cell.metric.low:.2f} to {cell.metric.high:.2f})"
            yield f"{task}: {cell.defect} guesses {share:.0%}, reaches {figure}"


def page(*matrices: Matrix) -> str:
    """Return the heat map of each seed as a page in HTML that needs no other file."""
    tables = []
    for matrix in matrices:
        title = f"<h2>Seed {matrix.seed}</h2>\n" if len(matrices) > 1 else ""
        heads = "".join(f"<th>{html.escape(task)}</th>" for task in matrix.tasks)
        rows = (
            f"<tr><th>{defect}</th>{''.join(_square(matrix.cells.get((task, defect))) for task in matrix.tasks)}</tr>"
            for defect in matrix.defects
        )
        body = "\n".join(rows)
        tables.append(f"{title}<table><thead><tr><th></th>{heads}</tr></thead><tbody>\n{body}\n</tbody></table>")
    defects = (f"<dt>{defect}</dt><dd>{html.escape(SAYS[defect])}</dd>" for defect in matrices[0].defects)
    return _PAGE.format(stays=STAYS, tables="\n".join(tables), defects="\n".join(defects))


def record(*matrices: Matrix) -> dict[str, object]:
    """Return the matrices of one or several seeds as a JSON object: the cells, and what is wrong."""
    cells = []
    for matrix in matrices:
        for cell in matrix.cells.values():
            figures = {name: getattr(cell.metric, name) for name in ("value", "low", "high", "n")}
            more = {name: getattr(cell, name) for name in ("intact", "claimed", "guessed", "caught", "unclear")}
            cells.append({"seed": matrix.seed, "task": cell.task, "defect": cell.defect, **figures, **more})
    problems = [problem for matrix in matrices for problem in matrix.problems]
    return {"schema": 1, "stays": STAYS, "cells": cells, "problems": problems}


def _is_intact(cell: Cell) -> bool:
    return cell.metric.value >= cell.intact


def _interval(cell: Cell) -> str:
    metric = cell.metric
    return f"{metric.value:.2f} ({metric.low:.2f} - {metric.high:.2f}), n = {metric.n}"


def _square(cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    share = cell.metric.value / cell.intact if cell.intact else 1.0
    light = round(45 + 55 * min(1.0, share))
    marks = (("claimed", cell.claimed), ("unclear", cell.unclear), ("wrong", cell.problem))
    names = " ".join(name for name, holds in marks if holds)
    said = f"{cell.task}, {cell.defect}: {cell.metric.low:.3f} to {cell.metric.high:.3f}"
    interval = f"<small>{cell.metric.low:.2f}-{cell.metric.high:.2f}, n {cell.metric.n}</small>"
    style = f"background:hsl(28 85% {light}%)"
    figure = f"{cell.metric.value:.2f}{'?' if cell.unclear else ''}{interval}"
    return f'<td class="{names}" style="{style}" title="{html.escape(said)}">{figure}</td>'

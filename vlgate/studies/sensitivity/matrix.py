"""The matrix of tasks and defects: each task's main metric for each defective model, what it claims, as a page."""

from __future__ import annotations

import html
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import UnknownNameError
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.reader.reading import Reading
from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.models.reference.blind import Blind, Lesson
from vlgate.models.reference.defects import SAYS, defective
from vlgate.record.options import Options
from vlgate.run.loading import lessons
from vlgate.run.planning import make_plan
from vlgate.studies.sensitivity.readings import READINGS, alike
from vlgate.types import Batch, Case, Match, Metric, Prediction, Prepared, Task, Verdict

FILE = Path(__file__).with_name("claims.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    faculties: Mapping[str, str]  # the faculty that each defect breaks
    needs: Mapping[str, frozenset[str]]  # the faculties that each task needs
    # The faculties that few cases of a task need: it may catch their defects or not.
    some: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def claimed(self, task: str, defect: str) -> bool | None:
        faculty = self.faculties[defect]
        if task not in self.needs or faculty in self.some.get(task, ()):
            return None
        return faculty in self.needs[task]


def claims(file: Path = FILE) -> Claims:
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    faculties: dict[str, str] = {}
    for faculty, defects in content["faculties"].items():
        for defect in defects:
            if defect not in SAYS:
                raise UnknownNameError("defect", defect, SAYS)
            if defect in faculties:
                raise ValueError(f"{file.name}: {defect!r} breaks {faculties[defect]!r} and {faculty!r}; keep one")
            faculties[defect] = faculty
    if missing := sorted(SAYS.keys() - faculties.keys()):
        raise ValueError(f"{file.name}: no faculty names the defect {missing[0]!r}; add it to one of [faculties]")
    every, but = content["every"]["needs"], content["but"]
    needs = {task: frozenset((*every, *more)) - {*but.get(task, ())} for task, more in content["needs"].items()}
    some = {task: frozenset(names) for task, names in content["some"].items()}
    for name in {name for names in (*needs.values(), *some.values()) for name in names}:
        if name not in content["faculties"]:
            raise UnknownNameError("faculty", name, content["faculties"])
    return Claims(faculties=MappingProxyType(faculties), needs=MappingProxyType(needs), some=MappingProxyType(some))


# Such a model knows which texts are true, as the labels say, but takes two texts that say the same to it for equal: it
# guesses between a caption and a foil that only the broken faculty tells apart.

GUESS = 0.5  # the score of a text that says the same as one of the other truth; true texts have 1, false ones 0


def labelled(task: Task, defect: str) -> Cell | None:
    """Return what a model that knows the labels reaches with a defect of ``READINGS``; a guess counts 1/2."""
    # None if the task has no cases, or asks anything but whether a text fits an image.
    if not task.cases or not all(isinstance(request, Match) for case in task.cases for request in case.requests):
        return None
    verdicts: list[Verdict] = []
    for position, case in enumerate(task.cases):  # by itself: two cases of an image may disagree about a text
        replies = {reply.request: reply for reply in _replies(case, defect)}
        verdicts += judge(Batch(task=task, positions=(position,), ties="half"), replies)
    guessed = sum(any(reply.score == GUESS for reply in verdict.predictions) for verdict in verdicts)
    metric = metrics(columns(task.shape, verdicts))[SHAPES[task.shape].headline]
    share = guessed / len(verdicts)
    return Cell(task=task.id, defect=defect, metric=metric, intact=1.0, claimed=None, guessed=share)


def _replies(case: Case, defect: str) -> Iterator[Prediction]:
    told = [(pair, truth) for pair, truth in zip(case.requests, case.truths, strict=True) if isinstance(pair, Match)]
    for pair, truth in told:
        unsure = any(
            truth != another and pair.image == other.image and alike(defect, pair.text, other.text)
            for other, another in told
        )
        yield Prediction(request=pair, score=GUESS if unsure else float(bool(truth)))


STAYS = 0.95
"""A task catches a defect if the whole interval of its metric is at most this share of the intact model's figure."""
_BATCH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    task: str
    defect: str
    metric: Metric
    intact: float
    claimed: bool | None  # whether the task claims to catch the defect; None if it claims neither yes nor no
    # The share of cases in which a true and a false text say the same to the model, so that it guesses; None if the
    # model was asked, as about drawn scenes.
    guessed: float | None = None

    @property
    def caught(self) -> bool:
        return self.metric.high <= STAYS * self.intact

    @property
    def unclear(self) -> bool:
        return self.metric.value < self.intact and not self.caught

    @property
    def problem(self) -> str:
        figure = f"{self.metric.value:.3f} ({self.metric.low:.3f} to {self.metric.high:.3f}), n = {self.metric.n}"
        if self.claimed and not self.caught:
            return f"{self.task} claims to catch {self.defect}, and does not: {figure}"
        if self.claimed is False and self.caught:
            return f"{self.task} catches {self.defect}, and does not claim it: {figure}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    tasks: tuple[str, ...]
    defects: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    seed: int = 0

    @property
    def unclear(self) -> int:
        return sum(cell.unclear for cell in self.cells.values())

    @property
    def problems(self) -> list[str]:
        return [cell.problem for cell in self.cells.values() if cell.problem]


def matrix(
    tasks: Sequence[Task],
    defects: Sequence[str],
    claims: Claims,
    lessons: Mapping[str, Sequence[Lesson]] = MappingProxyType({}),
    *,
    seed: int = 0,
) -> Matrix:
    # The reader sees no photographs. On tasks about them, a model with a defect of reading knows what the labels say,
    # and guesses between texts that say the same to it. ``lessons`` are what the text-only model learns from.
    reading = Reading()
    cells: dict[tuple[str, str], Cell] = {}
    intact = _figures(Reader(reading=reading), "reader", tasks)
    for defect in defects:
        model = defective(defect, seed, reading)
        if isinstance(model, Blind):
            model.study(lessons)
        if isinstance(model, Prepared):
            model.prepare(tasks)
        for task, metric in _figures(model, defect, tasks).items():
            whole, claimed = intact[task].value if task in intact else 1.0, claims.claimed(task, defect)
            cells[task, defect] = Cell(task=task, defect=defect, metric=metric, intact=whole, claimed=claimed)
        for unseen in (task for task in tasks if task.id not in intact and defect in READINGS):
            cell = labelled(unseen, defect)
            if cell is not None:
                cells[unseen.id, defect] = cell
    names = tuple(task.id for task in tasks)
    return Matrix(tasks=names, defects=tuple(defects), cells=MappingProxyType(cells), seed=seed)


def _figures(model: object, name: str, tasks: Sequence[Task]) -> dict[str, Metric]:
    predictor = ModelPredictor(model=model, name=name, caller=Caller(name=name, size=_BATCH), seed=0)
    found = {}
    for task in tasks:
        requests = [request for case in task.cases for request in case.requests]
        verdicts = judge(Batch(task=task, positions=tuple(range(len(task.cases)))), predictor.predict(requests))
        if verdicts and all(verdict.state == "judged" for verdict in verdicts):
            found[task.id] = metrics(columns(task.shape, verdicts))[SHAPES[task.shape].headline]
    return found


NAMES: Mapping[str, str] = SAYS  # what is broken, in a sentence, by the name of the defect


def asked(options: Options, defects: Sequence[str]) -> Matrix:
    tasks = make_plan(options).tasks
    learnt = lessons(tasks, options) if "blind" in defects else {}
    return matrix(tasks, defects, claims(), learnt, seed=options.seed)


LEAST = 0.01  # the least share of guessed cases that is worth a line
_SAME = "."  # not below the figure of the intact model
_PAGE = Path(__file__).with_name("page.html").read_text(encoding="utf-8")


def lines(matrix: Matrix) -> Iterator[str]:
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
    # "." is a figure that is not below the intact model's, "?" marks one that is, with an interval that reaches above
    # ``STAYS`` of it, and "!" marks a cell that is not as claimed.
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
    if matrix.unclear:
        yield f"{matrix.unclear} unclear (?): below the intact figure, the interval reaches above {STAYS} of it"
    wrong = matrix.problems
    yield f"{len(matrix.cells)} cells, {len(wrong)} not as claimed"
    yield from wrong


def needs(matrix: Matrix) -> Iterator[str]:
    # Tasks about drawn scenes are left out, because the models were asked about them; so are defects that make fewer
    # than one case in a hundred a guess.
    for task in matrix.tasks:
        cells = [cell for defect in matrix.defects for cell in [matrix.cells.get((task, defect))] if cell is not None]
        guessed = [(cell.guessed, cell) for cell in cells if cell.guessed is not None and cell.guessed >= LEAST]
        for share, cell in sorted(guessed, key=lambda one: -one[0]):
            figure = f"{cell.metric.value:.2f} ({cell.metric.low:.2f} to {cell.metric.high:.2f})"
            yield f"{task}: {cell.defect} guesses {share:.0%}, reaches {figure}"


def page(*matrices: Matrix) -> str:
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

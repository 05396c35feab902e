"""The matrix: each task's main metric for each model with a defect, and whether the task says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.reader.reading import Reading
from vlgate.inference.batching import Caller
from vlgate.inference.predictor import ModelPredictor
from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.names import HEADLINE
from vlgate.models.reference.blind import Blind, Lesson
from vlgate.models.reference.defects import defective
from vlgate.sensitivity.by_label import labelled
from vlgate.sensitivity.claims import Claims
from vlgate.sensitivity.readings import READINGS
from vlgate.types import Batch, Metric, Prepared, Task

STAYS = 0.95
"""A task catches a defect if the whole interval of its metric is at most this share of the intact model's figure."""
_BATCH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The main metric of a task for a model with a defect.

    ``intact`` is the figure of the model without a defect, and ``claimed`` whether the task claims to catch the defect;
    None if it claims neither that it does nor that it does not. ``guessed`` is the share of cases in which a true and a
    false text say the same to the model, so that it guesses; None if the model was asked, as about drawn scenes.
    """

    task: str
    defect: str
    metric: Metric
    intact: float
    claimed: bool | None
    guessed: float | None = None

    @property
    def caught(self) -> bool:
        """Whether the whole interval is at most ``STAYS`` of the intact figure."""
        return self.metric.high <= STAYS * self.intact

    @property
    def unclear(self) -> bool:
        """Whether the figure is below the intact one, and not surely so: the interval reaches above ``STAYS`` of it."""
        return self.metric.value < self.intact and not self.caught

    @property
    def problem(self) -> str:
        """What is wrong with the cell; empty if it is as claimed."""
        figure = f"{self.metric.value:.3f} ({self.metric.low:.3f} to {self.metric.high:.3f}), n = {self.metric.n}"
        if self.claimed and not self.caught:
            return f"{self.task} claims to catch {self.defect}, and does not: {figure}"
        if self.claimed is False and self.caught:
            return f"{self.task} catches {self.defect}, and does not claim it: {figure}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The cells by task and defect, in the order of ``tasks`` and ``defects``; without those that have no reply."""

    tasks: tuple[str, ...]
    defects: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    seed: int = 0

    @property
    def unclear(self) -> int:
        """The number of cells whose figure is below the intact one, and not surely so."""
        return sum(cell.unclear for cell in self.cells.values())

    @property
    def problems(self) -> list[str]:
        """What is wrong with each wrong cell."""
        return [cell.problem for cell in self.cells.values() if cell.problem]


def matrix(
    tasks: Sequence[Task],
    defects: Sequence[str],
    claims: Claims,
    lessons: Mapping[str, Sequence[Lesson]] = MappingProxyType({}),
    *,
    seed: int = 0,
) -> Matrix:
    """Ask every model with a defect, and the intact reader, all tasks.

    The reader sees no photographs. On tasks about them, a model with a defect of reading knows what the labels say, and
    guesses between texts that say the same to it (``by_label``). ``lessons`` are what the text-only model learns from.

    Returns: the matrix; a task that a model has no reply to has no cell.
    """
    reading = Reading()
    found: dict[tuple[str, str], Cell] = {}
    intact = _figures(Reader(reading=reading), "reader", tasks)
    for defect in defects:
        model = defective(defect, seed, reading)
        if isinstance(model, Blind):
            model.study(lessons)
        if isinstance(model, Prepared):
            model.prepare(tasks)
        for task, metric in _figures(model, defect, tasks).items():
            found[task, defect] = Cell(
                task=task,
                defect=defect,
                metric=metric,
                intact=intact[task].value if task in intact else 1.0,
                claimed=claims.claimed(task, defect),
            )
        for unseen in (task for task in tasks if task.id not in intact and defect in READINGS):
            known = labelled(unseen, defect)
            if known is not None:
                found[unseen.id, defect] = Cell(
                    task=unseen.id, defect=defect, metric=known.metric, intact=1.0, claimed=None, guessed=known.guessed
                )
    return Matrix(
        tasks=tuple(task.id for task in tasks), defects=tuple(defects), cells=MappingProxyType(found), seed=seed
    )


def _figures(model: object, name: str, tasks: Sequence[Task]) -> dict[str, Metric]:
    """The main metric of each task that the model has all replies to."""
    predictor = ModelPredictor(model=model, name=name, caller=Caller(name=name, size=_BATCH), seed=0)
    found = {}
    for task in tasks:
        requests = [request for case in task.cases for request in case.requests]
        verdicts = judge(Batch(task=task, positions=tuple(range(len(task.cases)))), predictor.predict(requests))
        if verdicts and all(verdict.state == "judged" for verdict in verdicts):
            found[task.id] = metrics(columns(task.shape, verdicts))[HEADLINE[task.shape]]
    return found

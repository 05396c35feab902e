"""A control: its sample of cases, its functions, and the record of all controls of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vlgate.asking.predictor import ModelPredictor
from vlgate.metrics.controlled import ControlledTask
from vlgate.types import Case, Metric, Task, Ties, Verdict

# What a control is, and what it is given.


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The cases of one task that a control asks about.

    Attributes:
        task: the task with all of its cases that the run judged; what a control needs of other cases is among them.
        verdicts: the verdicts of the run on the sampled cases, all of them judged, in the task's order.
        left_out: how many cases of the run's task are not in the sample, by the reason.
        blind: the metrics of the text-only model on the judged cases of the task.
        chance: what guessing is expected to reach, by metric.
        ties: what an exact tie of two scores counts.
        seed: the seed of the run.
    """

    task: Task
    verdicts: tuple[Verdict, ...] = field(repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict)
    blind: Mapping[str, Metric] = field(default_factory=dict)
    chance: Mapping[str, float] = field(default_factory=dict)
    ties: Ties = "strict"
    seed: int = 0

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases, in the order of the verdicts."""
        return tuple(verdict.case for verdict in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A control.

    Attributes:
        name: as ``--controls`` takes it.
        says: what its figures tell, in a sentence: the head of its section in reports.
        figures: what each figure of a task is, in a few words, by its name.
        shown: the figures that tables show, in their order, with the most important one first; ``metrics.json`` has
            all.
        beside: what each value of ``ControlledTask.beside`` is, by its name.
        of_model: what each figure about the model is.
        of_model_requests: how many requests ``about_model`` asks, at most.
        requests: returns how many distinct requests the control asks about some cases of one task, at most.
        measure: asks the model about a sample; exceptions of the model pass through.
        about_model: measures what is about the model, given the predictor and the seed.
    """

    name: str
    says: str
    figures: Mapping[str, str]
    shown: tuple[str, ...]
    beside: Mapping[str, str] = field(default_factory=dict)
    of_model: Mapping[str, str] = field(default_factory=dict)
    of_model_requests: int = 0
    requests: Callable[[Sequence[Case]], int]
    measure: Callable[[Sample, ModelPredictor], ControlledTask]
    about_model: Callable[[ModelPredictor, int], ControlledTask | None] | None = None


# What the controls of a run found.


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """What one control found in a run.

    Attributes:
        name: the name of the control.
        limit: the most cases of a task that it was asked about.
        tasks: what it measured, by task id; a task without a judged case is absent.
        model: what it measured about the model itself; None if it does not apply.
        seconds: how long it took.
        lacking: why it could not be asked to its end; empty if it was.
    """

    name: str
    limit: int
    tasks: Mapping[str, ControlledTask] = field(default_factory=dict)
    model: ControlledTask | None = None
    seconds: float = 0.0
    lacking: str = ""

    @property
    def requests(self) -> int:
        """How many requests the control asked."""
        return sum(one.requests for one in (*self.tasks.values(), *([self.model] if self.model else [])))


def of_task(found: Iterable[Controlled], task: str) -> dict[str, ControlledTask]:
    """Return what some controls measured of a task, by the names of the controls."""
    return {one.name: one.tasks[task] for one in found if task in one.tasks}

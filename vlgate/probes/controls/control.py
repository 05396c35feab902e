"""A control: its sample of cases, its functions, and the record of all controls of a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vlgate.asking.predictor import ModelPredictor
from vlgate.judging.verdicts import judge
from vlgate.metrics.controlled import ControlledTask
from vlgate.types import Batch, Case, Metric, Prediction, Request, Task, Ties, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    # ``task`` has all cases that the run judged; what a control needs of other cases is among them. ``left_out`` counts
    # the cases of the run's task that are not in the sample, by the reason. ``blind`` and ``chance`` are the metrics of
    # the text-only model and of guessing. ``brief`` asks only what the main figure of a control needs.

    task: Task
    verdicts: tuple[Verdict, ...] = field(repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict)
    blind: Mapping[str, Metric] = field(default_factory=dict)
    chance: Mapping[str, float] = field(default_factory=dict)
    ties: Ties = "strict"
    seed: int = 0
    brief: bool = False

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(verdict.case for verdict in self.verdicts)

    def judged(self, cases: Iterable[Case], replies: Mapping[Request, Prediction]) -> Sequence[Verdict]:
        task = replace(self.task, cases=tuple(cases))
        return judge(Batch(task=task, positions=tuple(range(len(task.cases))), ties=self.ties), replies)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    # ``says`` is the head of its section in reports. ``figures``, ``beside`` and ``of_model`` say in a few words what
    # each figure of a task, each value of ``ControlledTask.beside`` and each figure about the model is; tables have
    # those that are ``shown``, the most important one first. ``requests`` and ``of_model_requests`` are the most that
    # are asked. ``measure`` asks about a sample, ``about_model`` about the model; exceptions of the model pass through.

    name: str
    says: str
    figures: Mapping[str, str]
    shown: tuple[str, ...]
    beside: Mapping[str, str] = field(default_factory=dict)
    of_model: Mapping[str, str] = field(default_factory=dict)
    of_model_requests: int = 0
    requests: Callable[[Sequence[Case], bool], int]  # of cases, and whether it is brief
    measure: Callable[[Sample, ModelPredictor], ControlledTask]
    about_model: Callable[[ModelPredictor, int], ControlledTask | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    # ``limit`` is the most cases of a task that it was asked about. A task without a judged case is not in ``tasks``;
    # ``model`` is what it measured about the model itself. ``lacking`` says why it could not be asked to its end.

    name: str
    limit: int
    tasks: Mapping[str, ControlledTask] = field(default_factory=dict)
    model: ControlledTask | None = None
    seconds: float = 0.0
    lacking: str = ""

    @property
    def requests(self) -> int:
        return sum(task.requests for task in (*self.tasks.values(), *([self.model] if self.model else [])))


def of_task(found: Iterable[Controlled], task: str) -> dict[str, ControlledTask]:
    return {one.name: one.tasks[task] for one in found if task in one.tasks}

"""After its cases, a run asks its controls and explains its worst missed cases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from vlgate.asking.checks.check import REQUESTS, asked_as, renamed
from vlgate.asking.items import gets_names
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import described
from vlgate.metrics.controlled import ControlledTask
from vlgate.probes.controls.control import Control, Controlled, Sample
from vlgate.probes.controls.delivery import BY_NAME, differ
from vlgate.probes.controls.registry import control
from vlgate.probes.explaining.explain import Told, explain, number_of_requests, subjects
from vlgate.probes.explaining.record import Explained, Explanation, margin_of
from vlgate.record.options import Options
from vlgate.record.results import TaskResult
from vlgate.run.planning import sample
from vlgate.types import Task

_NAMED = 4  # cases of each task that are asked again under other names


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    name: str
    requests: int
    cases: int
    tasks: int
    limit: int
    own: int  # the requests of the cases themselves, which the run asks anyway

    def seconds(self, per_case: float) -> float:
        return per_case * self.cases * self.requests / max(1, self.own)

    def __str__(self) -> str:
        of = f"{self.tasks:,} task{'' if self.tasks == 1 else 's'}, at most {self.limit:,} of each"
        return f"the control {self.name} asks up to {self.requests:,} requests more, about {self.cases:,} cases of {of}"


def costs(tasks: Sequence[Task], options: Options) -> list[Cost]:
    drawn, brief = [_drawn(task, options).cases for task in tasks], not options.controls_named
    own = sum(len({request for case in cases for request in case.requests}) for cases in drawn)
    return [
        Cost(
            name=name,
            requests=sum(control(name).requests(cases, brief) for cases in drawn) + control(name).of_model_requests,
            cases=sum(map(len, drawn)),
            tasks=len(drawn),
            limit=options.controls_limit,
            own=own,
        )
        for name in options.controls
    ]


def controlled(results: Sequence[TaskResult], options: Options, predictor: ModelPredictor) -> tuple[Controlled, ...]:
    samples = [drawn for result in results if (drawn := sample_of(result, options)).verdicts]
    made = (_asked(control(name), samples, options, predictor) for name in options.controls)
    doubt = _by_name(samples, predictor) if gets_names(predictor.model) else ""
    if not doubt:
        return tuple(made)
    return tuple(
        replace(one, tasks={task: replace(of, doubt=of.doubt or doubt) for task, of in one.tasks.items()})
        for one in made
    )


def _by_name(samples: Sequence[Sample], predictor: ModelPredictor) -> str:
    requests = [request for some in samples for case in some.cases[:_NAMED] for request in case.requests][:REQUESTS]
    asked = replace(predictor.bare(), seed=None)
    try:
        replies, again = asked.predict(requests), asked_as(asked, requests, renamed)
    except Exception:  # noqa: BLE001  # a foreign model may raise anything about a name that it does not know
        return ""
    both = [
        (replies[request], again[request])
        for request in requests
        if replies[request].problem is None is again[request].problem
    ]
    return BY_NAME if any(differ(one, other) for one, other in both) else ""


def sample_of(result: TaskResult, options: Options) -> Sample:
    judged = {verdict.case.id: verdict for verdict in result.verdicts if verdict.state == "judged"}
    task = replace(result.task, cases=tuple(case for case in result.task.cases if case.id in judged))
    some = _drawn(task, options)
    left_out = {
        f"beyond --controls-limit {options.controls_limit}": len(task.cases) - len(some.cases),
        "not judged in the run": len(result.task.cases) - len(task.cases),
    }
    return Sample(
        task=task,
        verdicts=tuple(judged[case.id] for case in some.cases),
        left_out={why: number for why, number in left_out.items() if number},
        blind=result.blind,
        chance=result.chance,
        ties=options.ties,
        seed=options.seed,
        brief=not options.controls_named,
    )


def _drawn(task: Task, options: Options) -> Task:
    return sample(task, options.controls_limit, f"{options.seed}:controls:{task.id}")


def _asked(asked: Control, samples: Sequence[Sample], options: Options, predictor: ModelPredictor) -> Controlled:
    start = perf_counter()
    tasks: dict[str, ControlledTask] = {}
    model, lacking = None, ""
    try:
        for some in samples:
            tasks[some.task.id] = asked.measure(some, predictor)
        model = None if asked.about_model is None else asked.about_model(predictor, options.seed)
        if model is not None and model.doubt:
            tasks = {task: replace(one, doubt=model.doubt) for task, one in tasks.items()}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a foreign model may raise anything, as pytest.skip() does
        lacking = f"the model raised {described(error)}"
    seconds = perf_counter() - start
    return Controlled(
        name=asked.name, limit=options.controls_limit, tasks=tasks, model=model, seconds=seconds, lacking=lacking
    )


def explained(
    results: Sequence[TaskResult], most: int, predictor: ModelPredictor, tell: Callable[[str], None]
) -> Explained:
    chosen = [(result, missed) for result in results if (missed := worst_missed(result, most))]
    explanations: list[Explanation] = []
    try:
        asked = [subjects(missed, predictor.model) for _, missed in chosen]
        cases, requests = sum(map(len, asked)), sum(map(number_of_requests, asked))
        counted = ((cases, "missed case"), (len(asked), "task"), (requests, "request"))
        named = [f"{number:,} {what}{'' if number == 1 else 's'}" for number, what in counted]
        tell("explaining {} of {} with {}".format(*named))
        while asked:  # the pixels of a task's images are freed before the next task is asked
            explanations += explain(asked.pop(0), predictor, predictor.model)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a foreign model may raise anything, as pytest.skip() does
        return Explained(explanations=tuple(explanations), lacking=f"the model raised {described(error)}")
    return Explained(explanations=tuple(explanations))


def worst_missed(result: TaskResult, most: int) -> tuple[Told, ...]:
    task = result.task
    rated: list[tuple[float, int]] = []
    for row, verdict in enumerate(result.verdicts):
        if verdict.state != "judged" or verdict.right:
            continue
        # The replies of the run are those to the case's own requests, so questions are rated by their answers.
        margin = margin_of(verdict.case, task.shape, None)
        replies = {reply.request: reply for reply in verdict.predictions}
        value = None if margin is None else margin.of(replies)
        if value is not None:
            rated.append((value, row))
    return tuple((task.id, task.shape, result.verdicts[row]) for _, row in sorted(rated)[:most])

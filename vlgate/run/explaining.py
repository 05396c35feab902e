"""Explain the worst missed cases of a run, task by task, after all verdicts are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vlgate.errors import described
from vlgate.explaining.explain import Told, explain, number_of_requests, subjects
from vlgate.explaining.margin import margin_of
from vlgate.explaining.record import Explained, Explanation
from vlgate.inference.predictor import ModelPredictor
from vlgate.run.results import TaskResult


def explained(
    results: Sequence[TaskResult], most: int, predictor: ModelPredictor, tell: Callable[[str], None]
) -> Explained:
    """Explain the worst missed cases of each task.

    Args:
        results: the results of the run.
        most: the most cases of a task.
        predictor: the model of the run.
        tell: takes a line that says how many requests the explanations ask, before they are asked.

    Returns: the explanations, those of a task with the worst case first. If the model raises, those that were made
        before; only Ctrl-C passes through.
    """
    chosen = [(result, told) for result in results if (told := worst_missed(result, most))]
    found: list[Explanation] = []
    try:
        asked = [subjects(told, predictor.model) for _, told in chosen]
        tell(_announced(len(asked), sum(map(len, asked)), sum(map(number_of_requests, asked))))
        while asked:  # the pixels of a task's images are freed before the next task is asked
            found += explain(asked.pop(0), predictor, predictor.model)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a foreign model may raise anything, as pytest.skip() does
        return Explained(explanations=tuple(found), lacking=f"the model raised {described(error)}")
    return Explained(explanations=tuple(found))


def worst_missed(result: TaskResult, most: int) -> tuple[Told, ...]:
    """Return the missed cases of a task with the smallest margins, the worst first; of equal ones the first."""
    task = result.task
    rated: list[tuple[float, int]] = []
    for place, verdict in enumerate(result.verdicts):
        if verdict.state != "judged" or verdict.right:
            continue
        # The replies of the run are those to the case's own requests, so questions are rated by their answers.
        margin = margin_of(verdict.case, task.shape, None)
        said = {reply.request: reply for reply in verdict.predictions}
        value = None if margin is None else margin.of(said)
        if value is not None:
            rated.append((value, place))
    return tuple((task.id, task.shape, result.verdicts[place]) for _, place in sorted(rated)[:most])


def _announced(tasks: int, cases: int, requests: int) -> str:
    counted = ((cases, "missed case"), (tasks, "task"), (requests, "request"))
    said, of, asking = (f"{number:,} {what}{'' if number == 1 else 's'}" for number, what in counted)
    return f"explaining {said} of {of} with {asking}"

"""Runs to make pages of: replies of which every third case is missed."""

from pathlib import Path

from vlgate.gates.records import Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.verdicts import judge
from vlgate.run.results import RunResult, decisions, tabulate
from vlgate.types import Ask, Batch, Prediction

GATES = (
    Gate(task="scenes/relations", metric="acc_r", min=0.9, why="left and right"),
    Gate(task="scenes/visual-inv", metric="c_acc", min=0.1),
)


def replies(task):
    """Every third case is missed: by a little more each time, and its second answer is wrong."""
    found = {}
    for number, case in enumerate(task.cases):
        miss = number % 3 == 0
        for place, (request, truth) in enumerate(zip(case.requests, case.truths, strict=True)):
            if isinstance(request, Ask):
                other = next((choice for choice in request.choices if choice != truth), "maybe")
                found[request] = Prediction(request=request, answer=other if miss and place else truth)
            else:
                found[request] = Prediction(request=request, score=(1.0 if truth else 0.5) * (-number if miss else 1))
    return found


def judged(task):
    return judge(Batch(task=task, positions=tuple(range(len(task.cases)))), replies(task))


def result_of(tasks, gates=GATES, notes=()):
    results = [tabulate(task, judged(task), ()) for task in tasks]
    made = decisions(Thresholds(file=Path("t.toml"), rules=gates, require=()), results)
    return RunResult(results=tuple(results), decisions=made, notes=notes)

"""The folder of a finished run, for the commands that read one."""

from dataclasses import replace

import pytest
from hostile import HOSTILE
from PIL import Image

from tests.report.page.page_runs import judged
from vlgate.judging.verdicts import judge
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult, task_metrics
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Batch, Case, LazyImage, Prediction, Task

SUITE = ("scenes/relations", "scenes/visual-inv", "scenes/word-swap", "scenes/coordination")


def hostile_task():
    """Three cases with hostile texts: one missed, one unscored, one with an answer that cannot be read."""
    image = LazyImage(key=f"{HOSTILE}.jpg", load=lambda: Image.new("RGB", (8, 8)))
    questions = tuple(Ask(image=image, question=words, choices=("yes", "no")) for words in (HOSTILE, "Is it?"))
    cases = tuple(
        Case(
            id=name,
            requests=questions
            if name == "unread"
            else tuple(replace(question, question=f"{name}?") for question in questions),
            truths=("yes", "yes"),
            tags={"kind": HOSTILE},
            origin=HOSTILE if name == "unread" else "=1+1 of a file",
        )
        for name in (f"missed {HOSTILE}", "unscored", "unread")
    )
    task = Task(id="own/hostile", capability="invariance", shape="questions", cases=cases)
    found = {request: Prediction(request=request, answer="no") for request in cases[0].requests}
    found |= {request: Prediction(request=request, problem="gone") for request in cases[1].requests}
    found |= {request: Prediction(request=request, answer=HOSTILE) for request in questions}
    return task, judge(Batch(task=task, positions=(0, 1, 2)), found)


def all_right(options):
    """The result of a task of which no case is missed."""
    [task] = make_plan(options).tasks
    found = {
        request: Prediction(request=request, score=float(truth))
        for case in task.cases
        for request, truth in zip(case.requests, case.truths, strict=True)
    }
    return task_metrics(task, judge(Batch(task=task, positions=tuple(range(len(task.cases)))), found), ())


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder of a run: four tasks of which every third case is missed, one without a miss, one of hostile texts."""
    folder = tmp_path_factory.mktemp("shown")
    options = Options(folder=folder, model="oracle", suite=SUITE, limit=40, thresholds=None, results=folder)
    results = [task_metrics(task, judged(task), ()) for task in make_plan(options).tasks]
    results.append(all_right(replace(options, suite=("scenes/foil-it",), limit=5)))
    task, verdicts = hostile_task()
    run = RunResult(results=(*results, task_metrics(task, verdicts, ())), decisions=())
    assert write_rows(run, options) == []
    assert write_figures(run, ModelCard(name="oracle"), options, 1) == []
    return folder

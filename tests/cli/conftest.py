"""The folder of a finished run, for the commands that read one."""

from dataclasses import replace

import pytest
from builders import judged as judged_replies
from hostile import HOSTILE
from PIL import Image

from tests.report.page.page_runs import judged
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult, task_metrics
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Case, LazyImage, Task

SUITE = ("scenes/relations", "scenes/visual-inv", "scenes/word-swap", "scenes/coordination")


def hostile_task():
    """Three cases with hostile texts: one missed, one unscored, one with an answer that cannot be read."""
    image = LazyImage(key=f"{HOSTILE}.jpg", load=lambda: Image.new("RGB", (8, 8)))
    questions = tuple(Ask(image=image, question=words, choices=("yes", "no")) for words in (HOSTILE, "Is it?"))
    others = [
        tuple(replace(one, question=f"{name}?") for one in questions) for name in (f"missed {HOSTILE}", "unscored")
    ]
    named = {f"missed {HOSTILE}": others[0], "unscored": others[1], "unread": questions}
    origins = ("=1+1 of a file", "=1+1 of a file", HOSTILE)
    cases = tuple(
        Case(id=name, requests=requests, truths=("yes", "yes"), tags={"kind": HOSTILE}, file=origin)
        for (name, requests), origin in zip(named.items(), origins, strict=True)
    )
    task = Task(id="own/hostile", capability="invariance", shape="questions", cases=cases)
    return task, judged_replies(task, [[{"answer": "no"}] * 2, [{"problem": "gone"}] * 2, [{"answer": HOSTILE}] * 2])


def all_right(options):
    """The result of a task of which no case is missed."""
    [task] = make_plan(options).tasks
    replies = [[{"score": float(truth)} for truth in case.truths] for case in task.cases]
    return task_metrics(task, judged_replies(task, replies), ())


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

"""Runs to report: replies of which every third case is missed; and a page as a browser's parser sees it."""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from vlgate.gates.decide import decide_all
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.verdicts import judge
from vlgate.record.comparison import FinishedRun, compare, read_earlier
from vlgate.record.digests import Digests
from vlgate.record.model_card import ModelCard
from vlgate.record.parquet import case_table
from vlgate.record.results import RunResult, judged_tasks_of, task_metrics
from vlgate.report.folder import write_figures, write_rows
from vlgate.types import Ask, Batch, Compare, Prediction

GATES = (
    Gate(task="scenes/relations", metric="acc_r", min=0.9, why="left and right"),
    Gate(task="scenes/visual-inv", metric="c_acc", min=0.1),
)


def every_third(number):
    return number % 3 == 0


def replies(task, missed=every_third):
    """The cases of these numbers are missed: by a little more each time, and their second answer is wrong."""
    found = {}
    for number, case in enumerate(task.cases):
        miss = missed(number)
        for index, (request, truth) in enumerate(zip(case.requests, case.truths, strict=True)):
            if isinstance(request, Ask | Compare):
                other = next((choice for choice in request.choices if choice != truth), "maybe")
                found[request] = Prediction(request=request, answer=other if miss and index else truth)
            else:
                found[request] = Prediction(request=request, score=(1.0 if truth else 0.5) * (-number if miss else 1))
    return found


def judged(task, missed=every_third):
    return judge(Batch(task=task, positions=tuple(range(len(task.cases)))), replies(task, missed))


DIGESTS = Digests(thresholds=None, must_hold=None, plan=f"blake2b:{'1' * 32}", rows=f"sha256:{'2' * 64}")


def result_of(tasks, gates=GATES, missed=every_third):
    return gated([task_metrics(task, judged(task, missed), ()) for task in tasks], gates, digests=DIGESTS)


def gated(results, gates, more=(), **fields):
    """A run with the decisions of these gates, and ``more`` decisions."""
    made = decide_all(Thresholds(file=Path("t.toml"), rules=gates, require=()), judged_tasks_of(results))
    return RunResult(results=tuple(results), decisions=(*made, *more), **fields)


def decided(*outcomes, why="", **fields):
    """A run without results, whose gates have these outcomes."""
    gates = [Gate(task=f"scenes/task-{number}", metric="acc_r", min=0.5) for number in range(len(outcomes))]
    made = (Decision(gate=gate, outcome=outcome, why=why) for gate, outcome in zip(gates, outcomes, strict=True))
    return RunResult(results=(), decisions=tuple(made), **{"digests": DIGESTS, **fields})


def compared(result, folder):
    tables = {one.task.id: case_table(one.task, one.verdicts) for one in result.results}
    later = FinishedRun(model="newer", seed=0, ties="strict", tasks=tables)
    return replace(result, comparison=compare(read_earlier(folder, f"--baseline {folder}"), later))


def write_run(result, options, tasks=(), **model):
    options.results.mkdir(exist_ok=True)
    assert write_rows(result, options) == []
    assert write_figures(result, ModelCard(**{"name": "oracle", **model}), options, 1, tasks) == []
    return options.results


class Reading(HTMLParser):
    """The elements of a page with their attributes, and its texts."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self._inside = [], [], ""
        self.code = {"script": [], "style": []}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, _):
        self._inside = ""

    def handle_data(self, data):
        self.code.get(self._inside, self.texts).append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def all(self, tag, part=""):
        return [attrs for name, attrs in self.elements if name == tag and part in (attrs.get("class") or "")]

from dataclasses import replace
from pathlib import Path

import pytest

from vlgate.gates.decide import idle
from vlgate.gates.records import Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.verdicts import judge
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult, decisions, task_metrics
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Prediction, Task

BROKEN = "image 'broken.jpg': it is cut off; download it again"
MISSING = "image 'missing.jpg': not found; put it there"


def never():
    raise AssertionError("a report decoded an image")


def image(key):
    return LazyImage(key=key, load=never)


def verdicts_of(task, replies):
    """Judge the first cases of a task by one list per case, with one keyword dictionary per request."""
    predictions = {
        request: Prediction(request=request, **reply)
        for case, said in zip(task.cases, replies, strict=False)
        for request, reply in zip(case.requests, said, strict=True)
    }
    return judge(Batch(task=task, positions=tuple(range(len(replies)))), predictions)


def foils():
    """40 pairs: 30 right, 4 wrong, 4 tied, one unscored, one skipped."""
    keys = [f"{number}.jpg" for number in range(38)] + ["broken.jpg", "missing.jpg"]
    cases = tuple(
        Case(
            id=f"pair {number}",
            requests=(Match(image=image(key), text="a red cup"), Match(image=image(key), text="a red cat")),
            truths=(True, False),
            tags={"half": "first" if number < 20 else "second"},
            origin=f"existence.json, record {number}",
        )
        for number, key in enumerate(keys)
    )
    task = Task(
        id="scenes/existence", capability="foil", shape="pair", cases=cases, left_out={"caption equals foil": 2}
    )
    right = [{"score": 0.75, "accepted": True}, {"score": 0.1, "accepted": False}]
    wrong = [{"score": -0.25, "accepted": False}, {"score": 1 / 3, "accepted": False}]
    tied = [{"score": 0.5}, {"score": 0.5}]
    replies = [right] * 30 + [wrong] * 4 + [tied] * 4
    replies += [[{"problem": BROKEN}] * 2, [{"problem": MISSING, "skipped": True}] * 2]
    return task, verdicts_of(task, replies)


def swaps():
    """Two quads, one right."""
    cases = tuple(
        Case(
            id=f"quad {number}",
            requests=tuple(
                Match(image=image(f"ex_{number}_img_{place}"), text=f"caption {number}{caption}")
                for place in (0, 1)
                for caption in (0, 1)
            ),
            truths=(True, False, False, True),
        )
        for number in range(2)
    )
    task = Task(id="scenes/word-swap", capability="compositional", shape="quad", cases=cases)
    replies = [[{"score": score} for score in scores] for scores in ((0.9, 0.1, 0.2, 0.8), (0.3, 0.4, 0.3, 0.4))]
    return task, verdicts_of(task, replies)


def orders():
    """Three question pairs; two are asked, with equal answers, and both answers of the first are right."""
    cases = tuple(
        Case(
            id=f"questions {number}",
            requests=tuple(
                Ask(image=image(f"{number}.jpg"), question=f"{words}?", choices=("left", "right"))
                for words in ("left or right", "right or left")
            ),
            truths=("left", "left"),
            tags={"odd": "a|b"},
        )
        for number in range(3)
    )
    task = Task(id="scenes/order-inv", capability="invariance", shape="questions", cases=cases)
    return task, verdicts_of(task, [[{"answer": answer}] * 2 for answer in ("left", "Right.")])


GATES = (
    Gate(task="scenes/existence", metric="acc_r", min=0.5, why="better than a coin"),
    Gate(task="scenes/existence", metric="p_c", min=0.99, basis="value"),
    Gate(task="scenes/existence", metric="auroc", min=0.25, max=0.5, confidence=0.99),
    Gate(task="scenes/word-swap", metric="group", min=0.1, min_cases=1),
    Gate(task="scenes/order-inv", metric="cons", min=0.5),
)


def make_run():
    (task, verdicts), *others = foils(), swaps(), orders()
    results = [task_metrics(task, verdicts, verdicts[30:34], "strict")]
    results += [task_metrics(some, said, (), "strict") for some, said in others]
    results.sort(key=lambda result: result.task.id)
    made = decisions(Thresholds(file=Path("t.toml"), rules=GATES, require=()), results)
    return RunResult(results=tuple(results), decisions=(*made, idle(Gate(task="valse/*", metric="acc_r", min=0.5))))


@pytest.fixture(scope="session")
def run():
    """A run with gates that fail, are inconclusive, and are not run."""
    return make_run()


@pytest.fixture
def run_again():
    """The same figures, computed again."""
    return make_run()


@pytest.fixture(scope="session")
def passing():
    """A run of one task whose gate passes."""
    task, verdicts = foils()
    task = replace(task, cases=task.cases[:34], left_out={})
    result = task_metrics(task, verdicts[:34], (), "strict")
    rules = (Gate(task="scenes/existence", metric="acc_r", min=0.6),)
    made = decisions(Thresholds(file=Path("t.toml"), rules=rules, require=()), [result])
    return RunResult(results=(result,), decisions=made)


@pytest.fixture
def card():
    return ModelCard(
        name="lxmert",
        weights="unc-nlp/lxmert",
        fingerprint="0a1b",
        adapters={"Match": "match(): scores pairs together", "Ask": "answer()"},
        notes=("3 texts were cut at the model's context length",),
    )


@pytest.fixture
def options():
    return Options(folder=Path(), thresholds=Path("t.toml"), results=Path("out"), seed=7, limit=40, suite=("scenes/*",))

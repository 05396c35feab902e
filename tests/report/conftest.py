from dataclasses import replace
from pathlib import Path

import pytest
from builders import asked_task, image, judged, pair_case, quads_task, task_of

from tests.report.page.page_runs import gated
from vlgate.gates.decide import idle
from vlgate.gates.records import Gate
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import task_metrics

RIGHT = [{"score": 0.75, "accepted": True}, {"score": 0.1, "accepted": False}]
WRONG = [{"score": -0.25, "accepted": False}, {"score": 1 / 3, "accepted": False}]
BROKEN = {"problem": "image 'broken.jpg': it is cut off; download it again"}
MISSING = {"problem": "image 'missing.jpg': not found; put it there", "skipped": True}


def foils():
    """40 pairs: 30 right, 4 wrong, 4 tied, one unscored, one skipped."""
    keys = [*(f"{number}.jpg" for number in range(38)), "broken.jpg", "missing.jpg"]
    cases = [
        pair_case(
            number,
            picture=image(key),
            tags={"half": "first" if number < 20 else "second"},
            file=f"existence.json, record {number}",
        )
        for number, key in enumerate(keys)
    ]
    task = task_of(cases, "scenes/existence", left_out={"caption equals foil": 2})
    replies = [RIGHT] * 30 + [WRONG] * 4 + [[{"score": 0.5}] * 2] * 4 + [[BROKEN] * 2, [MISSING] * 2]
    return task, judged(task, replies)


def swaps():
    """Two quads, one right."""
    rows = [(f"ex_{n}_img_0", f"ex_{n}_img_1", f"caption {n}0", f"caption {n}1") for n in range(2)]
    task = quads_task(*rows, name="scenes/word-swap")
    scores = (0.9, 0.1, 0.2, 0.8), (0.3, 0.4, 0.3, 0.4)
    return task, judged(task, [[{"score": score} for score in row] for row in scores])


def orders():
    """Three question pairs; two are asked, with equal answers, and both answers of the first are right."""
    rows = [(f"{number}.jpg", "left or right?", "left", "right or left?", "left") for number in range(3)]
    task = asked_task(*rows, choices=("left", "right"), name="scenes/order-inv", case="questions ")
    return task, judged(task, [[{"answer": answer}] * 2 for answer in ("left", "Right.")])


GATES = (
    Gate(task="scenes/existence", metric="acc_r", min=0.5, why="better than a coin"),
    Gate(task="scenes/existence", metric="p_c", min=0.99, basis="value"),
    Gate(task="scenes/existence", metric="auroc", min=0.25, max=0.5, confidence=0.99),
    Gate(task="scenes/word-swap", metric="group", min=0.1, min_cases=1),
    Gate(task="scenes/order-inv", metric="cons", min=0.5),
)


@pytest.fixture(scope="session")
def run():
    """A run with gates that fail, are inconclusive, and are not run."""
    (task, verdicts), *others = foils(), swaps(), orders()
    results = [task_metrics(task, verdicts, verdicts[30:34], "strict")]
    results += [task_metrics(some, said, (), "strict") for some, said in others]
    results.sort(key=lambda result: result.task.id)
    return gated(results, GATES, [idle(Gate(task="valse/*", metric="acc_r", min=0.5))])


@pytest.fixture(scope="session")
def passing():
    """A run of one task whose gate passes."""
    task, verdicts = foils()
    task = replace(task, cases=task.cases[:34], left_out={})
    result = task_metrics(task, verdicts[:34], (), "strict")
    return gated([result], (Gate(task="scenes/existence", metric="acc_r", min=0.6),))


@pytest.fixture
def card():
    adapters = {"Match": "match(): scores pairs together", "Ask": "answer()"}
    return ModelCard(name="lxmert", weights="unc-nlp/lxmert", fingerprint="0a1b", adapters=adapters)


@pytest.fixture
def options():
    return Options(folder=Path(), thresholds=Path("t.toml"), results=Path("out"), seed=7, limit=40, suite=("scenes/*",))

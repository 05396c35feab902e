"""Every sabotage is caught by the gates that it is decided by, which the intact model passes; and ``vlgate demo``."""

import sys
import webbrowser
from functools import cache

import pytest

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.cli import main
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.reader.reading import Reading
from vlgate.gates.decide import Coverage, decide, expand
from vlgate.gates.thresholds import read_thresholds
from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.models import spoilt, tiny
from vlgate.models.reference.defects import SAYS, defective
from vlgate.run.planning import sample
from vlgate.sources.scenes import TASK_SHAPES
from vlgate.sources.scenes.scenes import shipped
from vlgate.studies.sensitivity.sabotage import closing_lines, place_of, sabotages, stopped_by
from vlgate.types import Batch, Prepared

READING = Reading()  # each text is read once for all defects
WEIGHTS = {
    "tiny-lxmert/colours": "scenes/attributes",
    "tiny-lxmert/positions": "scenes/attribute-size",
    "tiny-lxmert/tokens": "scenes/foil-it",
    "tiny-clip/colours": "scenes/attributes",
    "tiny-clip/positions": "scenes/attribute-state",
    "tiny-clip/tokens": "scenes/foil-it",
}
"""A task that each spoilt model fails."""


@cache
def task_of(name):
    return next(iter(shipped([name])))


@cache
def gates_of(file):
    return expand(read_thresholds(file, TASK_SHAPES).rules, TASK_SHAPES)[0]


def outcome(model, name, file, limit=None):
    """The decision of the gate on a task's main metric, for a model that is asked so many of its cases."""
    task = sample(task_of(name), limit, "sabotage")
    if isinstance(model, Prepared):
        model.prepare([task])
    predictor = ModelPredictor(model=model, name="m", caller=Caller(name="m", size=256), seed=0)
    batch = Batch(task=task, positions=tuple(range(len(task.cases))))
    requests = dict.fromkeys(request for case in task.cases for request in case.requests)
    verdicts = judge(batch, predictor.predict(requests))
    found = metrics(columns(task.shape, verdicts))
    [gate] = [one for one in gates_of(file) if (one.kind, one.task) == ("gate", name)]
    coverage = Coverage(cases=len(verdicts), judged=len(verdicts), unscored=0, skipped=0)
    return decide(gate, coverage, found).outcome


def few(claimed):
    """A task that claims to catch each defect, by its name: few tasks for all."""
    found = {}
    while len(found) < len(claimed):
        left = {name: tasks for name, tasks in claimed.items() if name not in found}
        best = max(sorted(TASK_SHAPES), key=lambda task: sum(task in tasks for tasks in left.values()))
        found |= {name: best for name, tasks in left.items() if best in tasks}
    return found


READERS = {name: sabotage for name, sabotage in sabotages().items() if name in SAYS}
FINE = frozenset(TASK_SHAPES) - {"scenes/visual-inv"}  # its cases are about few images
ASKED = few({name: reader.claimed & FINE or reader.claimed for name, reader in READERS.items()})


@pytest.mark.parametrize("name", READERS)
def test_a_defect_is_caught(name):
    one = READERS[name]
    assert outcome(defective(name, 0, READING), ASKED[name], one.thresholds, limit=45) in {"fail", "inconclusive"}


def test_the_intact_reader_passes_and_has_a_gate_on_every_drawn_task():
    file = READERS["constant"].thresholds
    tasks = sorted(set(ASKED.values()))
    assert {task: outcome(Reader(reading=READING), task, file) for task in tasks} == dict.fromkeys(tasks, "pass")
    gates = gates_of(READERS["constant"].thresholds)
    assert {one.task: one.metric for one in gates} == {name: SHAPES[of].headline for name, of in TASK_SHAPES.items()}


def test_only_a_defect_that_no_drawn_task_claims_is_left_out_and_an_unknown_one_names_the_nearest(capsys):
    assert set(SAYS) - set(sabotages()) == {"synonyms"}
    assert set(sabotages()) - set(SAYS) == set(spoilt.SPOILT) == set(WEIGHTS)
    assert main(["demo", "--sabotage", "color-blind"]) == 4
    assert "colour-blind" in capsys.readouterr().err


@pytest.mark.parametrize("name", WEIGHTS)
def test_spoilt_weights_are_caught(name, pytestconfig):
    file = sabotages()[name].thresholds or pytestconfig.rootpath / "thresholds.toml"
    assert outcome(spoilt.build(name), WEIGHTS[name], file, limit=45) == "fail"


@pytest.mark.slow
def test_the_intact_model_passes_its_own_gates():
    intact, file = tiny.build_clip(), sabotages()["tiny-clip/colours"].thresholds
    tasks = [task for name, task in WEIGHTS.items() if name.startswith("tiny-clip")]
    assert {task: outcome(intact, task, file) for task in tasks} == dict.fromkeys(tasks, "pass")


DECIDED = [
    ("scenes/foil-it:acc_r", "pass", 1.0, "min"),
    ("scenes/attribute-size:acc_r", "inconclusive", 0.84, "min"),
    ("scenes/attributes:acc_r", "fail", 0.5, "min"),
    ("limit:scenes/depth:acc_r", "not run", None, "limit"),
]
FIGURES = {
    "tasks": {"scenes/attributes": {}, "scenes/attribute-size": {}, "scenes/foil-it": {}},
    "gates": [dict(zip(("gate", "decision", "value", "kind"), row, strict=True)) | {"min": 0.85} for row in DECIDED],
}


@pytest.mark.slow
@pytest.mark.parametrize(("terminal", "display"), [(True, ":0"), (True, ""), (False, ":0")])
def test_a_demo_ends_red_and_opens_the_page_on_what_broke(tmp_path, monkeypatch, capsys, terminal, display):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("VLGATE_DATA", str(tmp_path))
    monkeypatch.setenv("VLGATE_CACHE", "off")
    folder = tmp_path / "demo"
    words = ["demo", "--sabotage", "colour-blind", "--suite", "scenes/attributes", "--results", str(folder)]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert "sabotaged: colour-blind: Takes every colour for every other." in said
    assert "stopped by 1 of 1 gate: scenes/attributes:acc_r (0.000, min 0.85)" in said
    assert "claimed by 1 task of the run, and stopped by 1" in said
    page = f"{(folder / 'report.html').as_uri()}#scenes/attributes"
    assert opened == ([page] if terminal and display else [])
    assert 'id="scenes/attributes"' in (folder / "report.html").read_text(encoding="utf-8")


def test_the_closing_lines_say_what_broke_most_first_and_which_claims_hold():
    assert (place_of(stopped_by(FIGURES)), place_of([])) == ("scenes/attributes", "")
    sabotage = sabotages()["colour-blind"]
    _, stopped, claimed = closing_lines("colour-blind", sabotage, FIGURES)[:3]
    first, second = (
        "scenes/attributes:acc_r (0.500, min 0.85)",
        "scenes/attribute-size:acc_r (0.840, min 0.85, inconclusive)",
    )
    assert stopped == f"stopped by 2 of 3 gates (1 fail, 1 inconclusive): {first}, {second}"
    assert claimed == "claimed by 2 tasks of the run, and stopped by 2"
    passed = {**FIGURES, "gates": FIGURES["gates"][:1]}
    assert closing_lines("colour-blind", sabotage, passed)[1] == "NOT CAUGHT: 1 gate, and none fails"

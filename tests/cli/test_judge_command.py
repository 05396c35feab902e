"""``vlgate judge``: the decisions about a run with another thresholds file, from its files, as the run makes them."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from pyarrow.parquet import read_table, write_table

from tests.report.page.page_runs import replies
from vlgate.asking.checks.check import Check
from vlgate.cli import main
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import read_thresholds
from vlgate.judging.verdicts import judge
from vlgate.record import json_files
from vlgate.record.comparison import read_earlier
from vlgate.record.json_files import metrics_content
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.run_gates import CREDIT, failed_checks
from vlgate.record.verdict import outcome_of
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.concluding import conclude
from vlgate.run.planning import make_plan
from vlgate.sources.registry import shapes
from vlgate.types import Batch, Prediction

SCHEMA = json.loads(Path(json_files.__file__).with_name("metrics.schema.json").read_text())
TASKS = {
    "scenes/relations": "valse/relations",
    "scenes/word-swap": "winoground/all",
    "scenes/visual-inv": "carets/visual-inv",
    "scenes/coordination": "bla/coordination",
    "scenes/active-passive": "bla/active-passive",
}
"""Drawn tasks of every shape, and under which names they are judged: their text-only models need no further scenes."""
CHECK = Check(name="polarity", outcome="suspect", why="true texts score low", n=64, share=0.1)
CARD = ModelCard(name="oracle", fingerprint="0a1b", checks=(CHECK,))
EVERY_KIND = Path(__file__).with_name("every_kind.toml").read_text()
COMPARED = """
[gate."valse/relations".acc_r]
max_broken = 2
max_churn = 0.2
max_drop = 0.3
[gate."winoground/all".group]
min = 0.2
"""
PLAIN = '[gate."valse/relations".acc_r]\nmin = 0.2\n'


def accepted(predictions):
    """The replies, of which those to texts also say yes or no."""
    return {
        r: reply if reply.score is None else replace(reply, accepted=reply.score > 0.6)
        for r, reply in predictions.items()
    }


def verdicts_of(tasks, change=lambda _, found: found, ties="strict"):
    batches = {task.id: Batch(task=task, positions=tuple(range(len(task.cases))), ties=ties) for task in tasks}
    return {name: judge(batch, change(batch.task, accepted(replies(batch.task)))) for name, batch in batches.items()}


@pytest.fixture(scope="module")
def tasks():
    options = Options(folder=Path.cwd(), suite=tuple(TASKS), limit=40, thresholds=None, results=Path.cwd())
    return tuple(replace(task, id=TASKS[task.id]) for task in make_plan(options).tasks)


class Place:
    """A folder in which a run is concluded and written, and judged again by another thresholds file."""

    def __init__(self, path, tasks):
        self.path, self.tasks = path, tasks
        self.options = Options(folder=path, model="oracle", thresholds=None, results=path / "run", health="off")

    def gates(self, text):
        file = self.path / "gates.toml"
        file.write_text(f"schema = 1\n{text}")
        return file

    def concluded(self, verdicts, gates, earlier=None, objections=(), **settings):
        """What a run with these gates gives."""
        file = self.gates(gates)
        options = replace(self.options, thresholds=file, **settings)
        thresholds = read_thresholds(file, shapes(()))
        result = conclude(self.tasks, verdicts, thresholds, options, objections, earlier)
        return replace(result, decisions=(*failed_checks(CARD, [CARD], thresholds), *result.decisions)), options

    def write(self, verdicts, folder="run", **settings):
        """Write the folder of a run whose own gate is another one."""
        (self.path / folder).mkdir()
        result, options = self.concluded(verdicts, PLAIN, **settings)
        options = replace(options, results=self.path / folder)
        assert write_rows(result, options) == []
        assert write_figures(result, CARD, options, 1) == []
        return self.path / folder

    def expected(self, verdicts, gates, **settings):
        """The gates of ``metrics.json`` of a run with these gates, and whether it passes."""
        result, options = self.concluded(verdicts, gates, **settings)
        return metrics_content(result, CARD, options)["gates"], outcome_of(result, CARD).verdict == "pass"

    def judged(self, capsys, gates, *options, folder="run"):
        """The exit status of the command, and the JSON that it prints."""
        capsys.readouterr()
        file = self.gates(gates)
        status = main(["judge", str(self.path / folder), f"--thresholds={file}", "--json", *options])
        said = capsys.readouterr()
        assert not said.err
        return status, json.loads(said.out)


@pytest.fixture
def place(tmp_path, tasks):
    [relations] = [task for task in tasks if task.id == "valse/relations"]
    (tmp_path / "held.jsonl").write_text(json.dumps({"task": "valse/relations", "case": relations.cases[1].id}))
    return Place(tmp_path, tasks)


def outcomes(gates):
    return {gate["gate"]: gate["decision"] for gate in gates}


def test_all_kinds_of_gates_are_decided_as_in_the_run(place, tasks, capsys):
    verdicts = verdicts_of(tasks)
    folder = place.write(verdicts)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    status, found = place.judged(capsys, EVERY_KIND)
    expected, _ = place.expected(verdicts, EVERY_KIND, require_gates=True)
    assert found["gates"] == expected
    assert (status, found["passed"]) == (1, False)
    assert set(outcomes(expected).values()) == {"pass", "fail", "inconclusive", "cannot", "not run"}
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert outcomes(found["gates"])["model:polarity"] == "inconclusive"


def test_the_gates_are_those_of_the_folder_unless_a_file_is_named(place, tasks, capsys, monkeypatch):
    place.write(verdicts_of(tasks))
    monkeypatch.chdir(place.path)
    assert main(["judge", "run"]) == 4
    assert "thresholds.toml: cannot be read" in capsys.readouterr().err
    place.gates(PLAIN).rename("thresholds.toml")
    main(["judge", "run"])
    assert " with thresholds.toml: " in capsys.readouterr().out.splitlines()[0]


ALLOWED = '[checks]\npolarity = { allow = true, why = "known" }\n'


def test_a_run_that_passes_ends_with_status_0(place, tasks, capsys, vlgate):
    verdicts = verdicts_of(tasks)
    place.write(verdicts)
    status, found = place.judged(capsys, ALLOWED + PLAIN)
    assert (status, found["passed"], found["lacking"]) == (0, True, [])
    assert found["gates"] == place.expected(verdicts, ALLOWED + PLAIN)[0]
    said = vlgate("judge", place.path / "run", "--thresholds", str(place.gates(ALLOWED + PLAIN))).splitlines()
    assert said[0] == f"oracle with {place.path / 'gates.toml'}: passes (1 pass, 1 not run)"
    assert said[1].startswith("pass: valse/relations:acc_r: acc_r is 0.650 (95 % interval")
    assert said[2] == "not run: model:polarity: true texts score low; allowed because known"


def test_gates_on_a_comparison_need_the_earlier_run(place, tasks, capsys):
    earlier = place.write(verdicts_of(tasks), "before")
    later = verdicts_of(tasks, worse)
    place.write(later)
    status, found = place.judged(capsys, COMPARED, f"--baseline={earlier}")
    expected, passed = place.expected(later, COMPARED, earlier=read_earlier(earlier, "x"))
    assert (found["gates"], status, passed) == (expected, 1, False)
    assert outcomes(expected)["valse/relations:acc_r:max_broken"] == "fail"
    _, without = place.judged(capsys, COMPARED)
    assert without["gates"] == place.expected(later, COMPARED)[0]
    assert outcomes(without["gates"])["valse/relations:acc_r:max_broken"] == "inconclusive"
    assert main(["judge", str(place.path / "run"), f"--thresholds={place.path / 'gates.toml'}", "--baseline=no"]) == 4
    assert "vlgate judge: --baseline no: does not exist" in capsys.readouterr().err


def test_a_comparison_ends_as_the_judgement_of_the_later_run(place, tasks, capsys):
    verdicts = verdicts_of(tasks)
    folders = [str(place.write(verdicts, name)) for name in ("before", "run")]
    for more, status in (("", 0), ('[gate."winoground/all".group]\nmin = 0.999\n', 1)):
        gates = f'{ALLOWED}[gate."valse/relations".acc_r]\nmax_broken = 2\n{more}'
        assert place.judged(capsys, gates, f"--baseline={folders[0]}")[0] == status
        assert main(["compare", *folders, "--thresholds", str(place.path / "gates.toml")]) == status
        said = capsys.readouterr().out
        assert ("pass: valse/relations:acc_r:max_broken" in said, "fail: winoground/all" in said) == (
            True,
            bool(status),
        )


def test_no_gate_of_any_kind_passes_if_ties_count_as_right(place, tasks, capsys):
    verdicts = verdicts_of(tasks, ties="credit")
    earlier = place.write(verdicts, "before", ties="credit")
    place.write(verdicts, ties="credit")
    gates = ALLOWED + '[defaults]\nmust_hold = "held.jsonl"\n' + COMPARED
    _, found = place.judged(capsys, gates, f"--baseline={earlier}")
    assert found["gates"] == place.expected(verdicts, gates, earlier=read_earlier(earlier, "x"), ties="credit")[0]
    assert Counter(outcomes(found["gates"]).values()) == {"not run": 1, "inconclusive": 5}
    assert {gate["why"] for gate in found["gates"] if gate["decision"] == "inconclusive"} == {CREDIT}


@pytest.mark.parametrize("kept", [0, 30])
def test_deselected_cases_are_not_compared_and_do_not_pass(place, tasks, capsys, kept):
    whole = verdicts_of(tasks)
    earlier = place.write(whole, "before")
    later = selected(whole, lambda task: kept if task == "valse/relations" else 40)
    place.write(later)
    _, found = place.judged(capsys, COMPARED, f"--baseline={earlier}")
    assert found["gates"] == place.expected(later, COMPARED, earlier=read_earlier(earlier, "x"))[0]
    assert outcomes(found["gates"])["valse/relations:acc_r:max_broken"] == "inconclusive"


def worse(task, predictions):
    """The other way round for every case of one task."""
    if task.id != "valse/relations":
        return predictions
    return {request: replace(reply, score=-reply.score) for request, reply in predictions.items()}


def unscored(task, predictions, *, skipped=False):
    """No reply to the last case of each task."""
    gone = {r: Prediction(request=r, problem="gone", skipped=skipped) for r in task.cases[-1].requests}
    return {request: gone.get(request, reply) for request, reply in predictions.items()}


def selected(verdicts, keep):
    return {task: verdict[: keep(task)] for task, verdict in verdicts.items()}


@pytest.mark.parametrize(
    ("change", "ties", "outcome"),
    [
        (lambda tasks: selected(verdicts_of(tasks), lambda _: 30), "strict", "inconclusive"),
        (lambda tasks: selected(verdicts_of(tasks), lambda task: 0 if "rel" in task else 30), "strict", "inconclusive"),
        (lambda tasks: verdicts_of(tasks, unscored), "strict", "inconclusive"),
        (lambda tasks: verdicts_of(tasks, lambda *a: unscored(*a, skipped=True)), "strict", "pass"),
        (lambda tasks: verdicts_of(tasks, ties="credit"), "credit", "inconclusive"),
    ],
    ids=["deselected", "task deselected", "unscored", "few skipped", "credit"],
)
def test_cases_that_are_left_out_count_as_in_the_run(place, tasks, capsys, change, ties, outcome):
    verdicts = change(tasks)
    folder = place.write(verdicts, ties=ties)
    gates = ALLOWED + '[gate."valse/relations".acc_r]\nmin = 0.3\nmin_cases = 5\n'
    status, found = place.judged(capsys, gates)
    expected, passed = place.expected(verdicts, gates, ties=ties)
    assert found["gates"] == expected
    assert status == int(not passed)
    assert outcomes(expected)["valse/relations:acc_r"] == outcome
    jsonschema.validate(json.loads((folder / "metrics.json").read_text()), SCHEMA)


@pytest.mark.parametrize("gate", ["run:same-data", "model:same-model", "valse/relations:asked-once"])
def test_what_was_wrong_with_the_replies_stays_wrong(place, tasks, capsys, gate):
    task, _, metric = gate.rpartition(":")
    objection = Decision(gate=Gate(task=task, metric=metric), outcome="fail", why="two tests")
    place.write(verdicts_of(tasks), objections=(objection,))
    status, found = place.judged(capsys, ALLOWED + PLAIN)
    assert (status, outcomes(found["gates"])[gate]) == (1, "fail")


def test_a_file_without_a_gate_does_not_pass_unless_said_and_rows_of_another_run_are_refused(
    place, tasks, capsys, vlgate
):
    place.write(verdicts_of(tasks))
    other = ALLOWED + '[gate."valse/plurality".acc_r]\nmin = 0.1\n'
    status, found = place.judged(capsys, other)
    assert (status, outcomes(found["gates"])["run:require-gates"]) == (1, "inconclusive")
    assert place.judged(capsys, other, "--no-require-gates")[0] == 0
    folder = place.path / "run"
    table = read_table(folder / "cases.parquet")
    better = [None if value is None else 1.0 for value in table.column("acc_r").to_pylist()]
    write_table(table.set_column(table.column_names.index("acc_r"), "acc_r", [better]), folder / "cases.parquet")
    said = vlgate("judge", folder, "--thresholds", str(place.gates(PLAIN)), status=4)
    assert f"vlgate judge {folder}: metrics.json has acc_r of valse/relations as 0.650 of 40, but" in said


@pytest.mark.slow
def test_results_get_the_decisions_the_rows_and_the_page(place, tasks, capsys, vlgate):
    folder, to = place.write(verdicts_of(tasks)), place.path / "judged"
    gates = place.gates(ALLOWED + '[gate."valse/relations".acc_r]\nmin = 0.95\n')
    command = ["judge", str(folder), f"--thresholds={gates}", f"--results={to}"]
    assert main(command) == 1
    figures = json.loads((to / "metrics.json").read_text())
    jsonschema.validate(figures, SCHEMA)
    assert outcomes(figures["gates"])["valse/relations:acc_r"] == "fail"
    assert figures["run"]["thresholds"] == str(gates)
    assert (to / "cases.parquet").read_bytes() == (folder / "cases.parquet").read_bytes()
    assert "below min = 0.95" in (to / "report.html").read_text()
    assert main(command) == 4
    assert f"--results {to}: holds metrics.json of a run" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 1
    assert "is the folder of the run itself" in vlgate(*command[:-1], f"--results={folder}", "--overwrite", status=4)
    (folder / "verdict.json").unlink()
    old = place.path / "old"
    assert main([*command[:-1], f"--results={old}"]) == 1
    assert "the run has no verdict.json, so none is written" in capsys.readouterr().out
    assert not (old / "verdict.json").exists()

"""``vlgate shortcuts``: its tables of a run and of data alone, the scores of each case, and the section of the page."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from vlgate.audit.shortcuts import shortcuts
from vlgate.cli import main
from vlgate.metrics.compute import metrics
from vlgate.record.cases import case_tables, judged_tasks, read_cases
from vlgate.record.folder import read_run
from vlgate.record.options import Options
from vlgate.run.planning import make_plan
from vlgate.studies.analyses.shortcuts import run_table

TASKS = "scenes/relations,scenes/word-swap"


def told(capsys):
    return json.loads(capsys.readouterr().out)


def test_data_alone_have_a_row_per_task_and_a_score_per_case(tmp_path, capsys):
    assert main(["shortcuts", "--suite", TASKS, "--out", str(tmp_path / "out"), "--json"]) == 0
    content = told(capsys)
    assert [table["title"] for table in content["tables"]] == ["Solved by text alone", "Right by text alone"]
    assert [row["task"] for row in content["tables"][0]["rows"]] == TASKS.split(",")
    rows = pq.read_table(tmp_path / "out" / "shortcuts.parquet").to_pylist()
    assert len(rows) == sum(row["n"] for row in content["tables"][0]["rows"])
    assert {row["solved_blind"] for row in rows if row["task"] == "scenes/word-swap"} == {0}
    assert all(
        row["solved_blind"] == sum(row[name] >= 0.75 for name in ("words", "form", "likelihood")) for row in rows
    )
    assert content["runs"] == ["text alone"]
    assert (tmp_path / "out" / "shortcuts.md").read_text().startswith("# shortcuts on the tasks scenes/*: text alone")


def test_a_run_has_its_metric_over_the_cases_that_no_probe_solves(folder, capsys, monkeypatch):
    monkeypatch.setattr("vlgate.audit.shortcuts.SOLVED", 0.5)  # so that a guess between yes and no solves a case
    assert main(["shortcuts", str(folder), "--suite", "scenes/visual-inv", "--json"]) == 0
    [table, *_] = told(capsys)["tables"]
    every, unsolved, unsure = table["rows"]
    run = read_run(folder, "run")
    told_by_run = run.figures["tasks"]["scenes/visual-inv"]["metrics"]["c_acc"]
    assert (every["value"], every["n"]) == (told_by_run["value"], told_by_run["n"])
    [task] = make_plan(Options(folder=folder, suite=("scenes/visual-inv",), thresholds=None, results=folder)).tasks
    found = shortcuts(task)
    solved = {case for case, one in zip(found.cases, found.solved_blind.tolist(), strict=True) if one}
    rows = [row for row in read_cases(run).to_pylist() if row["task"] == "scenes/visual-inv"]
    kept = [index for index, row in enumerate(rows) if row["case"] not in solved]
    expected = metrics(judged_tasks(run, case_tables(run))["scenes/visual-inv"].columns.take(np.array(kept)))["c_acc"]
    assert 0 < len(kept) < len(rows)
    assert (unsolved["value"], unsolved["n"], unsolved["low"]) == (expected.value, len(kept), expected.low)
    assert unsure["n"] <= unsolved["n"]
    assert every["text alone"] == pytest.approx(
        max(found.right[[c in {r["case"] for r in rows} for c in found.cases]].mean(0))
    )


class Reader:
    """A language model to which every text is the more likely, the longer it is."""

    def perplexity(self, texts):
        return np.array([100.0 / len(text) for text in texts])


def test_a_language_model_takes_the_place_of_the_trigrams(capsys, monkeypatch):
    asked = ["shortcuts", "--suite", "scenes/counting-adversarial", "--json"]
    assert main(asked) == 0
    before = told(capsys)["tables"][1]["rows"]
    monkeypatch.setattr("vlgate.making.tools.Tools.lm", Reader())
    assert main([*asked, "--lm", "any/folder"]) == 0
    after = told(capsys)["tables"][1]["rows"]
    assert [row["probe"] for row in after if row not in before] == ["likelihood"]


def test_cases_that_the_data_hold_otherwise_are_left_out_and_counted(folder):
    run = read_run(folder, "run")
    [task] = make_plan(
        Options(folder=folder, suite=("scenes/relations",), seed=1, thresholds=None, results=folder)
    ).tasks
    table, said = run_table(run, read_cases(run), [task], {task.id: shortcuts(task)})
    assert "scenes/relations: 40 of 40 judged cases are not in the data as the run asked them" in said
    assert table.rows == ()

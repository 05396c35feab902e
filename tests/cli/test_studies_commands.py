"""``vlgate analyse``, ``shortcuts`` and ``acuity``: from a run, data or a model to tables, files and gates."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from builders import judged, tabled
from pyarrow.parquet import read_table, write_table

from tests.report.page.page_runs import result_of
from vlgate.audit.shortcuts import shortcuts
from vlgate.cli import main
from vlgate.cli.after.analyse import MOST
from vlgate.metrics.compute import metrics
from vlgate.record.cases import case_tables, judged_tasks, read_cases
from vlgate.record.folder import read_run
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult, task_metrics
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.planning import make_plan
from vlgate.studies.analyses.shortcuts import run_table
from vlgate.types import Ask

SUITE = ("scenes/relations", "scenes/object-location", "scenes/order-inv", "scenes/active-passive", "scenes/word-swap")


def read(tasks):
    """The result of a run of a language model, to which longer texts are less plausible."""
    results = []
    for task in tasks:
        replies = [[replied(request) for request in case.requests] for case in task.cases]
        results.append(task_metrics(task, judged(task, replies), ()))
    return RunResult(results=tuple(results), decisions=())


def replied(request):
    return {"answer": "yes"} if isinstance(request, Ask) else {"score": -float(len(request.text))}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folders of two runs of five tasks, the second of a language model."""
    made = []
    reads = {"Match": "adapter: the score is minus the perplexity of the text"}
    for name, adapters, result_from in (("oracle", {}, result_of), ("gpt2", reads, read)):
        folder = tmp_path_factory.mktemp(name)
        options = Options(folder=folder, model=name, suite=SUITE, limit=12, thresholds=None, results=folder)
        result = result_from(make_plan(options).tasks)
        assert write_rows(result, options) == []
        assert write_figures(result, ModelCard(name=name, adapters=adapters), options, 1) == []
        made.append(folder)
    return made


@pytest.mark.parametrize("paper", ["winoground", "carets", "bla", "vl-checklist", "valse"])
def test_every_number_has_its_n_and_few_cases_are_marked(paper, folders, vlgate):
    found = json.loads(vlgate("analyse", paper, *folders, "--json"))
    assert found["analysis"] == paper
    assert found["runs"] == ["oracle", "gpt2"]
    filled = [row for table in found["tables"] for row in table["rows"]]
    assert filled
    assert all(row["small"] == (row["n"] < 30) for row in filled)
    text = vlgate("analyse", paper, *folders)
    shown = [row for table in found["tables"] for row in table["rows"][:MOST]]
    assert text.count("* |") == sum(row["small"] for row in shown) > 0
    assert "* fewer than 30: too few to rely on" in text


@pytest.mark.parametrize("paper", ["winoground", "bla", "valse"])
def test_a_language_models_run_is_read_with_perplexity(paper, folders, vlgate):
    found = json.loads(vlgate("analyse", paper, folders[0], "--perplexity", folders[1], "--json"))
    titles = [table["title"] for table in found["tables"]]
    assert {"winoground": "Perplexity"}.get(paper, "Against a language model") in titles


def test_only_the_chosen_tasks_are_analysed_and_own_names_are_not_taken_for_a_benchmarks(folders, vlgate, tmp_path):
    first = "# valse on scenes/*, the drawn scenes, because no run has valse/*: oracle\n"
    assert vlgate("analyse", "valse", folders[0]).startswith(first)
    assert vlgate("analyse", "valse", folders[0], "--suite", "*/relations").startswith(
        "# valse on */relations: oracle\n"
    )
    found = json.loads(vlgate("analyse", "valse", *folders, "--suite", "*/relations", "--json"))
    assert {row["task"] for table in found["tables"] for row in table["rows"] if "task" in row} == {"scenes/relations"}
    for name in ("metrics.json", "cases.parquet"):
        shutil.copy(folders[0] / name, tmp_path)
    figures = json.loads((tmp_path / "metrics.json").read_text())
    figures["tasks"] = {name.replace("scenes/", "own/"): task for name, task in figures["tasks"].items()}
    (tmp_path / "metrics.json").write_text(json.dumps(figures))
    rows = read_table(tmp_path / "cases.parquet")
    tasks = [name.replace("scenes/", "own/") for name in rows.column("task").to_pylist()]
    write_table(rows.set_column(0, "task", [tasks]), tmp_path / "cases.parquet")
    said = vlgate("analyse", "valse", tmp_path, status=4)
    assert "no task 'valse/*' or 'scenes/*' with judged cases with the metric acc_r in the runs" in said
    assert "or the tasks with --suite GLOB" in said
    assert vlgate("analyse", "valse", tmp_path, "--suite", "own/*").startswith("# valse on own/*: ")


def test_a_saved_analysis_is_on_the_page(tmp_path, folders, vlgate):
    shutil.copytree(folders[0], tmp_path / "run")
    for paper, more in (("valse", []), ("bla", []), ("valse", ["--perplexity", folders[1]])):
        vlgate("analyse", paper, tmp_path / "run", "--save", *more)
    saved = json.loads((tmp_path / "run/analyses.json").read_text(encoding="utf-8"))
    assert [one["analysis"] for one in saved["analyses"]] == ["bla", "valse"]
    assert main(["report", str(tmp_path / "run")]) == 0
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    [table] = [table for table in saved["analyses"][1]["tables"] if table["title"] == "Against a language model"]
    [row] = [row for row in table["rows"] if row["task"] == "scenes/relations"]
    assert f"{row['low']:.3f} \N{EN DASH} {row['high']:.3f}" in page.partition('id="analysis/valse"')[2]
    assert f"{row['n']}*</td>" in page
    (tmp_path / "run/analyses.json").write_text("{}")
    assert main(["report", str(tmp_path / "run")]) == 0
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    assert "analyses.json is damaged; vlgate analyse PAPER RUN --save writes it again" in page


@tabled
def test_what_cannot_be_used_is_named(arguments, said, folders, vlgate):
    assert said in vlgate("analyse", *(argument.format(folders[0]) for argument in arguments), folders[0], status=4)


TASKS = "scenes/relations,scenes/word-swap"


def told(capsys):
    return json.loads(capsys.readouterr().out)


def test_data_alone_have_a_row_per_task_and_a_language_model_replaces_the_trigrams(tmp_path, capsys, monkeypatch):
    assert main(["analyse", "shortcuts", "--suite", TASKS, "--out", str(tmp_path / "out"), "--json"]) == 0
    content = told(capsys)
    assert [table["title"] for table in content["tables"]] == ["Solved by text alone", "Right by text alone"]
    assert [row["task"] for row in content["tables"][0]["rows"]] == TASKS.split(",")
    rows = pq.read_table(tmp_path / "out" / "shortcuts.parquet").to_pylist()
    assert len(rows) == sum(row["n"] for row in content["tables"][0]["rows"])
    assert {row["solved_blind"] for row in rows if row["task"] == "scenes/word-swap"} == {0}
    probes = ("words", "form", "likelihood")
    assert all(row["solved_blind"] == sum(row[name] >= 0.75 for name in probes) for row in rows)
    assert content["runs"] == ["text alone"]
    assert (tmp_path / "out" / "shortcuts.md").read_text().startswith("# shortcuts on the tasks scenes/*: text alone")
    asked = ["analyse", "shortcuts", "--suite", "scenes/counting-adversarial", "--json"]
    assert main(asked) == 0
    before = told(capsys)["tables"][1]["rows"]
    longer_is_likelier = SimpleNamespace(perplexity=lambda texts: np.array([100.0 / len(text) for text in texts]))
    monkeypatch.setattr("vlgate.making.tools.Tools.lm", longer_is_likelier)
    assert main([*asked, "--lm", "any/folder"]) == 0
    after = told(capsys)["tables"][1]["rows"]
    assert [row["probe"] for row in after if row not in before] == ["likelihood"]


def test_a_run_has_its_metric_over_the_cases_that_no_probe_solves(folder, capsys, monkeypatch):
    monkeypatch.setattr("vlgate.audit.shortcuts.SOLVED", 0.5)  # so that a guess between yes and no solves a case
    assert main(["analyse", "shortcuts", str(folder), "--suite", "scenes/visual-inv", "--json"]) == 0
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
    judged_cases = {row["case"] for row in rows}
    assert every["text alone"] == pytest.approx(max(found.right[[c in judged_cases for c in found.cases]].mean(0)))


def test_cases_that_the_data_hold_otherwise_are_left_out_and_counted(folder):
    run = read_run(folder, "run")
    other = Options(folder=folder, suite=("scenes/relations",), seed=1, thresholds=None, results=folder)
    [task] = make_plan(other).tasks
    table, said = run_table(run, read_cases(run), [task], {task.id: shortcuts(task)})
    assert "scenes/relations: 40 of 40 judged cases are not in the data as the run asked them" in said
    assert table.rows == ()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def acuity(*arguments):
    return main(["analyse", "acuity", "--model=defect:large-only", "--faculty=noun,count", *arguments])


def test_the_cost_is_said_first_three_files_are_written_and_a_model_that_raises_is_named(here, capsys, vlgate):
    assert acuity("--limit=600", "--out=charts") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 charts, at most 600 calls to defect:large-only (142 trials each)"
    assert lines[1].startswith("at most ")
    content = json.loads((here / "charts" / "acuity.json").read_text())
    assert content["calls"] <= 600 - 32
    chart = content["charts"]["noun"]
    assert chart["low"] < 50.2 < chart["high"] + 2
    assert content["charts"]["count"]["level"] is None
    assert (here / "charts" / "acuity.svg").read_text().startswith("<svg")
    assert "acuity.html" in lines[-1]
    match = "def match(self, pairs):\n        raise ValueError('no such layer')"
    (here / "raising.py").write_text(f"class Model:\n    {match}\n\ndef build():\n    return Model()\n")
    said = vlgate("analyse", "acuity", "--model=raising:build", "--faculty=noun", "--limit=200", status=4)
    assert (
        said == "vlgate analyse acuity: --model=raising:build: the model raised ValueError: no such layer; correct it\n"
    )


@pytest.mark.parametrize(("bound", "status", "outcome"), [(64, 0, "pass"), (20, 1, "fail")])
def test_gates_decide_the_exit_status(here, capsys, bound, status, outcome):
    (here / "thresholds.toml").write_text(f"schema = 1\n[acuity.noun]\nmax = {bound}\n[acuity.blur]\nmin = 2\n")
    assert acuity("--limit=400") == status
    out = capsys.readouterr().out
    assert f"acuity.noun: {outcome}: " in out
    assert "acuity.blur: not run: not in --faculty\n" in out
    assert json.loads((here / "results/acuity/acuity.json").read_text())["gates"][0]["decision"] == outcome


@pytest.mark.usefixtures("here")
def test_an_earlier_release_is_in_the_table_and_a_limit_for_one_chart_asks_for_more_calls(capsys, vlgate):
    assert main(["analyse", "acuity", "--model=reader", "--faculty=noun", "--out=before"]) == 0
    assert acuity("--limit=400", "--against=before") == 0
    assert "beyond the range" in capsys.readouterr().out
    said = vlgate("analyse", "acuity", "--model=oracle", "--faculty=noun", "--limit=5", status=4)
    assert "1 chart needs at least " in said
    assert "raise --limit" in said
    assert "fewer" not in said
    assert main(["analyse", "acuity", "--model=oracle", "--limit=5"]) == 4
    assert "raise --limit, or draw fewer of them with --faculty" in capsys.readouterr().err

"""``vlgate analyse``: from a run's folder to its tables."""

import json
import shutil

import pytest
from pyarrow.parquet import read_table, write_table

from tests.report.page.page_runs import result_of
from vlgate.cli import main
from vlgate.cli.after.analyse import MOST
from vlgate.judging.verdicts import judge
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult, task_metrics
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Batch, Prediction

SUITE = ("scenes/relations", "scenes/object-location", "scenes/order-inv", "scenes/active-passive", "scenes/word-swap")
PAPERS = ("winoground", "carets", "bla", "vl-checklist", "valse")


def read(tasks):
    """The result of a run of a language model, to which longer texts are less plausible."""
    results = []
    for task in tasks:
        asked = {request for case in task.cases for request in case.requests}
        replies = {one: replied(one) for one in asked}
        results.append(
            task_metrics(task, judge(Batch(task=task, positions=tuple(range(len(task.cases)))), replies), ())
        )
    return RunResult(results=tuple(results), decisions=())


def replied(request):
    if isinstance(request, Ask):
        return Prediction(request=request, answer="yes")
    return Prediction(request=request, score=-float(len(request.text)))


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


@pytest.mark.parametrize("paper", PAPERS)
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "# valse on scenes/*, the drawn scenes, because no run has valse/*: oracle"),
        (["--tasks", "*/relations"], "# valse on */relations: oracle"),
    ],
)
def test_the_first_line_says_which_tasks_were_taken(arguments, said, folders, vlgate):
    assert vlgate("analyse", "valse", folders[0], *arguments).splitlines()[0] == said


def test_cases_of_another_name_are_not_taken_for_those_of_a_benchmark(tmp_path, folders, vlgate):
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
    assert "or the tasks with --tasks GLOB" in said
    assert vlgate("analyse", "valse", tmp_path, "--tasks", "own/*").startswith("# valse on own/*: ")


def test_a_saved_analysis_is_on_the_page(tmp_path, folders, vlgate):
    shutil.copytree(folders[0], tmp_path / "run")
    for paper, more in (("valse", []), ("bla", []), ("valse", ["--perplexity", folders[1]])):
        vlgate("analyse", paper, tmp_path / "run", "--save", *more)
    saved = json.loads((tmp_path / "run/analyses.json").read_text(encoding="utf-8"))
    assert [one["analysis"] for one in saved["analyses"]] == ["bla", "valse"]
    assert main(["report", str(tmp_path / "run")]) == 0
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    [row] = [
        row
        for table in saved["analyses"][1]["tables"]
        if table["title"] == "Against a language model"
        for row in table["rows"]
        if row["task"] == "scenes/relations"
    ]
    assert f"{row['low']:.3f} \N{EN DASH} {row['high']:.3f}" in page.partition('id="analysis/valse"')[2]
    assert f"{row['n']}*</td>" in page
    (tmp_path / "run/analyses.json").write_text("{}")
    assert main(["report", str(tmp_path / "run")]) == 0
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    assert "analyses.json is damaged; vlgate analyse PAPER RUN --save writes it again" in page


def test_only_the_chosen_tasks_are_analysed(folders, vlgate):
    found = json.loads(vlgate("analyse", "valse", *folders, "--tasks", "*/relations", "--json"))
    assert {row["task"] for table in found["tables"] for row in table["rows"] if "task" in row} == {"scenes/relations"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["carets", "--boxes", "b.csv"], "--boxes is not an option of vlgate analyse carets; leave it out"),
        (["bla", "--tasks", "bla/*"], "no task 'bla/*' with judged cases with the metric set_acc in the runs"),
        (["winoground", "--pretraining", "x"], "--pretraining 'x': expected NAME=IMAGES,CAPTIONS"),
        (["winoground", "--perplexity", "{}"], "oracle does not score texts by their perplexity"),
    ],
)
def test_what_cannot_be_used_is_named(arguments, said, folders, vlgate):
    assert said in vlgate("analyse", *(argument.format(folders[0]) for argument in arguments), folders[0], status=4)


def test_a_folder_without_a_run_is_named(tmp_path, capsys):
    assert main(["analyse", "bla", str(tmp_path)]) == 4
    assert "holds no metrics.json; name the results folder of a run that ended" in capsys.readouterr().err

"""``analyses.json``: which benchmarks it has, and what it says if a package is missing."""

import json
from dataclasses import replace

import pytest

from tests.report.page.page_runs import result_of
from vlgate.record.folder import read_run
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.planning import make_plan
from vlgate.studies.analyses import resampling
from vlgate.studies.analyses.saved import FEWEST, MOST, analyse_run, papers_of, save

SUITE = ("scenes/visual-inv", "scenes/order-inv")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of pairs of CARETS, and of as many that are not of a benchmark."""
    folder = tmp_path_factory.mktemp("saved")
    options = Options(folder=folder, suite=SUITE, limit=50, thresholds=None, results=folder)
    tasks = make_plan(options).tasks
    renamed = [replace(task, id=task.id.replace("scenes", "carets")) for task in tasks]
    result = result_of([*renamed, tasks[0]], ())
    assert write_rows(result, options) == []
    assert write_figures(result, ModelCard(name="oracle"), options, 1) == []
    return read_run(folder, str(folder))


def content(run):
    return json.loads((run.folder / "analyses.json").read_text(encoding="utf-8"))


def test_only_the_tasks_of_the_benchmark_are_analysed(run):
    analyse_run(run)
    [found] = content(run)["analyses"]
    assert found["tasks"] == "carets/*"
    tasks = {row["task"] for table in found["tables"] for row in table["rows"] if "model" in row}
    assert tasks == {"carets/visual-inv", "carets/order-inv"}


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        ({"valse/a": FEWEST - 1, "valse/b": 1}, ("valse",)),
        ({"valse/a": FEWEST - 1, "bla/b": FEWEST}, ("bla",)),
        ({"valse-own/a": 999, "scenes/a": 999}, ()),
        ({"valse/a": MOST - 1, "scenes/a": 1}, ("valse",)),
        ({"valse/a": MOST, "scenes/a": 1}, ()),
    ],
)
def test_a_benchmark_counts_from_a_hundred_judged_cases_on_in_a_run_that_is_not_too_large(judged, expected):
    assert papers_of({"tasks": {name: {"judged": count} for name, count in judged.items()}}) == expected


def test_a_package_that_is_not_installed_is_named(run, monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(resampling, "import_module", absent)
    analyse_run(run)
    assert content(run)["analyses"] == []
    said = "needs scipy.stats, which is not installed; pip install 'vlgate[analysis]'"
    assert content(run)["lacking"] == {"carets": said}
    save(run.folder, {"analysis": "carets", "tables": []})
    assert content(run)["lacking"] == {}

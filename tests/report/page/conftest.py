import pytest
from page_runs import result_of

from vlgate.report.folder import write_figures, write_rows
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.run.planning import make_plan

SUITE = ("scenes/relations", "scenes/visual-inv", "scenes/word-swap", "scenes/coordination")


@pytest.fixture(scope="session")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    return Options(folder=folder, model="oracle", suite=SUITE, limit=40, thresholds=None, results=folder)


@pytest.fixture(scope="session")
def tasks(options):
    return make_plan(options).tasks


@pytest.fixture(scope="session")
def result(tasks):
    return result_of(tasks)


@pytest.fixture(scope="session")
def folder(options, tasks, result):
    """The folder of a run of four tasks, one gate of which fails."""
    assert write_rows(result, options) == []
    assert write_figures(result, ModelCard(name="oracle"), options, 1, tasks) == []
    return options.results


@pytest.fixture(scope="session")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")

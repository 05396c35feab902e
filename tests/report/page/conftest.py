from dataclasses import replace

import pytest
from page_runs import compared, result_of

from vlgate.gates.records import Gate
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.report.folder import write_figures, write_rows
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


RELEASES = {"oldest": lambda number: number % 12 == 9, "baseline": lambda number: number % 6 == 3 or number % 7 == 1}
"""The cases that earlier runs miss; the later run misses every third."""
FLIPS = (
    Gate(task="scenes/relations", metric="acc_r", kind="max_drop", max=0.5),
    Gate(task="scenes/relations", metric="acc_r", kind="max_broken", max=2, why="the release before"),
)


@pytest.fixture(scope="session")
def releases(tmp_path_factory, options, tasks):
    """The folder of a run with a comparison, those of two earlier ones beside it."""
    place = tmp_path_factory.mktemp("releases")
    for name, missed in RELEASES.items():
        given = replace(options, results=place / name)
        given.results.mkdir()
        older = result_of(tasks, (), missed=missed)
        assert write_rows(older, given) == []
        assert write_figures(older, ModelCard(name="older"), given, 1) == []
    given = replace(options, results=place / "later")
    given.results.mkdir()
    later = compared(result_of(tasks), place / "baseline", FLIPS)
    assert write_rows(later, given) == []
    assert write_figures(later, ModelCard(name="newer"), given, 1, tasks) == []
    return place

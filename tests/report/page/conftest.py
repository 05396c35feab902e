from dataclasses import replace

import pytest
from page_runs import compared, result_of, write_run

from vlgate.record.options import Options
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
    return write_run(result, options, tasks)


@pytest.fixture(scope="session")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


RELEASES = {"oldest": lambda number: number % 12 == 9, "baseline": lambda number: number % 6 == 3 or number % 7 == 1}
"""The cases that earlier runs miss; the later run misses every third."""


@pytest.fixture(scope="session")
def releases(tmp_path_factory, options, tasks):
    """The folder of a run with a comparison, those of two earlier ones beside it."""
    place = tmp_path_factory.mktemp("releases")
    for name, missed in RELEASES.items():
        write_run(result_of(tasks, (), missed=missed), replace(options, results=place / name), name="older")
    later = compared(result_of(tasks), place / "baseline")
    write_run(later, replace(options, results=place / "later"), tasks, name="newer")
    return place

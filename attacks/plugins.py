"""The conftest files and plugins of the ways of running, as text: they are written into the folder of a run."""

FILTERS = """
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "counting" not in item.name]
"""

EMPTIES = """
def pytest_collection_modifyitems(items):
    items.clear()
"""

SHUFFLES = """
import random

def pytest_collection_modifyitems(items):
    random.Random(7).shuffle(items)
"""

STATUS = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    session.exitstatus = 0
"""

PASSES = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    report = yield
    report.outcome = "passed"
    return report
"""

RERUNS = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for _ in range(3):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""

REPEATS = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    runtestprotocol(item, nextitem=nextitem)
    runtestprotocol(item, nextitem=nextitem)
    return True
"""

MODEL = """
import pytest

class Fair:
    def predict(self, requests):
        raise OSError("no model here")

@pytest.fixture(scope="session")
def model():
    return Fair()
"""

LOOP = """
def pytest_runtestloop(session):
    return True
"""

ENDS_FIRST = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main():
    return 0
"""

ENDS_LAST = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main():
    yield
    return 0
"""

ENDS_START = """
import pytest

def pytest_sessionstart():
    pytest.exit("enough", returncode=0)
"""

ENDS_REPORT = """
import pytest

def pytest_runtest_logreport():
    pytest.exit("enough", returncode=0)
"""

ENDS_STATUS = """
def pytest_report_teststatus():
    raise SystemExit(0)
"""

EXITS = """
def pytest_cmdline_main():
    raise SystemExit(0)
"""

KILLS = """
import os, signal

def pytest_runtest_setup(item):
    if os.environ.get("PYTEST_XDIST_WORKER") and "counting-hard_17" in item.name:
        os.kill(os.getpid(), signal.SIGKILL)
"""

FAILS = """
def pytest_runtest_setup(item):
    if "counting-hard_17" in item.name:
        raise OSError("the disk is full")
"""

CHANGES = """
import json, pathlib

def pytest_configure(config):
    if hasattr(config, "workerinput"):
        file = pathlib.Path(__file__).parent / "data/valse/counting-hard.json"
        records = json.loads(file.read_text())
        for record in records.values():
            record.update(caption=record["foil"], foil=record["caption"])
        file.write_text(json.dumps(records))
"""


def marks(mark: str) -> str:
    """Return a conftest that puts a mark on the items of one task."""
    return f"""
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        if "counting" in item.name:
            item.add_marker(pytest.mark.{mark if "(" in mark else mark + '(reason="hard")'})
"""

"""What holds for every test: no deadlines of hypothesis, and no variables of the environment that change a run.

In CI every run of the tests draws the same examples.
"""

import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from _pytest.pytester import SysModulesSnapshot
from hypothesis import HealthCheck, settings

settings.register_profile(
    "vlgate", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("vlgate")
# as in an activated environment: printed commands are those of its programs by their names
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
os.environ["VLGATE_CACHE"] = "off"  # no test reads or fills the cache of the user
OUTSIDE = [name for name in os.environ if name.startswith("VLGATE_") and name != "VLGATE_CACHE"]
"""Options, and what changes a run: ``CI`` makes one without a judged gate fail, ``COLUMNS`` (by xdist) cuts lines."""
OUTSIDE += ["CI", "COLUMNS", "GITHUB_STEP_SUMMARY", "PYTEST_ADDOPTS"]


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds and checks what quicker tests touch; left to make test-all")


def pytest_sessionstart():
    """Remove the variables before the first fixture of any scope; workers inherit what is left."""
    for name in OUTSIDE:
        os.environ.pop(name, None)


@pytest.fixture(autouse=True)
def _no_options_from_the_environment(monkeypatch):
    """Remove them again, if a test set one for the process."""
    for name in OUTSIDE:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def imported():
    """Import vlgate and keep packages: a run in this process forgets its imports, and torch cannot come twice."""
    import vlgate

    def restore(snapshot):
        kept = {name: module for name, module in sys.modules.items() if installed(name.partition(".")[0])}
        before(snapshot)
        sys.modules.update(kept)

    def installed(name):
        return str(getattr(sys.modules.get(name), "__file__", None)).startswith(site)

    for module in walk_packages(vlgate.__path__, "vlgate."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    from vlgate.sources.scenes import made

    make = cache(lambda wanted, seed, make=made.make: [*make(wanted, seed)])
    before, site = SysModulesSnapshot.restore, str(Path(pytest.__file__).parents[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SysModulesSnapshot, "restore", restore)
        patch.setattr(made, "make", lambda wanted, seed: make(tuple(wanted), seed))  # the lessons of many runs
        yield


@pytest.fixture
def pytester(imported, pytester):  # noqa: ARG001  # in this order
    return pytester


@pytest.fixture
def vlgate(capsys):
    """Run a command of the command line; return what it prints, or its errors if it ends with a status above 1."""
    from vlgate.cli import main

    def run(*arguments, status=0):
        capsys.readouterr()
        assert main([*map(str, arguments)]) == status
        said = capsys.readouterr()
        return said.err if status > 1 else said.out

    return run

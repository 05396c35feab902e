"""Run the attacks on vlgate: in this process if they leave it as it was, otherwise in one of their own."""

import json
import os
import sys
from pathlib import Path

import pytest

from attacks.catalogue import MODELS
from attacks.drawn import draw
from attacks.gate import Ended, Gate
from attacks.ways import PLAIN, RESULTS

ROOT = Path(__file__).parents[2]
OTHERS = ["-p", "no:hypothesispytest", "-p", "no:allure_pytest", "-p", "no:anyio"]  # their imports take a second
COMMAND = (
    f"{sys.executable} -m pytest {' '.join(OTHERS)} --pyargs tests_vl --health=off "
    "--model={model} --data={data} --thresholds={thresholds} --results={results}"
)


@pytest.fixture(scope="session")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacks") / "drawn"
    draw(folder)
    return folder


@pytest.fixture
def gate(drawn):
    return Gate(command=COMMAND, drawn=drawn)


@pytest.fixture
def alone(gate, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return lambda model, way=PLAIN: gate.run(model, way, tmp_path / "place")


@pytest.fixture
def inside(gate, pytester, monkeypatch):
    monkeypatch.setenv("CI", "true")
    folder = pytester.path / "place"
    monkeypatch.syspath_prepend(MODELS)
    monkeypatch.syspath_prepend(folder)

    def start(model, way, results):
        _, _, _, *args = gate.words(model, way, folder, results)
        return pytester.runpytest_inprocess(*args, no_reraise_ctrlc=True)

    def run(model, way=PLAIN):
        gate.prepare(way, folder)
        monkeypatch.chdir(folder / way.folder)
        if way.before is not None:
            start(way.before.model, way.before, way.before_results)
        result = start(model, way, RESULTS)
        output = "\n".join([*result.outlines, *result.errlines])
        return Ended(status=int(result.ret), output=output, results=folder / RESULTS)

    return run


@pytest.fixture
def failed():
    """Return the gates that a run reports as failed, which is more than inconclusive."""

    def read(results):
        file = results / "metrics.json"
        gates = json.loads(file.read_text())["gates"] if file.is_file() else []
        return [gate["gate"] for gate in gates if gate["decision"] == "fail"]

    return read

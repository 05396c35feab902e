"""A real cluster of two nodes, and runs on it and without it."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMMAND = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
WANTED = ["--suite=scenes/foil-it", "--model=my_model:build", "--thresholds=none.toml", "--health=off"]
MODEL = """
import time
import numpy as np

class Model:
    '''Its last bits depend on what is asked together.'''

    def match(self, pairs):
        time.sleep({pause})
        with open({calls!r}, "ab") as stream:
            stream.write(b".")
        rows = [[np.asarray(pair.image.load()).mean(), len(pair.text), sum(map(ord, pair.text))] for pair in pairs]
        rows = np.array(rows, np.float32)
        return rows @ np.float32([0.37, 0.11, 0.003]) + np.float32(rows.sum() * 1e-7)

def build():
    return Model()
"""


def interruptible():
    """Handle Ctrl-C: a shell starts background processes with SIGINT ignored, and their children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class TwoNodes:
    """The process that holds the cluster."""

    def __init__(self, nodes=2):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_worker_niceness": "0", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(HERE / "nodes_of_a_cluster.py"), str(nodes)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=environment, text=True, **pipes)
        self.address = json.loads(self.process.stdout.readline())["address"]

    def order(self, what):
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        assert json.loads(self.process.stdout.readline()) == {"done": what}

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def cluster():
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'vlgate[ray]'")
    two_nodes = TwoNodes()
    yield two_nodes
    two_nodes.close()


class Folder:
    """A user's folder, and runs in it."""

    def __init__(self, path, cluster):
        self.path, self.cluster = path, cluster
        (path / "none.toml").write_text("schema = 1\n")
        self.model()

    def model(self, text=MODEL, pause=0):
        calls = self.path / "calls"
        calls.unlink(missing_ok=True)
        written = text.replace("{pause}", str(pause)).replace("{calls!r}", repr(str(calls)))
        (self.path / "my_model.py").write_text(written)

    def start(self, out, *args, ray=True):
        given = [*WANTED, f"--results={out}", "--overwrite", "--batch-size=8", *args]
        given += [f"--ray={self.cluster.address}"] if ray else []
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
        pipes["preexec_fn"] = interruptible
        return subprocess.Popen([*COMMAND, *given], cwd=self.path, env=environment, text=True, **pipes)

    def run(self, out, *args, ray=True):
        process = self.start(out, *args, ray=ray)
        try:
            said, _ = process.communicate(timeout=180)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, said

    def wait_for(self, calls):
        """Wait until the actors have replied to some calls."""
        replied, until = self.path / "calls", time.monotonic() + 120
        while not replied.exists() or len(replied.read_bytes()) < calls:
            assert time.monotonic() < until, "the run does not begin"
            time.sleep(0.02)

    def same(self, one, other):
        """Whether two runs have the same figures, to the last byte."""
        names = "cases.parquet", "predictions.parquet"
        return all((self.path / one / name).read_bytes() == (self.path / other / name).read_bytes() for name in names)

    def tasks(self, out):
        return json.loads((self.path / out / "metrics.json").read_text())["tasks"]


@pytest.fixture
def folder(tmp_path, cluster):
    return Folder(tmp_path, cluster)

"""One run in one process, with -n 2, and on a Ray cluster of one and of two local nodes: seconds, and ratios.

The model works on one thread: it multiplies matrices (``compute``), or waits as one does for a GPU (``wait``), which
says what the way to the cluster costs on a machine that is busy with other things. The clock runs from the moment when
the model is loaded to the end of the last test.

    .venv/bin/python benchmarks/ray_two_nodes.py [compute|wait]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from run_all import Row

ROOT = Path(__file__).parents[1]
SUITE = "--suite=scenes/foil-it,scenes/existence,scenes/attributes,scenes/relations"
BAR = 1.7
VERBS = {"compute": "computes", "wait": "waits"}
NODES = ROOT / "tests" / "cluster" / "nodes_of_a_cluster.py"
MODEL = """
import time
import numpy as np

class Model:
    def __init__(self):
        self.weights = np.random.default_rng(0).normal(size=(400, 400)).astype(np.float32)

    def match(self, pairs):
        if {wait}:
            time.sleep(0.1 * len(pairs))
        else:
            for _ in range(120 * len(pairs)):
                self.weights @ self.weights
        return np.array([-float(len(pair.text)) for pair in pairs])

def build():
    return Model()
"""
CLOCK = """
import time

times = []

def pytest_runtest_logreport(report):
    times.append(time.perf_counter())

def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        with open("seconds", "w") as file:
            file.write(str(times[-1] - times[0]))
"""
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAY_worker_niceness": "0", "PYTHONPATH": str(ROOT)}


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", choices=("compute", "wait"), default="compute")
    parser.add_argument("--quick", action="store_true", help="one task of the four")
    given = parser.parse_args()
    suite = SUITE.partition(",")[0] if given.quick else SUITE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "my_model.py").write_text(MODEL.replace("{wait}", str(given.kind == "wait")))
        (folder / "clock.py").write_text(CLOCK)
        (folder / "none.toml").write_text("schema = 1\n")
        print(f"| {given.kind} | s | times as fast |\n|---|---|---|")
        found: dict[str, float] = {}

        def measure(what: str, *how: str) -> None:
            """Measure one way to run, and print its line."""
            found[what] = seconds(folder, suite, *how)
            print(f"| {what} | {found[what]:.1f} | {found['one process'] / found[what]:.2f} |", flush=True)

        measure("one process")
        measure("-n 2", "-n", "2")
        speed = found["one process"] / found["-n 2"]
        print(
            Row(what=f"-n 2 against one process, a model that {VERBS[given.kind]}: times as fast", ratio=speed, bar=BAR)
        )
        if importlib.util.find_spec("ray") is None:
            print("--ray against one process is skipped: Ray is not installed: pip install 'vlgate[ray]'")
            return 0
        for nodes in (1, 2):
            with cluster(nodes) as address:
                measure(f"Ray, {nodes} node{'s' if nodes > 1 else ''}", f"--ray={address}")
    for one in ("one process", "Ray, 1 node"):
        ratio = found[one] / found["Ray, 2 nodes"]
        print(Row(what=f"Ray, 2 nodes against {one.replace('Ray, ', '')}: times as fast", ratio=ratio, bar=BAR))
    return 0


def seconds(folder: Path, suite: str, *how: str) -> float:
    """The wall-clock seconds of a run of 480 pairs, without its start and its end."""
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "-q", "-p", "no:cacheprovider", "-p", "clock"]
    command += ["--model=my_model:build", "--thresholds=none.toml", "--health=off", "--results=out", "--overwrite"]
    ended = subprocess.run(
        [*command, suite, "--batch-size=16", *how],
        cwd=folder,
        env={**os.environ, **THREADS},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        sys.exit(ended.stdout[-3000:] + ended.stderr[-3000:])
    return float((folder / "seconds").read_text())


@contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """Start a cluster of as many nodes, of one CPU each; give its address."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(  # type: ignore[call-overload]
        [sys.executable, str(NODES), str(nodes)], env={**os.environ, **THREADS}, text=True, **pipes
    )
    try:
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())

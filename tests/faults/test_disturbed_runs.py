"""A run that is killed, stopped or loses its disk at any point keeps what it promises.

The points are the accesses of a run to its results folder and its cache, and its calls of the model, in their order.
Each run is disturbed at one of them. The same command again writes the files of an undisturbed run.
``FAULT_POINTS=20 pytest tests/faults -n auto -rP`` takes twenty points per fault, spread over the whole run; by default
it is two.
"""

import json
import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from vlgate.record.options import Options
from vlgate.record.results_folder import take_folder

POINTS = int(os.environ.get("FAULT_POINTS", "2"))
FAULTS = ("SIGKILL", "SIGTERM", "SIGINT", "ENOSPC", "EROFS")
CONFTEST = """
import errno, os, signal, sys

FAULT, POINT = os.environ["FAULT"], int(os.environ["POINT"])
count = 0

def hook(event, args):
    global count
    if event not in {"open", "os.rename", "os.remove", "os.mkdir", "sqlite3.connect", "test.call", "test.phase"}:
        return
    named = os.fsdecode(args[0]) if args and isinstance(args[0], (str, bytes, os.PathLike)) else ""
    if not event.startswith("test.") and "/out" not in named and "/kept" not in named:
        return
    count += 1
    if POINT and count >= POINT and FAULT.startswith("E"):
        number = getattr(errno, FAULT)
        writes = event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR) or FAULT == "EROFS" and event.startswith("os.")
        if writes:
            raise OSError(number, os.strerror(number), args[0])
    elif count == POINT:
        os.kill(os.getpid(), getattr(signal, FAULT))

def failing(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

def pytest_configure(config):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background processes with it ignored
    sys.addaudithook(hook)
    sys.audit("test.phase")

def pytest_collection_finish():
    sys.audit("test.phase")

def pytest_runtest_logfinish():
    if POINT and count >= POINT and FAULT == "ENOSPC":
        os.fsync = failing

def pytest_unconfigure(config):
    with open("count", "w") as stream:
        stream.write(str(count))
"""
MODEL = """
import sys
class Model:
    fingerprint = "a model of this test"
    def match(self, pairs):
        sys.audit("test.call")
        return [-float(len(pair.text)) for pair in pairs]
def build():
    sys.audit("test.phase")
    return Model()
"""
GATE = 'schema = 1\n[gate."scenes/foil-it".acc_r]\nmin = 0.01\nmin_cases = 1\n'
SAME = ("metrics.json", "verdict.json", "cases.parquet", "predictions.parquet", "summary.md", "badge.json")
WHOLE = {
    **dict.fromkeys(("metrics.json", "verdict.json", "environment.json"), lambda file: json.loads(file.read_text())),
    **dict.fromkeys(("cases.parquet", "predictions.parquet"), pq.read_table),
    "summary.md": lambda file: file.read_text().endswith("\n") or 1 / 0,
    "report.html": lambda file: file.read_text().endswith("</html>") or 1 / 0,
}


def run(folder, fault="", point=0):
    """Run the suite, and return its exit status and what it printed."""
    for name, text in {"conftest.py": CONFTEST, "my_model.py": MODEL, "thresholds.toml": GATE}.items():
        (folder / name).write_text(text)
    environment = {**os.environ, "FAULT": fault, "POINT": str(point)}
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "-q", "-p", "no:cacheprovider"]
    command += ["--suite=scenes/foil-it", "--limit=12", "--batch-size=4", "--model=my_model:build", "--cache=kept"]
    command += ["--results=out", "--overwrite"]
    how = {"cwd": folder, "env": environment, "timeout": 120}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The number of points of an undisturbed run, which passes, and its files."""
    folder = tmp_path_factory.mktemp("undisturbed")
    status, said = run(folder)
    assert status == 0, said
    return int((folder / "count").read_text()), contents(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="needs signals")
@pytest.mark.parametrize("place", [0, *(pytest.param(index, marks=pytest.mark.slow) for index in range(1, POINTS))])
@pytest.mark.parametrize(
    "fault", ["SIGKILL", *(pytest.param(one, marks=pytest.mark.slow) for one in FAULTS if one != "SIGKILL")]
)
def test_a_disturbed_run_keeps_its_promises(tmp_path, undisturbed, fault, place):
    last, expected = undisturbed
    share = place / (POINTS - 1) if POINTS > 2 else (0.3, 0.75)[place]
    point = 1 + round(share * (last - 1))
    status, said = run(tmp_path, fault, point)
    out = tmp_path / "out"
    for name, read in WHOLE.items():
        if (out / name).exists():
            read(out / name)
    found = json.loads((out / "metrics.json").read_text()) if (out / "metrics.json").exists() else None
    complete = found is not None and found["complete"]
    why = found and (found["complete"], found.get("why"))
    print(f"FAULT | {fault} | {point} of {last} | {status} | {why}")  # noqa: T201  # the table of -rP
    verdict = json.loads((out / "verdict.json").read_text())["verdict"] if (out / "verdict.json").exists() else None
    assert status != 0 or (complete and verdict == "pass"), said
    assert complete or verdict != "pass"
    assert complete or found is None or found["why"]
    assert "Traceback" not in said or fault == "SIGINT", said
    take_folder(Options(folder=tmp_path, thresholds=None, results=out, overwrite=True))()
    status, said = run(tmp_path)
    assert status == 0, said
    assert contents(tmp_path) == expected


def contents(folder):
    """The files of a run but for the times and the place of its folder."""
    return {name: (folder / "out" / name).read_bytes().replace(bytes(folder), b"") for name in SAME}

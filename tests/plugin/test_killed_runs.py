"""A run that is killed leaves no figures, and says so to the commands that read its folder."""

import os
import signal
import subprocess
import sys

import pytest

from vlgate.cli import main

STOPS = """
def match(self, pairs):
    import pathlib, time
    pathlib.Path("reached").touch()
    time.sleep(60)
"""


@pytest.mark.parametrize("kill", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_run_that_was_killed_did_not_end_and_can_be_started_again(data, right, kill, capsys):
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "--results=out", "--data=data"]
    run = subprocess.Popen([*command, data.model(STOPS), "--batch-size=2"], stdout=subprocess.DEVNULL)
    while not (data.path / "reached").exists():
        assert run.poll() is None
    os.kill(run.pid, kill)
    assert run.wait() != 0
    assert main(["judge", str(data.path / "out"), f"--thresholds={data.path / 't.toml'}"]) == 4
    assert "holds no metrics.json, because the run did not end" in capsys.readouterr().err
    assert data.run(right).ret == 0

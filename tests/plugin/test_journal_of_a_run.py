"""The journal while a run goes on, after a run that was killed, and after one that ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vlgate.record.options import Options
from vlgate.record.replies import read_journal
from vlgate.run.planning import make_plan

STOPS = """
asked = 0
def match(self, pairs):
    import pathlib, time
    self.asked += len(pairs)
    if self.asked > 58:
        pathlib.Path("reached").touch()
        time.sleep(60)
    return np.array([-float(len(pair.text)) for pair in pairs])
"""


@pytest.fixture
def plan(place):
    place.valse(n=40)
    place.thresholds()
    options = Options(
        folder=place.path, data=(place.path / "data",), thresholds=place.path / "t.toml", results=place.path / "out"
    )
    return make_plan(options)


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_the_replies_of_a_run_that_was_killed_can_be_judged(place, plan, kill):
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "--results=out", "--data=data"]
    run = subprocess.Popen([*command, place.model(STOPS), "--batch-size=2"], stdout=subprocess.DEVNULL)
    while not (place.path / "reached").exists():
        assert run.poll() is None
    os.kill(run.pid, kill)
    assert run.wait() != 0
    [verdicts] = read_journal(place.path / "out" / "journal.jsonl", plan.batches).verdicts.values()
    assert len(verdicts) == 29
    assert all(verdict.right for verdict in verdicts)
    assert not (place.path / "out" / "metrics.json").exists()


def test_a_run_that_ended_leaves_no_journal(place, plan, right):
    assert place.run(right).ret == 0
    assert len(plan.batches) == place.task()["judged"]
    assert not (place.path / "out" / "journal.jsonl").exists()


def test_a_run_that_is_not_complete_keeps_its_journal(place, plan):
    body = "def match(self, pairs):\n    if 'There are 7 dogs.' in [pair.text for pair in pairs]: raise ValueError\n"
    body += "    return np.array([-float(len(pair.text)) for pair in pairs])"
    place.run(place.model(body), "-x", "-n", "2", "--batch-size=2")
    assert place.metrics()["complete"] is False
    [verdicts] = read_journal(place.path / "out" / "journal.jsonl", plan.batches).verdicts.values()
    assert len(verdicts) == place.task()["judged"] > 0


@pytest.mark.usefixtures("plan")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full is here")
def test_a_journal_that_cannot_be_written_is_named_and_the_figures_are_kept(place):
    full = 'import os\nos.makedirs("out", exist_ok=True)\nos.symlink("/dev/full", "out/journal.jsonl")\n'
    ran = place.run(
        place.model(full + "def match(self, pairs):\n    return [-float(len(pair.text)) for pair in pairs]")
    )
    assert ran.ret == 0
    ran.stdout.fnmatch_lines(["journal: *journal.jsonl could not be written (No space left on device)"])
    assert (place.path / "out" / "metrics.json").exists()

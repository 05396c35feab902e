"""Whatever goes wrong in a model, a check or on the disk: the figures are written, and say what they lack."""

import os
import signal
import subprocess
import sys

import pytest

from vlgate.cli import main


def later(data, does):
    """A model that is right in the tests of 40 cases, and does something else in the checks at the end."""
    first = f"import pytest; Model.asked += len(pairs)\n    if Model.asked > 80: {does}"
    return data.matching(first=first, head="asked = 0")


def test_a_complete_run_says_so(data, right):
    assert data.run(right).ret == 0
    assert data.metrics()["complete"] is True
    assert "why" not in data.metrics()


@pytest.mark.parametrize(
    "does",
    [
        "pytest.skip('not today')",
        "pytest.xfail('known')",
        "pytest.fail('no')",
        "raise BaseException('out')",
        "raise GeneratorExit",
        "raise type('Mute', (ValueError,), {'__str__': lambda self: 1 / 0})",
        "raise ValueError('half \\ud800')",
        "sys.exit(0)",
    ],
    ids=["skip", "xfail", "fail", "base", "generator-exit", "mute", "surrogate", "exit"],
)
def test_what_a_model_raises_in_the_checks_loses_no_figures(data, does):
    result = data.run(later(data, does), ret=1)
    found = data.metrics()
    assert (data.task()["judged"], found["complete"]) == (40, False)
    assert "check polarity" in found["why"]
    assert [check["outcome"] for check in found["model"]["checks"]] == ["failed"] * 3
    result.stdout.fnmatch_lines(["BROKEN: *check polarity*"])
    assert "**incomplete**" in (data.path / "out" / "summary.md").read_text()


@pytest.mark.slow
def test_a_failed_check_of_a_worker_is_said_too(data):
    assert data.run(data.matching(first="if len(pairs) > 2: raise BaseException('out')"), "-n", "2").ret == 1
    assert (data.task()["judged"], data.metrics()["complete"]) == (40, False)


@pytest.mark.slow
def test_ctrl_c_in_the_checks_loses_no_figures(data):
    data.run(later(data, "raise KeyboardInterrupt"), subprocess=True, ret=pytest.ExitCode.INTERRUPTED)
    assert (data.task()["judged"], data.metrics()["complete"]) == (40, False)
    assert "interrupted" in data.metrics()["why"]


@pytest.mark.slow
def test_a_process_that_ends_in_the_checks_loses_no_figures(data):
    data.run(later(data, "os._exit(7)"), subprocess=True)
    found = data.metrics()
    assert (data.task()["judged"], found["complete"]) == (40, False)
    assert "checks" in found["why"]


@pytest.mark.slow
def test_an_interrupted_run_says_so(data):
    model = data.matching(first="Model.asked += 1\n    if Model.asked == 11: raise KeyboardInterrupt", head="asked = 0")
    result = data.run(model, "--batch-size=2", "--items=pair", subprocess=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    found = data.metrics()
    assert found["complete"] is False
    assert "interrupted" in found["why"]
    assert "of 40 tests did not run" in found["why"]
    result.stdout.fnmatch_lines(["INCOMPLETE: *the run was interrupted*"])


def test_a_run_that_stops_at_the_first_failure_says_so(data):
    model = data.matching(first="if any('7' in pair.text for pair in pairs): raise ValueError")
    assert data.run(model, "-x", "--batch-size=2").ret == 1
    assert "of 40 tests did not run" in data.metrics()["why"]
    assert data.decisions() == {"valse/existence:acc_r": "inconclusive"}
    assert data.task()["unscored"] > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        "raise OSError('no weights here')",
        "import pytest; pytest.skip('no weights here')",
        "raise BaseException('no weights\\n here')",
        "return object()",
    ],
    ids=["raises", "skips", "base", "no-method"],
)
def test_a_model_that_cannot_be_loaded_ends_with_status_4_and_two_lines(data, workers, build):
    (data.path / "bad_model.py").write_text(f"def build():\n    {build}\n")
    result = data.run("--model=bad_model:build", "-q", *workers, ret=4)
    lines = [line for line in result.outlines if line.strip() and line != "bringing up nodes..."]
    assert len(lines) <= 2, lines
    assert "bad_model:build" in lines[0]
    assert not (data.path / "out" / "metrics.json").exists()


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_file_and_says_so(data, right):
    (data.path / "conftest.py").write_text(
        "import os\n"
        "def full(file):\n"
        "    raise OSError(28, 'No space left on device')\n"
        "def pytest_sessionstart():\n"
        "    os.fsync = full\n"
    )
    data.run(right, subprocess=True, ret=1, says="*metrics.json could not be written (No space left on device)*")
    assert not list(data.path.glob("out/*"))


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_leaves_no_half_file(data, right):
    (data.path / "conftest.py").write_text(
        "import resource\ndef pytest_sessionstart():\n    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
    )
    result = data.run(right, subprocess=True, ret=1)
    assert not (data.path / "out" / "cases.parquet").exists()
    result.stdout.fnmatch_lines(["INCOMPLETE: *cases.parquet could not be written (File too large)*"])
    if (data.path / "out" / "metrics.json").exists():
        assert "cases.parquet" in data.metrics()["why"]


HALF = r"""
import logging, warnings
import pytest
from vlgate.errors import NoReplyError

def no_reply(half): raise NoReplyError([0], half)
def raises(half): raise ValueError(half)
def skips(half): pytest.skip(half)
def warns(half):
    warnings.simplefilter("always")
    warnings.warn(half)
def writes(half): os.write(1, b"half \xed\xa0\x80\n")
def logs(half): logging.getLogger().warning(half)

SAYS = {7: no_reply, 8: raises, 9: skips, 10: pytest.fail, 11: warns, 12: writes, 13: logs}
"""


@pytest.mark.slow
def test_half_a_surrogate_pair_loses_no_other_case_whatever_says_it(data, workers):
    texts = "[one.text for one in pairs]"
    says = f"for n, say in SAYS.items():\n        if f'There are {{n}} dogs.' in {texts}: say({HALF_TEXT})"
    model = data.matching(first=says, head=f"note = fingerprint = {HALF_TEXT}")
    file = data.path / "my_model.py"
    file.write_text(HALF + file.read_text())
    result = data.run(model, "--items=pair", "--batch-size=2", *workers)
    assert (data.task()["judged"], data.task()["unscored"]) == (36, 4)
    assert {"cases.parquet", "predictions.parquet", "verdict.json"} <= {
        file.name for file in (data.path / "out").iterdir()
    }
    assert r"half \\ud800" in (data.path / "out" / "summary.md").read_text()  # the note
    assert "INTERNALERROR" not in f"{result.stdout} {result.stderr}"


HALF_TEXT = r"'half \ud800'"


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

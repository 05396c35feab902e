"""Whatever goes wrong in a model, a check or on the disk: the figures are written, and each cause is said once."""

import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from builders import tabled

from vlgate.cli import main


def later(data, does):
    """A model that is right in the tests of 40 cases, and does something else in the checks at the end."""
    first = f"import pytest; Model.asked += len(pairs)\n    if Model.asked > 80: {does}"
    return data.matching(first=first, head="asked = 0")


@tabled
def test_what_a_model_raises_in_the_checks_loses_no_figures(data, does):
    result = data.run(later(data, does), ret=1)
    found = data.metrics()
    assert (data.task()["judged"], found["complete"]) == (40, False)
    assert "checks polarity, batch_invariance, determinism of the model could not run: " in found["why"]
    assert [check["outcome"] for check in found["model"]["checks"]] == ["failed"] * 3
    result.stdout.fnmatch_lines(["BROKEN: *checks polarity*"])
    assert "**incomplete**" in (data.path / "out" / "summary.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "how", "status", "why"),
    [
        ("raise KeyboardInterrupt", {"subprocess": True}, 2, "interrupted"),
        ("os._exit(7)", {"subprocess": True}, 7, "checks"),
        ("raise BaseException('out')", {"workers": ("-n", "2")}, 1, "check"),
    ],
    ids=["ctrl-c", "ends", "worker"],
)
def test_an_end_in_the_checks_loses_no_figures(data, does, how, status, why):
    workers = how.pop("workers", ())
    model = data.matching(first=f"if len(pairs) > 2: {does}") if workers else later(data, does)
    assert data.run(model, *workers, **how).ret == status
    assert (data.task()["judged"], data.metrics()["complete"]) == (40, False)
    assert why in data.metrics()["why"]


@pytest.mark.slow
def test_an_interrupted_run_says_so_and_asks_nothing_more(data):
    stops = "Model.asked += 1\n    if Model.asked == 11: raise KeyboardInterrupt\n    open('asked', 'a').write('1')"
    model = data.matching(first=stops, head="asked = 0")
    result = data.run(model, "--batch-size=2", "--items=pair", subprocess=True, ret=2)
    assert (data.path / "asked").read_text() == "1" * 10  # and nothing more
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
@tabled
def test_a_model_that_cannot_be_loaded_ends_with_status_4_and_two_lines(data, workers, build):
    (data.path / "bad_model.py").write_text(f"def build():\n    {build}\n")
    result = data.run("--model=bad_model:build", "-q", *workers, ret=4)
    lines = [line for line in result.outlines if line.strip() and line != "bringing up nodes..."]
    assert len(lines) <= 2, lines
    assert "bad_model:build" in lines[0]
    assert not (data.path / "out" / "metrics.json").exists()


DISKS = {
    "No space left on device": "def full(file): raise OSError(28, 'No space left on device')\n"
    "def pytest_sessionstart(): os.fsync = full\n",
    "File too large": "def pytest_sessionstart(): resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("why", DISKS)
def test_a_disk_that_takes_no_more_leaves_no_half_file_and_says_so(data, right, why):
    (data.path / "conftest.py").write_text(f"import os, resource\n{DISKS[why]}")
    data.run(right, subprocess=True, ret=1, says=f"*could not be written ({why})*")
    assert not (data.path / "out" / "cases.parquet").exists()
    if why.startswith("No"):
        assert not list(data.path.glob("out/*"))
    elif (data.path / "out" / "metrics.json").exists():
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


CUT_OFF = """
def match(self, pairs):
    from vlgate.errors import NoReplyError
    raise NoReplyError([0], f"the answer is cut off at max_tokens=8: '{pairs[0].text}'; write ?max_tokens=64")
"""


def failures(result):
    return [line for line in result.outlines if line.startswith("FAILED ") and "thresholds.toml" not in line]


@pytest.mark.slow
def test_forty_cases_without_a_reply_for_one_cause_are_one_line(data, workers):
    result = data.run(data.model(CUT_OFF), "--items=pair", "--junitxml=junit.xml", *workers, ret=1)
    assert len(failures(result)) == 1
    assert "cut off at max_tokens=8" in str(result.stdout)
    line = "40 of 40 cases unscored: the answer is cut off at max_tokens=8: e.g. 'There are*'; write ?max_tokens=64"
    result.stdout.fnmatch_lines([line, "the first case: *record_*"])
    result.stdout.fnmatch_lines(["unscored: 40 cases in valse/existence: the answer is cut off at max_tokens=8: e.g.*"])
    result.stdout.fnmatch_lines(["*41 failed*"])  # the cases and the gate
    blocks = [line for line in result.outlines if line.startswith("____")]
    assert len([block for block in blocks if "thresholds.toml" not in block and "valse/existence:" not in block]) <= 1
    cases = ET.parse(data.path / "junit.xml").getroot().findall(".//testcase[failure]")
    assert len([case for case in cases if "record_" in case.get("name")]) == 40
    assert str(result.stdout).count("cut off") <= 6
    verdict = data.verdict()
    assert verdict["verdict"] == "broken"


def test_each_cause_says_its_count_once_and_a_failure_of_one_case_or_of_another_test_keeps_its_name(data):
    busy = "if '7' in pairs[0].text: raise NoReplyError([0], 'the service answers 429: busy')"
    body = CUT_OFF.replace("    raise", f"    {busy}\n    raise")
    result = data.run(data.model(body), "--items=pair", "--batch-size=1")
    lines = ["36 of 40 cases unscored: the answer is cut off*", "4 of 40 cases unscored: *429: busy"]
    result.stdout.fnmatch_lines(lines)
    result.stdout.fnmatch_lines(["unscored: 40 cases in valse/existence: 36 x the answer is *, 4 x *429: busy"])
    assert len(failures(result)) == 2
    body = CUT_OFF.replace("raise NoReplyError([0], ", "raise NoReplyError(range(len(pairs)), ")
    result = data.run(data.model(body), "--items=batch")
    result.stdout.fnmatch_lines(
        ["40 of 40 cases could not be scored", "40 cases, the first is *: the answer is cut off*"]
    )
    assert str(result.stdout).count("cut off") <= 3
    (data.path / "test_mine.py").write_text("\n".join(f"def test_{n}():\n    assert not {n}\n" for n in range(1, 4)))
    seven = "if any('There are 7 dogs.' == one.text for one in pairs): raise ValueError('seven')"
    result = data.run(data.matching(first=seven), "test_mine.py", "--items=pair", "--batch-size=2")
    assert len(failures(result)) == 4
    result.stdout.fnmatch_lines(["FAILED *valse/existence:record_7* - *seven*"])
    result.stdout.fnmatch_lines(["*5 failed*"])


@pytest.mark.slow
def test_a_model_that_raises_everywhere_is_shown_once(data, workers):
    body = "def match(self, pairs):\n    raise ValueError(f'no weights for {pairs[0].text!r}')"
    result = data.run(data.model(body), "--items=pair", *workers)
    assert len(failures(result)) == 1
    result.stdout.fnmatch_lines(["FAILED *record_* and 39 more* - Value*"])
    result.stdout.fnmatch_lines(["BROKEN: *determinism of the model could not run: the model raised ValueError: no*"])
    result.stdout.fnmatch_lines(["E *ValueError: no weights*", "E *match() was asked * first: 'There are * about '*"])
    assert "asking/predictor.py" not in str(result.stdout)
    whole = data.run(data.model(body), "--items=pair", "--full-trace", *workers)
    assert "asking/predictor.py" in str(whole.stdout)
    assert str(result.stdout).count("def match(self, pairs):") == 1
    result.stdout.fnmatch_lines(["*41 failed*"])


def test_missing_images_and_missing_rows_are_one_cause_each(place):
    place.valse(n=80, images=False)
    for name in range(100, 138):
        place.image(f"vg/{name}.jpg")
    place.thresholds()
    result = place.run(place.matching("0 * pair.image.load().width - len(pair.text)"))
    result.stdout.fnmatch_lines(["4 of 80 cases unscored: image e.g. 'v7w_13?.jpg': not found; looked in *"])
    assert len(failures(result)) == 1
    (place.path / "replies.jsonl").write_text('{"image": "x.jpg", "text": "y", "score": 1.0}\n')
    result = place.run("--model=replay:replies.jsonl", "--items=pair")
    result.stdout.fnmatch_lines(["80 of 80 cases unscored: *replies.jsonl has no score for * of * requests, such as *"])
    assert len(failures(result)) == 1


HANGS = {
    "python": "import time; end = time.time() + 60\n        while time.time() < end: pass",
    "c-code-with-the-lock": "import ctypes; ctypes.PyDLL(None).sleep(60)",
    "caught": "try:\n            import time; time.sleep(60)\n        except BaseException: pass",
}
MODEL = """
asked = 0
def match(self, pairs):
    Model.asked += len(pairs)
    if {when}:
        {how}
    return np.array([-float(len(pair.text)) for pair in pairs])
"""
IN_TESTS = "any('There are 7 dogs.' == pair.text for pair in pairs)"
AT_THE_EIGHTH = "Model.asked == 16"
IN_CHECKS = "Model.asked > 80"
SAYS = "vlgate*: match() of 2 requests did not return within 0.5 s; * --call-timeout*"


def hang(data, when, how, *args, **expected):
    model = data.model(MODEL.format(when=when, how=HANGS.get(how, how)))
    return data.run(model, "--batch-size=2", *args, subprocess=True, **expected)


@pytest.mark.parametrize(
    "how", ["python", *(pytest.param(hang, marks=pytest.mark.slow) for hang in HANGS if hang != "python")]
)
def test_a_call_that_hangs_ends_the_process(data, how):
    result = hang(data, AT_THE_EIGHTH, how, "--call-timeout=0.5", ret=1)
    result.stderr.fnmatch_lines([SAYS, "Timeout (*", "*my_model.py*"])
    assert not (data.path / "out" / "metrics.json").exists()
    result = hang(data, IN_TESTS, "import time; time.sleep(0.1)", "--call-timeout=60", ret=0)  # in time, in that folder
    assert "did not return" not in result.stderr.str()
    assert data.metrics()["complete"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "how", "workers", "judged", "why"),
    [
        (IN_CHECKS, "python", (), 40, "checks of the model"),
        (IN_CHECKS, "c-code-with-the-lock", (), 40, "checks of the model"),
        (IN_TESTS, "c-code-with-the-lock", ("-n1",), 39, "because match() of 2 requests did not return within 0.5 s"),
        ("len(pairs) == 1", "python", ("-n2",), 40, "because match() of 1 request did not return within 0.5 s"),
    ],
)
def test_a_call_that_hangs_in_the_checks_or_a_worker_loses_no_figures(data, when, how, workers, judged, why):
    said = "vlgate*: match() of * request* did not return within 0.5 s; *"
    hang(data, when, how, "--call-timeout=0.5", *workers, ret=1, error=said)
    assert (data.task()["judged"], data.metrics()["complete"]) == (judged, False)
    assert why in data.metrics()["why"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["import time; time.sleep(0.6)", "python"])
def test_a_call_that_returns_late_ends_the_run_too_and_an_ini_file_may_hold_the_limit(data, how):
    (data.path / "pytest.ini").write_text("[pytest]\nvlgate_call_timeout = 0.5\n")
    hang(data, IN_TESTS, how, ret=1, error=SAYS)
    assert not (data.path / "out" / "metrics.json").exists()


TIMEOUT_PLUGIN = """
import signal
import pytest

class Plugin:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        def stop(*_):
            pytest.fail("Timeout (>1.0s) from pytest-timeout.")
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, item.config.getoption("timeout"))
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

def pytest_addoption(parser):
    parser.addoption("--timeout", type=float)
    parser.addini("timeout", "")

def pytest_configure(config):
    config.pluginmanager.register(Plugin(), "timeout")
"""
"""A limit per test that stops a test as pytest-timeout does."""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n1",)], ids=["serial", "xdist"])
def test_a_model_that_pytest_timeout_stopped_is_not_asked_again(data, workers):
    (data.path / "conftest.py").write_text(TIMEOUT_PLUGIN)
    hang(data, "Model.asked in {42, 82, 84, 86}", "import time; time.sleep(60)", "--timeout=1", *workers, ret=1)
    found = data.metrics()
    assert found["complete"] is False
    [check] = found["model"]["checks"]
    assert "not asked again, because a test was stopped: Timeout (>1.0s)" in check["why"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["python", "c-code-with-the-lock"])
def test_a_limit_of_pytest_timeout_bounds_the_checks(data, how):
    (data.path / "conftest.py").write_text(TIMEOUT_PLUGIN)
    result = hang(data, IN_CHECKS, how, "--timeout=1", ret=1)
    result.stderr.fnmatch_lines(["vlgate: match() of 2 requests did not return within 2 s; *pytest-timeout*"])
    assert (data.task()["judged"], data.metrics()["complete"]) == (40, False)

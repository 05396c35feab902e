"""``--call-timeout``: a model whose call hangs ends the process with status 1, wherever and however it hangs."""

import pytest

USAGE = pytest.ExitCode.USAGE_ERROR
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


def run(data, when, how, *args, **expected):
    model = data.model(MODEL.format(when=when, how=HANGS.get(how, how)))
    return data.run(model, "--batch-size=2", *args, subprocess=True, **expected)


@pytest.mark.parametrize(
    "how", ["python", *(pytest.param(hang, marks=pytest.mark.slow) for hang in HANGS if hang != "python")]
)
def test_a_call_that_hangs_ends_the_process(data, how):
    result = run(data, AT_THE_EIGHTH, how, "--call-timeout=0.5", ret=1)
    result.stderr.fnmatch_lines([SAYS, "Timeout (*", "*my_model.py*"])
    assert not (data.path / "out" / "metrics.json").exists()


@pytest.mark.slow
def test_the_next_run_into_the_folder_works(data, right):
    run(data, IN_TESTS, "python", "--call-timeout=0.5")
    assert data.run(right, "--call-timeout=60").ret == 0
    assert data.metrics()["complete"] is True


@pytest.mark.slow
@pytest.mark.parametrize("how", ["python", "c-code-with-the-lock"])
def test_a_call_that_hangs_in_the_checks_loses_no_figures(data, how):
    run(data, IN_CHECKS, how, "--call-timeout=0.5", ret=1, error=SAYS)
    found = data.metrics()
    assert (data.task()["judged"], found["complete"]) == (40, False)
    assert "checks of the model" in found["why"]


@pytest.mark.slow
def test_a_worker_whose_call_hangs_makes_the_run_incomplete(data):
    result = run(data, IN_TESTS, "c-code-with-the-lock", "--call-timeout=0.5", "-n1", ret=1)
    result.stderr.fnmatch_lines(["vlgate, worker gw?: match() of 2 requests did not return within 0.5 s; *"])
    found = data.metrics()
    assert (data.task()["judged"], found["complete"]) == (39, False)
    assert "was ended, because match() of 2 requests did not return within 0.5 s" in found["why"]


@pytest.mark.slow
def test_a_worker_whose_call_hangs_in_the_checks_makes_the_run_incomplete(data):
    run(data, "len(pairs) == 1", "python", "--call-timeout=0.5", "-n2", ret=1)
    found = data.metrics()
    assert (data.task()["judged"], found["complete"]) == (40, False)
    assert "was ended, because match() of 1 request did not return within 0.5 s" in found["why"]


@pytest.mark.slow
def test_a_call_that_returns_late_ends_the_run_too(data):
    run(data, IN_TESTS, "import time; time.sleep(0.6)", "--call-timeout=0.5", ret=1, error=SAYS)
    assert not (data.path / "out" / "metrics.json").exists()


@pytest.mark.slow
def test_calls_in_time_are_left_alone(data):
    result = run(data, IN_TESTS, "import time; time.sleep(0.1)", "--call-timeout=60", ret=0)
    assert "did not return" not in result.stderr.str()
    assert data.metrics()["complete"] is True


@pytest.mark.slow
def test_the_key_of_the_ini_file(data):
    (data.path / "pytest.ini").write_text("[pytest]\nvlgate_call_timeout = 0.5\n")
    run(data, IN_TESTS, "python", ret=1, error=SAYS)


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
    run(data, "Model.asked in {42, 82, 84, 86}", "import time; time.sleep(60)", "--timeout=1", *workers, ret=1)
    found = data.metrics()
    assert found["complete"] is False
    [check] = found["model"]["checks"]
    assert "not asked again, because a test was stopped: Timeout (>1.0s)" in check["why"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["python", "c-code-with-the-lock"])
def test_a_limit_of_pytest_timeout_bounds_the_checks(data, how):
    (data.path / "conftest.py").write_text(TIMEOUT_PLUGIN)
    result = run(data, IN_CHECKS, how, "--timeout=1", ret=1)
    result.stderr.fnmatch_lines(["vlgate: match() of 2 requests did not return within 2 s; *pytest-timeout*"])
    assert (data.task()["judged"], data.metrics()["complete"]) == (40, False)

"""Sessions that judge nothing: lists, plugins that end them, and options of a run without the suite."""

from pathlib import Path

import pytest
from huggingface_hub import constants

import tests_vl

SAID = "vlgate: no gate was judged: "


@pytest.fixture
def ready(place):
    place.ready(n=4)
    return place


def start(place, *args):
    """Start the suite in a process of its own, whose status a caller gets."""
    model = place.matching("0.0", "open('asked', 'w').close()")
    ended = place.pytester.runpytest_subprocess("--pyargs", "tests_vl", "--results=out", "--data=data", model, *args)
    assert "INTERNALERROR" not in ended.stdout.str() + ended.stderr.str()
    assert not (place.path / "asked").exists()
    return ended


def slowly(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


LISTS = ["--help", "-h", "--markers", "--fixtures", "--funcargs", "--fixtures-per-test", "--collect-only", "--co"]


@pytest.mark.parametrize(
    ("option", "how"),
    [
        *(slowly(option, "PYTEST_ADDOPTS") for option in [*LISTS, "--version --version"]),
        *((option, "addopts") for option in ("--help", "--fixtures", "--collect-only")),
    ],
)
def test_a_list_that_nobody_typed_does_not_end_with_0(ready, monkeypatch, option, how):
    if how == "addopts":
        (ready.path / "pytest.ini").write_text(f"[pytest]\naddopts = {option}\n")
    else:
        monkeypatch.setenv("PYTEST_ADDOPTS", option)
    result = start(ready)
    assert result.ret == 1
    result.stderr.fnmatch_lines(
        [f"{SAID}--* of addopts ended the session before the suite; take it out, or add --no-*"]
    )
    assert "INCOMPLETE" not in result.stdout.str()
    assert not (ready.path / "out").exists()
    if option == "--collect-only":
        assert {start(ready, how).ret for how in ("--no-require-gates", "-ovlgate_require_gates=false")} == {0}


@pytest.mark.parametrize("option", ["--help", "--co", *map(slowly, [*LISTS[1:-1], "--version --version", "--version"])])
def test_a_list_that_a_user_typed_ends_with_0(ready, monkeypatch, option):
    if option not in {"--collect-only", "--co"}:  # of which CI has its own rule
        monkeypatch.setenv("CI", "true")
    assert start(ready, *option.split()).ret == 0
    assert not (ready.path / "out").exists()


ENDS = {
    "returns-none-status": "@pytest.hookimpl(tryfirst=True)\ndef pytest_cmdline_main():\n    return pytest.ExitCode.OK",
    "exits-with-none": "def pytest_cmdline_main():\n    raise SystemExit",
    "configure": "def pytest_configure():\n    pytest.exit('enough', returncode=0)",
    "collection": "def pytest_collection():\n    pytest.exit('enough', returncode=0)",
    "items": "def pytest_collection_modifyitems():\n    pytest.exit('enough', returncode=0)",
    "finish": "def pytest_sessionfinish():\n    pytest.exit('enough', returncode=0)",
    "no-tests": "def pytest_collection_modifyitems(items):\n    items.clear()\n\n"
    "@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0",
    "unconfigured": "def pytest_sessionstart(session):\n    session.config.pluginmanager.unregister(name='vlgate-run')",
    "at-once": "import os\n\ndef pytest_collection():\n    os._exit(0)",
}
WHERE = ["-p", "conftest", "PYTEST_PLUGINS"]
"""Ends of ``attacks/plugins.py`` are not repeated here."""


@pytest.mark.parametrize(
    ("name", "where"), [(name, WHERE[i % 3]) if i < 3 else slowly(name, WHERE[i % 3]) for i, name in enumerate(ENDS)]
)
def test_a_plugin_that_ends_the_session_does_not_end_it_with_0(ready, monkeypatch, name, where):
    file = "conftest.py" if where == "conftest" else "odd_plugin.py"
    (ready.path / file).write_text(f"import pytest\n\n{ENDS[name]}\n")
    if where == "PYTEST_PLUGINS":
        monkeypatch.setenv("PYTEST_PLUGINS", "odd_plugin")
    monkeypatch.setenv("PYTHONPATH", str(ready.path), prepend=":")
    result = start(ready, "-k", "nothing_of_the_suite", *(("-p", "odd_plugin") if where == "-p" else ()))
    assert result.ret not in {0, -6}


@pytest.mark.slow
@pytest.mark.parametrize("ci", ["true", "false"])
def test_a_run_without_the_suite_says_how_to_name_it(place, monkeypatch, workers, ci):
    monkeypatch.setenv("CI", ci)
    (place.path / "test_own.py").write_text("def test_own():\n    pass\n")
    result = place.pytester.runpytest_subprocess("--model=bag-of-words", "--results=res x", *workers)
    assert result.ret == (1 if ci == "true" else 0)
    command = "pytest --pyargs tests_vl --model=bag-of-words '--results=res x'"
    result.stdout.fnmatch_lines([f"vlgate: no gate was judged, because no test of the suite was named: {command}"])
    result.assert_outcomes(passed=1)
    assert ("vlgate: the exit status is 1, because" in result.stdout.str()) == (ci == "true")
    assert not (place.path / "res x").exists()


TYPED = ["--require-gates", "--suite=scenes/foil-it", "--device=cpu", "--quick", "--shard=1/2", "--limit 4"]
TYPED += ["--items=batch", "--thresholds=thresholds.toml", "--no-overwrite", "--data=data"]
TYPED += ["-m shrink --model=bag-of-words"]


@pytest.mark.parametrize(
    ("typed", "own"), [*((typed, True) for typed in TYPED), ("--quick", False), ("--limit 4", False)]
)
def test_any_option_of_a_run_is_held_against_a_session_without_one(ready, monkeypatch, typed, own):
    monkeypatch.setenv("CI", "1")
    if own:
        (ready.path / "test_own.py").write_text("import pytest\n\n@pytest.mark.shrink\ndef test_own():\n    pass\n")
    assert ready.pytester.runpytest_inprocess(*typed.split()).ret == 1
    monkeypatch.delenv("CI")
    required = typed == "--require-gates"
    result = ready.pytester.runpytest_inprocess(*typed.split())
    assert result.ret == (1 if required else 0 if own else 5)
    said = f"pytest --pyargs tests_vl {typed.removeprefix('-m shrink ').replace(' ', '=')}"
    result.stdout.fnmatch_lines([f"*no test of the suite was named: {said}"])
    assert not (ready.path / "results").exists()


@pytest.mark.parametrize("how", ["vlgate_model", "addopts", "PYTEST_ADDOPTS"])
def test_options_that_nobody_typed_are_not(ready, monkeypatch, how):
    monkeypatch.setenv("CI", "1")
    (ready.path / "test_own.py").write_text("def test_own():\n    pass\n")
    if how == "PYTEST_ADDOPTS":
        monkeypatch.setenv("PYTEST_ADDOPTS", "--model=constant")
    else:
        line = "addopts = --model=constant" if how == "addopts" else "vlgate_model = constant"
        (ready.path / "pytest.ini").write_text(f"[pytest]\n{line}\n")
    result = ready.pytester.runpytest_inprocess()
    assert result.ret == 0
    assert "vlgate: no gate" not in result.stdout.str()


def test_an_own_test_of_the_suites_cases_is_a_run_and_one_that_is_refused_leaves_no_empty_folder(ready, right):
    (ready.path / "test_mine.py").write_text((Path(tests_vl.__file__).parent / "test_foil.py").read_text())
    result = ready.pytester.runpytest_inprocess("test_mine.py", right, "--data=data", "--health=off")
    assert "no test of the suite was named" not in result.stdout.str()
    result.stdout.fnmatch_lines(["inconclusive *valse/existence *"])
    assert ready.run("--model=nothing_here:build", "--results=one/two").ret == 4
    assert ready.run(ready.model("def nothing(self):\n    pass"), "--results=one/two").ret == 4
    assert not (ready.path / "one").exists()
    (ready.path / "kept").mkdir()
    assert ready.run(ready.model("def nothing(self):\n    pass"), "--results=kept").ret == 4
    assert (ready.path / "kept").is_dir()


@pytest.mark.parametrize("named", ["tests_vl", "tests_vl/", "tests_vl/test_foil.py::test_foil"])
def test_the_suite_named_as_a_folder_that_is_not_here_is_told_the_command(place, named):
    result = place.pytester.runpytest_inprocess(named, "--model=bag-of-words", "--limit=2")
    module = named.rstrip("/").replace("/", ".").replace(".py", "")
    command = f"pytest --pyargs {module} --model=bag-of-words --limit=2"
    assert (result.ret, command in result.stderr.str(), (place.path / "results").exists()) == (4, True, False)


@pytest.mark.parametrize(
    ("model", "commands"),
    [
        ("lxmert:org/none", ["hf download org/none", "hf download unc-nlp/frcnn-vg-finetuned"]),
        ("open_clip:hf-hub:org/none", ["hf download org/none"]),
        *((f"{name}:org/none", ["hf download org/none"]) for name in ("vlm", "siglip", "blip", "causal", "masked")),
    ],
)
def test_files_that_are_not_downloaded_are_named_before_any_worker_starts(place, monkeypatch, model, commands):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(place.path / "cache"))
    result = place.pytester.runpytest_inprocess("--pyargs", "tests_vl", f"--model={model}", "-n", "2")
    said = result.stderr.str()
    assert (result.ret, all(command in said for command in commands), "workers" in result.stdout.str()) == (4, True, 0)
    assert not (place.path / "results").exists()

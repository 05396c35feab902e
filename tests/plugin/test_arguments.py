"""Options with a space before their value, as people write them, and with no value at all, as scripts write them."""

import os

import pytest

from vlgate.plugin.settings import joined
from vlgate.record.options import SETTINGS


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (["--data", "here", "-q"], ["--data=here", "-q"]),
        (["--data", "nowhere"], ["--data", "nowhere"]),
        (["--results", "new", "-n", "2"], ["--results=new", "-n", "2"]),
        (["--model", "here", "--model=here"], ["--model=here", "--model=here"]),
        (["--other", "here"], ["--other", "here"]),
        (["--results"], ["--results"]),
        (["--overwrite", "here"], ["--overwrite", "here"]),
    ],
)
def test_a_value_that_could_be_taken_for_a_test_path_is_joined(tmp_path, given, made):
    (tmp_path / "here").mkdir()
    assert joined(given, tmp_path) == made


@pytest.mark.slow
def test_new_results_with_a_space_are_those_of_the_whole_run(place, right, workers):
    place.ready(n=12)
    result = place.pytester.runpytest_subprocess(
        "--pyargs", "tests_vl", "--data", "data", "--results", "new", right, "--device=cpu", *workers
    )
    assert result.ret in {0, 1}
    assert place.task(folder="new")["judged"] == 12


VALUED = [setting.name for setting in SETTINGS.values() if not setting.flag]


def refused(result, named):
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: *{named}*empty*"])


@pytest.mark.parametrize("name", VALUED)
def test_an_empty_value_is_refused(place, name):
    refused(place.run(f"--{name}="), f"--{name}=: expected")
    assert not (place.path / "out").exists()


@pytest.mark.parametrize(
    "given",
    [
        *("--model= ", "--model=\t", "--model=\u00a0", "--data=data --data=", "--suite=,", "--suite= , "),
        *("--suite=valse/existence,,", "--suite=valse/existence,,valse/plurality", "--suite=,valse/existence"),
        *("--suite=valse/existence --suite=", "--disputes=known --disputes=", "--protocol=,", "--baseline= "),
    ],
)
def test_a_blank_value_among_others_is_refused(place, given):
    place.valse()
    args = given.replace(" --", "\n--").split("\n")
    refused(place.run(*args, model=None), args[-1].partition("=")[0])


@pytest.mark.parametrize("written", ["vlgate_model =", "vlgate_data =", "vlgate_suite =  ", "vlgate_baseline =\n"])
def test_an_empty_key_of_the_ini_file_is_refused(place, written):
    (place.path / "pytest.ini").write_text(f"[pytest]\n{written}\n")
    refused(place.run(data=False, model=None), written.partition(" ")[0])


def test_an_empty_key_of_a_toml_file_or_of_addopts_is_refused(place, monkeypatch):
    file = place.path / "pyproject.toml"
    for written in ('vlgate_model = ""', "vlgate_data = []", 'vlgate_suite = [""]', 'addopts = ["--model="]'):
        file.write_text(f"[tool.pytest.ini_options]\n{written}\n")
        refused(place.run(data=False, model=None), "model" if "model" in written else written.partition(" ")[0])
    file.unlink()
    refused(place.run("-o", "vlgate_model=", model=None), "vlgate_model")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--model=")
    refused(place.run(model=None), "--model=")


@pytest.mark.parametrize("value", ["", "  ", os.pathsep])
def test_an_empty_variable_is_refused_unless_an_option_takes_its_place(place, right, monkeypatch, value):
    place.valse()
    monkeypatch.setenv("VLGATE_DATA", value)
    refused(place.run(right, data=False), "the variable VLGATE_DATA")
    assert place.run(right, "--health=off").ret == 0
    monkeypatch.setenv("VLGATE_CACHE", value)
    refused(place.run(right), "the variable VLGATE_CACHE")
    assert place.run(right, "--cache=off", "--health=off").ret == 0


@pytest.mark.parametrize(
    "written", ["vlgate_suite =\n    valse/existence,\n    valse/plur*", "vlgate_suite = valse/*,"]
)
def test_names_in_an_ini_file_may_end_with_commas(place, right, written):
    place.valse()
    place.valse(file="plurals.json")
    (place.path / "pytest.ini").write_text(f"[pytest]\n{written}\nvlgate_missing_images = skip\n")
    place.run(right, "--health=off")
    assert set(place.metrics()["tasks"]) == {"valse/existence", "valse/plurality"}

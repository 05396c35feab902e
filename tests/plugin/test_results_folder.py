"""What a run may do to its results folder: it deletes nothing unasked, and no two runs write into one folder."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from vlgate.errors import OptionError
from vlgate.record.options import Options
from vlgate.record.results_folder import NAMES, take_folder
from vlgate.record.whole_file import lock

USAGE = pytest.ExitCode.USAGE_ERROR


EASY = '[gate."valse/*".acc_r]\nmin = 0.5\nmin_cases = 1\nbasis = "value"\n'


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def first(place, right):
    """The files of a first run, in ``out``."""
    place.ready()
    assert place.run(right, overwrite=False).ret == 0
    return files(place.path / "out")


# --- the replies of a replay -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--overwrite",)], ids=["plain", "overwrite"])
def test_a_replay_never_deletes_its_own_replies(place, first, more):
    result = place.run("--model=replay:out/predictions.parquet", *more, overwrite=False, ret=4)
    result.stderr.fnmatch_lines(["ERROR: *--results *out*replay:out/predictions.parquet*"])
    assert files(place.path / "out") == first


def test_a_link_to_the_replies_protects_them_too(place, first):
    (place.path / "replies.parquet").symlink_to(place.path / "out" / "predictions.parquet")
    result = place.run("--model=replay:replies.parquet", "--overwrite", overwrite=False, ret=4)
    result.stderr.fnmatch_lines(["ERROR: *--results *out*replay:replies.parquet*"])
    assert files(place.path / "out") == first


def test_replies_of_another_name_can_lie_in_the_results_folder(place):
    place.ready(EASY, n=1)
    (place.path / "out").mkdir()
    row = {"image": "v7w_100.jpg", "text": "There are 0 dogs.", "score": 2.0}
    rows = [row, {**row, "text": "There are no 0 dogs.", "score": 1.0}]
    replies = place.path / "out" / "replies.jsonl"
    replies.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert place.run("--model=replay:out/replies.jsonl", overwrite=False).ret == 0
    assert place.task()["judged"] == 1
    assert len(replies.read_text().splitlines()) == 2


# --- another run's files ---------------------------------------------------------------------------------------------


def test_the_files_of_another_run_are_not_overwritten_unasked(place, right, first):
    place.run(right, overwrite=False, ret=4, error=f"ERROR: --results {place.path / 'out'}: *metrics.json*--overwrite*")
    assert files(place.path / "out") == first


@pytest.mark.parametrize("name", NAMES)
def test_each_file_of_a_run_counts(tmp_path, name):
    (tmp_path / name).write_text("of another run")
    options = Options(folder=tmp_path, thresholds=tmp_path / "t.toml", results=tmp_path)
    with pytest.raises(OptionError, match=rf"{name}.*--overwrite"):
        take_folder(options)
    assert files(tmp_path) == {name: b"of another run"}
    take_folder(replace(options, overwrite=True))()
    assert files(tmp_path) == {}


@pytest.mark.parametrize("how", ["option", "ini"])
@pytest.mark.usefixtures("first")
def test_the_files_of_another_run_are_overwritten_on_request(place, wrong, how):
    if how == "ini":
        (place.path / "pytest.ini").write_text("[pytest]\nvlgate_overwrite = on\n")
    (place.path / "out" / "mine.txt").write_text("a note")
    place.run(wrong, *(["--overwrite"] if how == "option" else []), overwrite=False, ret=1)
    assert place.metrics()["model"]["name"] == "wrong_model:build"
    assert (place.path / "out" / "mine.txt").read_text() == "a note"


def test_an_ini_value_of_overwrite_that_is_not_a_choice_is_refused(place, right):
    place.valse(n=2)
    (place.path / "pytest.ini").write_text("[pytest]\nvlgate_overwrite = perhaps\n")
    place.run(right, overwrite=False, ret=4, error="ERROR: *overwrite*perhaps*")


def test_other_files_in_the_folder_do_not_matter(place, right):
    place.ready(EASY, n=2)
    (place.path / "out").mkdir()
    (place.path / "out" / "allure").mkdir()
    (place.path / "out" / "mine.txt").write_text("a note")
    assert place.run(right, overwrite=False).ret == 0


def test_two_runs_of_one_second_have_folders_of_their_own(place, pytester, right, monkeypatch):
    place.ready(EASY, n=2)
    monkeypatch.setattr("vlgate.plugin.parse_options.time_name", lambda: "20250101-000000")
    for _ in range(2):
        assert pytester.runpytest_inprocess("--pyargs", "tests_vl", "--data=data", right).ret == 0
    assert len(list((place.path / "results").glob("*/metrics.json"))) == 2


# --- two runs at once ------------------------------------------------------------------------------------------------

WAITS = """
def match(self, pairs):
    import pathlib, time
    pathlib.Path("started").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.01)
    return np.array([-float(len(pair.text)) for pair in pairs])
"""


@pytest.fixture
def running(place):
    """A run into ``out`` that waits in its first call for a file ``go``."""
    place.ready(EASY, n=4)
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "--results=out", "--data=data"]
    process = subprocess.Popen([*command, place.model(WAITS, name="waiting_model")], stdout=subprocess.DEVNULL)
    while not (place.path / "started").exists():
        assert process.poll() is None
    yield process
    (place.path / "go").touch()
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    "more", [(), pytest.param(("--overwrite",), marks=pytest.mark.slow)], ids=["plain", "overwrite"]
)
def test_a_second_run_into_the_folder_of_a_running_one_is_refused(place, running, right, more):
    result = place.run(right, *more, subprocess=True, overwrite=False, ret=4)
    result.stderr.fnmatch_lines([f"ERROR: --results *out: *process {running.pid}*"])
    (place.path / "go").touch()
    assert running.wait() == 0
    assert place.metrics()["model"]["name"] == "waiting_model:build"


def test_a_run_leaves_no_lock_behind(first):
    assert sorted(first) == [
        "badge.json", "cases.parquet", "environment.json", "metrics.json", "predictions.parquet", "report.html",
        "summary.md", "verdict.json",
    ]  # fmt: skip


def test_collecting_takes_no_folder(place, right, first):
    assert place.run(right, "--collect-only", overwrite=False).ret == 0
    assert files(place.path / "out") == first


def test_the_lock_names_this_process(tmp_path):
    release = lock(tmp_path)
    with pytest.raises(OptionError, match=str(os.getpid())):
        lock(tmp_path)
    release()
    lock(tmp_path)()
    assert list(tmp_path.iterdir()) == []


def test_the_next_run_removes_what_a_killed_one_was_writing(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    names = ("metrics.json", "cases.parquet", "badge.json", "explanations/index.json")
    (tmp_path / "explanations").mkdir()
    for name in names:
        for number in (process.pid, os.getpid(), 1):
            (tmp_path / name).with_name(f".{name.rpartition('/')[2]}.{number}.part").write_text("half")
    take_folder(Options(folder=tmp_path, thresholds=None, results=tmp_path))()
    left = sorted(file.name for file in tmp_path.rglob("*.part"))
    assert left == sorted(f".{name.rpartition('/')[2]}.1.part" for name in names)

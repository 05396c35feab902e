"""What a run may do to its results folder and its cache: it deletes nothing unasked, and asks what is missing."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from builders import write_lines

from vlgate.asking.cache.store import NAME
from vlgate.errors import OptionError
from vlgate.record.options import Options
from vlgate.record.results_folder import NAMES, take_folder
from vlgate.record.whole_file import lock

EASY = '[gate."valse/*".acc_r]\nmin = 0.5\nmin_cases = 1\nbasis = "value"\n'


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def first(place, right):
    """The files of a first run, in ``out``."""
    place.ready()
    assert place.run(right, overwrite=False).ret == 0
    return files(place.path / "out")


def test_a_replay_never_deletes_its_own_replies_nor_those_of_a_link(place, first):
    (place.path / "replies.parquet").symlink_to(place.path / "out" / "predictions.parquet")
    for replies, overwrite in (("out/predictions", False), ("out/predictions", True), ("replies", True)):
        error = f"ERROR: *--results *out*replay:{replies}.parquet*"
        place.run(f"--model=replay:{replies}.parquet", overwrite=overwrite, ret=4, error=error)
        assert files(place.path / "out") == first


def test_replies_of_another_name_can_lie_in_the_results_folder(place):
    place.ready(EASY, n=1)
    (place.path / "out" / "allure").mkdir(parents=True)
    row = {"image": "v7w_100.jpg", "text": "There are 0 dogs.", "score": 2.0}
    rows = [row, {**row, "text": "There are no 0 dogs.", "score": 1}]
    replies = write_lines(place.path / "out" / "replies.jsonl", rows)
    before = replies.read_bytes()
    place.run("--model=replay:out/replies.jsonl", overwrite=False, ret=0)
    assert (place.task()["judged"], place.task()["unscored"]) == (1, 0)
    assert replies.read_bytes() == before


def test_the_files_of_another_run_are_not_overwritten_unasked_and_collecting_takes_no_folder(place, right, first):
    names = "badge.json cases.parquet environment.json metrics.json predictions.parquet report.html summary.md"
    assert sorted(first) == [*names.split(), "verdict.json"]
    assert place.run(right, "--collect-only", overwrite=False).ret == 0
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


def test_two_runs_of_one_second_have_folders_of_their_own(place, pytester, right, monkeypatch):
    place.ready(EASY, n=2)
    monkeypatch.setattr("vlgate.plugin.parse_options.time_name", lambda: "20250101-000000")
    for _ in range(2):
        assert pytester.runpytest_inprocess("--pyargs", "tests_vl", "--data=data", right).ret == 0
    assert len(list((place.path / "results").glob("*/metrics.json"))) == 2


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


@pytest.mark.parametrize("overwrite", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_second_run_into_the_folder_of_a_running_one_is_refused(place, running, right, overwrite):
    error = f"ERROR: --results *out: *process {running.pid}*"
    place.run(right, subprocess=True, overwrite=overwrite, ret=4, error=error)
    (place.path / "go").touch()
    assert running.wait() == 0
    assert place.metrics()["model"]["name"] == "waiting_model:build"


def test_the_lock_names_this_process_and_the_next_run_removes_what_a_killed_one_was_writing(tmp_path):
    release = lock(tmp_path)
    with pytest.raises(OptionError, match=str(os.getpid())):
        lock(tmp_path)
    release()
    lock(tmp_path)()
    assert list(tmp_path.iterdir()) == []
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


FILES = ("metrics.json", "predictions.parquet", "cases.parquet", "verdict.json")
MODEL = """
fingerprint = "a model of tests"
def match(self, pairs):
    calls = open("calls.txt", "a")
    calls.write(f"{len(pairs)}\\n")
    calls.close()
    die = os.environ.get("DIE_AT")
    if die and len(open("calls.txt").readlines()) == int(die):
        os.kill(os.getpid(), 9)
    return np.array([-float(len(pair.text)) + np.asarray(pair.image.load()).mean() for pair in pairs])
"""


def cached_run(data, *args, **how):
    """Start the suite, without the probes of the data, which cost more than the model."""
    return data.run("--health=off", *args, **how)


def calls(data):
    """The numbers of pairs of the model's calls since this was last looked at."""
    file = data.path / "calls.txt"
    found = [int(line) for line in file.read_text().splitlines()] if file.exists() else []
    file.unlink(missing_ok=True)
    return found


def contents(data, folder="out"):
    """The files of a run, and the counts of its cache."""
    found = {name: (data.path / folder / name).read_bytes() for name in FILES}
    return found, json.loads((data.path / folder / "environment.json").read_text())["cache"]


@pytest.mark.slow
def test_a_warm_run_calls_no_model_and_writes_the_same_bytes(data):
    model = data.model(MODEL)
    cached_run(data, model, "--cache=kept", "--limit=15", says=f"cache: 30 replies kept in {data.path / 'kept'}")
    assert sum(calls(data)) > 30
    cached_run(data, model, "--cache=kept", ret=0)
    first, counts = contents(data)
    assert (counts["asked"], counts["cached"]) == (50, 30)
    calls(data)
    says = f"cache: 80 replies from {data.path / 'kept'}, 0 asked of the model"
    cached_run(data, model, "--cache=kept", ret=0, says=says)
    assert calls(data) == []
    second, counts = contents(data)
    assert (counts["asked"], counts["cached"]) == (0, 80)
    cached_run(data, model, "--cache=off")
    assert first == second == contents(data)[0]


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(data, monkeypatch):
    model = data.model(MODEL)
    cached_run(data, model, "--cache=off", "--batch-size=4")
    undisturbed, _ = contents(data)
    calls(data)
    monkeypatch.setenv("DIE_AT", "8")
    cached_run(data, model, "--cache=kept", "--batch-size=4", subprocess=True, ret=-9)
    assert sum(calls(data)) == 32
    monkeypatch.delenv("DIE_AT")
    assert cached_run(data, model, "--cache=kept", "--batch-size=4").ret == 0
    found, counts = contents(data)
    assert (counts["cached"], counts["asked"]) == (28, 52)
    assert found == undisturbed


def started(out, *args):
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "-q", "--health=off", "--data=data"]
    return subprocess.Popen([*command, "--cache=kept", f"--results={out}", *args], stdout=subprocess.DEVNULL)


@pytest.mark.slow
def test_two_runs_at_the_same_time_on_one_cache(data):
    model = data.model(MODEL)
    runs = [started(out, model, "--batch-size=2", *more) for out, more in (("one", ()), ("two", ("-n2",)))]
    assert [run.wait() for run in runs] == [0, 0]
    (one, counts), (two, others) = contents(data, "one"), contents(data, "two")
    assert one == two
    for found in (counts, others):
        assert found["asked"] + found["cached"] == 80


CHILDREN = "/proc/{0}/task/{0}/children"


@pytest.mark.slow
@pytest.mark.skipif(not Path(CHILDREN.format(os.getpid())).exists(), reason="needs Linux")
def test_a_driver_that_is_killed_leaves_no_worker_behind(data):
    model = data.model(MODEL.replace("np.asarray", "__import__('time').sleep(0.2) or np.asarray"))
    run_ = started("out", model, "-n2", "--batch-size=2")
    while not Path("calls.txt").exists():
        assert run_.poll() is None
        time.sleep(0.05)
    workers = Path(CHILDREN.format(run_.pid)).read_text().split()
    assert len(workers) >= 2
    os.kill(run_.pid, signal.SIGKILL)
    run_.wait()
    deadline = time.monotonic() + 60
    while left := [worker for worker in workers if Path(f"/proc/{worker}").exists()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    assert cached_run(data, data.model(MODEL), "--cache=kept").ret == 0


@pytest.mark.slow
def test_another_fingerprint_or_other_code_is_asked(data):
    cached_run(data, data.model(MODEL, name="one_model"), "--cache=kept")
    for name, body in (("two", MODEL.replace("a model", "another model")), ("three", MODEL + "\nmore = 1\n")):
        cached_run(data, data.model(body, name=f"{name}_model"), "--cache=kept")
        assert contents(data)[1]["asked"] == 80


def test_a_model_without_a_fingerprint_is_not_cached_and_a_cache_that_cannot_be_used_costs_a_line(data):
    model = data.model(MODEL.replace("fingerprint", "title"))
    says = "cache: the replies of 'my_model:build' are not cached, because it has no attribute *"
    cached_run(data, model, "--cache=kept", says=says)
    assert not (data.path / "kept").exists()
    (data.path / "kept" / NAME).mkdir(parents=True)
    says = f"cache: {data.path / 'kept'} cannot be used (*), so the model is asked everything"
    cached_run(data, data.model(MODEL), "--cache=kept", ret=0, says=says)


def test_a_damaged_cache_costs_a_line(data):
    model = data.model(MODEL)
    cached_run(data, model, "--cache=kept")
    first, _ = contents(data)
    (data.path / "kept" / NAME).write_bytes(b"garbage" * 5000)
    for end in ("-wal", "-shm"):
        Path(f"{data.path / 'kept' / NAME}{end}").unlink(missing_ok=True)
    line = "cache: * was damaged (file is not a database): set aside as *, and its requests asked again"
    cached_run(data, model, "--cache=kept", ret=0, says=line)
    assert contents(data)[0] == first


def test_replies_that_made_room_in_the_cache_that_the_variable_names_are_counted(data, monkeypatch):
    monkeypatch.setattr("vlgate.asking.cache.folder.LEAST_LIMIT", 1)
    monkeypatch.setenv("VLGATE_CACHE", str(data.path / "named"))
    result = cached_run(data, data.model(MODEL), "--cache-limit=24kB")
    assert (data.path / "named" / NAME).is_file()
    removed = contents(data)[1]["evicted"]
    assert removed > 0
    line = f"cache: {removed} of the oldest replies made room for new ones, because it may take 24.0 kB; *"
    result.stdout.fnmatch_lines([line])


@pytest.mark.parametrize("named", ["kept", "kept/inner"])
def test_a_file_is_no_cache(data, named, monkeypatch):
    (data.path / "kept").write_text("a file where the folder should be")
    says = f"{data.path / 'kept'} is a file, not a folder; name a folder, or off"
    cached_run(data, data.model(MODEL), f"--cache={named}", ret=4, error=f"ERROR: --cache={named}: {says}")
    monkeypatch.setenv("VLGATE_CACHE", named)
    cached_run(data, data.model(MODEL)).stderr.fnmatch_lines([f"ERROR: VLGATE_CACHE={named}: {says}"])

"""``--cache``: a later run asks only what is missing, and its files hold the same bytes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vlgate.asking.cache.store import NAME

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


def run(data, *args, **how):
    """Start the suite, without the probes of the data, which cost more than the model."""
    return data.run("--health=off", *args, **how)


def asked(data):
    """The numbers of pairs of the model's calls since this was last looked at."""
    file = data.path / "calls.txt"
    found = [int(line) for line in file.read_text().splitlines()] if file.exists() else []
    file.unlink(missing_ok=True)
    return found


def contents(data, folder="out"):
    found = {name: (data.path / folder / name).read_bytes() for name in FILES}
    return found | {"cache": json.loads((data.path / folder / "environment.json").read_text())["cache"]}


@pytest.mark.slow
def test_a_warm_run_calls_no_model_and_writes_the_same_bytes(data):
    model = data.model(MODEL)
    cold = run(data, model, "--cache=kept")
    assert sum(asked(data)) > 80
    first = contents(data)
    warm = run(data, model, "--cache=kept")
    second = contents(data)
    assert (cold.ret, warm.ret) == (0, 0)
    assert asked(data) == []
    assert {**second, "cache": 0} == {**first, "cache": 0}
    assert (first["cache"]["asked"], first["cache"]["cached"]) == (80, 0)
    assert (second["cache"]["asked"], second["cache"]["cached"]) == (0, 80)
    warm.stdout.fnmatch_lines([f"cache: 80 replies from {data.path / 'kept'}, 0 asked of the model"])
    cold.stdout.fnmatch_lines([f"cache: 80 replies kept in {data.path / 'kept'}"])


@pytest.mark.slow
def test_a_part_of_it_is_there(data):
    model = data.model(MODEL)
    run(data, model, "--cache=kept", "--limit=15")
    asked(data)
    run(data, model, "--cache=kept", ret=0)
    assert contents(data)["cache"]["asked"] == 50
    half = contents(data)
    run(data, model, "--cache=off")
    assert {**contents(data), "cache": 0} == {**half, "cache": 0}


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(data, monkeypatch):
    model = data.model(MODEL)
    run(data, model, "--cache=off", "--batch-size=4")
    undisturbed = contents(data)
    asked(data)
    monkeypatch.setenv("DIE_AT", "8")
    run(data, model, "--cache=kept", "--batch-size=4", subprocess=True, ret=-9)
    assert sum(asked(data)) == 32
    monkeypatch.delenv("DIE_AT")
    assert run(data, model, "--cache=kept", "--batch-size=4").ret == 0
    found = contents(data)
    assert found["cache"]["cached"] == 28
    assert found["cache"]["asked"] == 52
    assert {**found, "cache": 0} == {**undisturbed, "cache": 0}


@pytest.mark.slow
def test_workers_share_a_cache(data):
    model = data.model(MODEL)
    assert run(data, model, "--cache=kept", "-n2", subprocess=True).ret == 0
    counts = contents(data)["cache"]
    assert counts["asked"] + counts["cached"] == 80  # a worker may take what the other one has kept by then
    asked(data)
    assert run(data, model, "--cache=kept").ret == 0
    assert contents(data)["cache"]["cached"] == 80


def started(out, *args):
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "-q", "--health=off", "--data=data"]
    return subprocess.Popen([*command, "--cache=kept", f"--results={out}", *args], stdout=subprocess.DEVNULL)


@pytest.mark.slow
def test_two_runs_at_the_same_time_on_one_cache(data):
    model = data.model(MODEL)
    runs = [started(out, model, "--batch-size=2") for out in ("one", "two")]
    assert [run.wait() for run in runs] == [0, 0]
    one, two = contents(data, "one"), contents(data, "two")
    assert {**one, "cache": 0} == {**two, "cache": 0}
    for found in (one, two):
        assert found["cache"]["asked"] + found["cache"]["cached"] == 80


def children(process):
    """The processes that a process started, and that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it ended meanwhile
            continue
        if int(parent) == process and state != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_a_driver_that_is_killed_leaves_no_worker_behind(data):
    model = data.model(MODEL.replace("np.asarray", "__import__('time').sleep(0.2) or np.asarray"))
    run_ = started("out", model, "-n2", "--batch-size=2")
    while not Path("calls.txt").exists():
        assert run_.poll() is None
        time.sleep(0.05)
    workers = children(run_.pid)
    assert len(workers) >= 2
    os.kill(run_.pid, signal.SIGKILL)
    run_.wait()
    deadline = time.monotonic() + 60
    while left := [worker for worker in workers if Path(f"/proc/{worker}").exists()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    assert run(data, data.model(MODEL), "--cache=kept").ret == 0


@pytest.mark.slow
def test_another_fingerprint_or_other_code_is_asked(data):
    run(data, data.model(MODEL, name="one_model"), "--cache=kept")
    for name, body in (("two", MODEL.replace("a model", "another model")), ("three", MODEL + "\nmore = 1\n")):
        run(data, data.model(body, name=f"{name}_model"), "--cache=kept")
        assert contents(data)["cache"]["asked"] == 80


def test_a_model_without_a_fingerprint_is_not_cached(data):
    model = data.model(MODEL.replace("fingerprint", "title"))
    result = run(data, model, "--cache=kept")
    result.stdout.fnmatch_lines(
        ["cache: the replies of 'my_model:build' are not cached, because it has no attribute *"]
    )
    assert not (data.path / "kept").exists()


def test_a_cache_that_cannot_be_used_costs_a_line(data):
    (data.path / "kept" / NAME).mkdir(parents=True)
    result = run(data, data.model(MODEL), "--cache=kept", ret=0)
    result.stdout.fnmatch_lines([f"cache: {data.path / 'kept'} cannot be used (*), so the model is asked everything"])


def test_a_damaged_cache_costs_a_line(data):
    model = data.model(MODEL)
    run(data, model, "--cache=kept")
    first = contents(data)
    (data.path / "kept" / NAME).write_bytes(b"garbage" * 5000)
    for end in ("-wal", "-shm"):
        Path(f"{data.path / 'kept' / NAME}{end}").unlink(missing_ok=True)
    result = run(data, model, "--cache=kept", ret=0)
    line = "cache: * was damaged (file is not a database): set aside as *, and its requests asked again"
    result.stdout.fnmatch_lines([line])
    assert {**contents(data), "cache": 0} == {**first, "cache": 0}


def test_the_variable_names_the_cache(data, monkeypatch):
    monkeypatch.setenv("VLGATE_CACHE", str(data.path / "named"))
    run(data, data.model(MODEL))
    assert (data.path / "named" / NAME).is_file()


def test_replies_that_made_room_are_counted(data, monkeypatch):
    monkeypatch.setattr("vlgate.asking.cache.folder.LEAST_LIMIT", 1)
    model = data.model(MODEL)
    result = run(data, model, "--cache=kept", "--cache-limit=24kB")
    removed = contents(data)["cache"]["evicted"]
    assert removed > 0
    result.stdout.fnmatch_lines(
        [f"cache: {removed} of the oldest replies made room for new ones, because it may take 24.0 kB; *"]
    )


@pytest.mark.parametrize("named", ["kept", "kept/inner"])
def test_a_file_is_no_cache(data, named, monkeypatch):
    (data.path / "kept").write_text("a file where the folder should be")
    says = f"{data.path / 'kept'} is a file, not a folder; name a folder, or off"
    run(data, data.model(MODEL), f"--cache={named}", ret=4, error=f"ERROR: --cache={named}: {says}")
    monkeypatch.setenv("VLGATE_CACHE", named)
    run(data, data.model(MODEL)).stderr.fnmatch_lines([f"ERROR: VLGATE_CACHE={named}: {says}"])

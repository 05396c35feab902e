"""A file appears whole or not at all."""

import os
import subprocess
import sys

import pytest

from vlgate.record.json_files import write_metrics
from vlgate.record.parquet import write_cases, write_predictions
from vlgate.record.whole_file import whole_file, write_whole
from vlgate.report.summary import write_summary


def full(_):
    raise OSError(28, "No space left on device")


def test_a_full_disk_keeps_the_earlier_file_and_leaves_nothing_else(tmp_path, monkeypatch):
    write_whole(tmp_path / "a.txt", "first")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*a\.txt"):
        write_whole(tmp_path / "a.txt", "second")
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"a.txt": "first"}


def test_a_body_that_raises_leaves_nothing(tmp_path):
    def write():
        with whole_file(tmp_path / "a.txt") as part:
            part.write_text("half")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_each_file_of_a_report_appears_whole_or_not_at_all(tmp_path, monkeypatch, run, card, options):
    monkeypatch.setattr(os, "fsync", full)
    for name, write in {
        "metrics.json": lambda file: write_metrics(file, run, card, options),
        "summary.md": lambda file: write_summary(file, run, card, options),
        "cases.parquet": lambda file: write_cases(file, run),
        "predictions.parquet": lambda file: write_predictions(file, run),
    }.items():
        with pytest.raises(OSError, match="No space left"):
            write(tmp_path / name)
        assert list(tmp_path.iterdir()) == []


def test_half_a_surrogate_pair_does_not_stop_a_text(tmp_path):
    write_whole(tmp_path / "a.md", "the model said \ud800")
    assert (tmp_path / "a.md").read_text() == "the model said ?"


@pytest.fixture
def ended():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def left(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("name", ["metrics.json", "predictions.parquet", "a.b.c", "1.part"])
def test_the_next_file_removes_what_a_killed_process_has_left(tmp_path, ended, name):
    names = {which: f".{name}.{number}.part" for which, number in (("old", ended), ("own", os.getpid()), ("other", 1))}
    for file in (*names.values(), f".{name}.part", f"{name}.{ended}.part", f".{name}.x.part"):
        (tmp_path / file).write_text("half")
        os.utime(tmp_path / file, (0, 0))
    kept = [file for file in left(tmp_path) if file != names["old"]]
    write_whole(tmp_path / "new.json", "whole")
    assert left(tmp_path) == sorted([*kept, "new.json"])


def test_a_process_on_another_machine_keeps_the_file_that_it_writes(tmp_path, ended):
    (tmp_path / f".metrics.json.{ended}.part").write_text("half")
    write_whole(tmp_path / "new.json", "whole")
    assert left(tmp_path) == [f".metrics.json.{ended}.part", "new.json"]

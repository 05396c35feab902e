"""A file appears whole or not at all."""

import os

import pytest

from vlgate.report.metrics_json import write_metrics
from vlgate.report.summary import write_summary
from vlgate.report.tables.parquet import write_cases, write_predictions
from vlgate.report.whole_file import whole_file, write_whole


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

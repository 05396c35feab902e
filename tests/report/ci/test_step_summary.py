"""The summary on the page of a job."""

import pytest

from vlgate.report.ci import release
from vlgate.report.ci.release import MOST, append_summary


@pytest.fixture
def files(tmp_path):
    summary, job = tmp_path / "summary.md", tmp_path / "job"
    job.write_text("before\n")
    return summary, job


def test_the_summary_is_appended(files):
    summary, job = files
    summary.write_text("# model: gates pass\n")
    assert append_summary(summary, str(job)) == ""
    assert job.read_text() == "before\n# model: gates pass\n"


def test_nothing_is_written_outside_of_a_job(files):
    assert append_summary(files[0], "") == ""


def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_so(files):
    summary, job = files
    summary.write_text("a line é\n" * 200_000)
    assert "was cut" in append_summary(summary, str(job))
    text = job.read_bytes()
    assert len(text) <= MOST
    *lines, _, note, _ = text.decode().split("\n")
    assert "1 MiB" in note
    assert set(lines[1:]) == {"a line é", ""}


def test_a_job_without_room_gets_nothing(files, monkeypatch):
    summary, job = files
    summary.write_text("a line\n")
    monkeypatch.setattr(release, "MOST", 10)
    assert "was cut" in append_summary(summary, str(job))
    assert job.read_text() == "before\n"


def test_a_file_that_cannot_be_written_is_said(files, tmp_path):
    files[0].write_text("text")
    assert "could not be written" in append_summary(files[0], str(tmp_path))

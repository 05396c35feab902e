"""Runs in trackers of experiments, offline and with the trackers themselves."""

from dataclasses import replace
from importlib.util import find_spec
from time import monotonic, sleep

import pytest

from vlgate.errors import OptionError, UnknownNameError
from vlgate.report.ci import trackers
from vlgate.report.ci.trackers import check_trackers, log_to, tracked_run


def needs(name):
    reason = f"{name} is not installed; it is in the extra {name}"
    return pytest.mark.skipif(find_spec(name) is None, reason=reason)


@pytest.fixture
def written(options, tmp_path):
    """The options of a run with a page and a summary."""
    folder = tmp_path / "gate"
    folder.mkdir()
    for name in ("report.html", "summary.md"):
        (folder / name).write_text(f"{name} of the run")
    return replace(options, results=folder)


def test_a_run_is_numbers_words_and_files(run, card, written):
    found = tracked_run(run, card, written)
    assert found.numbers["scenes/existence/acc_r"] == pytest.approx(30 / 38)
    assert found.numbers["scenes/existence/acc_r.low"] < 30 / 38 < found.numbers["scenes/existence/acc_r.high"]
    assert (found.numbers["scenes/existence/acc_r.n"], found.numbers["scenes/existence/acc_r.chance"]) == (38, 0.5)
    assert found.numbers["scenes/existence/acc_r.blind"] == 0.5
    assert [found.numbers[f"gates/{what}"] for what in ("pass", "fail", "inconclusive")] == [0, 2, 3]
    assert found.words["release"] == "BROKEN"
    assert found.words["model"] == "lxmert:unc-nlp/lxmert"
    assert found.words["gate/scenes/existence:p_c"] == "fail"
    assert not any("valse/*" in name for name in found.words)
    assert [file.name for file in found.files] == ["report.html", "summary.md"]


def test_an_unknown_or_missing_tracker_is_refused(monkeypatch):
    with pytest.raises(UnknownNameError, match=r"wandbb.*wandb"):
        check_trackers(["wandbb"])
    monkeypatch.setattr(trackers, "find_spec", lambda _: None)
    with pytest.raises(OptionError, match=r"--log-to=mlflow: .* pip install 'vlgate\[mlflow\]'"):
        check_trackers(["mlflow"])


def test_a_tracker_that_raises_is_said_and_costs_nothing(run, card, written, monkeypatch):
    def broken(_):
        raise ConnectionError("no route")

    monkeypatch.setattr(trackers, "TRACKERS", {"broken": broken})
    [problem] = log_to(["broken"], run, card, written)
    assert problem.startswith("--log-to=broken: the run could not be logged (")
    assert "no route" in problem


@needs("wandb")
def test_wandb_keeps_a_run_offline(run, card, written, tmp_path, monkeypatch):
    for name, value in (("WANDB_MODE", "offline"), ("WANDB_DIR", str(tmp_path)), ("WANDB_SILENT", "true")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WANDB_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "data"))
    assert log_to(["wandb"], run, card, written) == []
    [file] = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    words = (b"scenes/existence/acc_r.low", b"gate/scenes/existence:p_c", b"vlgate-report")
    until = monotonic() + 20
    while not all(word in file.read_bytes() for word in words):  # a process of wandb writes it
        assert monotonic() < until
        sleep(0.1)


@needs("mlflow")
def test_mlflow_keeps_a_run_in_a_file(run, card, written, tmp_path, monkeypatch):
    from mlflow import MlflowClient

    place = f"sqlite:///{tmp_path / 'runs.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", place)
    monkeypatch.chdir(tmp_path)
    assert log_to(["mlflow"], run, card, written) == []
    client = MlflowClient(tracking_uri=place)
    experiment = client.get_experiment_by_name("vlgate")
    [kept] = client.search_runs([experiment.experiment_id])
    assert kept.info.status == "FINISHED"
    assert kept.data.metrics["scenes/existence/acc_r.chance"] == 0.5
    assert kept.data.tags["release"] == "FAIL"
    assert kept.data.tags["gate/scenes/existence_p_c"] == "fail"
    assert {file.path for file in client.list_artifacts(kept.info.run_id)} == {"report.html", "summary.md"}

"""May the model be released: the first line of a run's end, ``badge.json``, and the page of a job."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

import pytest
from builders import json_table

from tests.report.page.page_runs import decided
from vlgate.errors import OptionError, UnknownNameError
from vlgate.gates.decide import Coverage, Judged, decide
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.record.json_files import gate_record
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.record.run_gates import change_decisions, without_passes
from vlgate.report.ci import trackers
from vlgate.report.ci.release import MOST, append_summary, next_step, release, release_line, write_badge
from vlgate.report.ci.trackers import check_trackers, log_to, tracked_run
from vlgate.report.rows import HEADINGS, outcome_lines
from vlgate.report.summary import write_summary
from vlgate.types import Metric

CARD = ModelCard(name="clip", weights="a/b", fingerprint="0a1b", adapters={})


@pytest.mark.parametrize(
    ("outcomes", "tests", "word", "why"), json_table(Path(__file__).with_suffix(".tsv"), "the_worst_comes_first")
)
def test_the_worst_comes_first(outcomes, tests, word, why):
    found = release(decided(*outcomes, tests=tests), CARD)
    assert (found.word, found.why) == (word, why)


def unsure(n=100, metric="acc_r", **coverage):
    """The decision of the gate min = 0.6 on a metric for a model that has 0.65 in ``acc_r`` alone."""
    counts = Coverage(**{"cases": n, "judged": n, "unscored": 0, "skipped": 0, **coverage})
    found = {"acc_r": Metric(value=0.65, low=0.55, high=0.75, n=n)}
    decision = decide(Gate(task="a/b", metric=metric, min=0.6), counts, found)
    assert decision.outcome == "inconclusive"
    return decision


PASSED = replace(unsure(), outcome="pass", step=None)


def compared(task="a/b"):
    rule = Gate(task=task, metric="acc_r", kind="max_drop", max=0.1)
    thresholds = Thresholds(file=Path("t.toml"), rules=(), require=(), changes=(rule,))
    tasks = {task: Judged(shape="pair", coverage=Coverage(cases=100, judged=100, unscored=0, skipped=0))}
    return change_decisions(thresholds, None, tasks)[0]


def failed(task="a/b", kind="gate", value=0.2, **bounds):
    """The decision of a gate or limit that the figure ``value`` fails."""
    metric = Metric(value=value, low=value - 0.1, high=value + 0.1, n=100)
    counts = Coverage(cases=100, judged=100, unscored=0, skipped=0)
    decision = decide(Gate(task=task, metric="acc_r", kind=kind, **bounds), counts, {"acc_r": metric})
    assert decision.outcome == "fail"
    return decision


def step(verdict, *decisions):
    return next_step(verdict, map(gate_record, decisions), {"a/a", "a/b", "a/c"}, run="run")


MORE = "give a/b more cases, or a threshold that its cases can decide"


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (unsure(), MORE),
        (unsure(n=4), MORE),
        (unsure(metric="acc"), "write acc_r in the gate of a/b"),
        (unsure(metric="visual_gain"), "run it again with --controls look"),
        (unsure(deselected=2), "run all cases of a/b"),
        (unsure(undrawn=2), "run all cases of a/b"),
        (unsure(n=4, undrawn=2), "run all cases of a/b"),
        (unsure(skipped=50), ""),
        (unsure(corrected=50), ""),
        (unsure(unscored=1), ""),
        (compared(), "name an earlier run of a/b as the baseline: --baseline DIR"),
        (without_passes([PASSED], "credit")[0], "run it again with --ties strict or half"),
        (without_passes([PASSED], "credit", quick=True)[0], "run it again without --quick"),
        (replace(unsure(unscored=1), why="needs more cases; run without --quick; write acc instead"), ""),
        (replace(unsure(), gate=Gate(task="other/task", metric="acc_r")), ""),
    ],
)
def test_the_next_step_follows_from_the_decision(decision, expected):
    assert step("inconclusive", decision, replace(decision, gate=Gate(task="a/a", metric="x"), step=None)) == expected


def test_the_most_urgent_step_is_the_next_one():
    assert step("inconclusive", unsure(), compared("a/c")).startswith("name an earlier run of a/c")


def test_after_a_fail_the_next_step_names_a_task_that_failed_with_missed_cases():
    better, worse = failed(kind="limit", max=0.05), failed("a/c", min=0.6)
    other = Decision(gate=Gate(task="a/a", metric="asked-once"), outcome="fail", why="two tests asked it")
    assert step("fail", better, unsure(), other) == ""
    expected = "vlgate show run --suite a/c lists its missed cases"
    assert step("fail", better, unsure(), other, replace(worse, why="; raise the limit, or so")) == expected


def test_a_run_without_a_task_has_no_gates_to_write():
    assert step("not gated") == "vlgate init --from run writes gates from this run"
    assert next_step("not gated", (), (), run="run") == ""


def test_only_a_pass_says_that_a_model_may_be_released():
    lines = {
        word: release_line(release(decided(outcome), CARD), "clip:a/b", status)
        for word, outcome, status in (("PASS", "pass", 0), ("FAIL", "fail", 1), ("NOT GATED", "not run", 0))
    }
    assert lines["PASS"] == "PASS: clip:a/b may be released: 1 of 1 gate passes (exit status 0)"
    assert lines["FAIL"] == "FAIL: clip:a/b may not be released: 1 of 1 gate fails (exit status 1)"
    assert "nothing says whether clip:a/b may be released" in lines["NOT GATED"]


def test_gates_that_do_not_pass_for_the_same_reason_are_one_line():
    run = decided("inconclusive", "fail", "inconclusive", "pass", "inconclusive", "inconclusive", why="because")
    some = "inconclusive: scenes/task-0:acc_r, scenes/task-2:acc_r, scenes/task-4:acc_r and 1 more: because"
    assert outcome_lines(run.decisions, "inconclusive") == [some]
    assert outcome_lines(run.decisions, "fail", {"scenes/task-1:acc_r"}) == []


@pytest.fixture
def badge(card, tmp_path):
    def written(run):
        write_badge(tmp_path, run, card)
        return json.loads((tmp_path / "badge.json").read_text())

    return written


def test_it_has_the_keys_of_the_endpoint_and_says_how_many_gates_pass(badge, run, passing):
    assert badge(passing) == {
        "schemaVersion": 1,
        "label": "vlgate",
        "message": "pass, 1 of 1 gates",
        "color": "brightgreen",
        "isError": False,
    }
    failed = badge(replace(run, results=()))
    assert (failed["message"], failed["color"], failed["isError"]) == ("fail, 0 of 5 gates", "red", True)


def test_only_a_run_that_passes_is_green(badge, run, passing):
    unsure = replace(passing.decisions[0], outcome="inconclusive")
    others = {
        "broken": run,  # a case of it was not scored
        "fail, 1 of 1 gates": replace(passing, tests=1),
        "incomplete": replace(passing, incomplete="a worker crashed"),
        "inconclusive, 0 of 1 gates": replace(passing, decisions=(unsure,)),
        "not gated": RunResult(results=(), decisions=()),
    }
    for message, other in others.items():
        content = badge(other)
        assert content["message"] == message
        assert "green" not in content["color"]


@pytest.fixture
def files(tmp_path):
    summary, job = tmp_path / "summary.md", tmp_path / "job"
    summary.write_text("# model: gates pass\n")
    job.write_text("before\n")
    return summary, job


def test_the_summary_is_appended_in_a_job_only_and_if_there_is_room(files, monkeypatch):
    summary, job = files
    assert append_summary(summary, "") == append_summary(summary, str(job)) == ""
    assert job.read_text() == "before\n# model: gates pass\n"
    monkeypatch.setattr("vlgate.report.ci.release.MOST", 10)
    assert "was cut" in append_summary(summary, str(job))
    assert job.read_text() == "before\n# model: gates pass\n"


def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_so(files):
    summary, job = files
    summary.write_text("a line é\n" * 200_000)
    assert "was cut" in append_summary(summary, str(job))
    text = job.read_bytes()
    assert len(text) <= MOST
    *lines, _, note, _ = text.decode().split("\n")
    assert "1 MiB" in note
    assert set(lines[1:]) == {"a line é", ""}


def test_a_file_that_cannot_be_written_is_said(files, tmp_path):
    assert "could not be written" in append_summary(files[0], str(tmp_path))


@pytest.fixture
def summary(tmp_path):
    def write(*args):
        write_summary(tmp_path / "summary.md", *args)
        return (tmp_path / "summary.md").read_text(encoding="utf-8")

    return write


def test_the_title_says_the_model_and_whether_the_gates_pass(summary, run, passing, card, options):
    assert summary(run, card, options).startswith("# lxmert:unc-nlp/lxmert: broken\n")  # a case was not scored
    failed = replace(run, results=())
    assert summary(failed, card, options).startswith("# lxmert:unc-nlp/lxmert: gates do not pass\n")
    neighbour = summary(replace(passing, tests=1), card, options)
    assert neighbour.startswith("# lxmert:unc-nlp/lxmert: a test that is not a gate fails\n")
    assert "\n- **fail**: a test that is not a gate fails\n" in neighbour
    assert summary(passing, ModelCard(name="random"), options).startswith("# random: gates pass\n")


def test_a_bar_in_a_cell_is_escaped(summary, run, card, options):
    [result, *_] = run.results
    odd = replace(result, task=replace(result.task, id="scenes/a|b"))
    lines = summary(RunResult(results=(odd,), decisions=()), card, options).splitlines()
    [*_, row] = [line for line in lines if line.startswith("|")]
    assert r" scenes/a\|b " in row
    assert row.replace(r"\|", "").count("|") == len(HEADINGS) + 1


def needs(name):
    reason = f"{name} is not installed; it is in the extra {name}"
    return pytest.mark.skipif(find_spec(name) is None, reason=reason)


@pytest.fixture
def logged(options, tmp_path):
    """The options of a run with a page and a summary."""
    folder = tmp_path / "gate"
    folder.mkdir()
    for name in ("report.html", "summary.md"):
        (folder / name).write_text(f"{name} of the run")
    return replace(options, results=folder)


def test_a_run_is_numbers_words_and_files(run, card, logged):
    found = tracked_run(run, card, logged)
    figure = {what: found.numbers[f"scenes/existence/acc_r.{what}"] for what in ("low", "high", "n", "chance", "blind")}
    assert found.numbers["scenes/existence/acc_r"] == pytest.approx(30 / 38)
    assert figure["low"] < 30 / 38 < figure["high"]
    assert (figure["n"], figure["chance"], figure["blind"]) == (38, 0.5, 0.5)
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


def test_a_tracker_that_raises_is_said_and_costs_nothing(run, card, logged, monkeypatch):
    def broken(_):
        raise ConnectionError("no route")

    monkeypatch.setattr(trackers, "TRACKERS", {"broken": broken})
    [problem] = log_to(["broken"], run, card, logged)
    assert problem.startswith("--log-to=broken: the run could not be logged (")
    assert "no route" in problem


@needs("wandb")
def test_wandb_keeps_a_run_offline(run, card, logged, tmp_path, monkeypatch):
    folders = {"DIR": tmp_path, "CACHE_DIR": tmp_path / "cache", "DATA_DIR": tmp_path / "data"}
    for name, value in {"MODE": "offline", "SILENT": "true", **folders}.items():
        monkeypatch.setenv(f"WANDB_{name}", str(value))
    assert log_to(["wandb"], run, card, logged) == []
    [file] = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    words = (b"scenes/existence/acc_r.low", b"gate/scenes/existence:p_c", b"vlgate-report")
    until = monotonic() + 20
    while not all(word in file.read_bytes() for word in words):  # a process of wandb writes it
        assert monotonic() < until
        sleep(0.1)


@needs("mlflow")
def test_mlflow_keeps_a_run_in_a_file(run, card, logged, tmp_path, monkeypatch):
    from mlflow import MlflowClient

    place = f"sqlite:///{tmp_path / 'runs.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", place)
    monkeypatch.chdir(tmp_path)
    assert log_to(["mlflow"], run, card, logged) == []
    client = MlflowClient(tracking_uri=place)
    experiment = client.get_experiment_by_name("vlgate")
    [kept] = client.search_runs([experiment.experiment_id])
    assert kept.info.status == "FINISHED"
    assert kept.data.metrics["scenes/existence/acc_r.chance"] == 0.5
    assert kept.data.tags["release"] == "BROKEN"
    assert kept.data.tags["gate/scenes/existence_p_c"] == "fail"
    assert {file.path for file in client.list_artifacts(kept.info.run_id)} == {"report.html", "summary.md"}

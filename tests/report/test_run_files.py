"""What the files of a run hold, and that each appears whole or not at all."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from builders import asked_task, judged, task_of, texts_task

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor, score
from vlgate.judging.verdicts import judge
from vlgate.models.loading.registry import load
from vlgate.probes.shrink.record import Shrunk
from vlgate.record import parquet
from vlgate.record.json_files import write_metrics
from vlgate.record.model_card import ModelCard
from vlgate.record.parquet import case_table, write_cases, write_predictions
from vlgate.record.results import RunResult, task_metrics
from vlgate.record.whole_file import whole_file, write_whole
from vlgate.report.page.beside import finds
from vlgate.report.shrunk import shrunk_lines, write_shrunk
from vlgate.report.summary import write_summary
from vlgate.types import Batch, Case, Metric, Read


@pytest.fixture
def cases(run, tmp_path):
    write_cases(tmp_path / "cases.parquet", run)
    return pq.read_table(tmp_path / "cases.parquet")


def one(task, **keys):
    [row] = [row for row in task.to_pylist() if all(row[key] == value for key, value in keys.items())]
    return row


def test_a_row_holds_the_requests_replies_and_verdict(cases):
    row = one(cases, case="pair 30")
    facts = ("right", "acc_r", "tied", "p_c", "p_f")
    assert (row["task"], row["state"]) == ("scenes/existence", "judged")
    assert [row[fact] for fact in facts] == [False, 0.0, 0.0, 0.0, 1.0]
    assert row["images"] == ["30.jpg", "30.jpg"]
    assert row["texts"] == ["a red cup", "a red cat"]
    assert row["truths"] == ["true", "false"]
    assert row["scores"] == [-0.25, 1 / 3]
    assert row["answers"] == [None, None]
    assert json.loads(row["tags"]) == {"half": "second"}
    assert row["origin"] == "existence.json, record 30"
    assert row["why"] == "the caption scores -0.25, below the foil's 0.333"


@pytest.mark.parametrize(("case", "state"), [("pair 38", "unscored"), ("pair 39", "skipped")])
def test_a_case_that_was_not_judged_is_neither_right_nor_wrong(cases, case, state):
    row = one(cases, case=case)
    assert row["state"] == state
    assert [row[fact] for fact in ("right", "acc_r", "tied", "p_c")] == [None] * 4
    assert row["scores"] == [None, None]
    assert "image" in row["why"]


@pytest.mark.parametrize("write", [write_cases, write_predictions])
def test_a_column_has_one_type_whatever_the_run_holds(write, run, tmp_path):
    types = {}
    for result in run.results:
        write(tmp_path / "one.parquet", RunResult(results=(result,), decisions=()))
        for column in pq.read_schema(tmp_path / "one.parquet"):
            types.setdefault(column.name, set()).add(str(column.type))
    assert {column: type_ for column, type_ in types.items() if len(type_) > 1} == {}


@pytest.mark.parametrize("write", [write_cases, write_predictions])
def test_rows_written_in_groups_are_those_written_at_once(write, run, tmp_path, monkeypatch):
    write(tmp_path / "whole.parquet", run)
    monkeypatch.setattr(parquet, "GROUP", 7)
    write(tmp_path / "groups.parquet", run)
    assert pq.ParquetFile(tmp_path / "groups.parquet").num_row_groups > 1
    assert pq.read_table(tmp_path / "groups.parquet").equals(pq.read_table(tmp_path / "whole.parquet"))


def test_a_table_of_judged_cases_has_the_columns_of_the_file(run, tmp_path):
    write_cases(tmp_path / "cases.parquet", run)
    rows = pq.read_table(tmp_path / "cases.parquet").to_pylist()
    for result in run.results:
        table = case_table(result.task, result.verdicts)
        own = [{name: row[name] for name in table.rows.column_names} for row in rows if row["task"] == result.task.id]
        assert {name: table.column(name) for name in own[0]} == {name: [row[name] for row in own] for name in own[0]}
        assert table.take([1, 0]).rows.to_pylist() == own[1::-1]


def test_a_request_of_several_cases_and_tasks_has_one_row(run, tmp_path):
    [result, *_] = run.results
    asked_anew = tuple(replace(one, predictions=tuple(map(replace, one.predictions))) for one in result.verdicts)
    again = replace(result, task=replace(result.task, id="scenes/foil-it"), verdicts=asked_anew)
    write_predictions(tmp_path / "p.parquet", RunResult(results=(result, again), decisions=()))
    assert len(pq.read_table(tmp_path / "p.parquet")) == 40 * 2


def replayed(run, folder):
    """The tasks of a run again, from the replies in its predictions.parquet."""
    write_predictions(folder / "predictions.parquet", run)
    loaded = load("replay:predictions.parquet", folder=folder)
    scorer = ModelPredictor(model=loaded.model, name=loaded.name, caller=Caller(name=loaded.name, size=7))
    for result in run.results:
        batch = Batch(task=result.task, positions=tuple(range(len(result.verdicts))))
        yield result, task_metrics(result.task, judge(batch, score(scorer, batch)), (), "strict")


def test_a_replay_of_the_predictions_gives_the_same_metrics(run, tmp_path):
    for before, after in replayed(run, tmp_path):
        assert after.metrics == before.metrics
        assert after.slices == before.slices
        assert after.coverage.judged == before.coverage.judged


PAIRS = [(Read(text=f"{n} true"), Read(text=f"{n} false")) for n in range(3)]
SAID = {
    "a tie": (
        asked_task(("1.jpg", "this?", "left", "that?", "right"), choices=("left", "right")),
        [[{"answer": None}, {"answer": "right"}]],
    ),
    "perplexities": (
        task_of(Case(id=str(n), requests=pair, truths=(True, False)) for n, pair in enumerate(PAIRS)),
        [[{"score": 10.0}, {"score": 10.0 + n}] for n in range(3)],
    ),
    "a perturbed image and its original": (
        texts_task(("1.jpg", "true", "false"), ("1.jpg#blur6", "true", "false")),
        [[{"score": 1.0}, {"score": 0.0}], [{"score": 0.0}, {"score": 1.0}]],
    ),
}


@pytest.mark.parametrize(("task", "replies"), SAID.values(), ids=SAID)
def test_a_replay_says_what_was_said(task, replies, tmp_path):
    verdicts = judged(task, replies)
    run = RunResult(results=(task_metrics(task, verdicts, (), "strict"),), decisions=())
    [(before, after)] = replayed(run, tmp_path)
    assert after.coverage.judged == len(verdicts)
    assert after.metrics == before.metrics
    assert [verdict.right for verdict in after.verdicts] == [verdict.right for verdict in verdicts]


FIGURES = ("value", "low", "high", "n")


@pytest.fixture
def written(tmp_path, card, options):
    def refuse(number):
        raise AssertionError(f"{number} is not valid JSON")

    def write(run):
        write_metrics(tmp_path / "metrics.json", run, card, options)
        return json.loads((tmp_path / "metrics.json").read_bytes(), parse_constant=refuse)

    return write


def test_every_metric_of_every_task_and_slice_is_written_to_the_last_digit(written, run):
    content = written(run)
    for result in run.results:
        task = content["tasks"][result.task.id]
        assert list(task["slices"]) == list(result.slices)
        parts = [
            (task["metrics"], result.metrics),
            *((task["slices"][name], result.slices[name]) for name in result.slices),
        ]
        for found, expected in parts:
            assert list(found) == list(expected)
            for name, metric in expected.items():
                assert [found[name][key] for key in FIGURES] == [getattr(metric, key) for key in FIGURES]
                assert found[name].get("deff", metric.deff) == metric.deff


def test_a_gate_without_a_metric_has_nulls_for_figures_and_a_value_of_zero_is_zero(written, run):
    nothing = replace(run.decisions[0], metric=Metric(value=0.0, low=0.0, high=0.25, n=12))
    zero, idle = written(RunResult(results=(), decisions=(nothing, run.decisions[-1])))["gates"]
    assert [zero[key] for key in FIGURES] == [0.0, 0.0, 0.25, 12]
    assert [idle[key] for key in FIGURES] == [None] * 4
    assert idle["decision"] == "not run"


def full(_):
    raise OSError(28, "No space left on device")


def test_a_full_disk_keeps_the_earlier_file_and_leaves_nothing_else(tmp_path, monkeypatch):
    write_whole(tmp_path / "a.txt", "first")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*a\.txt"):
        write_whole(tmp_path / "a.txt", "second")
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"a.txt": "first"}


def test_a_body_that_raises_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match=r"^$"), whole_file(tmp_path / "a.txt") as part:  # noqa: PT012
        part.write_text("half")
        raise ValueError
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


BROKEN = Shrunk(
    task="b/y",
    case="7",
    ending="broken",
    says="broken by blur with sigma 2 (9 of 20 calls)",
    calls=9,
    budget=20,
    changes=4,
    note="",
    distance=0.2,
    steps=({"kind": "blur", "strength": 2.0, "says": "blur with sigma 2", "distance": 0.2},),
    requests=({"truth": True, "text": "Ein Käfer.", "choices": ()},),
)
WHOLE = replace(BROKEN, ending="whole", case="8", steps=(), distance=None, says="not broken")
TWICE = replace(BROKEN, case="9", says="broken by two", steps=BROKEN.steps * 2, distance=0.1)
FARTHER = replace(BROKEN, case="1", says="broken by more", distance=0.3)
OTHER = replace(BROKEN, task="a/z", says="broken elsewhere", distance=1.0)


def test_tasks_are_together_and_fewer_and_weaker_changes_come_first():
    searches = [TWICE, FARTHER, WHOLE, BROKEN, replace(WHOLE, ending="wrong"), replace(WHOLE, ending="wrong"), OTHER]
    assert shrunk_lines(searches) == [
        "a/z:7: broken elsewhere",
        "b/y:7: broken by blur with sigma 2 (9 of 20 calls)",
        "b/y:1: broken by more",
        "b/y:9: broken by two",
        "4 of 7 cases broken; 1 not broken within their budget; 2 not searched, because they are wrong unchanged",
    ]
    assert shrunk_lines(searches) == shrunk_lines(searches[::-1])


def test_a_run_without_searches_does_not_mention_them(tmp_path, options):
    said = "## Smallest changes that break the model\n\n- 0 of 1 cases broken; 1 not broken within"
    for searches in ((), (WHOLE,)):
        run = RunResult(results=(), decisions=(), shrunk=searches)
        write_summary(tmp_path / "summary.md", run, ModelCard(name="random"), options)
        assert (said in (tmp_path / "summary.md").read_text(encoding="utf-8")) == bool(searches)


def test_a_picture_that_cannot_be_read_costs_no_find(tmp_path):
    shown = {
        "truth": True,
        "picture": "shrunk/1.png",
        "text": "A\u2028line.",
        "choices": [],
        "answer": None,
        "score": 1.0,
    }
    changed = {f"changed_{name}": shown[name] for name in ("picture", "text", "choices", "answer", "score")}
    broken = replace(BROKEN, requests=({**shown, **changed, "changed_picture": None, "changed_score": 0.0},))
    write_shrunk(tmp_path / "shrunk.jsonl", [broken, replace(broken, case="8", distance=0.4)])
    (tmp_path / "shrunk").mkdir()
    (tmp_path / "shrunk/1.png").write_text("junk")
    page = finds(tmp_path)
    assert page.count("<article") == 2
    assert "<img" not in page


def test_a_line_holds_a_whole_search(tmp_path):
    write_shrunk(tmp_path / "shrunk.jsonl", [WHOLE, BROKEN, OTHER])
    lines = (tmp_path / "shrunk.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["task"] for line in lines] == ["b/y", "a/z"]
    assert json.loads(lines[0])["steps"][0]["strength"] == 2.0
    assert "Käfer" in lines[0]

import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor, score
from vlgate.judging.verdicts import judge
from vlgate.models.loading.registry import load
from vlgate.record.parquet import write_cases, write_predictions
from vlgate.record.results import RunResult, task_metrics
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Prediction, Read, Task


@pytest.fixture
def cases(run, tmp_path):
    write_cases(tmp_path / "cases.parquet", run)
    return pq.read_table(tmp_path / "cases.parquet")


@pytest.fixture
def predictions(run, tmp_path):
    write_predictions(tmp_path / "predictions.parquet", run)
    return pq.read_table(tmp_path / "predictions.parquet")


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
    assert row["why"] == "the caption scores -0.25, below the foil's 0.333333"


def test_questions_have_answers_as_the_model_gave_them(cases):
    row = one(cases, case="questions 1")
    assert row["texts"] == ["left or right?", "right or left?"]
    assert row["answers"] == ["Right.", "Right."]
    assert row["scores"] == [None, None]
    assert row["truths"] == ["left", "left"]
    assert (row["right"], row["cons"], row["acc_original"]) == (False, 1.0, 0.0)


def test_a_fact_is_null_if_it_does_not_apply(cases):
    assert one(cases, case="case-0")["acc_r"] is None
    assert one(cases, case="pair 0")["group"] is None
    assert one(cases, case="pair 34")["p_c"] is None


@pytest.mark.parametrize(("case", "state"), [("pair 38", "unscored"), ("pair 39", "skipped")])
def test_a_case_that_was_not_judged_is_neither_right_nor_wrong(cases, case, state):
    row = one(cases, case=case)
    assert row["state"] == state
    assert [row[fact] for fact in ("right", "acc_r", "tied", "p_c")] == [None] * 4
    assert row["scores"] == [None, None]
    assert "image" in row["why"]


def test_the_metrics_can_be_counted_again_from_the_cases(cases, run):
    [result] = [result for result in run.results if result.task.id == "scenes/existence"]
    ranked = [row["acc_r"] for row in cases.to_pylist() if row["acc_r"] is not None]
    assert (sum(ranked) / len(ranked), len(ranked)) == (result.metrics["acc_r"].value, result.metrics["acc_r"].n)


@pytest.mark.parametrize("write", [write_cases, write_predictions])
def test_a_column_has_one_type_whatever_the_run_holds(write, run, tmp_path):
    types = {}
    for result in run.results:
        write(tmp_path / "one.parquet", RunResult(results=(result,), decisions=()))
        for column in pq.read_schema(tmp_path / "one.parquet"):
            types.setdefault(column.name, set()).add(str(column.type))
    assert {column: type_ for column, type_ in types.items() if len(type_) > 1} == {}


def test_a_request_of_several_cases_and_tasks_has_one_row(run, tmp_path):
    [result, *_] = run.results
    asked_anew = tuple(
        replace(verdict, predictions=tuple(replace(prediction) for prediction in verdict.predictions))
        for verdict in result.verdicts
    )
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


def test_a_replay_of_a_tie_is_a_tie(tmp_path):
    image = LazyImage(key="1.jpg", load=lambda: pytest.fail("decoded"))
    asks = tuple(Ask(image=image, question=words, choices=("left", "right")) for words in ("this?", "that?"))
    case = Case(id="1", requests=asks, truths=("left", "right"))
    task = Task(id="x/y", capability="invariance", shape="questions", cases=(case,))
    said = (Prediction(request=asks[0], answer=None), Prediction(request=asks[1], answer="right"))
    verdicts = judge(Batch(task=task, positions=(0,)), dict(zip(asks, said, strict=True)))
    result = task_metrics(task, verdicts, (), "strict")
    assert result.coverage.judged == 1
    [(before, after)] = replayed(RunResult(results=(result,), decisions=()), tmp_path)
    assert after.coverage.judged == 1
    assert after.metrics == before.metrics


def test_a_replay_of_perplexities_gives_the_same_metrics(tmp_path):
    requests = [(Read(text=f"{n} true"), Read(text=f"{n} false")) for n in range(3)]
    cases = tuple(Case(id=str(n), requests=pair, truths=(True, False)) for n, pair in enumerate(requests))
    task = Task(id="x/y", capability="foil", shape="pair", cases=cases)
    replies = {
        request: Prediction(request=request, score=10.0 + n * index)
        for n, pair in enumerate(requests)
        for index, request in enumerate(pair)
    }
    result = task_metrics(task, judge(Batch(task=task, positions=(0, 1, 2)), replies), (), "strict")
    [(before, after)] = replayed(RunResult(results=(result,), decisions=()), tmp_path)
    assert after.metrics == before.metrics


def test_a_replay_keeps_a_perturbed_image_apart_from_its_original(tmp_path):
    images = [LazyImage(key=key, load=lambda: pytest.fail("decoded")) for key in ("1.jpg", "1.jpg#blur6")]
    cases = tuple(
        Case(
            id=image.key,
            requests=(Match(image=image, text="true"), Match(image=image, text="false")),
            truths=(True, False),
        )
        for image in images
    )
    task = Task(id="x/y", capability="foil", shape="pair", cases=cases)
    replies = {
        request: Prediction(request=request, score=score)
        for case, scores in zip(cases, ((1.0, 0.0), (0.0, 1.0)), strict=True)
        for request, score in zip(case.requests, scores, strict=True)
    }
    result = task_metrics(task, judge(Batch(task=task, positions=(0, 1)), replies), (), "strict")
    [(_, after)] = replayed(RunResult(results=(result,), decisions=()), tmp_path)
    assert [verdict.right for verdict in after.verdicts] == [True, False]

"""The first sentence of the page says what ``verdict.json`` says, at the end of the run and later."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from page_runs import GATES, replies, result_of

from vlgate.asking.checks.check import Check
from vlgate.cli import main
from vlgate.judging.verdicts import judge
from vlgate.record.model_card import ModelCard
from vlgate.record.replies import UNASKED
from vlgate.record.results import task_metrics
from vlgate.report.folder import write_figures, write_rows
from vlgate.types import Batch, Prediction

UNCHECKED = (Check(name="polarity", outcome="failed", why="it raised"),)
SHIPS = "This release may ship: its gate passes."
BROKEN = "This release may not ship: the run is broken"


@pytest.fixture(scope="module")
def task(tasks):
    """A few cases of a task that a gate judges."""
    [found] = [one for one in tasks if one.id == "scenes/visual-inv"]
    return replace(found, cases=found.cases[:9])


def without_reply(task, why):
    """The result of the task if its first case has no reply."""
    found = replies(task)
    found |= {request: Prediction(request=request, problem=why) for request in task.cases[0].requests}
    return task_metrics(task, judge(Batch(task=task, positions=tuple(range(len(task.cases)))), found), ())


def first_words(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    return re.search("<h1>(.*?)</h1>", page)[1], re.findall("<li>(.*?)</li>", page.partition("<nav")[0])


@pytest.fixture
def written(tmp_path, options, task):
    """Write the files of a run as it does at its end, and return the first words of its page."""

    def write(result, status=0, checks=()):
        given = replace(options, results=tmp_path, suite=(task.id,))
        result = replace(result, tests=status)
        assert write_rows(result, given) == []
        assert write_figures(result, ModelCard(name="oracle", checks=checks), given, 1, [task]) == []
        return first_words(tmp_path)

    return write


def run_of(task):
    return result_of([task], (replace(GATES[1], min_cases=5),))


@pytest.mark.parametrize(
    "ended",
    [
        ({}, {}, "pass", SHIPS, []),
        (
            {},
            {"status": 1},
            "fail",
            "This release may not ship: its gate passes, but a test that is not a gate fails.",
            [],
        ),
        ({"lost": "it raised"}, {}, "broken", BROKEN, ["broken: 1 case could not be scored"]),
        ({}, {"checks": UNCHECKED}, "broken", BROKEN, ["broken: the check polarity failed: it raised"]),
        (
            {"crashed": True},
            {"status": 1},
            "broken",
            BROKEN,
            ["broken: a process of the run crashed, or its model could not be used"],
        ),
        (
            {"lost": UNASKED, "incomplete": "stopped"},
            {"status": 2},
            "incomplete",
            "This release may not ship: the run is incomplete",
            ["incomplete: stopped"],
        ),
    ],
    ids=["pass", "another test", "unscored", "check", "crash", "interrupted"],
)
def test_the_page_says_what_the_verdict_says_at_the_end_of_the_run_and_later(written, task, tmp_path, ended):
    change, given, verdict, sentence, reasons = ended
    run = run_of(task)
    if "lost" in change:
        run = replace(run, results=(without_reply(task, change["lost"]),))
    run = replace(run, **{name: value for name, value in change.items() if name != "lost"})
    said = written(run, **given)
    assert said[0].startswith(sentence)
    assert said[1][: len(reasons)] == reasons
    assert bool(said[1]) == bool(reasons)
    assert json.loads((tmp_path / "verdict.json").read_text())["verdict"] == verdict
    assert main(["report", str(tmp_path)]) == 0
    assert first_words(tmp_path) == said


def test_a_folder_without_the_file_does_not_ship(written, task, tmp_path):
    written(run_of(task))
    (tmp_path / "verdict.json").unlink()
    assert main(["report", str(tmp_path)]) == 0
    sentence, reasons = first_words(tmp_path)
    assert sentence == "This release may not ship: the run is incomplete."
    assert reasons == ["incomplete: it has no verdict.json"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, SHIPS),
        ({"status": 1}, "This release may not ship: its gate passes, but a test that is not a gate fails."),
        ({"verdict": "fail", "status": 1, "tests": 1}, f"{SHIPS[:17]}not ship: its gate passes, but a test that"),
        ({"verdict": "broken", "status": 1}, BROKEN),
        ({"verdict": "incomplete", "status": 1, "tests": 0}, "This release may not ship: the run is incomplete"),
    ],
)
def test_a_file_of_an_earlier_version_or_of_a_worse_end_is_believed(written, task, tmp_path, change, sentence):
    written(run_of(task))
    file = tmp_path / "verdict.json"
    content = json.loads(file.read_text())
    del content["tests"]
    file.write_text(json.dumps(content | change))
    assert main(["report", str(tmp_path)]) == 0
    assert first_words(tmp_path)[0].startswith(sentence)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: found | {"verdict": "good"}, "verdict.json is damaged: verdict='good' is not one of"),
        (lambda found: found | {"decisions": []}, "the decisions in verdict.json are not those in metrics.json"),
        (lambda found: found | {"verdict": "fail"}, "verdict.json is damaged: verdict='fail' is not \"pass\""),
        (lambda _: [], "verdict.json is not a JSON object"),
    ],
)
def test_a_verdict_that_cannot_be_that_of_the_run_is_refused(written, task, tmp_path, change, said, capsys):
    written(run_of(task))
    file = tmp_path / "verdict.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    assert main(["report", str(tmp_path)]) == 4
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith(f"vlgate report {tmp_path}: ")
    assert error.count("\n") == 1


def test_a_folder_without_its_rows_is_refused(written, task, tmp_path, capsys):
    written(run_of(task))
    (tmp_path / "cases.parquet").unlink()
    assert main(["report", str(tmp_path)]) == 4
    assert "holds no cases.parquet; name the results folder of a run that ended" in capsys.readouterr().err


@pytest.mark.slow
def test_the_page_is_written_again_without_what_takes_long_to_import(written, task, tmp_path):
    """The command has two seconds for the page of the default run; pandas and the other commands take one."""
    written(run_of(task))
    script = f"import sys; from vlgate.cli import main; main(['report', {str(tmp_path)!r}]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"vlgate.cli.after.report", "pyarrow.parquet"} <= loaded
    assert not loaded & {"pandas", "pyarrow.dataset", "vlgate.cli.make", "vlgate.cli.after.misses"}

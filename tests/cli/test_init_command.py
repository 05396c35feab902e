"""``vlgate init``: files that work as they stand."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from vlgate.cli import main

FILES = ("thresholds.toml", "my_model.py", ".github/actions/vlgate/action.yml", ".github/workflows/vlgate.yml")
FIGURE = {"value": 0.669, "low": 0.6279, "high": 0.709, "n": 505, "chance": 0.5}


@pytest.fixture
def folder(pytester, monkeypatch):
    monkeypatch.delenv("VLGATE_DATA", raising=False)
    monkeypatch.syspath_prepend(pytester.path)
    return pytester.path


def runs_of(step, values, folder):
    """Run a step of an action or a job, as its runner does, with these values of its variables."""
    python = str(Path(sys.executable).parent)
    env = os.environ | {"PATH": os.pathsep.join([python, os.environ["PATH"]]), "CI": "true"} | values
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


ARGS = "--suite=scenes/foil-it,scenes/attributes --thresholds=thresholds.toml --health=off"


def test_the_action_that_it_writes_judges_blesses_and_compares(folder, capsys):
    assert main(["init"]) == 0
    said = capsys.readouterr().out
    assert all(f"wrote: {name}" in said and (folder / name).is_file() for name in FILES)
    steps = {step["name"]: step for step in yaml.safe_load((folder / FILES[2]).read_text())["runs"]["steps"]}
    values = {"MODEL": "my_model:build", "ARGS": ARGS, "RESULTS": "results/first"}
    status, said = runs_of(steps["Judge the gates"]["run"], values, folder)
    assert status == 0, said
    assert (folder / "results/first/junit.xml").is_file()
    assert runs_of(steps["Make this run the baseline"]["run"], values, folder)[0] == 0
    status, said = runs_of(steps["Judge the gates"]["run"], values | {"RESULTS": "results/second"}, folder)
    assert status == 0, said
    assert "compared with " in said
    [gate, other] = json.loads((folder / "results/second/metrics.json").read_text())["gates"]
    assert (gate["decision"], other["decision"]) == ("pass", "pass")


def test_a_job_of_gitlab_fails_with_a_model_that_fails(folder):
    assert main(["init", "--ci=gitlab"]) == 0
    assert not (folder / ".github").exists()
    job = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["vlgate"]
    values = {"MODEL": "blind", "ARGS": ARGS, "RESULTS": "out", "CI_COMMIT_BRANCH": "a", "CI_DEFAULT_BRANCH": "b"}
    status, said = runs_of("\n".join(job["script"]), values, folder)
    assert status == 1, said
    assert "FAIL: blind may not be released" in said


def test_nothing_is_overwritten(folder, capsys):
    (folder / "my_model.py").write_text("mine")
    assert main(["init"]) == 0
    assert (folder / "my_model.py").read_text() == "mine"
    assert "kept: my_model.py" in capsys.readouterr().out
    assert main(["init"]) == 1


def run_folder(folder, tasks):
    (folder / "run").mkdir()
    content = {"model": {"name": "clip", "weights": "a/b"}, "tasks": tasks}
    (folder / "run/metrics.json").write_text(json.dumps(content))
    return ["init", "--from", "run"]


def test_the_gates_of_a_run_stand_at_the_lower_end_rounded_down(folder):
    tasks = {
        "valse/existence": {"metrics": {"acc_r": FIGURE}},
        "valse/plurality": {"metrics": {"acc_r": FIGURE | {"low": 0.504}}},
        "valse/relations": {"metrics": {"acc_r": FIGURE | {"n": 29}}},
        "valse/actant-swap": {"metrics": {}},
        "valse/foil-it": {"metrics": {"acc_r": FIGURE | {"blind": {"value": 0.63, "low": 0.6, "high": 0.66}}}},
        "winoground/all": {"metrics": {"group": FIGURE | {"low": 0.29, "chance": 1 / 6}, "text": FIGURE}},
    }
    assert main(run_folder(folder, tasks)) == 0
    text = (folder / "thresholds.toml").read_text()
    gates = tomllib.loads(text)["gate"]
    assert {task: {name: gate["min"] for name, gate in found.items()} for task, found in gates.items()} == {
        "valse/existence": {"acc_r": 0.62},
        "winoground/all": {"group": 0.29},
    }
    assert gates["valse/existence"]["acc_r"]["why"] == "clip:a/b reached 0.669 (0.628 to 0.709, n = 505)"
    reasons = {
        "plurality": "is not above chance (0.500)",
        "relations": "only 29 cases",
        "actant-swap": "no acc_r",
        "foil-it": "is not above what text alone reaches (0.630)",
    }
    for task, why in reasons.items():
        assert any(line.startswith(f"# valse/{task}: no gate") and why in line for line in text.splitlines())


def test_a_run_passes_the_gates_that_are_made_from_it(folder, pytester):
    suite = "--suite=scenes/foil-it,scenes/order-inv,scenes/relations"
    arguments = ["--pyargs", "tests_vl", "--model=bag-of-words", suite, "--health=off"]
    pytester.runpytest_inprocess(*arguments, "--results=run")
    assert main(["init", "--from", "run"]) == 0
    assert pytester.runpytest_inprocess(*arguments, "--results=again").ret == 0
    gates = json.loads((folder / "again/metrics.json").read_text())["gates"]
    assert "scenes/foil-it:acc_r" in {gate["gate"] for gate in gates if gate["decision"] == "pass"}


@pytest.mark.parametrize("content", [None, "{", "[]", "{}"])
def test_a_folder_without_a_run_is_refused_and_nothing_is_written(folder, content, capsys):
    (folder / "run").mkdir()
    if content is not None:
        (folder / "run/metrics.json").write_text(content)
    assert main(["init", "--from", "run"]) == 1
    assert "run/metrics.json" in capsys.readouterr().err
    assert not any((folder / name).exists() for name in FILES)

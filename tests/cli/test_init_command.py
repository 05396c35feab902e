"""``vlgate init``: files that work as they stand, and the CI templates against the schemas of GitHub and GitLab."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import yaml
from builders import tabled, write_lines
from jsonschema import Draft7Validator
from PIL import Image

from vlgate.cli import main
from vlgate.metrics.stats import proportion
from vlgate.models.specs import registered

FILES = ("thresholds.toml", "my_model.py", ".github/actions/vlgate/action.yml", ".github/workflows/vlgate.yml")
ROOT = Path(__file__).parents[2]
STEPS = yaml.safe_load((ROOT / "vlgate/cli/ci/action.yml").read_text())["runs"]["steps"]
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
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


CASES = 40
OWN_MODEL = """
import os

class Model:
    def match(self, pairs):
        return [float(self.says(pair.image.load(), pair.text)) for pair in pairs]

    def says(self, image, text):
        seen = "red" if image.getpixel((0, 0))[0] > 128 else "blue"
        return (seen in text) != (int(text.split()[-1]) < int(os.environ.get("BROKEN", "0")))

def build():
    return Model()
"""
"""A model that misses as many cases of ``own_data`` as the variable BROKEN says."""


def own_data(folder, n=CASES):
    """Cases of one's own in ``data/cases``, each with an image, and a gate on them that allows two broken cases."""
    cases = folder / "data/cases"
    cases.mkdir(parents=True)
    lines = []
    for i in range(n):
        right, wrong = ("red", "blue") if i % 2 else ("blue", "red")
        Image.new("RGB", (16, 16), (255 * (i % 2), i, 255 * (1 - i % 2))).save(cases / f"{i}.png")
        texts = {"caption": f"a {right} card with the number {i}", "foil": f"a {wrong} card with the number {i}"}
        lines.append({"task": "mine/numbers", "id": f"{i}", "image": f"{i}.png", **texts})
    write_lines(cases / "numbers.jsonl", lines)
    (folder / "my_model.py").write_text(OWN_MODEL)
    gate = '[gate."mine/numbers".acc_r]\nmin = 0.5\nmax_broken = 2\n'
    (folder / "thresholds.toml").write_text(f"schema = 1\n{gate}")


ARGS = "--thresholds=thresholds.toml --data=data --health=off"


class Github:
    """The scripts of the action, run as its steps are on the default branch."""

    def __init__(self, folder):
        action = yaml.safe_load((folder / FILES[2]).read_text())
        self.folder, self.steps = folder, {step["name"]: step.get("run") for step in action["runs"]["steps"]}

    def push(self, name, broken=0, **values):
        values = {"MODEL": "my_model:build", "ARGS": ARGS, "RESULTS": name, "BROKEN": f"{broken}", **values}
        status, said = runs_of(self.steps["Judge the gates"], values, self.folder)
        if status == 0:
            status, blessed = runs_of(self.steps["Make this run the baseline"], values, self.folder)
            said += blessed
        return status, said


class Gitlab:
    """The script of the job, run on the default branch; its baseline comes from the job before that passed."""

    def __init__(self, folder):
        self.folder, self.script = folder, yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["vlgate"]["script"]

    def push(self, name, broken=0, **values):
        branch = {"CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}
        values = {"MODEL": "my_model:build", "ARGS": ARGS, "RESULTS": name, "BROKEN": f"{broken}", **branch, **values}
        ended = runs_of("\n".join(self.script), values, self.folder)
        baseline, kept = self.folder / "baseline", self.folder / "earlier/baseline"
        if ended[0] == 0 and baseline.exists():
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(baseline, kept)
        shutil.rmtree(baseline, ignore_errors=True)
        return ended


@pytest.fixture(params=["github", pytest.param("gitlab", marks=pytest.mark.slow)])
def ci(request, folder):
    """The workflow that init writes for a folder with its own data, model and gates."""
    own_data(folder)
    assert main(["init", f"--ci={request.param}"]) == 0
    return {"github": Github, "gitlab": Gitlab}[request.param](folder)


@pytest.mark.slow
def test_the_first_run_is_kept_and_a_broken_model_is_stopped_but_a_good_one_is_not(ci):
    status, said = ci.push("first")
    assert (status, "1 not compared: first run" in said) == (0, True), said
    assert (ci.folder / "first/junit.xml").is_file()
    status, said = ci.push("broken", broken=3)
    assert (status, "3 of 40 cases are newly broken" in said) == (1, True), said
    status, said = ci.push("good", broken=1)
    assert (status, "1 newly broken" in said) == (0, True), said


@pytest.mark.slow
def test_two_broken_cases_at_each_merge_are_stopped_at_the_second(ci):
    assert [ci.push(f"merge-{broken}", broken)[0] for broken in (0, 2, 4)] == [0, 0, 1]
    status, said = ci.push("release", 2, BASELINE="release")  # by hand: this run is what later ones are compared with
    assert status == 0, said
    assert [ci.push(f"later-{broken}", broken)[0] for broken in (4, 6)] == [0, 1]


@pytest.mark.slow
def test_a_release_warns_if_the_committed_baseline_must_be_replaced_by_hand(ci):
    status, said = ci.push("first")
    assert (status, "comes first" in said) == (0, False), said
    if isinstance(ci, Gitlab):
        shutil.copytree(ci.folder / "earlier/baseline", ci.folder / "baseline")
    subprocess.run("git init --quiet && git add baseline", shell=True, check=True, cwd=ci.folder)
    status, said = ci.push("release", BASELINE="release")
    assert (status, "a committed baseline comes first; commit " in said) == (0, True), said


@pytest.mark.slow
def test_a_first_run_that_does_not_pass_or_lacks_its_baseline_is_no_baseline(ci):
    assert ci.push("first", broken=30)[0] == 1
    assert not list(ci.folder.glob("**/blessed.json"))
    status, said = ci.push("lost", BASELINE_LOST="true", found="503")
    assert (status, "compares with an earlier run, and none is given" in said) == (1, True), said
    assert ci.push("new", BASELINE="first", BASELINE_LOST="true", found="503")[0] == 0


@pytest.mark.slow
def test_a_model_that_fails_stays_red_and_is_no_baseline_of_another_branch(folder):
    assert main(["init", "--ci=gitlab"]) == 0
    assert not (folder / ".github").exists()
    job = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["vlgate"]
    args = "--suite=scenes/foil-it,scenes/attributes --thresholds=thresholds.toml --health=off"
    values = {"MODEL": "blind", "ARGS": args, "RESULTS": "out", "CI_COMMIT_BRANCH": "a", "CI_DEFAULT_BRANCH": "b"}
    status, said = runs_of("\n".join(job["script"]), values, folder)
    assert status == 1, said
    assert "FAIL: blind may not be released" in said
    status, said = runs_of("\n".join(job["script"]), values | {"MODEL": "my_model:build", "RESULTS": "good"}, folder)
    assert (status, (folder / "baseline").exists()) == (0, False), said


def test_every_line_of_the_packages_and_of_the_arguments_counts(tmp_path):
    job = yaml.safe_load((FOLDER / "gitlab.yml").read_text())["vlgate"]
    scripts = [step["run"] for step in STEPS if step["name"] in ("Install", "Judge the gates")]
    for script in (*scripts, job["before_script"][0], "\n".join(job["script"])):
        values = {"INSTALL": "--one 'two\n  *\n\n--last=4\n", "BASELINE": "", "RESULTS": "out", "MODEL": "m"}
        _, said = runs_of('python() { echo "$@"; }\n' + script, values | {"ARGS": values["INSTALL"]}, tmp_path)
        assert said.endswith(" --one 'two * --last=4\n"), said


@tabled
def test_the_baseline_is_that_of_the_default_branch_and_no_pull_request(runs, wanted):
    if shutil.which("jq") is None:
        pytest.skip("jq, whose language gh speaks, is not here")
    [script] = [step["run"] for step in STEPS if step["name"] == "Get the baseline"]
    query = re.search(r"--jq '(.*)'", script)[1]
    found = subprocess.run(["jq", "-r", query], input=json.dumps(runs), capture_output=True, text=True, check=True)
    assert found.stdout.strip() == wanted


def run_folder(folder, tasks):
    (folder / "run").mkdir(exist_ok=True)
    content = {"model": {"name": "clip", "weights": "a/b"}, "tasks": tasks}
    (folder / "run/metrics.json").write_text(json.dumps(content))
    return ["init", "--from", "run"]


def test_the_gates_of_a_run_leave_a_margin_and_say_how_often_the_same_model_passes(folder):
    metrics = {
        "valse/existence": {"acc_r": FIGURE},
        "valse/plurality": {"acc_r": FIGURE | {"value": 0.56, "low": 0.516, "high": 0.603}},
        "valse/relations": {"acc_r": FIGURE | {"n": 29}},
        "valse/actant-swap": {},
        "valse/foil-it": {"acc_r": FIGURE | {"blind": {"value": 0.61, "low": 0.6, "high": 0.66}}},
        "winoground/all": {"group": FIGURE | {"chance": 1 / 6}, "text": FIGURE},
    }
    assert main(run_folder(folder, {task: {"metrics": found} for task, found in metrics.items()})) == 0
    text = (folder / "thresholds.toml").read_text()
    gates = tomllib.loads(text)["gate"]
    made = {task: list(gate) for task, gate in gates.items()}
    assert made == {"valse/existence": ["acc_r"], "winoground/all": ["group"]}
    assert 0.5 < gates["valse/existence"]["acc_r"]["min"] < 0.6
    assert gates["valse/existence"]["acc_r"]["why"] == "clip:a/b reached 0.669 (0.628 to 0.709, n = 505)"
    rates = [float(rate) for rate in re.findall(r"min = 0\.\d+   # the same model passes it in (.*) % of new", text)]
    assert len(rates) == 2
    assert min(rates) >= 98.7  # of four candidates, so that all of them together are passed in 95 %
    together = float(re.search(r"# The same model passes all 2 gates together in at least (.*) % of new", text)[1])
    assert together == pytest.approx(100 - sum(100 - rate for rate in rates), abs=0.2)
    reasons = {
        "plurality": "which leaves a margin for other samples, is not above chance (0.500)",
        "relations": "only 29 cases",
        "actant-swap": "no acc_r",
        "foil-it": "is not above what text alone reaches (0.610)",
    }
    for task, why in reasons.items():
        assert any(line.startswith(f"# valse/{task}: no gate") and why in line for line in text.splitlines())


@pytest.mark.parametrize(("place", "file"), [("github", FILES[3]), ("gitlab", ".gitlab-ci.yml")])
def test_paths_below_the_folder_are_relative_and_others_are_to_be_set_in_ci(folder, place, file, vlgate):
    arguments = [*run_folder(folder, {"mine/a": {"metrics": {"acc_r": FIGURE}}}), f"--ci={place}", "--overwrite"]
    vlgate(*arguments)
    assert 'odel: "clip:a/b"\n' in (folder / file).read_text().replace("MODEL", "model")  # as metrics.json says
    options = {"model": f"clip:{folder}/weights?pool=/elsewhere/pool", "data": [f"{folder}/my/data", "/elsewhere/data"]}
    (folder / "run/environment.json").write_text(json.dumps({"options": options}))
    vlgate(*arguments)
    text = (folder / file).read_text().replace("MODEL", "model")
    to_set = "  # set: {} is outside this folder; name its place in the job\n"
    assert "--data=my/data --data=/elsewhere/data" + to_set.format("/elsewhere/data") in text
    assert 'model: "clip:weights?pool=/elsewhere/pool"' + to_set.format("/elsewhere/pool") in text
    assert "#" not in str(yaml.safe_load(text))
    assert not (folder / "my_model.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("n", "shares"), [(40, (0.9, 0.95, 1.0)), (100, (0.7, 0.8, 0.9, 0.97)), (400, (0.6, 0.9))])
def test_the_same_model_passes_all_gates_together_in_95_of_100_new_samples(folder, n, shares):
    random, held = np.random.default_rng(n), []
    for _ in range(40):
        found = [proportion((np.arange(n) < random.binomial(n, share)).astype(float)) for share in shares]
        metrics = [{"value": m.value, "low": m.low, "high": m.high, "n": n, "deff": 1.0} for m in found]
        tasks = {f"valse/{i}": {"metrics": {"acc_r": metric}} for i, metric in enumerate(metrics)}
        assert main(run_folder(folder, tasks)) == 0
        gates = tomllib.loads((folder / "thresholds.toml").read_text())["gate"]
        for file in ("thresholds.toml", "run/metrics.json"):
            (folder / file).unlink()
        for _ in range(40):
            lows = [proportion((np.arange(n) < random.binomial(n, share)).astype(float)).low for share in shares]
            held.append(all(low >= gates[f"valse/{i}"]["acc_r"]["min"] for i, low in enumerate(lows)))
    assert np.mean(held) >= 0.95


@pytest.mark.slow
def test_a_run_passes_the_gates_that_are_made_from_it(folder, pytester, capsys, vlgate):
    suite = "--suite=scenes/foil-it,scenes/order-inv,scenes/relations"
    arguments = ["--pyargs", "tests_vl", "--model=bag-of-words", suite, "--health=off"]
    pytester.runpytest_inprocess(*arguments, "--results=run")
    capsys.readouterr()
    said = vlgate("init", "--from", "run")
    assert "my_model" not in said  # the run is of another model
    assert "  1. look at the gates in thresholds.toml" in said
    assert pytester.runpytest_inprocess(*arguments, "--results=again").ret == 0
    gates = json.loads((folder / "again/metrics.json").read_text())["gates"]
    assert "scenes/foil-it:acc_r" in {gate["gate"] for gate in gates if gate["decision"] == "pass"}
    job = yaml.safe_load((folder / FILES[3]).read_text())["jobs"]["gates"]["steps"][-1]
    assert job["with"]["model"] == "bag-of-words"


def test_a_folder_with_data_of_its_own_goes_from_init_to_a_second_run(folder, pytester, capsys, vlgate):
    own_data(folder)
    (folder / "thresholds.toml").unlink()
    said, text = vlgate("init"), (folder / "thresholds.toml").read_text()
    assert "gate" not in tomllib.loads(text)
    assert '# [gate."mine/numbers".acc_r]\n# min = 0.80\n' in text
    assert "scenes/" not in text
    start = "pytest --pyargs tests_vl --model=my_model:build --data=data --results=results/first"
    assert start in said
    assert start in text
    assert "args: --thresholds=thresholds.toml --data=data" in (folder / FILES[3]).read_text()
    for file in ("thresholds.toml", "results/first", *FILES[2:]):
        assert not (folder / file).is_dir()
    shutil.rmtree(folder / ".github")
    pytester.runpytest_inprocess(*start.split()[1:], "--health=off")
    capsys.readouterr()
    said = vlgate("init", "--from", "results/first")
    assert "wrote: thresholds.toml" in said
    assert "put your own model" not in said
    judge, bless = (line.strip().removeprefix("2. ") for line in said.splitlines() if "results/judged" in line)
    assert main(judge.split()[1:]) == 0
    assert main(bless.split()[1:]) == 0
    [again] = [line.strip().removeprefix("3. ") for line in said.splitlines() if "  3. " in line]
    assert pytester.runpytest_inprocess(*again.split()[1:], "--health=off", "--results=second").ret == 0
    assert json.loads((folder / "second/verdict.json").read_text())["gates"]["pass"] == 1


@pytest.mark.parametrize("change", ["# mine\n", '[gate."mine/numbers".acc_r]\nmin = 0.9\n'])
def test_gates_of_the_user_are_kept_when_there_is_a_run(folder, change, capsys):
    own_data(folder)
    (folder / "thresholds.toml").unlink()
    assert main(["init"]) == 0
    text = (folder / "thresholds.toml").read_text() + change
    (folder / "thresholds.toml").write_text(text)
    main(run_folder(folder, {"mine/numbers": {"metrics": {"acc_r": FIGURE}}}))
    assert (folder / "thresholds.toml").read_text() == text
    assert "vlgate init --from run --overwrite\n" in capsys.readouterr().out


def test_gates_and_the_model_of_an_earlier_run_are_kept_and_named_until_they_are_overwritten(folder, vlgate):
    said, arguments = "", ["init", "--from", "run"]
    for value, model in ((0.669, "tiny-clip"), (0.669, "tiny-clip"), (0.9, "bag-of-words")):
        figure = FIGURE | {"value": value, "low": value - 0.04, "high": 0.95}
        run_folder(folder, {"mine/a": {"metrics": {"acc_r": figure}}})
        (folder / "run/environment.json").write_text(json.dumps({"options": {"model": model}}))
        before, said = said, vlgate(*arguments, status=int(bool(said)))
    assert all(f"kept: {file} (it is the same)" in before for file in ("thresholds.toml", *FILES[2:]))
    assert "kept: thresholds.toml (it would be another one now; --overwrite replaces it)" in said
    assert f'kept: {FILES[3]} (its model is "tiny-clip", not "bag-of-words"; --overwrite replaces it)' in said
    assert "reached 0.669" in (folder / "thresholds.toml").read_text()
    (folder / "my_model.py").write_text("mine")
    vlgate(*arguments, "--overwrite")
    assert "reached 0.900" in (folder / "thresholds.toml").read_text()
    assert 'model: "bag-of-words"' in (folder / FILES[3]).read_text()
    vlgate("init", "--overwrite")
    assert (folder / "my_model.py").read_text() == "mine"


@pytest.mark.parametrize("place", ["github", "gitlab"])
def test_ci_installs_the_extra_of_each_registered_model(folder, place, vlgate):
    arguments = run_folder(folder, {"mine/a": {"metrics": {"acc_r": FIGURE}}})
    for name, spec in registered().items():
        (folder / "run/environment.json").write_text(json.dumps({"options": {"model": f"{name}:a/b?score=c"}}))
        vlgate(*arguments, f"--ci={place}", "--overwrite")
        file = folder / {"github": FILES[3], "gitlab": ".gitlab-ci.yml"}[place]
        [install] = re.findall(r"install: (.*)", file.read_text(), re.IGNORECASE)
        extras = {"clip": "open_clip" in spec.packages, "hf": "transformers" in spec.packages}
        needed = [extra for extra, is_needed in extras.items() if is_needed]
        assert install == (" ".join(f"vlgate[{extra}]" for extra in needed) or "vlgate")
        assert spec.extra == ",".join(needed)


def test_a_task_without_a_gate_says_how_many_cases_allow_one(folder, vlgate):
    def text(n, **figure):
        found = FIGURE | {"value": 1.0, "low": 0.97, "high": 1.0, "n": n} | figure
        said = vlgate(*run_folder(folder, {"mine/a": {"metrics": {"acc_r": found}}}), "--overwrite")
        content = (folder / "thresholds.toml").read_text()
        lines = [line.removeprefix("# ") for line in content.splitlines() if "a gate needs" in line]
        assert all(line in said for line in lines)
        return content

    assert "the run judged only 20 cases; at 1.000 a gate needs about 30 cases" in text(20)
    [needed] = re.findall(r"at 1.000 a gate needs about (\d+) cases", text(31, chance=0.9))
    assert "gate" in tomllib.loads(text(int(needed), chance=0.9))
    assert "gate" not in tomllib.loads(text(int(needed) - 1, chance=0.9))
    for n in (40, 2000):  # at chance no number of cases is enough, nor without a threshold of two decimals above it
        assert "a gate needs" not in text(n, value=0.5, low=0.35, high=0.65)
        assert "a gate needs" not in text(n, value=0.5095, low=0.5, high=0.65)
    for n, more in ((600, "1,000"), (1000, "1,000"), (1500, "1,500")):
        assert f"; at 0.520 a gate needs more than {more} cases" in text(n, value=0.52, low=0.5, high=0.54)


def test_a_folder_data_without_cases_is_no_data_unless_it_is_named_and_nothing_is_overwritten(folder, vlgate):
    (folder / "data").mkdir()
    (folder / "my_model.py").write_text("mine")
    assert main(["init", "--data", "data"]) == 4
    said = vlgate("init")
    assert "scenes/foil-it" in (folder / "thresholds.toml").read_text()
    assert "--data=data" not in said
    assert "kept: my_model.py" in said
    assert main(["init"]) == 1
    assert (folder / "my_model.py").read_text() == "mine"


@pytest.mark.parametrize("content", [None, "{", "[" * 100_000, "[]", "{}", '{"model": 1}'])
def test_a_folder_without_a_run_is_refused_and_nothing_is_written(folder, content, vlgate):
    (folder / "run").mkdir()
    if content is not None:
        (folder / "run/metrics.json").write_text(content)
    assert "init: --from run: " in (said := vlgate("init", "--from", "run", status=4))
    assert "metrics.json" in said
    assert said.count("\n") == 1
    assert not any((folder / name).exists() for name in FILES)


FOLDER = ROOT / "vlgate" / "cli" / "ci"

LINTED = {"action.yml": "github-actions", "workflow.yml": "github-workflows", "gitlab.yml": "gitlab-ci"}


@pytest.mark.parametrize(("file", "schema"), LINTED.items())
def test_a_file_is_what_its_schema_says(file, schema):
    pytest.importorskip("check_jsonschema", reason="has the schemas; it is in the extra dev")
    vendor = files("check_jsonschema") / "builtin_schemas" / "vendor"
    validator = Draft7Validator(json.loads((vendor / f"{schema}.json").read_text(encoding="utf-8")))
    content = yaml.safe_load((FOLDER / file).read_text())
    content = {("on" if key is True else key): value for key, value in content.items()}  # YAML 1.1 reads on as true
    assert not [*validator.iter_errors(content)]
    if file == "action.yml":
        del content["runs"]["steps"][1]["shell"]
        assert [*validator.iter_errors(content)]


def test_bash_can_read_every_script_and_the_workflow_gives_the_action_only_inputs_that_it_has():
    action = yaml.safe_load((FOLDER / "action.yml").read_text())
    job = yaml.safe_load((FOLDER / "gitlab.yml").read_text())["vlgate"]
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    scripts += ["\n".join(job[part]) for part in ("before_script", "script")]
    for script in scripts:
        assert "${{" not in script  # a value goes through a variable: pasted into a script, it could be a command
        done = subprocess.run(["bash", "-n", "-c", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    steps = yaml.safe_load((FOLDER / "workflow.yml").read_text())["jobs"]["gates"]["steps"]
    [given] = [step["with"] for step in steps if step["uses"].startswith("./.github/actions/vlgate")]
    assert set(given) <= set(action["inputs"])

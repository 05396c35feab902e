"""The recipes of the guide to parts of a run: a workflow, two jobs of Slurm, and two of Kubernetes."""

import json
import re
import shutil
import subprocess
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "shards.md"
FILE = re.compile(r"`(?P<name>[\w./-]+)`:\n\n```\w+\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = {match["name"]: match["body"] for match in FILE.finditer(GUIDE.read_text(encoding="utf-8"))}
SCRIPTS = [name for name in FILES if name.endswith(".sbatch")]
JOBS = ["parts.yml", "merge.yml"]


def bash(script, *args):
    return subprocess.run(["bash", *args, "-c", script], capture_output=True, text=True, check=False)


def container(name):
    return yaml.safe_load(FILES[name])["spec"]["template"]["spec"]["containers"][0]


def test_the_guide_has_a_recipe_for_each():
    assert {"thresholds.toml", ".github/workflows/vlgate-parts.yml", *SCRIPTS, *JOBS} == set(FILES)
    assert len(SCRIPTS) == 2


def test_the_workflow_is_what_github_says():
    if find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema, which has the schemas, is not installed; it is in the extra dev")
    folder = files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = Draft7Validator(json.loads((folder / "github-workflows.json").read_text(encoding="utf-8")))
    workflow = yaml.safe_load(FILES[".github/workflows/vlgate-parts.yml"])
    as_json = {("on" if key is True else key): value for key, value in workflow.items()}  # YAML 1.1 reads on as true
    assert [error.message for error in schema.iter_errors(as_json)] == []
    part, gates = workflow["jobs"]["part"], workflow["jobs"]["gates"]
    assert part["strategy"]["fail-fast"] is False
    numbers = part["strategy"]["matrix"]["part"]
    assert numbers == list(range(1, len(numbers) + 1))
    scripts = [step["run"] for job in (part, gates) for step in job["steps"] if "run" in step]
    assert any(f'--shard="$PART/{len(numbers)}"' in script for script in scripts)
    assert not any("${{" in script for script in scripts)  # a value goes through a variable: it could be a command
    assert (gates["needs"], gates["if"]) == ("part", "always()")
    assert [bash(script, "-n").returncode for script in scripts] == [0] * len(scripts)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_of_slurm_is_one_that_bash_can_read(name):
    script = FILES[name]
    assert script.startswith("#!/bin/bash\n#SBATCH ")  # sbatch reads its lines up to the first command
    assert (bash(script, "-n").returncode, bash(script, "-n").stderr) == (0, "")
    if linter := shutil.which("shellcheck"):
        done = subprocess.run([linter, "--shell=bash", "-"], input=script, capture_output=True, text=True, check=False)
        assert done.stdout == ""


def test_the_array_of_slurm_has_as_many_tasks_as_there_are_parts():
    script = FILES["parts.sbatch"]
    last, parts = (int(re.search(pattern, script)[1]) for pattern in (r"--array=0-(\d+)", r"\nparts=(\d+)"))
    assert last + 1 == parts


@pytest.mark.parametrize("name", JOBS)
def test_a_job_of_kubernetes_has_the_keys_of_its_reference(name):
    """What the reference of Kubernetes' API says of the keys that the recipes use (Job v1 batch)."""
    job = yaml.safe_load(FILES[name])
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert set(job) == {"apiVersion", "kind", "metadata", "spec"}
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    assert {"template"} <= set(spec) <= {"template", "completions", "parallelism", "completionMode", "backoffLimit"}
    assert all(isinstance(spec.get(key, 0), int) for key in ("completions", "parallelism", "backoffLimit"))
    assert spec.get("completionMode", "Indexed") in {"Indexed", "NonIndexed"}
    assert {"containers", "restartPolicy"} <= set(pod) <= {"containers", "restartPolicy", "volumes"}
    assert pod["restartPolicy"] in {"Never", "OnFailure"}
    assert [set(one) for one in pod["containers"]] == [{"name", "image", "command", "args", "volumeMounts"}]
    assert all({"name", "mountPath"} <= set(mount) for mount in container(name)["volumeMounts"])
    assert {one["name"] for one in container(name)["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    assert container(name)["command"] == ["bash", "-euc"]
    assert [bash(script, "-n").returncode for script in container(name)["args"]] == [0]


def test_the_pods_of_the_indexed_job_ask_one_part_each():
    spec = yaml.safe_load(FILES["parts.yml"])["spec"]
    assert (spec["completionMode"], spec["completions"]) == ("Indexed", 3)
    asked, [recipe] = [], container("parts.yml")["args"]
    for index in range(spec["completions"]):
        script = f"pytest() {{ printf '%s\\n' \"$@\"; }}; JOB_COMPLETION_INDEX={index}\n{recipe}"
        asked += [line for line in bash(script, "-eu").stdout.splitlines() if line.startswith(("--shard", "--results"))]
    assert asked == [f"--{name}" for i in (1, 2, 3) for name in (f"shard={i}/3", f"results=/results/part-{i}")]

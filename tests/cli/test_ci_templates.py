"""The action, the workflow and the GitLab job, held against the schemas of GitHub and GitLab."""

import json
import subprocess
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "vlgate" / "cli" / "ci"

LINTED = {"action.yml": "github-actions", "workflow.yml": "github-workflows", "gitlab.yml": "gitlab-ci"}


@pytest.fixture(scope="module")
def errors():
    if find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema, which has the schemas, is not installed; it is in the extra dev")
    schemas = files("check_jsonschema") / "builtin_schemas" / "vendor"

    def found(content, name):
        schema = json.loads((schemas / f"{name}.json").read_text(encoding="utf-8"))
        as_json = {("on" if key is True else key): value for key, value in content.items()}  # YAML 1.1 reads on as true
        return [error.message for error in Draft7Validator(schema).iter_errors(as_json)]

    return found


@pytest.mark.parametrize(("file", "schema"), LINTED.items())
def test_a_file_is_what_its_schema_says(errors, file, schema):
    assert errors(yaml.safe_load((FOLDER / file).read_text()), schema) == []


def test_the_schemas_find_a_mistake(errors):
    action = yaml.safe_load((FOLDER / "action.yml").read_text())
    del action["runs"]["steps"][1]["shell"]
    assert errors(action, "github-actions")


def test_every_script_is_one_that_bash_can_read():
    action = yaml.safe_load((FOLDER / "action.yml").read_text())
    job = yaml.safe_load((FOLDER / "gitlab.yml").read_text())["vlgate"]
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    scripts += ["\n".join(job[part]) for part in ("before_script", "script")]
    for script in scripts:
        assert "${{" not in script  # a value goes through a variable: pasted into a script, it could be a command
        done = subprocess.run(["bash", "-n", "-c", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_workflow_gives_the_action_only_inputs_that_it_has():
    action = yaml.safe_load((FOLDER / "action.yml").read_text())
    steps = yaml.safe_load((FOLDER / "workflow.yml").read_text())["jobs"]["gates"]["steps"]
    [given] = [step["with"] for step in steps if step["uses"].startswith("./.github/actions/vlgate")]
    assert set(given) <= set(action["inputs"])

"""The suite on the embedded scenes with a small checkpoint of each family, as a user would start it."""

import json
import os
import subprocess
import sys

import families
import pytest
from families import CASES, NAMES, ON_REGIONS, TASKS, TEXT_ONLY, VLMS

pytestmark = pytest.mark.slow
pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("families")
    command = [sys.executable, "-W", "ignore", families.__file__, str(folder)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("VLGATE_DATA", None)
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return folder, ended.stdout


@pytest.mark.parametrize("name", NAMES)
def test_the_suite_runs_on_a_checkpoint_of_the_family(runs, name):
    folder, printed = runs
    file = folder / f"out-{name}" / "metrics.json"
    assert file.exists(), printed[-3000:]
    found = json.loads(file.read_text())
    counts = [(one["cases"], one["judged"], one["unscored"]) for one in found["tasks"].values()]
    assert counts == [(CASES, CASES, 0)] * len(TASKS)
    assert found["model"]["name"] == {"bert": "masked", **dict.fromkeys(VLMS, "vlm")}.get(name, name)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in VLMS])
def test_texts_that_are_equal_where_they_are_cut_tie_exactly_in_batches_of_any_size(runs, name):
    found = json.loads((runs[0] / "twins.json").read_text())[name]
    assert all(len(set(batches["texts"])) == 1 for batches in found)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {*VLMS, *ON_REGIONS, *TEXT_ONLY}])
def test_images_with_equal_pixels_tie_exactly_in_batches_of_any_size(runs, name):
    found = json.loads((runs[0] / "twins.json").read_text())[name]
    assert all(one == other for one, other in (batches["images"] for batches in found))

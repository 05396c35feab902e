"""The wheel that is built from the sdist, and a run of the suite from that wheel without the checkout."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MODEL = """
import numpy as np

class Model:
    def match(self, pairs):
        return np.array([pair.image.load().width / 1e6 - len(pair.text) for pair in pairs])

def build():
    return Model()
"""


def build(folder, kind, out):
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (found,) = out.glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(build(ROOT, "sdist", folder)) as sdist:
        sdist.extractall(folder, filter="data")
    (unpacked,) = (entry for entry in folder.iterdir() if entry.is_dir())
    return build(unpacked, "wheel", folder)


@pytest.mark.slow
def test_the_top_level_is_ours_alone(wheel):
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"tests_vl", "vlgate"}
    assert {"vlgate/__main__.py", "vlgate/thresholds.toml", "vlgate/sources/published/valse.toml"} <= set(names)
    assert {"vlgate/perturb/text/rewriting.py", "vlgate/perturb/word_lists.tsv"} <= set(names)
    assert {f"vlgate/cli/ci/{name}.yml" for name in ("action", "workflow", "gitlab")} <= set(names)
    assert {f"vlgate/report/page/page.{kind}" for kind in ("html", "css", "js")} <= set(names)
    checkpoints = ("tiny-lxmert/model.safetensors", "tiny-clip/open_clip_model.safetensors")
    assert {"session.py", *(f"checkpoints/{name}" for name in checkpoints)} <= {
        name.removeprefix("vlgate/fixtures/") for name in names
    }
    assert not [name for name in names if name.endswith("conftest.py")]
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_the_suite_runs_from_the_wheel_alone(wheel, tmp_path):
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as content:
        content.extractall(site)
    work = tmp_path / "work"
    work.mkdir()
    (work / "my_model.py").write_text(MODEL)
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "--model=my_model:build", "--results=out"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    shared = {"cwd": work, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([*command, "--suite=scenes/foil-it", "-q"], **shared, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"^(fail|inconclusive) +scenes/foil-it +acc_r ", done.stdout, re.MULTILINE)
    assert "This release may not ship" in (work / "out" / "report.html").read_text(encoding="utf-8")
    where = "import vlgate.fixtures.scenes, tests_vl; print(vlgate.__file__, tests_vl.__file__)"
    placed = subprocess.run([sys.executable, "-c", where], **shared, check=True)
    assert placed.stdout.count(str(site)) == 2

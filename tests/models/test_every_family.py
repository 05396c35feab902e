"""The suite on the embedded scenes with a small checkpoint of each family, as a user would start it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

DUAL = ("clip", "siglip", "siglip2", "align", "altclip", "metaclip2")
CROSS = ("vilt", "blip", "blip2", "bridgetower", "flava")
VLMS = ("llava", "qwen3_vl")
ON_REGIONS = ("lxmert", "visualbert", "volta-vilbert", "volta-uniter")
TEXT_ONLY = ("gpt1", "gpt2", "bert")
TABLES = 14  # all that the scenes have
CASES = 2
# One process for all of them: importing torch and transformers takes longer than all the runs.
DRIVER = f"""
import sys, pytest
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import cross_checkpoints, dual_checkpoints, tiny_vlms
folder = Path(sys.argv[2])
(folder / "thresholds.toml").write_text("schema = 1\\n")
models = {{name: f"{{name}}:{{dual_checkpoints.save(name, folder / name)}}" for name in {DUAL}}}
models |= {{name: f"{{name}}:{{cross_checkpoints.save(name, folder / name)}}" for name in {CROSS}}}
models["blip-vqa"] = f"blip-vqa:{{cross_checkpoints.save('blip_vqa', folder / 'blip-vqa')}}"
for name in {VLMS}:
    for part in getattr(tiny_vlms, name)():
        part.save_pretrained(folder / name)
    models[name] = f"vlm:{{folder / name}}"

import numpy as np, test_lxmert, test_text_only, test_visualbert, transformers, volta_checkpoints
from vlgate.sources.registry import read_tables
from vlgate.types import Reading
tables = read_tables(Reading(folders=(), seed=0, wanted=lambda name: name.startswith("scenes/")))
keys = sorted({{request.picture.key for table in tables for case in table.cases for request in case.requests}})
drawn = np.random.default_rng(0)
for width in (8, 16):
    features = drawn.normal(size=(len(keys), 36, width)).astype(np.float32)
    boxes = np.sort(drawn.random((len(keys), 36, 2, 2)), axis=2).reshape(len(keys), 36, 4).astype(np.float32)
    np.savez(folder / f"{{width}}.npz", pictures=np.array(keys), features=features, boxes=boxes)
test_lxmert.saved(transformers.LxmertForPreTraining, folder / "lxmert")
test_visualbert.saved(transformers.VisualBertForPreTraining, folder / "visualbert")
for name in ("vilbert", "uniter"):
    settings = volta_checkpoints.config_of(name)
    state = volta_checkpoints.state_of(settings)
    volta_checkpoints.save(folder / f"volta-{{name}}", settings, state)
for name in {ON_REGIONS}:
    width = 16 if name.startswith("volta") else 8
    models[name] = f"{{name}}:{{folder / name}}?regions={{folder}}/{{width}}.npz"
for name in {TEXT_ONLY}:
    test_text_only.network(name).save_pretrained(folder / name)
    test_text_only.tokenizer(name).save_pretrained(folder / name)
    models[name] = f"{{'masked' if name == 'bert' else name}}:{{folder / name}}"
for name, model in models.items():
    pytest.main([
        "--pyargs", "tests_vl", "-q", "-p", "no:cacheprovider", f"--rootdir={{folder}}", f"--model={{model}}",
        "--suite=scenes/*", "--limit={CASES}", f"--results={{folder}}/out-{{name}}", "--device=cpu",
        "--health=off", f"--thresholds={{folder}}/thresholds.toml",
    ])
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("families")
    command = [sys.executable, "-W", "ignore", "-c", DRIVER, str(Path(__file__).parent), str(folder)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "VLGATE_DATA": ""}
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return folder, ended.stdout


@pytest.mark.parametrize("name", [*DUAL, *CROSS, "blip-vqa", *VLMS, *ON_REGIONS, *TEXT_ONLY])
def test_the_suite_runs_on_a_checkpoint_of_the_family(runs, name):
    folder, printed = runs
    file = folder / f"out-{name}" / "metrics.json"
    assert file.exists(), printed[-3000:]
    found = json.loads(file.read_text())
    assert [(one["cases"], one["judged"], one["unscored"]) for one in found["tables"].values()] == [
        (CASES, CASES, 0)
    ] * TABLES
    assert found["model"]["name"] == {"bert": "masked", **dict.fromkeys(VLMS, "vlm")}.get(name, name)

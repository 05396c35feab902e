"""A training of seconds: the losses fall, and what is saved is loaded by the adapters of the published models."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vlgate.fixtures.scenes.scene_graphs import image_of, world_graphs
from vlgate.models import load
from vlgate.types import Ask, Match

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def train(place, *options):
    places = [f"--out={place / 'out'}", f"--work={place / 'work'}"]
    command = [sys.executable, "scripts/train_models.py", "--trial", *places, *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_losses_fall_and_the_models_and_their_twins_are_loaded_and_reply(tmp_path):
    """One test, because training takes longest, and several workers would each do it."""
    train(tmp_path)
    log = (tmp_path / "work/log-tiny-lxmert+tiny-clip.txt").read_text(encoding="utf-8")
    first, last = (float(loss) for loss in re.findall(r"regions: epoch \d+, loss ([\d.]+)", log))
    assert last < 0.9 * first
    for name in ("out/lxmert", "work/lxmert"):
        losses = [float(loss) for loss in re.findall(rf"{name}: .*? mask ([\d.]+)", log)]
        assert np.mean(losses[-3:]) < 0.9 * np.mean(losses[:3])
    for name in ("out/clip", "work/clip"):
        losses = [float(loss) for loss in re.findall(rf"{name}: images, .*? loss ([\d.]+)", log)]
        assert losses[-1] < 0.9 * losses[0]
    images = [image_of(graph) for graph in world_graphs(9, 3)]
    for folder in ("out", "work"):
        lxmert = load(f"lxmert:{tmp_path / folder / 'tiny-lxmert'}", folder=tmp_path).model
        scores = lxmert.match([Match(image=image, text="There is a cup.") for image in images])
        assert scores.shape == (3,)
        assert np.isfinite(scores).all()
        asked = [Ask(image=image, question="Is there a cup?", choices=("yes", "no")) for image in images]
        assert set(lxmert.answer(asked)) <= {"yes", "no"}
        clip = load(f"open_clip:{tmp_path / folder / 'tiny-clip'}", folder=tmp_path).model
        assert clip.encode_images(images).shape == clip.encode_texts(["a cup", "a hat", "a dog"]).shape == (3, 256)


def test_the_twins_are_left_out_on_request(tmp_path):
    train(tmp_path, "--only=tiny-clip", "--no-twin")
    assert (tmp_path / "out/tiny-clip/open_clip_model.safetensors").is_file()
    assert not (tmp_path / "work/tiny-clip").exists()

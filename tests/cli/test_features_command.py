"""The command that finds the regions of images."""

import argparse
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from vlgate.cli import add_options, features
from vlgate.errors import ModelLoadError, OptionError
from vlgate.models.regions import detector as frcnn_detector
from vlgate.models.regions.detector_network import Config, network
from vlgate.models.regions.feature_file import Shards
from vlgate.models.regions.inputs import region_source
from vlgate.types import LazyImage

TINY = Config(
    blocks=(3, 4, 6, 3), stem=4, width=2, res2=8, rpn_hidden=8, objects=9, attributes=5, detections=4, pooled=2,
    anchor_sizes=(16, 32), short=48, long=64, proposals_before=100, proposals_after=10,
)  # fmt: skip
FILES = ("1.jpg", "sub/000000000002.png", "sub/deep/COCO_val2014_000000000003.JPG")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Such small layers take ten times as long if several threads share them on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def detector(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detector")
    shutil.copy(Path(__file__).with_name("tiny_detector.yaml"), folder / "config.yaml")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        torch.save(network(replace(TINY)).state_dict(), folder / "pytorch_model.bin")
    return folder


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "images"
    for number, name in enumerate(FILES):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 256, (40, 60, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(file)
    (folder / "notes.txt").write_text("no image")
    return folder


def ran(*arguments):
    parser = argparse.ArgumentParser()
    add_options(parser, "features")
    return features.run(parser.parse_args([str(argument) for argument in (*arguments, "--device", "cpu")]))


def test_the_files_hold_the_regions_of_the_detector(images, detector, tmp_path, capsys, monkeypatch):
    out, sizes, real = tmp_path / "out", [], frcnn_detector.padded
    monkeypatch.setattr(frcnn_detector, "padded", lambda some: sizes.append(len(some)) or real(some))
    assert ran("--images", images, "--out", out, "--model", detector, "--batch-size", 2) == 0
    assert sizes == [2, 1]
    assert f"3 of 3 images in {out}, 3 of them made now" in capsys.readouterr().err
    needs = {"width": 64, "count": 4}
    read = region_source("out", tmp_path, "cpu", **needs)
    found = region_source(str(detector), tmp_path, "cpu", **needs)
    for key, file in zip(("v7w_1", "COCO_val2014_000000000002.jpg", "000000000003"), FILES, strict=True):
        image = LazyImage(key=key, load=lambda file=file: Image.open(images / file).convert("RGB"))
        one, other = read.regions([image])[0], found.regions([image])[0]
        assert one.features == pytest.approx(other.features, abs=1e-5)
        assert one.boxes == pytest.approx(other.boxes, abs=1e-5)
        assert (one.objects == other.objects).all()


def test_a_second_run_continues_the_first_and_names_what_is_left_out(images, detector, tmp_path, capsys):
    out = tmp_path / "out"
    (images / "bad.jpg").write_bytes(b"no image")
    assert ran("--images", images, "--out", out, "--model", detector) == 1
    said = capsys.readouterr().err
    assert "3 of 4 images" in said
    assert "left out: images/bad.jpg: " in said
    Image.new("RGB", (30, 30), "red").save(images / "bad.jpg")
    assert ran("--images", images, "--out", out, "--model", detector) == 0
    assert "4 of 4 images" in (said := capsys.readouterr().err)
    assert "1 of them made now" in said


def test_keys_begin_with_the_folders_own_name_and_linked_folders_are_listed_once(
    images, detector, tmp_path, monkeypatch
):
    """Otherwise a number of COCO would be taken for one of Visual Genome."""
    coco = tmp_path / "coco"
    coco.symlink_to(images)
    monkeypatch.chdir(images)
    for index, (asked, name) in enumerate(((coco, "coco"), (coco / "sub" / "..", "coco"), (".", "images"))):
        out = tmp_path / f"out{index}"
        assert ran("--images", asked, "--out", out, "--model", detector) == 0
        assert set(Shards(out).keys()) == {f"{name}/{file}" for file in FILES}
    other = tmp_path / "other"
    other.mkdir()
    Image.new("RGB", (30, 30), "red").save(other / "7.jpg")
    (images / "linked").symlink_to(other)
    (images / "again").symlink_to(images)
    (images / "sub" / "up").symlink_to(images)
    assert ran("--images", images, "--out", tmp_path / "out", "--model", detector) == 0
    found = Shards(tmp_path / "out").keys()
    assert {key for key in found if key.endswith(("7.jpg", "/1.jpg"))} == {"images/1.jpg", "images/linked/7.jpg"}


def test_it_prints_its_progress_and_can_be_interrupted(images, detector, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(features, "EVERY", 0)
    options = ("--images", images, "--out", tmp_path / "out", "--model", detector, "--batch-size", 1)
    real, calls = frcnn_detector.detect, []

    def detect(network, config, images, *rest):
        calls.append(len(images))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(network, config, images, *rest)

    monkeypatch.setattr(frcnn_detector, "detect", detect)
    assert ran(*options) == 130
    said = capsys.readouterr().err
    assert "1 of 3 images, " in said
    assert "per second, 0 minutes left" in said
    assert said.splitlines()[-1].startswith("interrupted; run the same command again")
    assert ran(*options) == 0
    assert "3 of 3 images in " in (said := capsys.readouterr().err)
    assert "1 of them made now" in said
    assert calls == [1, 1, 1, 1]


def test_invalid_options_and_images_that_cannot_be_listed_or_named_are_errors(images, detector, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    for changed, expected in (
        ({"--images": tmp_path / "none"}, r"--images .*none: is not a folder"),
        ({"--images": tmp_path / "empty"}, r"--images .*empty: holds no image"),
        ({"--out": images / "1.jpg"}, r"--out .*1\.jpg: is a file"),
        ({"--batch-size": 0}, "--batch-size 0: "),
    ):
        options = {"--images": images, "--out": tmp_path / "out", "--model": detector} | changed
        with pytest.raises(OptionError, match=expected):
            ran(*(part for option in options.items() for part in option))
    with pytest.raises(ModelLoadError, match=f"{tmp_path / 'empty'}"):
        ran("--images", images, "--out", tmp_path / "out", "--model", tmp_path / "empty")
    (images / os.fsdecode(b"\xff.jpg")).write_bytes(b"")
    options = ("--images", images, "--out", tmp_path / "out", "--model", detector)
    with pytest.raises(OptionError, match=r"--images .*ff\.jpg.* is not UTF-8"):
        ran(*options)
    real = os.scandir

    def scandir(folder):
        if str(folder).endswith("deep"):
            raise PermissionError(13, "Permission denied", str(folder))
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(OptionError, match=r"--images: .*sub/deep .*Permission denied"):
        ran(*options)

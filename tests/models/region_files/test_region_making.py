"""Making files of features, and continuing after an interruption."""

import os
from dataclasses import replace

import pytest
from PIL import Image
from region_file_forms import image, of, regions, same, shard

from vlgate.errors import ModelLoadError, ModelReplyError
from vlgate.models.regions.feature_shards import SHARD, Shards, make_features, write_shard
from vlgate.types import LazyImage


class Counting:
    """A detector that remembers what it has seen."""

    fingerprint = "counting"

    def __init__(self, memory=100):
        self.seen = []
        self.memory = memory

    def look(self, images):
        for one in images:
            one.load()
        if len(images) > self.memory:
            raise RuntimeError("CUDA out of memory")
        self.seen += [one.key for one in images]
        return [None if one.key == "p2" else regions(int(one.key[1:])) for one in images]


def drawn(count):
    return [LazyImage(key=f"p{n}", load=lambda: Image.new("RGB", (4, 3))) for n in range(count)]


def test_features_are_made_once_and_can_be_read(tmp_path):
    some = [*drawn(5), image("broken")]
    detector = Counting(memory=3)
    told = []
    made = make_features(
        some, detector, tmp_path / "out", batch_size=8, tell=lambda progress: told.append(replace(progress))
    )
    assert (made.whole, made.before, made.made) == (6, 0, 4)
    assert made.left_out["p2"] == "too few regions"
    assert "there is no image" in made.left_out["broken"]
    assert [one.made for one in told] == [2, 4]
    source = of(tmp_path / "out")
    for number in (0, 1, 3, 4):
        same(source.regions([image(f"p{number}.jpg")])[0], regions(number))
    again = Counting()
    made = make_features(drawn(7), again, tmp_path / "out")
    assert (made.whole, made.before, made.made) == (7, 4, 2)
    assert again.seen == ["p2", "p5", "p6"]


def test_an_interrupted_run_can_be_continued(tmp_path):
    class Stopped(Counting):
        def look(self, images):
            if len(self.seen) >= SHARD + 8:
                raise KeyboardInterrupt
            return super().look(images)

    some = [one for one in drawn(SHARD + 30) if one.key != "p2"]
    first = Stopped()
    with pytest.raises(KeyboardInterrupt):
        make_features(some, first, tmp_path, batch_size=8)
    assert len(list(tmp_path.iterdir())) == 2
    second = Counting()
    made = make_features(some, second, tmp_path, batch_size=8)
    assert made.before == len(first.seen)
    assert sorted(first.seen + second.seen) == sorted(one.key for one in some)
    assert set(Shards(tmp_path).keys()) == {one.key for one in some}


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    def fails(_, file, **__):
        file.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("safetensors.numpy.save_file", fails)
    with pytest.raises(OSError, match="disk full"):
        make_features(drawn(2), Counting(), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_regions_of_two_detectors_never_mix(tmp_path):
    shard(tmp_path / "out", ["1"], detector="another")
    with pytest.raises(ModelLoadError, match=r"out: .*another detector"):
        make_features(drawn(2), Counting(), tmp_path / "out")


def test_memory_that_is_too_small_for_one_image_is_an_error(tmp_path):
    with pytest.raises(ModelReplyError, match=r"p0: .*out of memory"):
        make_features(drawn(2), Counting(memory=0), tmp_path)


def test_a_file_that_safetensors_cannot_write_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_shard(tmp_path / "none", ["1"], [regions(1)], "d")


def test_a_truncated_file_says_how_to_go_on(tmp_path):
    shard(tmp_path / "out", ["p0"], detector="counting")
    file = next((tmp_path / "out").iterdir())
    os.truncate(file, file.stat().st_size - 9)
    with pytest.raises(ModelLoadError, match=rf"{file.name}: .*vlgate features"):
        make_features(drawn(2), Counting(), tmp_path / "out")
    file.unlink()
    assert make_features(drawn(2), Counting(), tmp_path / "out").made == 2

"""Features from files in each format, and the cache in front of them."""

import os
import shutil
import time
import tracemalloc
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PIL import Image
from region_file_forms import (
    FIELDS,
    KEYS,
    MADE,
    D,
    Harm,
    N,
    database,
    image,
    item,
    line,
    of,
    regions,
    same,
    shard,
    text,
    tsv,
)
from safetensors.numpy import save_file

from vlgate.asking.batching import Call, Caller
from vlgate.errors import DataError, ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models.regions import feature_file
from vlgate.models.regions.feature_file import SHARD, Shards, Tsv, make_features, write_shard
from vlgate.models.regions.feature_lmdb import Volta
from vlgate.models.regions.regions import RegionSource
from vlgate.types import LazyImage


@pytest.mark.parametrize("form", MADE)
def test_each_form_gives_what_was_written(tmp_path, form):
    path = MADE[form](tmp_path)
    source = of(path)
    asked = ["000000165831.jpg", "9.jpg", "000000165831.jpg", "images/ex_12_img_0.png", "COCO_train2014_000000000391"]
    found = source.regions([image(key) for key in asked])
    known = FIELDS if form != "lmdb" else ("features", "boxes", "objects")
    for one, place in zip(found, (1, 2, 1, 3, 0), strict=True):
        same(one, regions(place), known)
    assert found[0] is found[2]
    assert source.note.startswith("regions read from ")
    with pytest.raises(NoReplyError, match=r"'7\.jpg', '9#blur6', but of 4 others") as caught:
        source.regions([image(key) for key in ("9.jpg", "7.jpg", "v7w_9.jpg", "7.jpg", "9#blur6")])
    assert caught.value.positions == {1, 3, 4}
    for needs, expected in (({"width": 2048}, "16 numbers per box.* 2048"), ({"count": 10}, "36 boxes")):
        with pytest.raises(ModelLoadError, match=expected):
            of(path, **needs)


@pytest.mark.parametrize(("whole", "dated"), [(2**28, True), (0, True), (0, False)], ids=["small", "large", "no ctime"])
def test_a_file_changed_in_its_middle_has_another_fingerprint_though_its_time_is_the_same(
    tmp_path, monkeypatch, whole, dated
):
    monkeypatch.setattr(feature_file, "_WHOLE", whole)
    monkeypatch.setattr(feature_file, "is_dated", lambda _: dated)
    monkeypatch.setattr(feature_file, "_ENDS", 16)
    file = tsv(tmp_path / "a.tsv", KEYS)
    at, first = file.stat(), of(file).fingerprint
    (tmp_path / "other").mkdir()
    assert not whole or of(shutil.copyfile(file, tmp_path / "other/a.tsv")).fingerprint == first
    time.sleep(0.02)  # more than a tick of the file system's clock
    lines = file.read_bytes().split(b"\n")
    columns = lines[1].split(b"\t")
    columns[-1] = columns[-1][::-1].lstrip(b"=") + columns[-1][len(columns[-1].rstrip(b"=")) :]
    lines[1] = b"\t".join(columns)
    file.write_bytes(b"\n".join(lines))
    os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (at.st_size, at.st_mtime_ns)
    assert of(file).fingerprint != first


def test_the_path_of_an_image_decides_between_equal_names(tmp_path):
    source = of(shard(tmp_path / "f", ["photos/a/1.jpg", "photos/b/1.jpg"]))
    here = LazyImage(key="1.jpg", load=image("1.jpg").load, where="/data/photos/b/1.jpg")
    same(source.regions([here])[0], regions(1))
    with pytest.raises(NoReplyError):
        source.regions([image("1.jpg")])


def test_lines_of_any_length_are_found(tmp_path):
    lengths = [36, 36, 3, 36, 36, 1, 36]
    rows = [
        line(f"{10**index}", regions(index, n), 5 * 10**index, 3 * 10 ** (index % 3)) for index, n in enumerate(lengths)
    ]
    for end, joint in ((b"", b"\n"), (b"\n", b"\n"), (b"\r\n", b"\r\n"), (b"\n\n", b"\n\n")):
        (tmp_path / "f.tsv").write_bytes(joint.join(rows) + end)
        source = of(tmp_path / "f.tsv", count=None)
        for index, n in enumerate(lengths):
            same(source.regions([image(f"{10**index}.jpg")])[0], regions(index, n))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: row.replace(b"\t36\t", b"\t35\t"), "cannot be read"),
        (lambda row: row[:-40] + b"\n", "cannot be read"),
        (lambda row: row.rpartition(b"\t")[0] + b"\n", "9 columns"),
        (lambda row: row.replace(b"9\t300\t500\t", b"9\t200\t500\t"), "not within the image"),
        (lambda row: row.replace(b"9\t300\t500\t", b"9\thigh\t500\t"), "cannot be read"),
        (lambda row: row.rpartition(b"\t")[0] + b"\t" + text(np.full((N, D), np.nan)) + b"\n", "not finite"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, change, expected):
    rows = [line("8", regions(0)) + b"\n", change(line("9", regions(1)) + b"\n")]
    (tmp_path / "f.tsv").write_bytes(b"".join(rows))
    source = of(tmp_path / "f.tsv")
    same(source.regions([image("8")])[0], regions(0))
    with pytest.raises(NoReplyError, match=f"f.tsv, record 9: .*{expected}"):
        source.regions([image("9")])


def test_damaged_lines_cost_their_own_cases(tmp_path):
    rows = [line(str(number), regions(number)) for number in range(6)]
    damaged = [row[:-40] if number else row for number, row in enumerate(rows)]
    (tmp_path / "f.tsv").write_bytes(b"\n".join(damaged))
    source = of(tmp_path / "f.tsv")
    asked = [image(key) for key in ("1", "0", "x", "2", "1")]
    replies = Caller(name="model", size=8).ask(
        Call(called="x", method=lambda some: [region.boxes[0] for region in source.regions(some)], kind="rows"), asked
    )
    assert replies[1] == pytest.approx(regions(0).boxes[0])
    assert "'x', but of 6 others" in replies[2].why
    for place, key in ((0, "1"), (3, "2"), (4, "1")):
        assert replies[place].why.startswith(f"{tmp_path / 'f.tsv'}, record {key}: cannot be read")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda: {"x": Harm()}, "posix.system"),
        (lambda: [1], "list, expected a dictionary"),
        (lambda: {"num_boxes": 36}, "'features'"),
        (lambda: item(regions(0)) | {"num_boxes": 7}, "cannot be read"),
        (lambda: item(regions(0)) | {"features": b"?"}, "not base64"),
        (lambda: item(regions(0)) | {"img_w": 10}, "not within the image"),
        (lambda: item(regions(0)) | {"boxes": 3}, "int, expected numbers"),
        (lambda: b"\x00", "cannot be read"),
    ],
)
def test_a_damaged_dictionary_is_named(tmp_path, value, expected):
    source = of(database(tmp_path / "f.lmdb", {"8": item(regions(0)), "9": value()}))
    same(source.regions([image("8")])[0], regions(0), ("features", "boxes", "objects"))
    with pytest.raises(NoReplyError, match=f"f.lmdb, record 9: .*{expected}"):
        source.regions([image("9.jpg")])


def test_dictionaries_of_arrays_and_vilberts_names_are_read_whatever_the_count_of_boxes(tmp_path):
    one = regions(0)
    pixels = (one.boxes * [500, 300, 500, 300]).astype(np.float32)
    named = {"image_h": 300, "image_w": 500, "num_boxes": 36, "boxes": pixels, "features": one.features}
    fewer = item(one) | {"num_boxes": 5, "features": one.features, "boxes": one.boxes * [500, 300, 500, 300]}
    source = of(database(tmp_path / "f.lmdb", {"8": b"a damaged first record", "9": named, "10": fewer}), count=36)
    for found in source.regions([image("9"), image("10")]):
        same(found, one, ("features", "boxes"))
    assert source.regions([image("9")])[0].objects is None


def test_a_database_that_is_cut_off_is_refused(tmp_path):
    """A read beyond the end of a mapped file would kill the process."""
    data = database(tmp_path / "f.lmdb", {"8": item(regions(0))}) / "data.mdb"
    size = data.stat().st_size
    os.truncate(data, size - 4096)
    with pytest.raises(ModelLoadError, match=f"f.lmdb: .*{size - 4096:,} of {size:,} bytes"):
        of(tmp_path / "f.lmdb")


def test_a_database_can_be_used_by_two_models_of_one_process(tmp_path):
    path = database(tmp_path / "f.lmdb", {"8": item(regions(0))})
    first, second = of(path), of(path)
    for source in (first, second):
        same(source.regions([image("8")])[0], regions(0), ("features", "boxes"))
    del first
    same(of(path).regions([image("8")])[0], regions(0), ("features", "boxes"))


def test_many_files_take_no_memory_to_tell_apart(tmp_path):
    for number in range(30):
        shard(tmp_path / "f", [f"{number}-{index}" for index in range(64)])
    tracemalloc.start()
    first = of(tmp_path / "f").fingerprint
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3e6  # the ends that are read have 4e6 bytes
    shard(tmp_path / "f", ["new"])
    assert of(tmp_path / "f").fingerprint != first


def test_a_path_with_braces_is_named_as_it_is(tmp_path):
    with pytest.raises(NoReplyError, match=r"\{x\}\.tsv has no regions of '7'"):
        of(tsv(tmp_path / "{x}.tsv", KEYS)).regions([image("7")])


def described(file, **head):
    """Safetensors that say of themselves what ``head`` says."""
    arrays = {"features": np.zeros((1, N, D), np.float32), "boxes": np.zeros((1, N, 4), np.float32)}
    save_file(arrays, file, metadata={"schema": "vlgate regions 1"} | head)


def zeroed(file):
    """An npz with a damaged array."""
    np.savez_compressed(file, images=np.array(KEYS), features=np.ones((4, N, D)), boxes=np.ones((4, N, 4)))
    content = bytearray(file.read_bytes())
    start = content.index(b"features.npy") + len("features.npy") + 20  # the zipped numbers
    content[start + 5 : start + 25] = bytes(20)
    file.write_bytes(content)


def with_bytes(file):
    """An npz with a member that is not an array: it lacks the ending .npy, and comes as bytes."""
    np.savez(file, images=np.array(["a"]), boxes=np.zeros((1, 2, 4)))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("features", b"bytes")


def of_two_detectors(folder):
    shard(folder, ["1"], "one")
    shard(folder, ["2"], "another")


OTHER = [
    *(("f.tsv", lambda file, content=content: file.write_bytes(content), r"f\.tsv")
      for content in (b"", b"\xff\xfe\t1\n", b"no columns\n", b"\n")),
    ("f", of_two_detectors, "2 detectors"),
    ("f.safetensors", described, "does not name its images"),
    ("f.safetensors", partial(described, images="[1"), "does not name its images"),
    ("f.safetensors", partial(described, images='["1"]'), "does not name .*'detector'"),
    ("f.safetensors", partial(described, images='["1", "2"]', detector="d"), "names 2 images"),
    ("f.safetensors", lambda file: save_file({"weight": np.zeros(3)}, file), "not regions of images"),
    ("f.safetensors", lambda file: file.write_bytes(b"nothing"), "as safetensors"),
    ("f.npz", lambda file: np.savez(file, features=np.zeros((2, 3, 4))), "of one length"),
    ("f.npz", lambda file: file.write_bytes(b"nothing"), "plain arrays"),
    ("f.npz", lambda file: np.savez(
        file, images=np.array([Harm()], dtype=object), features=np.zeros(1), boxes=np.zeros(1)), "plain arrays"),
    ("f.npz", zeroed, r"f\.npz: cannot be read"),
    ("f.npz", with_bytes, r"f\.npz"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "write", "expected"), OTHER)
def test_a_file_of_anything_else_is_refused(tmp_path, name, write, expected):
    write(tmp_path / name)
    with pytest.raises(ModelLoadError, match=expected):
        of(tmp_path / name)


def test_the_cache_drops_the_least_recently_used_image():
    looked = []

    def look(some):
        looked.append([one.key for one in some])
        return [None if one.key == "x" else regions(int(one.key)) for one in some]

    source = RegionSource(look, fingerprint="", note="", lacking="none of {keys}", kept=2 * regions(1).size)

    def ask(*keys):
        return source.regions([image(key) for key in keys])

    found = ask("1", "2", "3", "1")
    assert found[0] is found[3]
    ask("2", "3")
    assert looked == [["1", "2", "3"]]
    ask("2")
    ask("1")
    ask("2")
    assert looked == [["1", "2", "3"], ["1"]]
    with pytest.raises(NoReplyError, match="none of 'x'"):
        ask("2", "x")
    ask("2")
    assert looked[2:] == [["x"]]


OPENS = {"tsv": Tsv, "safetensors": Shards, "lmdb": Volta}


@pytest.mark.parametrize("form", OPENS)
def test_a_file_that_is_cut_while_it_is_open_costs_the_cases_beyond_the_cut(tmp_path, form):
    path = MADE[form](tmp_path)
    opened = OPENS[form](path)
    file = path / "data.mdb" if path.is_dir() else path
    os.truncate(file, file.stat().st_size // 4)
    with pytest.raises(DataError, match=r"record .*(cut off|killed|cannot be read)"):
        opened.read(KEYS[2])


def damaged(folder, place):
    """A database with one changed byte, counted from the length of the key of the entry "1"."""
    path = database(folder / "f.lmdb", {str(number): item(regions(number)) for number in range(3)})
    content = bytearray((path / "data.mdb").read_bytes())
    content[content.index((1).to_bytes(2, "little") + b"1") + place] = 1
    (path / "data.mdb").write_bytes(content)
    return path


def test_an_entry_that_claims_to_go_beyond_the_end_costs_its_own_case_only(tmp_path):
    opened = Volta(damaged(tmp_path, place=-3))  # its length is 16 MB more
    for _ in range(2):
        with pytest.raises(DataError, match=r"f\.lmdb, record 1: cannot be read \(the process.*damaged"):
            opened.read("1")
        same(opened.read("0"), regions(0), ("features", "boxes", "objects"))


def test_an_entry_that_lies_beyond_the_end_is_refused(tmp_path):
    with pytest.raises(ModelLoadError, match=r"f\.lmdb: cannot be read as an LMDB"):
        Volta(damaged(tmp_path, place=2 + 1 + 4))  # the number of the page where it begins


def test_a_database_whose_root_is_beyond_the_end_is_refused(tmp_path):
    file = MADE["lmdb"](tmp_path) / "data.mdb"
    content = bytearray(file.read_bytes())
    for meta in (0, 4096):  # the number of the root's page, in both pages of metadata
        content[meta + 16 + 24 + 48 + 40 + 4] = 1
    file.write_bytes(content)
    with pytest.raises(ModelLoadError, match=r"f\.lmdb: cannot be read as an LMDB"):
        Volta(file.parent)


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


def test_files_that_cannot_be_written_or_mixed_stop_the_making(tmp_path, monkeypatch):
    def fails(_, file, **__):
        file.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("safetensors.numpy.save_file", fails)
    with pytest.raises(OSError, match="disk full"):
        make_features(drawn(2), Counting(), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    monkeypatch.undo()
    shard(tmp_path / "out", ["1"], detector="another")
    with pytest.raises(ModelLoadError, match=r"out: .*another detector"):
        make_features(drawn(2), Counting(), tmp_path / "out")
    with pytest.raises(OSError, match="No such file"):
        write_shard(tmp_path / "none", ["1"], [regions(1)], "d")


def test_memory_that_is_too_small_for_one_image_is_an_error(tmp_path):
    with pytest.raises(ModelReplyError, match=r"p0: .*out of memory"):
        make_features(drawn(2), Counting(memory=0), tmp_path)


def test_a_truncated_file_says_how_to_go_on(tmp_path):
    shard(tmp_path / "out", ["p0"], detector="counting")
    file = next((tmp_path / "out").iterdir())
    os.truncate(file, file.stat().st_size - 9)
    with pytest.raises(ModelLoadError, match=rf"{file.name}: .*vlgate features"):
        make_features(drawn(2), Counting(), tmp_path / "out")
    file.unlink()
    assert make_features(drawn(2), Counting(), tmp_path / "out").made == 2

"""Features from files in each format, and the cache in front of them."""

import os
import shutil
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
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

from vlgate.asking.batching import Call, Caller
from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.regions import feature_file
from vlgate.models.regions.regions import RegionSource
from vlgate.types import LazyImage


@pytest.mark.parametrize("form", MADE)
def test_each_form_gives_what_was_written(tmp_path, form):
    source = of(MADE[form](tmp_path))
    asked = ["000000165831.jpg", "9.jpg", "000000165831.jpg", "images/ex_12_img_0.png", "COCO_train2014_000000000391"]
    found = source.regions([image(key) for key in asked])
    known = FIELDS if form != "lmdb" else ("features", "boxes", "objects")
    for one, place in zip(found, (1, 2, 1, 3, 0), strict=True):
        same(one, regions(place), known)
    assert found[0] is found[2]
    assert source.note.startswith("regions read from ")


@pytest.mark.parametrize("form", MADE)
def test_an_image_that_a_file_lacks_costs_its_own_cases(tmp_path, form):
    source = of(MADE[form](tmp_path))
    with pytest.raises(NoReplyError, match=r"'7\.jpg', '9#blur6', but of 4 others") as caught:
        source.regions([image(key) for key in ("9.jpg", "7.jpg", "v7w_9.jpg", "7.jpg", "9#blur6")])
    assert caught.value.positions == {1, 3, 4}


@pytest.mark.parametrize("form", MADE)
def test_other_boxes_than_the_model_takes_are_refused(tmp_path, form):
    path = MADE[form](tmp_path)
    for needs, expected in (
        ({"width": 2048}, "16 numbers per box.* 2048"),
        ({"count": 10}, "36 boxes"),
    ):
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
    time.sleep(0.02)  # more than a tick of the file system's clock
    lines = file.read_bytes().split(b"\n")
    columns = lines[1].split(b"\t")
    columns[-1] = columns[-1][::-1].lstrip(b"=") + columns[-1][len(columns[-1].rstrip(b"=")) :]
    lines[1] = b"\t".join(columns)
    file.write_bytes(b"\n".join(lines))
    os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (at.st_size, at.st_mtime_ns)
    assert of(file).fingerprint != first


def test_a_copy_has_the_fingerprint_of_its_file(tmp_path):
    file = tsv(tmp_path / "a.tsv", KEYS)
    (tmp_path / "other").mkdir()
    assert of(shutil.copyfile(file, tmp_path / "other/a.tsv")).fingerprint == of(file).fingerprint


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


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\t1\n", b"no columns\n", b"\n"])
def test_a_file_that_is_not_a_table_is_refused(tmp_path, content):
    (tmp_path / "f.tsv").write_bytes(content)
    with pytest.raises(ModelLoadError, match=r"f\.tsv"):
        of(tmp_path / "f.tsv")


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


def test_dictionaries_of_arrays_and_vilberts_names_are_read(tmp_path):
    one = regions(0)
    pixels = (one.boxes * [500, 300, 500, 300]).astype(np.float32)
    content = {"image_h": 300, "image_w": 500, "num_boxes": 36, "boxes": pixels, "features": one.features}
    source = of(database(tmp_path / "f.lmdb", {"8": content}))
    same(source.regions([image("8")])[0], one, ("features", "boxes"))
    assert source.regions([image("8")])[0].objects is None


def test_arrays_keep_the_rows_beyond_vilberts_count_of_boxes(tmp_path):
    one = regions(0)
    content = item(one) | {"num_boxes": 5, "features": one.features, "boxes": one.boxes * [500, 300, 500, 300]}
    (found,) = of(database(tmp_path / "f.lmdb", {"8": content})).regions([image("8")])
    same(found, one, ("features", "boxes"))


def test_a_damaged_first_record_does_not_prevent_loading(tmp_path):
    source = of(database(tmp_path / "f.lmdb", {"8": b"x", "9": item(regions(0))}), count=36)
    same(source.regions([image("9")])[0], regions(0), ("features", "boxes"))


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


def test_a_folder_with_regions_of_two_detectors_is_refused(tmp_path):
    shard(tmp_path / "f", ["1"], "one")
    shard(tmp_path / "f", ["2"], "another")
    with pytest.raises(ModelLoadError, match="2 detectors"):
        of(tmp_path / "f")


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


def test_safetensors_that_do_not_say_what_they_hold_are_refused(tmp_path):
    from safetensors.numpy import save_file

    arrays = {"features": np.zeros((1, N, D), np.float32), "boxes": np.zeros((1, N, 4), np.float32)}
    for index, (head, expected) in enumerate(
        (
            ({}, "does not name its images"),
            ({"images": "[1"}, "does not name its images"),
            ({"images": '["1"]'}, "does not name .*'detector'"),
            ({"images": '["1", "2"]', "detector": "d"}, "names 2 images"),
        )
    ):
        file = tmp_path / f"{index}.safetensors"
        save_file(arrays, file, metadata={"schema": "vlgate regions 1"} | head)
        with pytest.raises(ModelLoadError, match=expected):
            of(file)


def test_an_npz_with_a_broken_array_is_refused(tmp_path):
    file = tmp_path / "f.npz"
    np.savez_compressed(file, images=np.array(KEYS), features=np.ones((4, N, D)), boxes=np.ones((4, N, 4)))
    content = bytearray(file.read_bytes())
    start = content.index(b"features.npy") + len("features.npy") + 20  # the zipped numbers
    content[start + 5 : start + 25] = bytes(20)
    file.write_bytes(content)
    with pytest.raises(ModelLoadError, match=r"f\.npz: cannot be read"):
        of(file)


def test_a_member_of_an_npz_that_is_not_an_array_is_refused(tmp_path):
    """It has no ending .npy, and comes as bytes."""
    file = tmp_path / "f.npz"
    np.savez(file, images=np.array(["a"]), boxes=np.zeros((1, 2, 4)))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("features", b"bytes")
    with pytest.raises(ModelLoadError, match=r"f\.npz"):
        of(file)


def test_other_safetensors_and_npz_are_refused(tmp_path):
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros(3)}, tmp_path / "a.safetensors")
    (tmp_path / "b.safetensors").write_bytes(b"nothing")
    np.savez(tmp_path / "c.npz", features=np.zeros((2, 3, 4)))
    np.savez(tmp_path / "d.npz", images=np.array([Harm()], dtype=object), features=np.zeros(1), boxes=np.zeros(1))
    (tmp_path / "e.npz").write_bytes(b"nothing")
    for name, expected in zip(
        "abcde",
        ("not regions of images", "as safetensors", "of one length", "plain arrays", "plain arrays"),
        strict=True,
    ):
        with pytest.raises(ModelLoadError, match=expected):
            of(next(tmp_path.glob(f"{name}.*")))


def test_the_cache_drops_the_least_recently_used_image():
    looked = []

    def look(some):
        looked.append([one.key for one in some])
        return [None if one.key == "x" else regions(int(one.key)) for one in some]

    source = RegionSource(look, fingerprint="", note="", lacking="none of {keys}", kept=2)

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

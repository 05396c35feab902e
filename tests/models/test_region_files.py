"""Features from files: the forms that are in use, what makes two names one picture, and making them."""

import base64
import os
import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vlgate.errors import DataError, ModelLoadError, NoReplyError, PictureError
from vlgate.models.region_cache import RegionCache
from vlgate.models.region_files.making import SHARD, make_features
from vlgate.models.region_files.names import Names, picture_name
from vlgate.models.region_files.pickled import plain_values
from vlgate.models.region_files.shards import FIELDS, Shards, write_shard
from vlgate.models.regions import Regions, region_source
from vlgate.types import Picture

N, D = 36, 16


def picture(key):
    def load():
        raise PictureError(key, "there is no picture", "none is needed")

    return Picture(key=key, load=load)


def regions(number, n=N, d=D):
    """Some picture's regions, with boxes as fractions."""
    random = np.random.default_rng(number)
    corners = np.sort(random.random((n, 2, 2)), axis=1).reshape(n, 4)
    return Regions(
        features=random.random((n, d)).astype(np.float32),
        boxes=corners.astype(np.float32),
        objects=random.integers(0, 1600, n),
        object_scores=random.random(n).astype(np.float32),
        attributes=random.integers(0, 400, n),
        attribute_scores=random.random(n).astype(np.float32),
    )


def text(array, kind=np.float32):
    return base64.b64encode(np.ascontiguousarray(array, kind).tobytes())


def line(key, one, height=300, width=500):
    """A line as LXMERT's files have it."""
    columns = [
        key.encode(), str(height).encode(), str(width).encode(), text(one.objects, np.int64), text(one.object_scores),
        text(one.attributes, np.int64), text(one.attribute_scores), str(len(one.boxes)).encode(),
        text(one.boxes * [width, height, width, height]), text(one.features),
    ]  # fmt: skip
    return b"\t".join(columns)


def tsv(file, keys, **sizes):
    file.write_bytes(b"".join(line(key, regions(place), **sizes) + b"\n" for place, key in enumerate(keys)))
    return file


def item(one, height=300, width=500):
    """A dictionary as VOLTA's databases have it."""
    return {
        "img_h": height, "img_w": width, "num_boxes": len(one.boxes), "features": text(one.features),
        "boxes": text(one.boxes * [width, height, width, height]), "objects_id": text(one.objects, np.int64),
        "cls_prob": text(np.zeros((len(one.boxes), 3))),
    }  # fmt: skip


def database(path, items):
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with lmdb.open(str(path), map_size=1 << 26) as opened, opened.begin(write=True) as write:
        write.put(b"keys", pickle.dumps([key.encode() for key in items]))
        for key, value in items.items():
            write.put(key.encode(), value if isinstance(value, bytes) else pickle.dumps(value))
    return path


def shard(folder, keys, detector="d"):
    folder.mkdir(exist_ok=True)
    write_shard(folder, keys, [regions(place) for place in range(len(keys))], detector)
    return folder


def npz(file, keys):
    every = [regions(place) for place in range(len(keys))]
    arrays = {name: np.stack([getattr(one, name) for one in every]) for name in FIELDS}
    np.savez(file, pictures=np.array(keys), **arrays)
    return file


def of(path, **needs):
    return region_source(str(path), path.parent, "cpu", "float32", **({"width": D} | needs))


def same(one, other, fields=FIELDS):
    for name in fields:
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-6), name
        assert getattr(one, name).dtype == getattr(other, name).dtype


KEYS = ["COCO_val2014_000000000391", "COCO_val2014_000000165831", "9", "ex_12_img_0"]
MADE = {
    "tsv": lambda folder: tsv(folder / "f.tsv", KEYS),
    "lmdb": lambda folder: database(folder / "f.lmdb", {key: item(regions(n)) for n, key in enumerate(KEYS)}),
    "folder": lambda folder: shard(folder / "f", KEYS),
    "safetensors": lambda folder: next(shard(folder / "f", KEYS).iterdir()),
    "npz": lambda folder: npz(folder / "f.npz", KEYS),
}


@pytest.mark.parametrize("form", MADE)
def test_each_form_gives_what_was_written(tmp_path, form):
    source = of(MADE[form](tmp_path))
    asked = ["165831.jpg", "9.jpg", "165831.jpg", "images/ex_12_img_0.png", "COCO_val2014_000000000391.jpg"]
    found = source.regions([picture(key) for key in asked])
    known = FIELDS if form != "lmdb" else ("features", "boxes", "objects")
    for one, place in zip(found, (1, 2, 1, 3, 0), strict=True):
        same(one, regions(place), known)
    assert found[0] is found[2]
    assert source.note.startswith("regions read from ")


@pytest.mark.parametrize("form", MADE)
def test_a_picture_that_a_file_lacks_costs_its_own_cases(tmp_path, form):
    source = of(MADE[form](tmp_path))
    with pytest.raises(NoReplyError, match=r"has no regions of '7\.jpg', '9#blur6', but of 4 others") as caught:
        source.regions([picture(key) for key in ("9.jpg", "7.jpg", "391", "7.jpg", "9#blur6")])
    assert caught.value.positions == {1, 3, 4}


@pytest.mark.parametrize("form", MADE)
def test_other_boxes_than_the_model_takes_are_refused(tmp_path, form):
    path = MADE[form](tmp_path)
    for needs, expected in (
        ({"width": 2048}, "16 numbers a box where the model takes 2048"),
        ({"count": 10}, "36 boxes"),
    ):
        with pytest.raises(DataError, match=expected):
            of(path, **needs).regions([picture("9")])


def test_a_changed_file_has_another_fingerprint(tmp_path):
    first = of(tsv(tmp_path / "a.tsv", KEYS)).fingerprint
    assert of(tmp_path / "a.tsv").fingerprint == first
    tsv(tmp_path / "a.tsv", KEYS[::-1])
    assert of(tmp_path / "a.tsv").fingerprint != first


@given(
    st.text(st.characters(exclude_characters="#/", codec="utf-8"), min_size=1), st.sampled_from(["jpg", "JPEG", "tiff"])
)
def test_folders_and_extensions_make_no_difference(name, extension):
    assert picture_name(f"a/b/{name}.{extension}") == picture_name(f"{name}.png") == picture_name(f"c/{name}.gif")


@given(st.integers(0, 10**12), st.sampled_from(["", "COCO_val2014_", "COCO_train2014_", "v7w_"]), st.integers(1, 14))
def test_a_number_is_the_same_with_any_prefix_and_zeros(number, prefix, digits):
    assert picture_name(f"some/{prefix}{number:0{digits}}.jpg") == str(number)


def test_a_perturbed_picture_is_never_the_original():
    assert picture_name("2357834#blur6") != picture_name("2357834")
    assert Names(["2357834", "12#blur6.png"]).find("2357834#blur6") is None
    assert Names(["2357834", "12#blur6.png"]).find("12.jpg") is None
    assert Names(["2357834", "12#blur6.png"]).find("VG_100K/12.jpg#blur6") == "12#blur6.png"


def test_numbers_of_coco_and_visual_genome_are_told_apart():
    names = Names(
        ["COCO_val2014_000000000012", "v7w_12.jpg", "COCO_train2014_000000000013", "013", "a/5.jpg", "b/5.jpg"]
    )
    assert len(names) == 6
    assert names.find("v7w_12") == "v7w_12.jpg"
    assert names.find("VG_100K_2/12.jpg") == "v7w_12.jpg"
    assert names.find("12.jpg") is None  # it may be either
    assert names.find("013.jpg") == "013"  # exactly so
    assert names.find("v7w_13.jpg") == "013"
    assert names.find("5.jpg") is None
    assert names.find("a/5.jpg") == "a/5.jpg"


def test_lines_of_any_length_are_found(tmp_path):
    lengths = [36, 36, 3, 36, 36, 1, 36]
    rows = [
        line(f"{10**place}", regions(place, n), 5 * 10**place, 3 * 10 ** (place % 3)) for place, n in enumerate(lengths)
    ]
    for end, joint in ((b"", b"\n"), (b"\n", b"\n"), (b"\r\n", b"\r\n"), (b"\n\n", b"\n\n")):
        (tmp_path / "f.tsv").write_bytes(joint.join(rows) + end)
        source = of(tmp_path / "f.tsv", count=None)
        for place, n in enumerate(lengths):
            same(source.regions([picture(f"{10**place}.jpg")])[0], regions(place, n))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda row: row.replace(b"\t36\t", b"\t35\t"), "cannot be read"),
        (lambda row: row[:-40] + b"\n", "cannot be read"),
        (lambda row: row.rpartition(b"\t")[0] + b"\n", "has 9 columns where 10 were expected"),
        (lambda row: row.replace(b"9\t300\t500\t", b"9\t200\t500\t"), "boxes that are not within the picture"),
        (lambda row: row.replace(b"9\t300\t500\t", b"9\thigh\t500\t"), "cannot be read"),
        (lambda row: row.rpartition(b"\t")[0] + b"\t" + text(np.full((N, D), np.nan)) + b"\n", "not finite"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, change, expected):
    rows = [line("8", regions(0)) + b"\n", change(line("9", regions(1)) + b"\n")]
    (tmp_path / "f.tsv").write_bytes(b"".join(rows))
    source = of(tmp_path / "f.tsv")
    same(source.regions([picture("8")])[0], regions(0))
    with pytest.raises(DataError, match=f"f.tsv, record 9: .*{expected}"):
        source.regions([picture("9")])


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\t1\n", b"no columns\n", b"\n"])
def test_a_file_that_is_no_table_is_refused(tmp_path, content):
    (tmp_path / "f.tsv").write_bytes(content)
    with pytest.raises(ModelLoadError, match=r"f\.tsv"):
        of(tmp_path / "f.tsv")


class Harm:
    def __reduce__(self):
        return os.system, ("echo harm",)


VALUES = {
    "floats": np.arange(6, dtype=np.float32).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "steps": np.arange(10.0)[::2],
    "empty": np.zeros((0, 4), np.float16),
    "big": np.arange(3, dtype=">i4"),
    "one": np.float64(3.5),
    "whole": np.int64(4),
    "bytes": b"\xff\x00x",
    "nothing": b"",
    "plain": (1, [2, "x", None, True], {"a": 0.5}),
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_and_arrays_are_read_as_pickle_reads_them(protocol):
    content = pickle.dumps(VALUES, protocol)
    found = plain_values(content)
    assert found.keys() == VALUES.keys()
    for name, value in VALUES.items():
        assert type(found[name]) is (float if name == "one" else int if name == "whole" else type(value))
        assert np.array_equal(found[name], value) if name != "plain" else found[name] == value
        if isinstance(value, np.ndarray):
            assert found[name].dtype == value.dtype


OBJECTS = np.empty(1, dtype=object)
OBJECTS[0] = Harm()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Harm(), "asks for (posix|nt).system"),
        (OBJECTS, "asks for (posix|nt).system|array of 'O8'"),
        (np.zeros(2, dtype=[("a", "f4")]), "no plain numbers"),
        (np.array(["x"]), "array of 'U1'"),
        ({1, 2}, "set"),
        (1j, "complex"),
        (np.dtype("f4"), "holds a _Type"),
        (threading.Thread, "asks for threading.Thread"),
        (print, "print"),
        (np.load, "asks for numpy"),
    ],
)
def test_nothing_else_is_unpickled(protocol, value, expected, capfd):
    with pytest.raises(ValueError, match=expected):
        plain_values(pickle.dumps({"x": value}, protocol))
    assert "harm" not in capfd.readouterr().out


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        pickle.dumps(VALUES)[:-9],
        b"\x80\x04\x8c\x05numpy\x8c\x05dtype\x93}\x8c\x01xK\x01sb.",  # a state for a function
        b"\x80\x04\x8c\x05numpy\x8c\x07ndarray\x93)\x81.",  # numpy's own class
        b"\x80\x04]\x94h\x00a.",  # a list that holds itself
        b"\x80\x04\x8c\x0enumpy.core.fun\x8c\x0c_reconstruct\x93.",
        b"\x80\x04Pid\n.",
    ],
)
def test_what_is_no_pickle_of_values_is_an_error(content):
    with pytest.raises(ValueError, match="Error: "):
        plain_values(content)


def test_a_function_cannot_be_changed():
    content = b"\x80\x04\x8c\x05numpy\x8c\x05dtype\x93}\x8c\x09_functionK\x01sb."
    with pytest.raises(ValueError, match="gives a state to a function"):
        plain_values(content)


def test_lists_within_lists_take_no_time():
    nested = []
    for _ in range(200):
        nested = [nested, nested]
    assert len(plain_values(pickle.dumps(nested))) == 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda: {"x": Harm()}, "asks for posix.system"),
        (lambda: [1], "a list where a dictionary was expected"),
        (lambda: {"num_boxes": 36}, "lacks 'features'"),
        (lambda: item(regions(0)) | {"num_boxes": 7}, "cannot be read"),
        (lambda: item(regions(0)) | {"features": b"?"}, "no base64"),
        (lambda: item(regions(0)) | {"img_w": 10}, "not within the picture"),
        (lambda: item(regions(0)) | {"boxes": 3}, "an? int where numbers were expected"),
        (lambda: b"\x00", "cannot be read"),
    ],
)
def test_a_damaged_dictionary_is_named(tmp_path, value, expected):
    source = of(database(tmp_path / "f.lmdb", {"8": item(regions(0)), "9": value()}))
    same(source.regions([picture("8")])[0], regions(0), ("features", "boxes", "objects"))
    with pytest.raises(DataError, match=f"f.lmdb, record 9: .*{expected}"):
        source.regions([picture("9.jpg")])


def test_dictionaries_of_arrays_and_vilberts_names_are_read(tmp_path):
    one = regions(0)
    pixels = (one.boxes * [500, 300, 500, 300]).astype(np.float32)
    content = {"image_h": 300, "image_w": 500, "num_boxes": 36, "boxes": pixels, "features": one.features}
    source = of(database(tmp_path / "f.lmdb", {"8": content}))
    same(source.regions([picture("8")])[0], one, ("features", "boxes"))
    assert source.regions([picture("8")])[0].objects is None


def test_a_folder_that_is_no_database_is_refused(tmp_path):
    pytest.importorskip("lmdb", reason="lmdb is not installed")
    (tmp_path / "data.mdb").write_bytes(b"nothing" * 1000)
    with pytest.raises(ModelLoadError, match="cannot be read as an LMDB"):
        of(tmp_path)


def test_other_safetensors_and_npz_are_refused(tmp_path):
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros(3)}, tmp_path / "a.safetensors")
    (tmp_path / "b.safetensors").write_bytes(b"nothing")
    np.savez(tmp_path / "c.npz", features=np.zeros((2, 3, 4)))
    np.savez(tmp_path / "d.npz", pictures=np.array([Harm()], dtype=object), features=np.zeros(1), boxes=np.zeros(1))
    (tmp_path / "e.npz").write_bytes(b"nothing")
    for name, expected in zip(
        "abcde",
        ("no regions of pictures", "as safetensors", "equally many", "plain arrays", "plain arrays"),
        strict=True,
    ):
        with pytest.raises(ModelLoadError, match=expected):
            of(next(tmp_path.glob(f"{name}.*")))


def test_the_cache_forgets_what_was_not_asked_for_longest():
    looked = []

    def look(some):
        looked.append([one.key for one in some])
        return [None if one.key == "x" else regions(int(one.key)) for one in some]

    cache = RegionCache(kept=2)

    def ask(*keys):
        return cache.regions([picture(key) for key in keys], look, "none of {keys}")

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


class Counting:
    """A detector that remembers what it has seen."""

    fingerprint = "counting"

    def __init__(self, memory=100):
        self.seen = []
        self.memory = memory

    def look(self, pictures):
        for one in pictures:
            one.image()
        if len(pictures) > self.memory:
            raise RuntimeError("CUDA out of memory")
        self.seen += [one.key for one in pictures]
        return [None if one.key == "p2" else regions(int(one.key[1:])) for one in pictures]


def drawn(count):
    return [Picture(key=f"p{n}", load=lambda: Image.new("RGB", (4, 3))) for n in range(count)]


def test_features_are_made_once_and_can_be_read(tmp_path):
    some = [*drawn(5), picture("broken")]
    detector = Counting(memory=3)
    told = []
    made = make_features(
        some, detector, tmp_path / "out", batch_size=8, tell=lambda progress: told.append(replace(progress))
    )
    assert (made.whole, made.before, made.made) == (6, 0, 4)
    assert made.left_out["p2"] == "too few regions"
    assert "there is no picture" in made.left_out["broken"]
    assert [one.made for one in told] == [4]
    source = of(tmp_path / "out")
    for number in (0, 1, 3, 4):
        same(source.regions([picture(f"p{number}.jpg")])[0], regions(number))
    again = Counting()
    made = make_features(drawn(7), again, tmp_path / "out")
    assert (made.whole, made.before, made.made) == (7, 4, 2)
    assert again.seen == ["p2", "p5", "p6"]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    class Stopped(Counting):
        def look(self, pictures):
            if len(self.seen) >= SHARD + 8:
                raise KeyboardInterrupt
            return super().look(pictures)

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
    with pytest.raises(ModelLoadError, match="of another detector"):
        make_features(drawn(2), Counting(), tmp_path / "out")


def test_memory_that_is_too_small_for_one_picture_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="out of memory"):
        make_features(drawn(2), Counting(memory=0), tmp_path)

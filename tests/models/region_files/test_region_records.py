"""Which names mean the same image; pickles of plain values and arrays, read without running any code."""

import pickle
import threading
from collections import OrderedDict

import numpy as np
import pytest
from builders import tabled
from hypothesis import given
from hypothesis import strategies as st
from region_file_forms import Harm

from vlgate.models.regions.feature_lmdb import plain_values
from vlgate.models.regions.feature_records import Names, image_name


@given(
    st.text(st.characters(exclude_characters="#/", codec="utf-8"), min_size=1), st.sampled_from(["jpg", "JPEG", "tiff"])
)
def test_folders_and_extensions_make_no_difference(name, extension):
    assert image_name(f"a/b/{name}.{extension}") == image_name(f"{name}.png") == image_name(f"c/{name}.gif")


@given(st.integers(0, 10**12), st.sampled_from(["", "COCO_val2014_", "COCO_train2014_", "v7w_"]), st.integers(1, 14))
def test_a_number_is_the_same_with_any_prefix_and_zeros(number, prefix, digits):
    assert image_name(f"some/{prefix}{number:0{digits}}.jpg") == str(number)


def test_numbers_of_coco_and_visual_genome_are_told_apart():
    names = Names(
        ["COCO_val2014_000000000012", "v7w_12.jpg", "COCO_train2014_000000000013", "013", "a/5.jpg", "b/5.jpg"]
    )
    assert len(names) == 6
    assert names.find("v7w_12") == "v7w_12.jpg"
    assert names.find("VG_100K_2/12.jpg") == "v7w_12.jpg"
    assert names.find("12.jpg") == "v7w_12.jpg"  # COCO's own names show that they are COCO's
    assert names.find("000000000012.jpg") == "COCO_val2014_000000000012"
    assert names.find("013.jpg") == "013"  # the same name
    assert names.find("v7w_13.jpg") == "013"
    assert names.find("5.jpg") is None  # it may be either
    assert names.find("a/5.jpg") == "a/5.jpg"


@tabled
def test_the_same_name_in_folders_that_cannot_be_the_same_is_another_image(key, other, alike):
    assert image_name(key) == image_name(other)
    assert Names([other]).find(key) == (other if alike else None)


def test_only_the_same_path_makes_the_same_name_the_same_image():
    names = Names(["swig/a/cook_1.jpg", "swig/b/cook_1.jpg"])
    assert names.find("train/cook_1.jpg") is None
    assert names.find("train/cook_1.jpg", "/data/images/swig/b/cook_1.jpg") == "swig/b/cook_1.jpg"
    # A perturbed image has the path of the original, and is another image all the same.
    assert names.find("train/cook_1.jpg#crop0.9", "/data/images/swig/b/cook_1.jpg") is None
    assert image_name("2357834#blur6") != image_name("2357834")
    assert Names(["2357834", "12#blur6.png"]).find("2357834#blur6") is None
    assert Names(["2357834", "12#blur6.png"]).find("12.jpg") is None
    assert Names(["2357834", "12#blur6.png"]).find("VG_100K/12.jpg#blur6") == "12#blur6.png"


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
    row = plain_values(pickle.dumps(OrderedDict(img_id="9", num_boxes=36), protocol))  # as VOLTA's scripts pickle it
    assert type(row) is dict
    assert row == {"img_id": "9", "num_boxes": 36}


OBJECTS = np.empty(1, dtype=object)
OBJECTS[0] = Harm()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Harm(), "(posix|nt).system"),
        (OBJECTS, "(posix|nt).system|'O8'"),
        (np.zeros(2, dtype=[("a", "f4")]), "V4"),
        (np.array(["x"]), "'U1'"),
        ({1, 2}, "set"),
        (1j, "complex"),
        (np.dtype("f4"), "_Type"),
        (threading.Thread, "threading.Thread"),
        (print, "print"),
        (np.load, "numpy"),
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
def test_what_is_not_a_pickle_of_values_is_an_error(content):
    with pytest.raises(ValueError, match="Error: "):
        plain_values(content)


def test_a_function_cannot_be_changed_and_nested_lists_take_no_time():
    content = b"\x80\x04\x8c\x05numpy\x8c\x05dtype\x93}\x8c\x09_functionK\x01sb."
    with pytest.raises(ValueError, match="state of a function"):
        plain_values(content)
    nested = []
    for _ in range(200):
        nested = [nested, nested]
    assert len(plain_values(pickle.dumps(nested))) == 2

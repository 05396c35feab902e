"""Pickles of plain values and arrays are read without running any code."""

import pickle
import threading
from collections import OrderedDict

import numpy as np
import pytest
from region_file_forms import Harm

from vlgate.models.regions.feature_lmdb import plain_values

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


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_rows_that_voltas_scripts_pickle_are_plain_dictionaries(protocol):
    found = plain_values(pickle.dumps(OrderedDict(img_id="9", num_boxes=36), protocol))
    assert type(found) is dict
    assert found == {"img_id": "9", "num_boxes": 36}


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


def test_a_function_cannot_be_changed():
    content = b"\x80\x04\x8c\x05numpy\x8c\x05dtype\x93}\x8c\x09_functionK\x01sb."
    with pytest.raises(ValueError, match="state of a function"):
        plain_values(content)


def test_lists_within_lists_take_no_time():
    nested = []
    for _ in range(200):
        nested = [nested, nested]
    assert len(plain_values(pickle.dumps(nested))) == 2

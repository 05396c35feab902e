"""A run in half precision says how many of its verdicts float32 would change."""

import pytest

pytest.importorskip("torch")  # here, because runs in this process forget what they imported, and torch can't come twice

MODEL = """
import numpy as np
loads = []
class Model:
    def __init__(self, dtype):
        self.dtype = dtype
        loads.append(dtype)
        assert loads.count("float32") <= 1
    def match(self, pairs):
        # Two texts of about the same length tie in half precision.
        return np.array([-float(len(p.text) // (1 if self.dtype == "float32" else 40)) for p in pairs])
def build(dtype):
    return Model(dtype)
"""


@pytest.fixture
def precise(place):
    (place.path / "half_model.py").write_text(MODEL)
    place.ready(n=80)
    return "--model=half_model:build"


def checks(place):
    return {check["name"]: check for check in place.metrics()["model"]["checks"]}


def test_it_is_checked_and_reported(place, precise):
    place.run(precise, "--dtype=bfloat16", "--device=cpu")
    found = checks(place)["precision"]
    assert found["outcome"] == "suspect"
    assert "64 of 64 cases" in found["why"]
    assert "(64 right in float32 only, 0 right in bfloat16 only)" in found["why"]
    assert "precision: suspect: 64 of 64 cases" in (place.path / "out" / "summary.md").read_text()


def test_a_run_in_float32_asks_nothing_twice(place, precise):
    place.run(precise, "--device=cpu").assert_outcomes(passed=81)
    assert set(checks(place)) == {"polarity", "batch_invariance", "determinism"}


def test_a_model_without_a_dtype_is_not_loaded_again(data, right):
    data.run(right, "--dtype=bfloat16", "--device=cpu")
    found = checks(data)["precision"]
    assert found["outcome"] == "not applicable"
    assert "built without a dtype" in found["why"]


def test_a_run_ends_well_if_the_model_cannot_be_loaded_again(place, precise):
    file = place.path / "half_model.py"
    file.write_text(file.read_text().replace("<= 1", "< 1"))
    place.run(precise, "--dtype=float16", "--device=cpu")
    assert checks(place)["precision"]["outcome"] == "not applicable"
    assert "AssertionError" in checks(place)["precision"]["why"]

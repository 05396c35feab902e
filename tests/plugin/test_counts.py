"""What pytest's last line counts."""

import pytest

HALF = "-float(len(pair.text)) if pair.image.key[-5] in '02468' else 0.0"


@pytest.mark.parametrize("items", ["pair", "batch"])
def test_it_counts_cases_in_every_mode(place, items, workers):
    place.valse(40)
    place.thresholds('[gate."valse/existence".acc_r]\nmin = 0.1\n')
    result = place.run(place.matching(HALF, head="image_names = True"), f"--items={items}", *workers, "-q", ret=0)
    result.stdout.fnmatch_lines(["PASS: my_model:build may be released: 1 of 1 gate passes (exit status 0)"])
    result.stdout.fnmatch_lines(["40 cases: 20 right, 20 missed", "21 passed, 20 missed in *"])


def test_tests_that_fail_although_the_gates_pass_are_in_the_decision(data, right):
    (data.path / "test_mine.py").write_text("def test_mine():\n    assert 0\n")
    result = data.run(right, "test_mine.py", ret=1)
    result.stdout.fnmatch_lines(
        ["FAIL: right_model:build may not be released: 1 of 1 gate passes, but a test that is not a gate fails (exit*)"]
    )
    result.stdout.fnmatch_lines(["*1 failed, 41 passed in *"])


def test_each_passed_test_is_listed_once(place, right):
    place.valse(40)
    result = place.run(right, "--items=batch", "-rp")
    assert len([line for line in result.outlines if line.startswith("PASSED tests_vl") or "::test_foil" in line]) == 1
    result.stdout.fnmatch_lines(["*40 passed in *"])

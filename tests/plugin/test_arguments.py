"""Options with a space before their value, as people write them."""

import pytest

from vlgate.plugin.options.arguments import joined


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (["--data", "here", "-q"], ["--data=here", "-q"]),
        (["--data", "nowhere"], ["--data", "nowhere"]),
        (["--results", "new", "-n", "2"], ["--results=new", "-n", "2"]),
        (["--model", "here", "--model=here"], ["--model=here", "--model=here"]),
        (["--other", "here"], ["--other", "here"]),
        (["--results"], ["--results"]),
        (["--overwrite", "here"], ["--overwrite", "here"]),
    ],
)
def test_a_value_that_could_be_taken_for_a_test_path_is_joined(tmp_path, given, made):
    (tmp_path / "here").mkdir()
    assert joined(given, tmp_path) == made


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["serial", "xdist"])
def test_new_results_with_a_space_are_those_of_the_whole_run(place, right, workers):
    place.valse(12)
    place.thresholds()
    result = place.pytester.runpytest_subprocess(
        "--pyargs", "tests_vl", "--data", "data", "--results", "new", right, "--device=cpu", *workers
    )
    assert result.ret in {0, 1}
    assert place.task(folder="new")["judged"] == 12

"""Files and models that are hostile or damaged end in one line that names them."""

import json
import os

import pytest

USAGE = pytest.ExitCode.USAGE_ERROR


@pytest.fixture
def data(place):
    place.valse(n=4)
    return place


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"schema = {'1' * 4301}\n", "*number*"),
        (f"schema = {'[' * 5000}\n", "*nested*"),
        ("schema = 1\n" + "a" * 2_000_000, "*2,000,011 bytes*"),
    ],
    ids=["digits", "brackets", "long"],
)
def test_a_thresholds_file_that_no_one_wrote_by_hand_is_refused(data, right, text, says):
    (data.path / "thresholds.toml").write_text(text)
    result = data.run(right)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: *thresholds.toml: {says}"])


def test_a_pipe_in_place_of_cases_is_refused(data, right):
    os.mkfifo(data.path / "data" / "cases.jsonl")
    result = data.run(right)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["ERROR: *cases.jsonl*not a regular file*"])


def test_strings_in_an_object_array_are_not_numbers(data):
    body = "def match(self, pairs):\n    return np.array([str(len(pair.text)) for pair in pairs], dtype=object)"
    result = data.run(data.model(body))
    assert result.ret == 1
    assert data.task()["unscored"] == 4
    result.stdout.fnmatch_lines(["*match() of the model * returned *str*"])


def test_a_note_of_a_model_cannot_format_the_summary(data):
    body = "note = '# 100 % right\\n\\n## Gates pass | <img src=x> \\x1b[31m'\n"
    body += "def match(self, pairs):\n    return -np.array([len(pair.text) for pair in pairs])"
    data.run(data.model(body))
    summary = (data.path / "out" / "summary.md").read_text()
    assert "\n## Gates pass" not in summary
    assert "<img" not in summary
    assert "\x1b" not in summary


def test_the_environment_lists_the_protocols(data, right):
    for args, expected in (([], []), (["--protocol=valse_paper_ties", "--overwrite"], ["valse_paper_ties"])):
        data.run(right, *args)
        found = json.loads((data.path / "out" / "environment.json").read_text())
        assert found["options"]["protocols"] == expected

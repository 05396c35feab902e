"""A cause that many tests share is printed once; every test keeps its own entry in JUnit."""

import xml.etree.ElementTree as ET

import pytest

CUT = """
def match(self, pairs):
    from vlgate.errors import NoReplyError
    raise NoReplyError([0], f"the answer is cut off at max_tokens=8: '{pairs[0].text}'; write ?max_tokens=64")
"""


def blocks(result):
    return [line for line in result.outlines if line.startswith("____")]


def failed(result):
    return [line for line in result.outlines if line.startswith("FAILED ") and "thresholds.toml" not in line]


@pytest.mark.slow
def test_forty_cases_without_a_reply_for_one_cause_are_one_line(data, workers):
    result = data.run(data.model(CUT), "--items=pair", "--junitxml=junit.xml", *workers, ret=1)
    assert len(failed(result)) == 1
    assert "cut off at max_tokens=8" in str(result.stdout)
    line = "40 of 40 cases unscored: the answer is cut off at max_tokens=8: e.g. 'There are*'; write ?max_tokens=64"
    result.stdout.fnmatch_lines([line, "the first case: *record_*"])
    result.stdout.fnmatch_lines(["unscored: 40 cases in valse/existence: the answer is cut off at max_tokens=8: e.g.*"])
    result.stdout.fnmatch_lines(["*41 failed*"])  # the cases and the gate
    assert (
        len([block for block in blocks(result) if "thresholds.toml" not in block and "valse/existence:" not in block])
        <= 1
    )
    cases = ET.parse(data.path / "junit.xml").getroot().findall(".//testcase[failure]")
    assert len([case for case in cases if "record_" in case.get("name")]) == 40
    assert str(result.stdout).count("cut off") <= 6
    verdict = data.verdict()
    assert verdict["verdict"] == "broken"


def test_two_causes_are_two_lines_and_each_says_its_count(data):
    busy = "if '7' in pairs[0].text: raise NoReplyError([0], 'the service answers 429: busy')"
    body = CUT.replace("    raise", f"    {busy}\n    raise")
    result = data.run(data.model(body), "--items=pair", "--batch-size=1")
    lines = ["36 of 40 cases unscored: the answer is cut off*", "4 of 40 cases unscored: *429: busy"]
    result.stdout.fnmatch_lines(lines)
    result.stdout.fnmatch_lines(["unscored: 40 cases in valse/existence: 36 x the answer is *, 4 x *429: busy"])
    assert len(failed(result)) == 2


def test_a_case_that_fails_alone_keeps_its_own_name(data):
    seven = "if any('There are 7 dogs.' == one.text for one in pairs): raise ValueError('seven')"
    result = data.run(data.matching(first=seven), "--items=pair", "--batch-size=2")
    assert len(failed(result)) == 1
    result.stdout.fnmatch_lines(["FAILED *valse/existence:record_7* - *seven*", "*2 failed*"])


@pytest.mark.slow
def test_a_model_that_raises_everywhere_is_shown_once(data, workers):
    body = "def match(self, pairs):\n    raise ValueError(f'no weights for {pairs[0].text!r}')"
    result = data.run(data.model(body), "--items=pair", *workers)
    assert len(failed(result)) == 1
    result.stdout.fnmatch_lines(["FAILED *record_* and 39 more* - Value*"])
    assert str(result.stdout).count("def match(self, pairs):") == 1
    result.stdout.fnmatch_lines(["*41 failed*"])


def test_missing_images_and_missing_rows_are_one_cause_each(place):
    place.valse(n=80, images=False)
    for name in range(100, 138):
        place.image(f"vg/{name}.jpg")
    place.thresholds()
    result = place.run(place.matching("0 * pair.image.load().width - len(pair.text)"))
    result.stdout.fnmatch_lines(["4 of 80 cases unscored: image e.g. 'v7w_13?.jpg': not found; looked in *"])
    assert len(failed(result)) == 1
    (place.path / "replies.jsonl").write_text('{"image": "x.jpg", "text": "y", "score": 1.0}\n')
    result = place.run("--model=replay:replies.jsonl", "--items=pair")
    result.stdout.fnmatch_lines(["80 of 80 cases unscored: *replies.jsonl has no score for * of * requests, such as *"])
    assert len(failed(result)) == 1


def test_an_item_of_many_cases_says_a_cause_once(data):
    body = CUT.replace("raise NoReplyError([0], ", "raise NoReplyError(range(len(pairs)), ")
    result = data.run(data.model(body), "--items=batch")
    result.stdout.fnmatch_lines(
        ["40 of 40 cases could not be scored", "40 cases, the first is *: the answer is cut off*"]
    )
    assert str(result.stdout).count("cut off") <= 3


def test_failures_of_other_tests_are_left_alone(data):
    (data.path / "test_mine.py").write_text("\n".join(f"def test_{n}():\n    assert not {n}\n" for n in range(1, 4)))
    result = data.run(data.model(CUT), "test_mine.py", "--items=pair")
    assert len(failed(result)) == 4
    result.stdout.fnmatch_lines(["*44 failed*"])

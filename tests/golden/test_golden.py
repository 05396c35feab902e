"""The outputs are those of ``digests.txt``; ``golden.py`` beside this file writes and compares them.

The quick group runs by default, the others if the variable SLOW is set: they take six minutes.
"""

import os
from functools import cache

import golden
import pytest
from builders import tabled
from golden import GROUPS, Group
from golden_normal import masked, normal, rounded

SLOW = pytest.mark.skipif(
    "SLOW" not in os.environ, reason="minutes: set SLOW=1, or call tests/golden/golden.py compare"
)
NAMES = [pytest.param(name, marks=() if group.quick else SLOW) for name, group in GROUPS.items()]


@cache
def other_versions():
    """The packages whose version is not that of the digests; the processor does not matter."""
    facts, here = golden.written()[0], golden.here()
    return [f"{key} {facts.get(key)}" for key in here if key != "processor" and facts.get(key) != here[key]]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_as_they_were_written(name, capsys):
    if reason := golden.missing(name):
        pytest.skip(reason)
    if others := other_versions():
        pytest.skip(f"the digests are those of {', '.join(others)}")
    assert golden.compare([name], golden.ROOT / ".golden") == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", GROUPS)
def test_each_group_has_digests(name):
    assert any(path.startswith(f"{name}/") for path in golden.written()[1])


def test_a_changed_output_is_named_with_its_lines(tmp_path, monkeypatch, capsys):
    """A group of one file, whose command prints another line the second time."""
    monkeypatch.setattr(golden, "DIGESTS", tmp_path / "digests.txt")
    monkeypatch.setitem(GROUPS, "one", Group(commands={"answer": "vlgate models random"}))
    assert golden.write(["one"], tmp_path) == golden.compare(["one"], tmp_path) == 0
    monkeypatch.setitem(GROUPS, "one", Group(commands={"answer": "vlgate models blind"}))
    assert golden.compare(["one"], tmp_path) == 1
    printed = capsys.readouterr().out
    assert "differs: one/answer.out\n" in printed
    assert "  -$ vlgate models random\n" in printed
    assert "  +$ vlgate models blind\n" in printed
    assert "1 of 1 files differ" in printed


def test_another_processor_compares_what_does_not_depend_on_it(tmp_path, monkeypatch):
    monkeypatch.setattr(golden, "DIGESTS", tmp_path / "digests.txt")
    text = "0.12345678901"
    monkeypatch.setattr(golden, "texts", lambda _: {"file": text})
    monkeypatch.setitem(GROUPS, "one", Group(commands={}))
    golden.write(["one"], tmp_path)
    text = "0.12345678902"
    assert golden.compare(["one"], tmp_path) == 1
    monkeypatch.setattr(golden, "here", lambda: {"processor": "another"})
    assert golden.compare(["one"], tmp_path) == 0
    text = "0.123457"
    assert golden.compare(["one"], tmp_path) == 0
    text = "0.123458"
    assert golden.compare(["one"], tmp_path) == 1


@tabled
def test_times_and_paths_are_left_out_and_figures_stay(text, expected, tmp_path):
    (tmp_path / "said.txt").write_text(text)
    assert normal(tmp_path / "said.txt", {"DIR": "<here>"}) == expected


def test_fractions_are_rounded_or_masked():
    assert rounded("0.66666666667 of 12, 1.5e-12") == "0.666667 of 12, 1.5e-12"
    assert masked("score 0.25 of 12 at data:0123456789ab") == "score # of 12 at data:#"

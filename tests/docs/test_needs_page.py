"""The page about what the benchmarks need: its text and defects are those of the code."""

import re

import pytest

from vlgate.studies.sensitivity.matrix import Cell, Matrix
from vlgate.studies.sensitivity.readings import READINGS
from vlgate.types import Metric


@pytest.fixture(scope="module")
def script(scripts):
    return scripts("write_needs")


def test_the_page_is_what_the_code_says(script):
    text = script.PAGE.read_text(encoding="utf-8")
    [matrix] = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    needs = "\n".join(re.findall(r"^\| `[\w-]+/.*\|$", text, re.MULTILINE))
    assert text == script.page(needs, matrix), "run: python scripts/write_needs.py --data DIR"
    assert all(f"\n{name} " in matrix for name in (*script.BLIND, *READINGS))
    assert needs.count("\n") + 1 == len(re.findall(r"^ +\d+  ", matrix, re.MULTILINE))


def test_a_row_has_the_defects_that_make_cases_a_guess(script):
    figures = {
        "bag-of-words": (0.5, 0.75),
        "noun-order": (1.0, 0.5),
        "colour-blind": (0.002, 0.999),
        "constant": (None, 0.0),
    }
    cells = {
        ("mine/all", defect): Cell(
            task="mine/all",
            defect=defect,
            metric=Metric(value=value, low=value / 2, high=value, n=1200),
            intact=1.0,
            claimed=None,
            guessed=share,
        )
        for defect, (share, value) in figures.items()
    }
    [row] = script.rows(Matrix(tasks=("mine/all",), defects=tuple(figures), cells=cells))
    guesses = "`noun-order` 100 %: 0.50 (0.25 to 0.50); `bag-of-words` 50 %: 0.75 (0.38 to 0.75)"
    assert row == f"| `mine/all` | 1,200 | {guesses} |"

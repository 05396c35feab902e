"""The page on performance: its command prints what it says, and its hours are those of the cost model."""

import re
import shlex
from pathlib import Path

import pytest

from vlgate.cli import main
from vlgate.run.census import Counts, Rates, gpus_within

PAGE = (Path(__file__).parents[2] / "docs/performance.md").read_text()
DUAL, GENERATIVE = Rates(image=0.002, text=0.0003), Rates(pair=0.5)


def number(cell):
    return int(cell.strip().replace(",", ""))


def seconds(cell):
    value, unit = cell.split()
    return float(value) * {"s": 1, "min": 60, "h": 3600}[unit]


def test_the_command_prints_what_the_page_says(capsys, monkeypatch):
    monkeypatch.delenv("VLGATE_DATA", raising=False)
    [(command, said)] = re.findall(r"^\$ vlgate (tasks .*) \| tail -n 1\n(.*)$", PAGE, re.MULTILINE)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == said


@pytest.mark.parametrize("name", ["VALSE", "Winoground", "CARETS", "BLA", "VL-CheckList", "SugarCrepe"])
def test_the_hours_are_those_of_the_cost_model(name):
    [row] = re.findall(rf"^\| {name} \|(.*)\|$", PAGE, re.MULTILINE)
    _, images, texts, requests, dual, generative, gpus = (cell.strip() for cell in row.split("|"))
    counts = Counts(images=number(images), texts=0 if texts == "-" else number(texts), requests=number(requests))
    if dual != "-":
        assert DUAL.seconds(counts) == pytest.approx(seconds(dual), rel=0.05, abs=0.5)
    assert GENERATIVE.seconds(counts) == pytest.approx(seconds(generative), rel=0.15)
    assert gpus_within(GENERATIVE.seconds(counts), 1) == number(gpus)

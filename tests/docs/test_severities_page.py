"""The page about severities: its text is that of the code, its curves fall, and how they are computed."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.fixtures.reader.reader import Reader
from vlgate.perturb.images import PERTURBATIONS
from vlgate.sources.scenes.scenes import shipped
from vlgate.types import Task

FAMILIES = {
    perturbation.family for perturbation in PERTURBATIONS.values() if perturbation.name == f"{perturbation.family}-5"
}


@pytest.fixture(scope="module")
def script(scripts):
    return scripts("write_severities")


@pytest.fixture(scope="module")
def curves(scripts):
    return scripts("severities.curves")


def test_the_page_is_what_the_code_says(script):
    text = script.PAGE.read_text(encoding="utf-8")
    measured = re.findall(r"^\| `tiny-.*\|$", text, re.MULTILINE)
    hidden = re.findall(r"^\| `(?!tiny-).*\|$", text, re.MULTILINE)
    assert text == script.page("\n".join(measured), "\n".join(hidden)), "run: python scripts/write_severities.py"
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in measured]
    assert {(row[0], row[1]) for row in rows} == {
        (f"`{model}`", family) for model in script.MODELS for family in FAMILIES
    }
    assert {row[-1] for row in rows} == {"none"}  # a curve that rises needs a reason on the page
    assert tuple(sorted(FAMILIES)) == script.FAMILIES


def test_the_figure_has_a_line_for_each_row(script):
    lines = ET.fromstring(script.FIGURE.read_text(encoding="utf-8")).findall(".//{*}polyline")  # our own
    assert len(lines) == len(script.MODELS) * len(FAMILIES)
    assert all(len(line.get("points").split()) == 6 for line in lines)


class Watched(Reader):
    """A reader that is right about every scene, and remembers which images it was shown."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def match(self, pairs):
        self.seen |= {pair.image.key.partition("#")[2] for pair in pairs}
        return super().match(pairs)


def test_the_same_cases_are_asked_at_every_severity(curves):
    [whole] = shipped(["scenes/existence"])
    task = Task(id=whole.id, capability=whole.capability, shape=whole.shape, cases=whole.cases[:5])
    model = Watched()
    asked = ModelPredictor(model=model, name="watched", caller=Caller(name="watched", size=64), seed=0)
    [curve] = curves.curves(asked, [task], ["contrast"])
    assert model.seen == {"", *(f"contrast-{severity}" for severity in range(1, 6))}
    assert (curve.right == np.ones((6, 5))).all()
    assert [point.value for point in curve.points] == [1.0] * 6
    assert curve.rises == []


def test_a_rise_is_told_from_chance(curves):
    right = np.tile(np.arange(20) < 10, (6, 1)).astype(float)
    right[4, 10:14] = 1  # four more cases: the test of fifteen pairs together needs ten of ten
    assert curves.Curve(model="m", family="f", right=right).rises == []
    right[5] = 1
    assert curves.Curve(model="m", family="f", right=right).rises == [(0, 5), (1, 5), (2, 5), (3, 5)]
    right[5, :10] = 0  # as many lost as gained
    assert curves.Curve(model="m", family="f", right=right).rises == []

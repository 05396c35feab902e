"""``--explain``: which cases are explained, what is said before, and what stands in the results folder."""

import json

import numpy as np
import pytest
from PIL import Image

BODY = """
image_names = True

def match(self, pairs):
    with open({log!r}, "a") as log:
        log.writelines(f"{{pair.image.key}} {{pair.text}}\\n" for pair in pairs)
    return np.array([self.score(pair) for pair in pairs])

def score(self, pair):
    length = len(pair.text.split()) - 1.0 * (" no " in pair.text) - 5.0 * ("7" not in pair.text)
    length += 0.01 * self.number(pair.text)
    dark = float(np.asarray(pair.image.load())[:4, :4].mean() < 40)
    return dark + length * (-1 if " no " in pair.text else 1)

def number(self, text):
    return sum(int(word) for word in text.split() if word.isdigit())
"""


@pytest.fixture
def model(place):
    place.thresholds()
    return place.model(BODY.format(log=str(place.path / "log.txt")), name="some_model")


@pytest.fixture(autouse=True)
def _data(place):
    place.valse(n=12)
    chance = np.random.default_rng(0)
    for file in (place.path / "data/images/vg").iterdir():
        Image.fromarray(chance.integers(0, 255, (48, 64, 3)).astype(np.uint8)).save(file)


def index(place, folder="out"):
    return json.loads((place.path / folder / "explanations/index.json").read_text())


def files(place, folder="out"):
    return {file.name: file.read_bytes() for file in sorted((place.path / folder / "explanations").iterdir())}


def log(place):
    return (place.path / "log.txt").read_text().splitlines()


@pytest.mark.slow
def test_the_worst_missed_cases_are_explained_and_how_much_is_asked_is_said_before(place, model):
    place.run(model)
    before = len(log(place))
    result = place.run(model, "--explain=2")
    said = [line for line in result.outlines if line.startswith("explaining ")]
    found = index(place)["explanations"]
    assert len(said) == 1
    assert said[0].startswith("explaining 2 missed cases of 1 task with ")
    known = 2 * 2  # the requests of the two cases themselves were asked before
    assert len(log(place)) - 2 * before == int(said[0].split()[-2].replace(",", "")) - known
    assert len(found) == 2
    assert [one["case"] for one in found] == ["record_0", "record_1"]
    assert found[0]["margin"] < found[1]["margin"] < 0
    for one in found:
        assert {finding["method"] for finding in one["findings"]} >= {"hide windows", "leave words out"}
        assert all((place.path / "out/explanations" / shown["file"]).is_file() for shown in one["pictures"])
    result.stdout.fnmatch_lines(["*= why cases were missed =*", f"valse/existence:{found[0]['case']}: *"])


def test_without_the_option_nothing_more_is_asked_or_written(place, model):
    result = place.run(model)
    assert not (place.path / "out/explanations").exists()
    assert not [line for line in result.outlines if line.startswith("explaining ")]


@pytest.mark.slow
def test_two_workers_write_the_same_bytes_as_none(place, model):
    place.run(model, "--explain=1")
    alone = files(place)
    place.run(model, "--explain=1", "-n", "2")
    assert files(place) == alone
    assert len(alone) > 1


def test_the_explanations_of_an_earlier_run_are_refused_or_removed(place, model):
    place.run(model, "--explain=1")
    (place.path / "out/metrics.json").unlink()
    for name in ("report.html", "cases.parquet", "predictions.parquet", "summary.md", "environment.json"):
        (place.path / "out" / name).unlink()
    (place.path / "out/explanations/mine.txt").write_text("kept")
    place.run(model, overwrite=False, ret=4)
    place.run(model)
    assert list(files(place)) == ["mine.txt"]


def test_a_model_that_fails_in_the_explanations_costs_nothing_else(place):
    place.thresholds()
    body = BODY.format(log=str(place.path / "log.txt")).replace(
        "dark =", "assert '#' not in pair.image.key\n    dark ="
    )
    result = place.run(place.model(body, name="failing_model"), "--explain=1")
    result.stdout.fnmatch_lines(["not all were explained: the model raised *"])
    assert place.metrics()["complete"]


def test_ctrl_c_in_the_explanations_leaves_an_incomplete_run_with_its_figures(place):
    place.thresholds()
    body = BODY.format(log=str(place.path / "log.txt"))
    body = body.replace("dark =", "exec('raise KeyboardInterrupt' if '#' in pair.image.key else '')\n    dark =")
    place.run(place.model(body, name="stopped_model"), "--explain=1", ret=2)
    figures = place.metrics()
    assert not figures["complete"]
    assert "the run was interrupted" in figures["why"]
    assert figures["tasks"]["valse/existence"]["judged"] == 12

"""Pages of the docs are what their scripts and the code say, and their figures what the code reaches now."""

import re
import shlex
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.fixtures.reader.reader import Reader
from vlgate.perturb.images import PERTURBATIONS
from vlgate.probes.explaining.rates import measured
from vlgate.run.census import Counts, Rates, gpus_within
from vlgate.sources.scenes.scenes import shipped
from vlgate.studies.sensitivity.matrix import Cell, Matrix
from vlgate.studies.sensitivity.readings import READINGS
from vlgate.types import Metric, Task

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared/data"


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        yield import_module


def text_of(script):
    return script.PAGE.read_text(encoding="utf-8")


def cells(rows):
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_pages_of_models_are_what_the_registry_says(script):
    models = script("write_models")
    page, served = (file.read_text(encoding="utf-8") for file in models.PAGES)
    assert [models.page(page), models.page(served)] == [page, served], "run: python scripts/write_models.py"
    assert "| `blip-vqa` | `Salesforce/blip-vqa-base` |" in page
    assert "| `first=enc` (the default), `cls` |" in page
    assert "| `rpm=N` | requests per minute at most" in served


def test_the_page_of_explanations_shows_the_rates_that_stand_beside_the_pictures(script):
    explanations = script("write_explanations")
    assert explanations.table(measured(), explanations.CASES) in text_of(explanations)


def test_every_kind_has_an_example_on_the_page_of_phenomena(script):
    phenomena = script("write_phenomena")
    assert set(phenomena.INPUTS) == set(phenomena.KINDS)


@pytest.mark.slow
def test_the_page_of_phenomena_is_what_the_kinds_make(script):
    phenomena = script("write_phenomena")
    assert text_of(phenomena) == phenomena.page(), "run: python scripts/write_phenomena.py"


def test_the_page_of_sensitivity_has_every_defect_and_claim(script):
    sensitivity = script("write_sensitivity")
    [matrix] = re.findall(r"```text\n(.*?)\n```", text_of(sensitivity), re.DOTALL)
    assert text_of(sensitivity) == sensitivity.page(matrix), "run: python scripts/write_sensitivity.py"
    assert matrix.endswith(", 0 not as claimed")
    assert all(f"\n{name} " in matrix for name in sensitivity.NAMES)


def test_the_page_of_what_benchmarks_need_has_every_defect_and_task(script):
    needs = script("write_needs")
    [matrix] = re.findall(r"```text\n(.*?)\n```", text_of(needs), re.DOTALL)
    rows = re.findall(r"^\| `[\w-]+/.*\|$", text_of(needs), re.MULTILINE)
    assert text_of(needs) == needs.page("\n".join(rows), matrix), "run: python scripts/write_needs.py --data DIR"
    assert all(f"\n{name} " in matrix for name in (*needs.BLIND, *READINGS))
    assert len(rows) == len(re.findall(r"^ +\d+  ", matrix, re.MULTILINE))


def test_a_row_of_what_benchmarks_need_has_the_defects_that_make_cases_a_guess(script):
    figures = {
        "bag-of-words": (0.5, 0.75),
        "noun-order": (1.0, 0.5),
        "colour-blind": (0.002, 0.999),
        "constant": (None, 0.0),
    }
    cells = {}
    for defect, (share, value) in figures.items():
        metric = Metric(value=value, low=value / 2, high=value, n=1200)
        cell = Cell(task="mine/all", defect=defect, metric=metric, intact=1.0, claimed=None, guessed=share)
        cells["mine/all", defect] = cell
    [row] = script("write_needs").rows(Matrix(tasks=("mine/all",), defects=tuple(figures), cells=cells))
    guesses = "`noun-order` 100 %: 0.50 (0.25 to 0.50); `bag-of-words` 50 %: 0.75 (0.38 to 0.75)"
    assert row == f"| `mine/all` | 1,200 | {guesses} |"


def test_the_page_of_shortcuts_is_what_the_code_says(script):
    shortcuts = script("write_shortcuts")
    text = text_of(shortcuts)
    probes, table, examples = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert probes in shortcuts.PAGE_TEXT
    parts = {
        "counts": re.search(r"parts of the benchmarks: (.*?)\. Of a task\n", text, re.DOTALL)[1],
        "table": table.rstrip("\n"),
        "not_run": "".join(re.findall(r"^- `.*not run: .*\n", text, re.MULTILINE)).rstrip("\n"),
        "swaps": re.search(r"has (\d+ of \d+ solved cases)", text)[1],
        "examples": examples.rstrip("\n"),
    }
    expected = shortcuts.PAGE_TEXT.format(limit=shortcuts.LIMIT, **parts)
    assert text == expected, "run: python scripts/write_shortcuts.py --data DIR"
    assert table.startswith(f"| {' | '.join(shortcuts.HEADS)} |\n")


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
def test_a_row_of_shortcuts_is_what_the_probes_reach_now(script):
    shortcuts = script("write_shortcuts")
    [task] = shortcuts.tasks_of((DATA,), ("sugarcrepe/swap_obj",))
    now = shortcuts.row(task, shortcuts.shortcuts(task), 0.0).rpartition(" | ")[0]
    assert f"\n{now} | " in text_of(shortcuts)


PERFORMANCE = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
DUAL, GENERATIVE = Rates(image=0.002, text=0.0003), Rates(pair=0.5)


def number(cell):
    return 0 if cell == "-" else int(cell.replace(",", ""))


def seconds(cell):
    value, unit = cell.split()
    return float(value) * {"s": 1, "min": 60, "h": 3600}[unit]


def test_the_command_prints_what_the_page_of_performance_says(vlgate):
    [(command, said)] = re.findall(r"^\$ vlgate (tasks .*) \| tail -n 1\n(.*)$", PERFORMANCE, re.MULTILINE)
    assert vlgate(*shlex.split(command)).splitlines()[-1] == said


@pytest.mark.parametrize("name", ["VALSE", "Winoground", "CARETS", "BLA", "VL-CheckList", "SugarCrepe"])
def test_the_hours_are_those_of_the_cost_model(name):
    [row] = cells(re.findall(rf"^\| {name} \|(.*)\|$", PERFORMANCE, re.MULTILINE))
    _, images, texts, requests, dual, generative, gpus = row
    counts = Counts(images=number(images), texts=number(texts), requests=number(requests))
    if dual != "-":
        assert DUAL.seconds(counts) == pytest.approx(seconds(dual), rel=0.05, abs=0.5)
    assert GENERATIVE.seconds(counts) == pytest.approx(seconds(generative), rel=0.15)
    assert gpus_within(GENERATIVE.seconds(counts), 1) == number(gpus)


def rates_of(script, title):
    section = text_of(script).partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return cells(re.findall(r"^\|.*\|$", section, re.MULTILINE))[2:]


def test_the_page_of_error_rates_is_what_the_code_says(script):
    """Tables that are sums are computed again; those that are simulated take ten seconds, and numpy may draw anew."""
    rates = script("write_error_rates")
    assert rates.TEXT.partition("{gates}")[0].partition("## Gates")[2] in text_of(rates)
    assert rates_of(rates, "Known limits") == [list(row) for row in rates.limits()]
    assert rates_of(rates, "McNemar's test") == [list(row) for row in rates.tests()]


@pytest.mark.parametrize(("n", "least"), [(30, 0.6), (300, 0.9)])
def test_the_rates_of_a_gate_are_those_of_scipys_wilson_intervals(script, n, least):
    ends = [stats.binomtest(k, n).proportion_ci(0.95, method="wilson") for k in range(n + 1)]

    def rate(share, held):
        return stats.binom.pmf([k for k, end in enumerate(ends) if held(end)], n, share).sum()

    expected = (
        rate(least, lambda end: end.high < least),
        rate(least, lambda end: end.low >= least),
        1 - rate(least - 0.1, lambda end: end.high < least),
        1 - rate(min(1.0, least + 0.1), lambda end: end.low >= least),
    )
    gates = rates_of(script("write_error_rates"), "Gates")
    (row,) = (row for row in gates if row[:2] == [f"{n:,}", f"min = {least:.2f}"])
    assert [float(cell) for cell in row[2:6]] == pytest.approx([100 * one for one in expected], abs=0.06)


def test_false_alarms_false_passes_and_coverage_are_near_their_levels(script):
    rates = script("write_error_rates")
    assert max(float(cell) for row in rates_of(rates, "Gates") for cell in row[2:4]) <= 4.0
    assert max(float(cell) for row in rates_of(rates, "Gates on a drop") for cell in row[1:3]) <= 3.5
    assert min(float(row[4]) for row in rates_of(rates, "Intervals of a difference")) >= 94.0
    assert max(float(row[1]) for row in rates_of(rates, "McNemar's test")) <= 5.4


def test_an_unchanged_model_passes_as_often_as_the_power_says(script):
    """With the number of cases that the door asks for."""
    rates = script("write_error_rates")
    needed = number(re.search(r"below ([\d,]+) cases", text_of(rates))[1])
    passes = (rates._drop_statistics(needed, 0.0, 0.05) >= rates.Z).mean()
    assert passes == pytest.approx(0.80, abs=0.03)


FAMILIES = {one.family for one in PERTURBATIONS.values() if one.name == f"{one.family}-5"}


def test_the_page_of_severities_and_its_figure_are_what_the_code_says(script):
    severities = script("write_severities")
    text = text_of(severities)
    models = re.findall(r"^\| `tiny-.*\|$", text, re.MULTILINE)
    hidden = re.findall(r"^\| `(?!tiny-).*\|$", text, re.MULTILINE)
    assert text == severities.page("\n".join(models), "\n".join(hidden)), "run: python scripts/write_severities.py"
    named = {(f"`{model}`", family) for model in severities.MODELS for family in FAMILIES}
    assert {(row[0], row[1]) for row in cells(models)} == named
    assert {row[-1] for row in cells(models)} == {"none"}  # a curve that rises needs a reason on the page
    assert tuple(sorted(FAMILIES)) == severities.FAMILIES
    lines = ET.fromstring(severities.FIGURE.read_text(encoding="utf-8")).findall(".//{*}polyline")  # our own
    assert len(lines) == len(named)
    assert all(len(line.get("points").split()) == 6 for line in lines)


class Watched(Reader):
    """A reader that is right about every scene, and remembers which images it was shown."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def match(self, pairs):
        self.seen |= {pair.image.key.partition("#")[2] for pair in pairs}
        return super().match(pairs)


def test_the_same_cases_are_asked_at_every_severity(script):
    [whole] = shipped(["scenes/existence"])
    task = Task(id=whole.id, capability=whole.capability, shape=whole.shape, cases=whole.cases[:5])
    model = Watched()
    asked = ModelPredictor(model=model, name="watched", caller=Caller(name="watched", size=64), seed=0)
    [curve] = script("severities.curves").curves(asked, [task], ["contrast"])
    assert model.seen == {"", *(f"contrast-{severity}" for severity in range(1, 6))}
    assert (curve.right == np.ones((6, 5))).all()
    assert [point.value for point in curve.points] == [1.0] * 6
    assert curve.rises == []


def test_a_rise_is_told_from_chance(script):
    def rises(right):
        return script("severities.curves").Curve(model="m", family="f", right=right).rises

    right = np.tile(np.arange(20) < 10, (6, 1)).astype(float)
    right[4, 10:14] = 1  # four more cases: the test of fifteen pairs together needs ten of ten
    assert rises(right) == []
    right[5] = 1
    assert rises(right) == [(0, 5), (1, 5), (2, 5), (3, 5)]
    right[5, :10] = 0  # as many lost as gained
    assert rises(right) == []

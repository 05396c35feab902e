"""The pages of docs/reference are what the code says."""

import subprocess
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from vlgate.metrics import score_rules, stats
from vlgate.metrics.measures import GROUPED
from vlgate.metrics.shapes import SHAPES
from vlgate.plugin.parse_options import read
from vlgate.record.options import SETTINGS

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "write_reference.py"
ORDERS = np.array(list(permutations([1.0, 2.0, 4.0, 8.0])))


@pytest.mark.slow
def test_the_reference_pages_are_what_the_code_says():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}run `make docs` and commit docs/reference"


def test_every_option_has_a_section():
    page = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    assert [line.removeprefix("## --") for line in page.splitlines() if line.startswith("## --")] == [
        setting.name for setting in SETTINGS.values()
    ]


IN_WORDS = {
    "baseline",
    "disputes",
    "require-gates",
    "suite",
    "data",
    "limit",
    "thresholds",
    "results",
    "shard",
    "controls",
    "controls-limit",
    "protocol",
    "log-to",
    "cache",
}


PLAIN = [setting for setting in SETTINGS.values() if setting.name not in IN_WORDS]


@pytest.mark.parametrize("setting", PLAIN, ids=lambda setting: setting.name)
def test_an_option_with_its_documented_default_changes_nothing(setting, pytester):
    fixed = ["--results=out", "--thresholds=gates.toml"]
    left_out = read(pytester.parseconfig(*fixed))
    spelled = f"--no-{setting.name}" if setting.flag else f"--{setting.name}={setting.default}"
    given = read(pytester.parseconfig(*fixed, spelled))
    assert given == left_out


def mean_facts(shape):
    """The mean of each fact over all orders of the scores of a case."""
    yes_or_no = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)])
    rules = {
        "pair": lambda: score_rules.pair_case_metrics(
            np.repeat([[1.0, 2.0], [2.0, 1.0]], 4, axis=0), np.tile(yes_or_no, (2, 1))
        ),
        "quad": lambda: score_rules.quad_case_metrics(ORDERS),
        "image_quad": lambda: score_rules.quad_case_metrics(ORDERS),
        "two_true": lambda: score_rules.two_true_case_metrics(np.array(list(permutations([1.0, 2.0, 3.0])))),
        "set": lambda: score_rules.set_case_metrics(ORDERS, SHAPES["set"].metrics),
        "active_passive_set": lambda: score_rules.set_case_metrics(ORDERS, SHAPES["active_passive_set"].metrics),
    }
    return {name: values.mean() for name, values in rules[shape]().items()}


@pytest.mark.parametrize("shape", ["pair", "quad", "image_quad", "set", "active_passive_set", "two_true"])
def test_a_chance_level_is_the_mean_over_all_orders_of_the_scores(shape):
    found = mean_facts(shape)
    assert {name: found[name] for name in SHAPES[shape].chance if name in found} == pytest.approx(
        {name: value for name, value in SHAPES[shape].chance.items() if name in found}
    )
    assert set(SHAPES[shape].chance) - set(found) <= {"auroc", "macro", "macro_all"}
    assert {SHAPES[shape].chance[name] for name in set(SHAPES[shape].chance) & GROUPED.keys()} <= {
        SHAPES[shape].chance[SHAPES[shape].headline]
    }


def test_the_chance_level_of_auroc_is_its_mean_over_all_orders():
    scores = ORDERS.reshape(-1, 2, 2)
    found = [stats.area(score[:, 0], score[:, 1]).value for score in scores]
    assert np.mean(found) == pytest.approx(SHAPES["pair"].chance["auroc"])


def test_every_shape_has_its_chance_levels_among_its_metrics():
    assert all(set(SHAPES[shape].chance) <= set(SHAPES[shape].metrics) for shape in SHAPES)

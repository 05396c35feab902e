"""Runs to analyse, the statistics of all analyses, and ``analyses.json``."""

import csv
import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import confint_proportions_2indep

from tests.analyses.made import cases, run
from tests.report.page.page_runs import result_of
from vlgate.metrics.clusters import clusters
from vlgate.metrics.stats import proportion
from vlgate.record.folder import read_run
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.planning import make_plan
from vlgate.studies.analyses import saved, tables
from vlgate.studies.analyses.runs import Study, headline_of, part_of, shared
from vlgate.studies.analyses.saved import FEWEST, MOST, analyse_run, papers_of, save
from vlgate.studies.analyses.tables import correlate, gap, kappa, share


def sample(seed, n):
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    return x, x + random.normal(size=n)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(5, 60))
def test_a_correlation_of_independent_pairs_is_pearsons_with_the_interval_of_fishers_z(seed, n):
    x, y = sample(seed, n)
    found = correlate(x, y)
    r = np.corrcoef(x, y)[0, 1]
    half = stats.norm.ppf(0.975) / np.sqrt(n - 3)
    assert found.value == pytest.approx(r)
    assert (found.low, found.high) == pytest.approx((np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)))
    assert found.n == n


def separate(n):
    return clusters([str(row) for row in range(n)])


def test_a_correlation_of_ranks_is_spearmans():
    x, y = sample(1, 40)
    found = correlate(np.exp(x), y, rank=True)
    assert found.value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.low < found.value < found.high


@pytest.mark.parametrize(("x", "y"), [([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]), ([1, 2, 3], [1, 2, 3]), ([], [])])
def test_a_correlation_that_is_not_defined_has_no_value_but_its_n(x, y):
    found = correlate(np.array(x, dtype=float), np.array(y, dtype=float))
    assert (found.value, found.low, found.high, found.p, found.n) == (None, None, None, None, len(x))


def test_pairs_that_repeat_an_image_do_not_narrow_the_interval_and_few_images_give_none():
    x, y = sample(2, 40)
    alone = correlate(x, y)
    repeated = correlate(np.tile(x, 9), np.tile(y, 9), clusters([str(row) for row in range(40)] * 9))
    assert repeated.value == pytest.approx(alone.value)
    assert repeated.high - repeated.low == pytest.approx(alone.high - alone.low, rel=0.25)
    for images in (1, 9, 10):
        found = correlate(x, y, clusters([str(row % images) for row in range(40)]))
        assert (found.value is None, found.low is None, found.high is None) == (False, images < 10, images < 10)


def test_the_bootstrap_by_image_covers_as_often_as_it_says():
    missed, clusters_of, truth = 0, clusters([str(row // 4) for row in range(240)]), 0.5**0.5
    for seed in range(60):
        random = np.random.default_rng(seed)
        x = np.repeat(random.normal(size=60), 4)
        y = x + np.repeat(random.normal(size=60), 4)
        found = correlate(x, y, clusters_of)
        missed += not found.low <= truth <= found.high
    assert missed <= 8  # 3 are expected, and more than 8 have a probability of 0.4 %; independent pairs miss half


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(30, 200))
def test_kappa_is_that_of_statsmodels(seed, n):
    random = np.random.default_rng(seed)
    first, second = random.random((2, n)) < 0.6
    table = [[(first & second).sum(), (first & ~second).sum()], [(~first & second).sum(), (~first & ~second).sum()]]
    expected = cohens_kappa(np.array(table))
    found = kappa(first, second, separate(n))
    assert found.value == pytest.approx(expected.kappa)
    assert found.high - found.low == pytest.approx(expected.kappa_upp - expected.kappa_low, rel=0.35)


def test_kappa_with_a_model_that_is_always_right_is_not_defined():
    for wrong in (0, 10):
        found = kappa(np.ones(40, bool), np.arange(40) >= wrong, separate(40))
        assert (found.value, found.low, found.n) == (None, None, 40)


@given(st.integers(0, 40), st.integers(0, 25))
def test_a_gap_of_independent_cases_has_newcombes_interval(first, second):
    upper, lower = (proportion((np.arange(n) < right).astype(float)) for right, n in ((first, 40), (second, 25)))
    value, low, high = gap(upper, lower)
    expected = confint_proportions_2indep(first, 40, second, 25, method="newcomb", compare="diff")
    assert value == pytest.approx(upper.value - lower.value)
    assert (low, high) == pytest.approx(expected, abs=1e-9)


def test_a_share_leaves_out_what_is_not_known():
    groups = clusters(["a", "b", "c", "d"])
    found = share(np.array([1.0, 0.0, np.nan, 1.0]), groups, np.array([True, True, True, False]))
    assert (found.value, found.n) == (0.5, 2)
    assert share(np.array([np.nan] * 4), groups) is None


def test_a_bootstrap_of_few_pairs_covers_the_truth():
    """Ten pairs, by rank; the plain percentiles cover 89 %."""
    random, held = np.random.default_rng(10), []
    for seed in range(300):
        x, y = random.normal(size=(2, 10))
        found = correlate(x, 0.5 * x + np.sqrt(0.75) * y, rank=True, seed=seed)
        held.append(found.low <= 6 / np.pi * np.arcsin(0.25) <= found.high)
    assert np.mean(held) >= 0.92


def test_a_p_value_is_above_0_and_many_images_change_no_percentile():
    x = np.arange(400.0)
    assert 0.0 < correlate(x, x).p < 1e-300
    parts = np.random.default_rng(1).normal(size=(4000, 1))
    ones = separate(4000)
    low, high = tables.bootstrap(parts, ones, lambda sums: sums[:, 0])
    assert (high - low) / 2 == pytest.approx(1.96 * np.sqrt(4000), rel=0.06)


ROW = {"task": "t/a", "case": "1", "state": "judged", "right": True, "acc_r": 1.0, "c_acc": None, "why": "so"}
ROW |= {"images": ["a.jpg", "a.jpg"], "texts": ["a cup", "a dog"], "truths": ["true", "false"], "scores": [2.0, 1.0]}
ROW |= {"answers": [None, None], "tags": '{"verb": "see"}', "origin": "here"}


def test_only_judged_cases_are_analysed_with_the_facts_that_they_have():
    unscored = ROW | {"case": "2", "state": "unscored", "acc_r": None}
    question = ROW | {"task": "t/b", "acc_r": None, "c_acc": 0.0, "scores": [None, None], "answers": ["yes", None]}
    run = SimpleNamespace(model="m", figures={"tasks": {}})
    found = part_of(run, pa.Table.from_pylist([ROW, unscored, question]), "t").tasks
    assert {task: one.ids for task, one in found.items()} == {"t/a": ("1",), "t/b": ("1",)}
    assert {task: list(one.case_metrics) for task, one in found.items()} == {"t/a": ["acc_r"], "t/b": ["c_acc"]}
    assert found["t/a"].scores.tolist() == [[2.0, 1.0]]
    assert np.isnan(found["t/b"].scores).all()
    assert found["t/b"].answers == (("yes", None),)
    assert found["t/a"].tags == ({"verb": "see"},)
    assert [headline_of(one) for one in found.values()] == ["acc_r", "c_acc"]
    assert part_of(run, pa.Table.from_pylist([ROW]), "another").tasks == {}


def test_cases_are_shared_by_id_and_by_what_they_ask():
    texts = [["a", "b"], ["c", "d"], ["e", "f"]]
    first = cases([[1, 2]] * 3, texts=texts)
    second = cases([[3, 4], [5, 6], [7, 8]], texts=[texts[0], ["c", "another"], texts[2]])
    one, other = shared(first, second.take([2, 1, 0]))
    assert one.ids == other.ids == ("c0", "c2")
    assert other.scores.tolist() == [[3, 4], [7, 8]]


BIVLC = Path(__file__).parents[3] / "shared/data/more/bivlc/results"


def bivlc(name):
    """The verdicts of a model on BiVLC's 2,933 sets of two images and two captions."""
    with (BIVLC / f"BiVLC_{name}.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    facts = {name: [float(one[f"{name}_score"] == "True") for one in records] for name in ("text", "image", "group")}
    texts = [[record["caption"], record["negative_caption"]] * 2 for record in records]
    return cases(np.zeros((len(records), 4)), texts=texts, facts=facts)


@pytest.mark.skipif(not BIVLC.is_dir(), reason="needs ../shared/data")
def test_two_models_on_bivlc_cover_each_other_as_their_recorded_verdicts_do():
    plain, tuned = (run(name, bivlc__all=bivlc(name)) for name in ("ViT-B-32", "CLIP_TROHN-Img"))
    # The group scores that BiVLC's authors print (misc/main_results.PNG): 49.06 and 69.25.
    right = [set(np.flatnonzero(one.tasks["bivlc/all"].case_metrics["group"])) for one in (plain, tuned)]
    assert [round(100 * len(one) / 2933, 2) for one in right] == [49.06, 69.25]
    both = len(right[0] & right[1])
    study = Study(benchmark="winoground", headline="group", runs=(plain, tuned), pattern="*")
    coverage = {row.labels: row for row in study.coverage(("group",), "sets").rows}
    row = coverage["bivlc/all", "CLIP_TROHN-Img", "ViT-B-32"]
    assert (row.n, row.value) == (len(right[0]), pytest.approx(both / len(right[0])))
    (row,) = study.agreement().rows
    assert (row.n, row.more["both right"]) == (2933, both)
    assert row.value == pytest.approx(1 - len(right[0] ^ right[1]) / 2933)
    assert 0 < row.more["kappa low"] < row.more["kappa"] < row.more["kappa high"] < row.value


SUITE = ("scenes/visual-inv", "scenes/order-inv")


@pytest.fixture(scope="module")
def carets_run(tmp_path_factory):
    """A run of pairs of CARETS, and of as many that are not of a benchmark."""
    folder = tmp_path_factory.mktemp("saved")
    options = Options(folder=folder, suite=SUITE, limit=50, thresholds=None, results=folder)
    tasks = make_plan(options).tasks
    renamed = [replace(task, id=task.id.replace("scenes", "carets")) for task in tasks]
    result = result_of([*renamed, tasks[0]], ())
    assert write_rows(result, options) == []
    assert write_figures(result, ModelCard(name="oracle"), options, 1) == []
    return read_run(folder, str(folder))


def content(carets_run):
    return json.loads((carets_run.folder / "analyses.json").read_text(encoding="utf-8"))


def test_only_the_tasks_of_the_benchmark_are_analysed(carets_run):
    analyse_run(carets_run)
    [found] = content(carets_run)["analyses"]
    assert found["tasks"] == "carets/*"
    tasks = {row["task"] for table in found["tables"] for row in table["rows"] if "model" in row}
    assert tasks == {"carets/visual-inv", "carets/order-inv"}


@pytest.mark.parametrize(("judged", "expected"), [
    ({"valse/a": FEWEST - 1, "valse/b": 1}, ("valse",)), ({"valse/a": FEWEST - 1, "bla/b": FEWEST}, ("bla",)),
    ({"valse-own/a": 999, "scenes/a": 999}, ()), ({"valse/a": MOST - 1, "scenes/a": 1}, ("valse",)),
    ({"valse/a": MOST, "scenes/a": 1}, ()),
])  # fmt: skip
def test_a_benchmark_counts_from_a_hundred_judged_cases_on_in_a_run_that_is_not_too_large(judged, expected):
    assert papers_of({"tasks": {name: {"judged": count} for name, count in judged.items()}}) == expected


def test_a_package_that_is_not_installed_is_named_and_the_other_analyses_are_kept(carets_run, monkeypatch):
    def without(name):
        if name == "vlgate.studies.analyses.bla":
            tables.library("no_such_package")
        return import_module(name)

    monkeypatch.setattr(saved, "import_module", without)
    monkeypatch.setattr(saved, "papers_of", lambda _: ("bla", "carets"))
    analyse_run(carets_run)
    assert [one["analysis"] for one in content(carets_run)["analyses"]] == ["carets"]
    said = "needs no_such_package, which is not installed; pip install 'vlgate[analysis]'"
    assert content(carets_run)["lacking"] == {"bla": said}
    save(carets_run.folder, {"analysis": "bla", "tables": []})
    assert content(carets_run)["lacking"] == {}


def test_correlations_load_no_scipy():
    correlated = "correlate(np.arange(9.0), np.arange(9.0) % 4, rank=True)"
    program = f"import sys, numpy as np; from vlgate.studies.analyses.tables import correlate; {correlated}"
    subprocess.run([sys.executable, "-c", f"{program}; assert 'scipy' not in sys.modules"], check=True)

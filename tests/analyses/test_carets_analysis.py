"""CARETS' analyses, against its tables and by hand."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.analyses.made import answered, rows, run
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses import carets

MODELS = ("BAN", "CNN+LSTM", "LXMERT", "MMBT", "ViLBERT", "VisualBERT")
# Jimenez et al. 2022, Tables 15 to 17: of what the model of the column has right, the share that of the row has, too
COVERAGE = json.loads(Path(__file__).with_name("carets_coverage.json").read_text(encoding="utf-8"))
TITLE = "Coverage between models"


def disagreement(target, metric):
    """The largest difference between what two models have right together, told from either side, of the share."""
    values = {
        figure.model: figure.value
        for figure in figures("carets")
        if figure.table in {"10", "11", "12"} and (figure.target, figure.metric) == (target, metric)
    }
    shares = COVERAGE[target]
    off = []
    for i, j in combinations(range(len(MODELS)), 2):
        one, other = shares[i][j] * values[MODELS[j]], shares[j][i] * values[MODELS[i]]
        off.append(abs(one - other) / max(one, other))
    return max(off)


@pytest.mark.parametrize("target", COVERAGE)
def test_the_printed_coverage_is_over_answers_and_not_over_pairs(target):
    assert disagreement(target, "acc") < 0.007
    assert disagreement(target, "c_acc") > 0.15


def pairs(seed, n=50):
    random = np.random.default_rng(seed)
    said = random.choice(["yes", "no"], (n, 2)).tolist()
    truths = np.random.default_rng(99).choice(["yes", "no"], n)
    return answered(said, [[truth, truth] for truth in truths])


def coverage(first, second):
    """Both tables of coverage by their labels, over answers and over pairs."""
    tables = [table for table in carets.analyse([first, second]).tables if table.title.startswith(TITLE)]
    return [{row.labels[1:]: row for row in table.rows} for table in tables]


def test_coverage_is_the_share_of_the_others_right_answers_and_pairs():
    one, other = pairs(1), pairs(2)
    answers, both = coverage(run("one", carets__x=one), run("other", carets__x=other))
    right = [
        np.array(list(zip(cases.case_metrics["acc_original"], cases.case_metrics["acc_perturbed"], strict=True))) == 1
        for cases in (one, other)
    ]
    row = answers["one", "other"]
    assert (row.value, row.n) == (pytest.approx((right[0] & right[1]).sum() / right[1].sum()), right[1].sum())
    row, whole = both["other", "one"], [cases.all(axis=1) for cases in right]
    assert (row.value, row.n) == (pytest.approx((whole[0] & whole[1]).sum() / whole[0].sum()), whole[0].sum())


def test_cases_that_ask_something_else_are_not_compared():
    one, other = pairs(1), answered([["yes", "yes"]] * 50, [["yes", "yes"]] * 50, texts=[["another", "question"]] * 50)
    assert coverage(run("one", carets__x=one), run("other", carets__x=other)) == [{}, {}]


def test_the_gap_of_accuracies_is_the_share_of_half_right_pairs():
    cases = answered([["yes", "yes"], ["yes", "no"], ["no", "no"], ["no", "yes"]], [["yes", "yes"]] * 4)
    row = rows(carets.analyse([run(carets__x=cases)]), "Consistency and accuracy")["model", "carets/x"]
    assert (row.value, row.n) == (0.25, 4)
    assert row.more == {"acc": 0.5, "cons": 0.5, "c_acc": 0.25, "acc_original": 0.5, "acc_perturbed": 0.5}


def test_pairs_are_counted_by_what_is_right_and_whether_the_wrong_answer_stays():
    said = [["yes", "yes"], ["yes", "no"], ["no", "yes"], ["no", "No."], ["no", "maybe"]]
    cases = answered(said, [["yes", "yes"]] * 5)
    assert [carets.change_of(cases, row) for row in range(5)] == [
        "right, right",
        "right, wrong",
        "wrong, right",
        "wrong, same answer",
        "wrong, another answer",
    ]
    found = rows(carets.analyse([run(carets__x=cases)]), "From the original to the perturbed question")
    assert {row.value for row in found.values()} == {0.2}


def test_two_wrong_answers_of_which_one_says_nothing_are_neither_the_same_nor_others():
    said = [[None, None], ["I cannot tell.", "I cannot tell."], ["no", "I cannot tell."], ["no", "no"], ["yes", "yes"]]
    cases = answered(said, [["yes", "yes"]] * 5)
    cases.case_metrics["read"] = np.array([1.0, 0.0, 0.5, 1.0, 1.0])
    found = rows(carets.analyse([run(carets__x=cases)]), "From the original to the perturbed question")
    values = {labels[-1]: row.value for labels, row in found.items() if row.value}
    assert values == {"wrong, no answer": 0.6, "wrong, same answer": 0.2, "right, right": 0.2}


def test_replies_are_shares_of_yes_no_and_other():
    cases = answered(
        [["yes", "yes"], ["no", "yes"], ["a cup", "yes"], ["no", "no"]],
        [["yes", "yes"], ["yes", "yes"], ["yes", "yes"], ["no", "no"]],
        tags=[{"form": "binary", "question_type": "disjunction"}] * 4,
    )
    found = rows(carets.analyse([run(carets__x=cases)]), "Replies to questions of yes or no")
    row = found["model", "carets/x", "disjunction", "original"]
    assert (row.value, row.n) == (0.5, 4)
    assert row.more == {"yes": 0.25, "no": 0.5, "other": 0.25, "right if yes": pytest.approx(1 / 3), "right if no": 1.0}
    row = found["model", "carets/x", "disjunction", "perturbed"]
    assert (row.value, row.more["yes"], row.more["no"], row.more["other"]) == (1.0, 0.75, 0.25, 0.0)


def test_the_papers_models_are_correlated_without_people():
    found = rows(carets.analyse([run(carets__x=pairs(1))]), "Consistency against accuracy, over models")
    row = found["the paper's models", "carets/antonym-dir"]
    acc, cons = ([71.02, 51.98, 79.47, 69.83, 72.41, 73.76], [56.80, 10.50, 71.12, 54.58, 55.30, 59.84])  # Table 11
    assert (row.value, row.n, row.small) == (pytest.approx(np.corrcoef(acc, cons)[0, 1]), 6, True)


def test_the_text_only_model_stands_beside_the_run_that_has_one():
    blind = {"c_acc": {"value": 0.8, "low": 0.7, "high": 0.9, "n": 50, "chance": 0.25, "blind": {"value": 0.3}}}
    found = rows(carets.analyse([run(carets__x=pairs(1), metrics=blind)]), "Against text alone")
    row = found["model", "carets/x", "c_acc"]
    assert (row.value, row.low, row.high, row.n) == (0.8, 0.7, 0.9, 50)
    assert row.more == {"chance": 0.25, "text only": 0.3, "beyond text": pytest.approx(0.5)}

"""Choices, single questions, crossed questions and two true captions: each metric against a plain definition of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

from vlgate.metrics import answer_rules, score_rules
from vlgate.metrics.clusters import numbered
from vlgate.metrics.macro import macro
from vlgate.metrics.stats import area, proportion, separation, wilson

SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0])  # few values, so that many tie


def some(shape):
    return arrays(np.float64, shape, elements=SCORES)


@given(st.integers(2, 5).flatmap(lambda k: some((7, k))), st.sampled_from([score_rules.TEXT, score_rules.IMAGE]))
def test_a_choice_is_right_if_nothing_else_scores_as_high(scores, name):
    found = score_rules.choice_case_metrics(scores, name)
    assert found[name].tolist() == [float(all(row[0] > other for other in row[1:])) for row in scores.tolist()]
    assert found["tied"].tolist() == [float(row[0] == max(row[1:])) for row in scores.tolist()]


@pytest.mark.slow
@given(some((6, 4)), st.sampled_from(["strict", "half", "credit"]))
def test_a_case_with_fewer_candidates_is_judged_as_if_there_were_no_others(scores, ties):
    padded = np.column_stack([scores, np.full((6, 2), np.nan)])
    assert (
        score_rules.choice_case_metrics(padded, "x", ties)["x"].tolist()
        == score_rules.choice_case_metrics(scores, "x", ties)["x"].tolist()
    )


def test_a_constant_model_chooses_nothing_right_and_credit_is_said():
    constant = np.zeros((3, 4))
    assert [
        score_rules.choice_case_metrics(constant, "x", ties)["x"].tolist() for ties in ("strict", "half", "credit")
    ] == [[0.0] * 3, [0.5] * 3, [1.0] * 3]


@pytest.mark.parametrize("row", [[np.nan, 1.0], [1.0, np.nan]])
def test_a_choice_without_a_score_of_either_side_is_an_error(row):
    with pytest.raises(ValueError, match="score"):
        score_rules.choice_case_metrics(np.array([row]), "x")


@given(some((9, 3)))
def test_two_true_captions_both_score_above_the_false_one(scores):
    found = score_rules.two_true_case_metrics(scores)
    for (first, second, false), itt, one, two in zip(
        scores.tolist(), found["itt"], found["itt_first"], found["itt_second"], strict=True
    ):
        assert (one, two, itt) == (first > false, second > false, first > false and second > false)


@given(arrays(np.bool_, (8, 4)), arrays(np.bool_, (8, 4)))
def test_crossed_questions(right, read):
    found = answer_rules.question_quad_case_metrics(right, read)
    for row, (a, b, c, d) in enumerate(right.tolist()):  # image 0: questions 0 and 1; image 1: questions 0 and 1
        assert found["g_acc"][row] == (a and b and c and d)
        assert found["q_acc"][row] == ((a and c) + (b and d)) / 2
        assert found["i_acc"][row] == ((a and b) + (c and d)) / 2
        assert found["q_image_acc"][row] == (a + b + c + d) / 4
        assert found["read"][row] == sum(read[row].tolist()) / 4


ANSWERS = st.lists(st.tuples(st.sampled_from([1.0, 0.0, np.nan]), st.booleans()), min_size=1, max_size=30)


def single_values(said, truths):
    statistics = answer_rules.single_statistics(said, truths, np.full(len(said), np.nan))
    return {name: statistic.of(None, 0.95).value for name, statistic in statistics.items()}


@given(ANSWERS)
def test_single_questions_against_scikit_learn(answers):
    said = np.array([answer for answer, _ in answers])
    truths = np.array([truth for _, truth in answers])
    found = single_values(said, truths)
    yes = (said == 1.0) | (np.isnan(said) & ~truths)  # what says neither yes nor no counts as the wrong answer
    assert ("precision" in found) == bool(yes.any())
    assert ("recall" in found) == bool(truths.any())
    assert ("f1" in found) == bool(yes.any() or truths.any())
    for name, of in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
        if name in found:
            assert found[name] == pytest.approx(of(truths, yes, zero_division=0.0))
    facts = answer_rules.single_case_metrics(said, truths, ~np.isnan(said))
    assert facts["accuracy"].tolist() == [float(one == truth) for one, truth in zip(said, truths, strict=True)]
    assert facts["yes_share"].tolist() == (said == 1.0).tolist()


POPE = {  # true positives, false positives, true negatives, false negatives; accuracy, precision, recall, F1, yes
    "popular": ((778, 21, 1479, 722), (75.23, 97.37, 51.87, 67.68, 26.63)),
    "adversarial": ((778, 76, 1424, 722), (73.40, None, None, 66.10, None)),
    "random of 2,910": ((778, 23, 1387, 722), (74.40, None, None, 67.62, None)),
    "LLaVA-1.5": ((1183, 31, 1379, 317), (88.04, None, None, 87.18, None)),
}


@pytest.mark.parametrize(("counts", "printed"), POPE.values(), ids=list(POPE))
def test_the_figures_that_others_print_for_pope(counts, printed):
    """Confusion counts and figures: LLaVA's issue 626 and PruMerge's issue 15 on GitHub."""
    tp, fp, tn, fn = counts
    said = np.repeat([1.0, 1.0, 0.0, 0.0], [tp, fp, tn, fn])
    truths = np.repeat([True, False, False, True], [tp, fp, tn, fn])
    facts = answer_rules.single_case_metrics(said, truths, np.ones(len(said), dtype=np.bool_))
    found = single_values(said, truths)
    values = (facts["accuracy"].mean(), found["precision"], found["recall"], found["f1"], facts["yes_share"].mean())
    for value, expected in zip(values, printed, strict=True):
        assert expected is None or round(100 * value, 2) == pytest.approx(expected, abs=0.011)


def test_the_interval_of_f1_is_that_of_a_share_in_which_a_hit_counts_twice():
    said = np.repeat([1.0, 1.0, 0.0, 0.0], [60, 20, 90, 30])
    truths = np.repeat([True, False, False, True], [60, 20, 90, 30])
    one = answer_rules.single_statistics(said, truths, np.full(200, np.nan))["f1"]
    found = one.of(numbered(np.arange(200)).take(one.rows), 0.95)
    assert found.value == pytest.approx(120 / 170)
    low, high = wilson(found.value, 170)
    assert found.low <= low  # a hit is one case, not two
    assert found.high >= high
    assert found.deff > 1


@given(some(40), arrays(np.bool_, 40))
def test_the_area_of_single_statements_against_scikit_learn(scores, truths):
    if truths.all() or not truths.any():
        with pytest.raises(ValueError, match="at least one of each"):
            separation(scores, truths)
        return
    found = separation(scores, truths)
    assert found.value == pytest.approx(roc_auc_score(truths, scores))
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_the_area_of_unpaired_cases_has_about_the_interval_of_paired_ones():
    random = np.random.default_rng(0)
    true, false = random.normal(0.7, 1, 400), random.normal(0, 1, 400)
    paired = area(true, false)
    unpaired = separation(np.concatenate([true, false]), np.repeat([True, False], 400))
    assert unpaired.value == pytest.approx(paired.value)
    assert unpaired.high - unpaired.low == pytest.approx(paired.high - paired.low, rel=0.15)


def test_no_area_without_scores_or_with_one_truth_only():
    said, truths = np.array([1.0, 0.0]), np.array([True, False])
    assert "auroc" not in answer_rules.single_statistics(said, truths, np.full(2, np.nan))
    assert "auroc" not in answer_rules.single_statistics(said, np.array([True, True]), np.array([0.1, 0.2]))
    assert "auroc" in answer_rules.single_statistics(said, truths, np.array([0.1, 0.2]))


@given(
    arrays(np.float64, 12, elements=st.sampled_from([0.0, 0.5, 1.0])), arrays(np.int64, 12, elements=st.integers(0, 3))
)
def test_a_macro_mean_is_the_mean_of_the_means_of_the_classes(values, classes):
    found = macro(values, classes)
    assert found.value == pytest.approx(np.mean([values[classes == one].mean() for one in set(classes.tolist())]))
    assert found.low <= found.value <= found.high
    assert found.n == 12


def test_a_macro_mean_of_classes_of_equal_size_has_wilsons_interval():
    values = np.tile([1.0, 1.0, 0.0, 0.0, 1.0], 20)
    found = macro(values, np.arange(100) % 5)
    assert (found.low, found.high) == pytest.approx(wilson(0.6, 100))
    assert found.deff == pytest.approx(1.0)


def test_a_rare_class_widens_the_interval():
    values = np.tile([1.0, 0.0], 50)
    rare = macro(values, np.repeat([0, 1], [96, 4]))
    assert rare.deff > 3
    assert rare.high - rare.low > proportion(values).high - 0.4


def test_cases_of_one_image_widen_the_interval_of_a_macro_mean():
    values, classes = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 0.0], 20), np.arange(120) % 3
    alone = macro(values, classes)
    grouped = macro(values, classes, numbered(np.arange(120) // 20))
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)


def slow_question(right, prior, read):
    """One case at a time, in words."""
    if right[1]:
        error = None
    elif not read:
        error = "unread_rate"
    else:
        error = "prior_rate" if prior else "other_rate"
    found = dict.fromkeys(("prior_rate", "other_rate", "unread_rate"), 0.0)
    return found | ({error: 1.0} if error else {}) | {"acc": sum(right) / 2, "c_acc": float(sum(right) == 2)}


def test_questions_against_a_slow_reference():
    random = np.random.default_rng(3)
    right, prior, read = random.random((200, 2)) < 0.5, random.random(200) < 0.5, random.random((200, 2)) < 0.7
    found = answer_rules.question_twin_case_metrics(right, prior, read)
    assert set(found) == {*answer_rules.QUESTION_TWIN_METRICS, "read"}
    assert found["read"].tolist() == [sum(pair) / 2 for pair in read.tolist()]
    for index in range(200):
        for name, value in slow_question(right[index].tolist(), prior[index], read[index, 1]).items():
            assert found[name][index] == value, (index, name)
    total = found["acc_counterfactual"] + found["prior_rate"] + found["other_rate"] + found["unread_rate"]
    assert total.tolist() == [1.0] * 200


@pytest.mark.parametrize(("ties", "right", "prior"), [("strict", 0.0, 0.0), ("half", 0.5, 0.5), ("credit", 1.0, 0.0)])
def test_captions(ties, right, prior):
    scores = np.random.default_rng(4).integers(0, 3, (300, 4)).astype(float)
    found = score_rules.quad_twin_case_metrics(scores, ties)
    assert {name: found[name].tolist() for name in ("group", "text")} == {
        name: score_rules.quad_case_metrics(scores, ties)[name].tolist() for name in ("group", "text")
    }
    for (normal, other, usual, own), *measured in zip(
        scores.tolist(), found["acc_normal"], found["acc_counterfactual"], found["prior_rate"], strict=True
    ):
        first = right if normal == other else float(normal > other)
        second = right if own == usual else float(own > usual)
        assert measured == [first, second, prior if own == usual else float(usual > own)]


answers = st.sampled_from(["yes", "no", "left"])
pairs = st.lists(st.tuples(answers, answers, answers, answers), min_size=1, max_size=40)


def of(drawn, *, same):
    """Drawn as (first answer, second answer, first truth, second truth)."""
    right = np.array([(first == one, second == two) for first, second, one, two in drawn])
    consistent = np.array([(first == second) == same for first, second, _, _ in drawn])
    read = np.array([(first != "left", second != "left") for first, second, _, _ in drawn])
    found = answer_rules.question_pair_case_metrics(right, consistent, read)
    return {name: float(values.mean()) for name, values in found.items()}


@given(pairs, st.booleans())
def test_the_metrics_are_plain_counts_of_answers(drawn, same):
    metrics = of(drawn, same=same)
    said = [answer for first, second, _, _ in drawn for answer in (first, second)]
    truth = [answer for _, _, one, two in drawn for answer in (one, two)]
    n = len(drawn)
    expected = {
        "acc": accuracy_score(truth, said),
        "cons": sum((first == second) == same for first, second, _, _ in drawn) / n,
        "c_acc": sum(first == one and second == two for first, second, one, two in drawn) / n,
        "acc_original": accuracy_score(truth[::2], said[::2]),
        "acc_perturbed": accuracy_score(truth[1::2], said[1::2]),
        "read": 1 - said.count("left") / (2 * n),
    }
    assert tuple(metrics) == answer_rules.QUESTION_PAIR_METRICS
    assert metrics == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("same", [True, False])
def test_a_constant_model_is_consistent_if_answers_should_be_equal_and_never_otherwise(same):
    truths = [("yes", "yes"), ("no", "no")] if same else [("yes", "no"), ("no", "yes")]
    expected = dict.fromkeys(answer_rules.QUESTION_PAIR_METRICS, 0.5) | {"read": 1.0, "cons": float(same)}
    expected["c_acc"] = 0.5 if same else 0.0
    assert of([("yes", "yes", *pair) for pair in truths], same=same) == expected

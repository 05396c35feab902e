import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, recall_score, roc_auc_score

from vlgate.metrics.measures import wins
from vlgate.metrics.score_rules import (
    PAIR_METRICS,
    SET_METRICS,
    pair_case_metrics,
    pair_statistics,
    quad_case_metrics,
    quad_twin_case_metrics,
    set_case_metrics,
    two_true_case_metrics,
)
from vlgate.metrics.stats import area

NAN = math.nan
POLICIES = {"strict": 0.0, "half": 0.5, "credit": 1.0}
policies = st.sampled_from(sorted(POLICIES))
few_scores = st.integers(-2, 2).map(float)  # many ties


@st.composite
def pairs(draw, *, opinion=(0.0, 1.0), smallest=1):
    """Scores and opinions, shape (n, 2) each."""
    n = draw(st.integers(smallest, 40))
    two = lambda values: st.lists(st.tuples(values, values), min_size=n, max_size=n)  # noqa: E731
    return np.array(draw(two(few_scores))), np.array(draw(two(st.sampled_from(opinion))))


def found(scores, accepted, ties="strict"):
    """Every metric: the means of the facts that some pair has, and the statistics of all pairs, each counted once."""
    values = {name: column[np.isfinite(column)] for name, column in pair_case_metrics(scores, accepted, ties).items()}
    means = {name: float(column.mean()) for name, column in values.items() if name != "tied" and column.size}
    others = pair_statistics(scores, accepted)
    return means | {name: other.of(None, 0.95).value for name, other in others.items()}


def labelled(columns):
    """Texts one below the other: first all captions, labelled 1, then all foils, labelled 0."""
    return [1] * len(columns) + [0] * len(columns), np.concatenate([columns[:, 0], columns[:, 1]])


@given(pairs(), policies)
def test_acc_r_counts_the_captions_above_their_foils(drawn, ties):
    scores, accepted = drawn
    counted = 0.0
    for caption, foil in scores:
        if caption > foil:
            counted += 1
        elif caption == foil:
            counted += POLICIES[ties]
    assert found(scores, accepted, ties)["acc_r"] == pytest.approx(counted / len(scores), abs=1e-12)


@pytest.mark.slow
@given(pairs())
def test_the_metrics_of_classification_are_those_of_scikit_learn(drawn):
    scores, accepted = drawn
    metrics = found(scores, accepted)
    truth, said = labelled(accepted)
    p_c, p_f = recall_score(truth, said, pos_label=1), recall_score(truth, said, pos_label=0)
    assert metrics["p_c"] == pytest.approx(p_c, abs=1e-12)
    assert metrics["p_f"] == pytest.approx(p_f, abs=1e-12)
    assert metrics["min_pc_pf"] == pytest.approx(min(p_c, p_f), abs=1e-12)
    assert metrics["acc"] == pytest.approx(balanced_accuracy_score(truth, said), abs=1e-12)
    assert metrics["auroc"] == pytest.approx(roc_auc_score(*labelled(scores)), abs=1e-12)


@given(pairs(), policies, st.floats(0.1, 10.0), st.floats(-5.0, 5.0))
def test_scores_on_another_scale_give_the_same(drawn, ties, factor, shift):
    scores, accepted = drawn
    assert found(scores * factor + shift, accepted, ties) == found(scores, accepted, ties)


@given(pairs(opinion=(0.0, 1.0, NAN)), policies)
def test_classification_is_over_the_pairs_for_which_the_model_says_yes_or_no_to_both_texts(drawn, ties):
    scores, accepted = drawn
    known = [row for row in range(len(scores)) if not any(math.isnan(said) for said in accepted[row])]
    of_all = found(scores, accepted, ties)
    if not known:
        assert set(of_all) == {"acc_r"}
        return
    assert set(of_all) == set(PAIR_METRICS)
    alone = found(scores[known], accepted[known], ties)
    for name in PAIR_METRICS[1:]:
        assert of_all[name] == pytest.approx(alone[name], abs=1e-12)


@pytest.mark.parametrize(("ties", "worth"), POLICIES.items())
def test_a_constant_model_gets_the_value_of_a_tie(ties, worth):
    scores, accepts_all = np.zeros((7, 2)), np.ones((7, 2))
    metrics = found(scores, accepts_all, ties)
    assert metrics == {"acc_r": worth, "acc": 0.5, "p_c": 1.0, "p_f": 0.0, "min_pc_pf": 0.0, "auroc": 0.5}


@pytest.mark.parametrize("ties", POLICIES)
def test_a_perfect_model_has_1_everywhere_and_an_inverted_one_0(ties):
    scores = np.array([[3.0, 1.0], [2.5, -1.0], [9.0, 2.0]])
    accepted = np.array([[1.0, 0.0]] * 3)
    assert found(scores, accepted, ties) == dict.fromkeys(PAIR_METRICS, 1.0)
    assert found(-scores, 1.0 - accepted, ties) == dict.fromkeys(PAIR_METRICS, 0.0)


def test_the_area_compares_every_caption_with_every_foil_and_acc_r_only_with_its_own():
    scores = np.array([[1.0, 0.0], [11.0, 10.0]])  # the second image's texts all score higher
    metrics = found(scores, np.ones((2, 2)))
    assert metrics["acc_r"] == 1.0
    assert metrics["auroc"] == 0.75


def test_the_area_of_no_pairs_raises():
    with pytest.raises(ValueError, match="of 0 pairs"):
        area(np.array([]), np.array([]))


@given(st.lists(st.tuples(few_scores, few_scores), min_size=1), policies)
def test_a_win_and_the_same_comparison_turned_round_add_up_to_one_decision(drawn, ties):
    better, worse = np.array(drawn).T
    there, back = wins(better, worse, ties), wins(worse, better, ties)
    assert (there + back).tolist() == [2 * POLICIES[ties] if a == b else 1.0 for a, b in drawn]


NAN_SCORES = {
    "pair": lambda scores, ties: pair_case_metrics(scores[:, :2], np.ones((2, 2)), ties),
    "quad": quad_case_metrics,
    "twins": quad_twin_case_metrics,
    "set": lambda scores, ties: set_case_metrics(scores, SET_METRICS, ties),
    "two_true": lambda scores, ties: two_true_case_metrics(scores[:, :3], ties),
}


@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("rule", NAN_SCORES.values(), ids=list(NAN_SCORES))
def test_a_score_that_is_nan_raises_wherever_it_stands(rule, ties):
    for index in range(2):
        scores = np.array([[1.0, 0.5, 0.0, 0.0], [1.0, 0.5, 0.0, 0.0]])
        scores[1, index] = NAN
        with pytest.raises(ValueError, match="NaN"):
            rule(scores, ties)

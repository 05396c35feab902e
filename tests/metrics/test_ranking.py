import math
from itertools import combinations, permutations
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, recall_score, roc_auc_score

from vlgate.metrics.measures import GROUPED, wins
from vlgate.metrics.score_rules import (
    PAIR_METRICS,
    QUAD_METRICS,
    SET_METRICS,
    pair_case_metrics,
    pair_statistics,
    quad_case_metrics,
    quad_twin_case_metrics,
    set_case_metrics,
    two_true_case_metrics,
)
from vlgate.metrics.shapes import SHAPES
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
    return means | {name: one.of(None, 0.95).value for name, one in pair_statistics(scores, accepted).items()}


def labelled(columns):
    """Texts one below the other: first all captions, labelled 1, then all foils, labelled 0."""
    return [1] * len(columns) + [0] * len(columns), np.concatenate([columns[:, 0], columns[:, 1]])


@given(pairs(), policies)
def test_acc_r_counts_the_captions_above_their_foils(drawn, ties):
    scores, accepted = drawn
    counted = 0.0
    for caption, foil in scores:
        counted += 1 if caption > foil else POLICIES[ties] if caption == foil else 0
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


quads = st.lists(st.tuples(few_scores, few_scores, few_scores, few_scores), min_size=1, max_size=40).map(np.array)


def means(case_metrics):
    return {name: float(values.mean()) for name, values in case_metrics.items() if name != "tied"}


def quads_by_hand(scores, tie):
    """Equations 1 to 3 of Winoground, one quad at a time."""

    def beats(better, worse):
        return 1.0 if better > worse else tie if better == worse else 0.0

    totals = dict.fromkeys(QUAD_METRICS, 0.0)
    for i0c0, i0c1, i1c0, i1c1 in scores.tolist():
        text = beats(i0c0, i0c1) * beats(i1c1, i1c0)
        image = beats(i0c0, i1c0) * beats(i1c1, i0c1)
        totals["text"] += text
        totals["image"] += image
        totals["group"] += text * image
        totals["group_match"] += beats(i0c0 + i1c1, i1c0 + i0c1)
    return {name: total / len(scores) for name, total in totals.items()}


@given(quads, policies)
def test_the_metrics_are_the_papers_equations(scores, ties):
    assert means(quad_case_metrics(scores, ties)) == pytest.approx(quads_by_hand(scores, POLICIES[ties]), abs=1e-12)


@pytest.mark.parametrize(
    ("ties", "expected"),
    [("strict", (0.0, 0.0, 0.0, 0.0)), ("half", (1 / 4, 1 / 4, 1 / 16, 1 / 2)), ("credit", (1.0, 1.0, 1.0, 1.0))],
)
def test_a_constant_model_of_quads_gets_the_value_of_its_ties(ties, expected):
    assert means(quad_case_metrics(np.full((5, 4), 0.3), ties)) == dict(zip(QUAD_METRICS, expected, strict=True))


def test_a_model_that_looks_at_the_text_only_has_no_image_score():
    captions = np.array([[0.9, 0.1, 0.9, 0.1]])  # caption 0 scores higher in either image
    assert means(quad_case_metrics(captions)) == dict.fromkeys(QUAD_METRICS, 0.0)
    assert means(quad_case_metrics(captions, "half")) == {
        "text": 0.0,
        "image": 1 / 4,
        "group": 0.0,
        "group_match": 1 / 2,
    }


set_scores = st.integers(-1, 1).map(float)  # many ties
sets = st.lists(st.tuples(set_scores, set_scores, set_scores, set_scores), min_size=1, max_size=30).map(np.array)


def set_means(scores, ties="strict", shape="set"):
    return means(set_case_metrics(scores, SHAPES[shape].metrics, ties))


def rankings(scores):
    """Every ranking of the four that the scores allow, best first."""
    return [order for order in permutations(range(4)) if all(scores[a] >= scores[b] for a, b in combinations(order, 2))]


def held(ranking):
    """What one ranking without ties says, as the thesis defines it (section 5.3)."""
    top = set(ranking[:2])
    right = [(sentence in top) == (sentence in {0, 1}) for sentence in range(4)]
    preferred = [ranking.index(a) < ranking.index(b) for a, b in [(0, 2), (1, 3), (1, 2), (0, 3), (0, 1), (2, 3)]]
    return right, [top == {0, 1}, top == {2, 3}, *preferred]


def sets_by_hand(scores, ties, shape="set"):
    over = {"strict": all, "credit": any, "half": mean}[ties]
    totals = []
    for case in scores.tolist():
        said = [held(ranking) for ranking in rankings(case)]
        sentences = mean(float(over(kinds)) for kinds in zip(*(right for right, _ in said), strict=True))
        totals.append([sentences, *(float(over(kinds)) for kinds in zip(*(kinds for _, kinds in said), strict=True))])
    return dict(zip(SHAPES[shape].metrics, map(mean, zip(*totals, strict=True)), strict=True))


@given(sets, policies, st.sampled_from(["set", "active_passive_set"]))
def test_the_metrics_follow_from_all_rankings_that_the_scores_allow(scores, ties, shape):
    assert set_means(scores, ties, shape) == pytest.approx(sets_by_hand(scores, ties, shape), abs=1e-12)


@pytest.mark.parametrize("shape", ["set", "active_passive_set"])
def test_a_constant_model_is_neither_right_nor_in_error_unless_ties_count(shape):
    scores = np.full((5, 4), 0.3)
    assert set_means(scores, "strict", shape) == dict.fromkeys(SHAPES[shape].metrics, 0.0)
    chance = dict.fromkeys(SHAPES[shape].metrics, 1 / 2) | {"set_acc": 1 / 6, "set_error": 1 / 6}
    assert set_means(scores, "half", shape) == pytest.approx(chance)
    assert set_means(scores, "credit", shape) == dict.fromkeys(SHAPES[shape].metrics, 1.0)


def test_a_tie_across_the_boundary_decides_nothing():
    scores = np.array([[3.0, 1.0, 1.0, 0.0]])  # the second true sentence is level with the first false one
    assert set_means(scores)["sen_acc"] == 0.5  # the first true and the last false sentence are in place in any case
    assert set_means(scores)["set_acc"] == set_means(scores)["set_error"] == 0.0
    assert set_means(scores, "half")["set_acc"] == 0.5


def test_infinite_scores_are_ranked():
    assert set_means(np.array([[math.inf, 0.0, -math.inf, -math.inf]]))["set_acc"] == 1.0


ORDERS = np.array(list(permutations([1.0, 2.0, 4.0, 8.0])))
YES_OR_NO = np.tile([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)], (2, 1))
IN_ALL_ORDERS = {
    "pair": pair_case_metrics(np.repeat([[1.0, 2.0], [2.0, 1.0]], 4, axis=0), YES_OR_NO),
    "quad": quad_case_metrics(ORDERS),
    "image_quad": quad_case_metrics(ORDERS),
    "two_true": two_true_case_metrics(np.array(list(permutations([1.0, 2.0, 3.0])))),
    "set": set_case_metrics(ORDERS, SHAPES["set"].metrics),
    "active_passive_set": set_case_metrics(ORDERS, SHAPES["active_passive_set"].metrics),
}


@pytest.mark.parametrize("shape", IN_ALL_ORDERS)
def test_a_chance_level_is_the_mean_over_all_orders_of_the_scores(shape):
    levels, expected = SHAPES[shape].chance, means(IN_ALL_ORDERS[shape])
    found = {name: level for name, level in levels.items() if name in expected}
    assert found == pytest.approx({name: expected[name] for name in found})
    assert set(levels) - set(found) <= {"auroc", "macro", "macro_all"}
    assert {levels[name] for name in set(levels) & GROUPED.keys()} <= {levels[SHAPES[shape].headline]}


def test_the_chance_level_of_auroc_is_its_mean_over_all_orders():
    areas = [area(score[:, 0], score[:, 1]).value for score in ORDERS.reshape(-1, 2, 2)]
    assert np.mean(areas) == pytest.approx(SHAPES["pair"].chance["auroc"])


def test_every_shape_has_its_chance_levels_among_its_metrics():
    assert all(set(spec.chance) <= set(spec.metrics) for spec in SHAPES.values())

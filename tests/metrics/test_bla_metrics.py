import math
from itertools import combinations, permutations
from statistics import mean

import builders
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.score_rules import SET_METRICS, set_case_metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Case, Match

NAN = math.nan
POLICIES = {"strict": 0.0, "half": 0.5, "credit": 1.0}
policies = st.sampled_from(sorted(POLICIES))
few_scores = st.integers(-1, 1).map(float)  # many ties
sets = st.lists(st.tuples(few_scores, few_scores, few_scores, few_scores), min_size=1, max_size=30).map(np.array)
SENTENCES = {"set": ("tp1", "tp2", "fp1", "fp2"), "active_passive_set": ("ta", "tp", "fa", "fp")}


def found(scores, ties="strict", shape="set"):
    return {
        name: float(v.mean())
        for name, v in set_case_metrics(scores, SHAPES[shape].metrics, ties).items()
        if name != "tied"
    }


def rankings(scores):
    """Every ranking of the four that the scores allow, best first."""
    return [order for order in permutations(range(4)) if all(scores[a] >= scores[b] for a, b in combinations(order, 2))]


def held(ranking):
    """What one ranking without ties says, as the thesis defines it (section 5.3)."""
    top = set(ranking[:2])
    right = [(sentence in top) == (sentence in {0, 1}) for sentence in range(4)]
    preferred = [ranking.index(a) < ranking.index(b) for a, b in [(0, 2), (1, 3), (1, 2), (0, 3), (0, 1), (2, 3)]]
    return right, [top == {0, 1}, top == {2, 3}, *preferred]


def by_hand(scores, ties, shape="set"):
    over = {"strict": all, "credit": any, "half": mean}[ties]
    totals = []
    for case in scores.tolist():
        said = [held(ranking) for ranking in rankings(case)]
        sentences = mean(float(over(kinds)) for kinds in zip(*(right for right, _ in said), strict=True))
        totals.append([sentences, *(float(over(kinds)) for kinds in zip(*(kinds for _, kinds in said), strict=True))])
    return dict(zip(SHAPES[shape].metrics, map(mean, zip(*totals, strict=True)), strict=True))


@given(sets, policies, st.sampled_from(["set", "active_passive_set"]))
def test_the_metrics_follow_from_all_rankings_that_the_scores_allow(scores, ties, shape):
    assert found(scores, ties, shape) == pytest.approx(by_hand(scores, ties, shape), abs=1e-12)


@given(sets)
def test_half_is_what_breaking_ties_at_random_gives_on_average(scores):
    """By counting: of the sentences level at the boundary, as many as there is room for are drawn."""
    metrics = found(scores, "half")
    above, right = [], []
    for case in scores.tolist():
        boundary = sorted(case)[2]
        level = [index for index in range(4) if case[index] == boundary]
        higher = [index for index in range(4) if case[index] > boundary]
        drawn = [{*higher, *some} for some in combinations(level, 2 - len(higher))]
        above.append(mean(top == {0, 1} for top in drawn))
        right.append(mean(mean((index in top) == (index < 2) for index in range(4)) for top in drawn))
    assert metrics["set_acc"] == pytest.approx(mean(above), abs=1e-12)
    assert metrics["sen_acc"] == pytest.approx(mean(right), abs=1e-12)


@given(sets, policies, st.sampled_from(["set", "active_passive_set"]), st.data())
def test_a_preference_compares_the_two_sentences_that_it_is_named_after(scores, ties, shape, data):
    name = data.draw(st.sampled_from(SHAPES[shape].metrics[3:]))
    first, second = (SENTENCES[shape].index(sentence) for sentence in name.split("_"))
    difference = np.sign(scores[:, first] - scores[:, second])
    expected = np.where(difference == 0, POLICIES[ties], difference > 0).mean()
    assert found(scores, ties, shape)[name] == pytest.approx(expected, abs=1e-12)


def test_chance_is_a_half_a_sixth_and_a_sixth():
    scores = np.array(list(permutations([0.0, 1.0, 2.0, 3.0])))
    chance = dict.fromkeys(SET_METRICS, 1 / 2) | {"set_acc": 1 / 6, "set_error": 1 / 6}
    assert found(scores) == pytest.approx(chance)


@pytest.mark.parametrize("shape", ["set", "active_passive_set"])
def test_a_constant_model_is_neither_right_nor_in_error_unless_ties_count(shape):
    scores = np.full((5, 4), 0.3)
    assert found(scores, "strict", shape) == dict.fromkeys(SHAPES[shape].metrics, 0.0)
    chance = dict.fromkeys(SHAPES[shape].metrics, 1 / 2) | {"set_acc": 1 / 6, "set_error": 1 / 6}
    assert found(scores, "half", shape) == pytest.approx(chance)
    assert found(scores, "credit", shape) == dict.fromkeys(SHAPES[shape].metrics, 1.0)


def test_a_tie_across_the_boundary_decides_nothing():
    scores = np.array([[3.0, 1.0, 1.0, 0.0]])  # the second true sentence is level with the first false one
    assert found(scores)["sen_acc"] == 0.5  # the first true and the last false sentence are in place in any case
    assert found(scores)["set_acc"] == found(scores)["set_error"] == 0.0
    assert found(scores, "half")["set_acc"] == 0.5


@pytest.mark.parametrize("ties", POLICIES)
def test_the_zeros_of_a_clamped_score_count_as_ties(ties):
    """CLIPScore is 0 for every cosine below 0: a set of such sentences is decided by the policy alone."""
    clamped = np.maximum(np.array([[-0.1, -0.2, -0.3, -0.4]]), 0)
    assert found(clamped, ties)["set_acc"] == {"strict": 0.0, "half": 1 / 6, "credit": 1.0}[ties]


def test_infinite_scores_are_ranked():
    assert found(np.array([[math.inf, 0.0, -math.inf, -math.inf]]))["set_acc"] == 1.0


def judged(shape, scores, ties="strict"):
    cases = [
        Case(
            id=str(number),
            requests=tuple(Match(image=builders.image(1), text=f"{number}/{index}") for index in range(4)),
            truths=(True, True, False, False),
        )
        for number in range(len(scores))
    ]
    replies = [[{"score": float(score)} for score in row] for row in scores]
    return builders.judged(builders.task_of(cases, shape=shape), replies, ties=ties)


@given(sets, policies, st.sampled_from(["set", "active_passive_set"]))
def test_from_verdicts_to_metrics(scores, ties, shape):
    task = columns(shape, judged(shape, scores, ties))
    made = metrics(task)
    assert tuple(made) == SHAPES[shape].metrics
    assert {name: metric.value for name, metric in made.items()} == pytest.approx(by_hand(scores, ties, shape))
    assert all(0 <= metric.low <= metric.value <= metric.high <= 1 for metric in made.values())
    assert {metric.n for metric in made.values()} == {len(scores)}

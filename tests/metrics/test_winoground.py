import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.metrics.score_rules import QUAD_METRICS, quad_case_metrics

NAN = math.nan
POLICIES = {"strict": 0.0, "half": 0.5, "credit": 1.0}
policies = st.sampled_from(sorted(POLICIES))
few_scores = st.integers(-2, 2).map(float)  # many ties
quads = st.lists(st.tuples(few_scores, few_scores, few_scores, few_scores), min_size=1, max_size=40).map(np.array)


def found(scores, ties="strict"):
    return {name: float(values.mean()) for name, values in quad_case_metrics(scores, ties).items() if name != "tied"}


def by_hand(scores, tie):
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
    assert found(scores, ties) == pytest.approx(by_hand(scores, POLICIES[ties]), abs=1e-12)


def test_chance_is_a_quarter_a_quarter_a_sixth_and_a_half():
    scores = np.array(list(permutations([0.0, 1.0, 3.0, 7.0])))  # no two sums are equal
    assert found(scores) == pytest.approx({"text": 1 / 4, "image": 1 / 4, "group": 1 / 6, "group_match": 1 / 2})


@pytest.mark.parametrize(
    ("ties", "expected"),
    [("strict", (0.0, 0.0, 0.0, 0.0)), ("half", (1 / 4, 1 / 4, 1 / 16, 1 / 2)), ("credit", (1.0, 1.0, 1.0, 1.0))],
)
def test_a_constant_model_gets_the_value_of_its_ties(ties, expected):
    assert found(np.full((5, 4), 0.3), ties) == dict(zip(QUAD_METRICS, expected, strict=True))


@pytest.mark.parametrize("ties", POLICIES)
def test_a_perfect_model_has_1_everywhere_and_an_inverted_one_0(ties):
    scores = np.array([[1.0, 0.0, 0.5, 2.0], [5.0, 4.0, -1.0, 4.5]])
    assert found(scores, ties) == dict.fromkeys(QUAD_METRICS, 1.0)
    assert found(-scores, ties) == dict.fromkeys(QUAD_METRICS, 0.0)


def test_a_model_that_looks_at_the_text_only_has_no_image_score():
    captions = np.array([[0.9, 0.1, 0.9, 0.1]])  # caption 0 scores higher in either image
    assert found(captions) == dict.fromkeys(QUAD_METRICS, 0.0)
    assert found(captions, "half") == {"text": 0.0, "image": 1 / 4, "group": 0.0, "group_match": 1 / 2}


def test_the_right_assignment_may_hide_behind_a_failed_group():
    scores = np.array([[9.0, 0.0, 3.0, 2.0]])  # image 1 prefers the wrong caption by a little
    assert found(scores) == {"text": 0.0, "image": 1.0, "group": 0.0, "group_match": 1.0}

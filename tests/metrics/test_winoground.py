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


@given(quads)
def test_strict_and_credit_are_plain_comparisons(scores):
    a, b, c, d = scores.T  # (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1)
    strict, credit = found(scores), found(scores, "credit")
    assert strict["text"] == np.mean((a > b) & (d > c))
    assert strict["image"] == np.mean((a > c) & (d > b))
    assert strict["group"] == np.mean((a > b) & (d > c) & (a > c) & (d > b))
    assert credit["text"] == np.mean((a >= b) & (d >= c))
    assert credit["image"] == np.mean((a >= c) & (d >= b))
    assert credit["group"] == np.mean((a >= b) & (d >= c) & (a >= c) & (d >= b))


@given(quads)
def test_ties_never_help_unless_asked_for(scores):
    strict, half, credit = (found(scores, ties) for ties in ("strict", "half", "credit"))
    assert all(strict[name] <= half[name] <= credit[name] for name in QUAD_METRICS)


@given(quads, policies)
def test_a_group_is_no_easier_than_its_parts(scores, ties):
    metrics = found(scores, ties)
    assert metrics["group"] <= min(metrics["text"], metrics["image"])


@given(quads)
def test_a_model_with_the_group_has_the_right_assignment(scores):
    found = quad_case_metrics(scores)
    assert (found["group"] <= found["group_match"]).all()


@given(quads, policies)
def test_exchanging_images_and_captions_exchanges_text_and_image(scores, ties):
    transposed, there = found(scores[:, [0, 2, 1, 3]], ties), found(scores, ties)
    assert (transposed["text"], transposed["image"]) == (there["image"], there["text"])
    assert (transposed["group"], transposed["group_match"]) == (there["group"], there["group_match"])


@given(quads, policies)
def test_which_image_and_caption_come_first_makes_no_difference(scores, ties):
    assert found(scores[:, ::-1], ties) == found(scores, ties)


@given(quads, policies, st.randoms(use_true_random=False))
def test_the_order_of_the_quads_changes_nothing(scores, ties, random):
    order = random.sample(range(len(scores)), len(scores))
    assert found(scores[order], ties) == pytest.approx(found(scores, ties), abs=1e-12)


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


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("ties", POLICIES)
def test_a_score_that_is_nan_raises(place, ties):
    scores = np.array([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]])
    scores[1, place] = NAN
    with pytest.raises(ValueError, match="NaN"):
        quad_case_metrics(scores, ties)

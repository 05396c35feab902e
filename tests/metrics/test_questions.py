import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from vlgate.metrics.answer_rules import QUESTION_PAIR_METRICS, question_pair_case_metrics

answers = st.sampled_from(["yes", "no", "left"])
pairs = st.lists(st.tuples(answers, answers, answers, answers), min_size=1, max_size=40)


def found(right, consistent, read):
    return {name: float(values.mean()) for name, values in question_pair_case_metrics(right, consistent, read).items()}


def of(drawn, *, same):
    """Drawn as (first answer, second answer, first truth, second truth)."""
    right = np.array([(first == one, second == two) for first, second, one, two in drawn])
    consistent = np.array([(first == second) == same for first, second, _, _ in drawn])
    read = np.array([(first != "left", second != "left") for first, second, _, _ in drawn])
    return found(right, consistent, read)


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
    assert tuple(metrics) == QUESTION_PAIR_METRICS
    assert metrics == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("same", [True, False])
def test_a_perfect_model_has_1_everywhere(same):
    truths = [("yes", "yes"), ("no", "no")] if same else [("yes", "no"), ("no", "yes")]
    assert of([(*pair, *pair) for pair in truths], same=same) == dict.fromkeys(QUESTION_PAIR_METRICS, 1.0)


def test_a_constant_model_is_consistent_if_answers_should_be_equal_and_never_otherwise():
    invariant = [("yes", "yes", "yes", "yes"), ("yes", "yes", "no", "no")]
    turned = [("yes", "yes", "yes", "no"), ("yes", "yes", "no", "yes")]
    assert of(invariant, same=True) == dict.fromkeys(QUESTION_PAIR_METRICS, 0.5) | {"cons": 1.0, "read": 1.0}
    assert of(turned, same=False) == dict.fromkeys(QUESTION_PAIR_METRICS, 0.5) | {
        "cons": 0.0,
        "c_acc": 0.0,
        "read": 1.0,
    }


def test_consistently_wrong_is_consistent():
    assert of([("no", "no", "yes", "yes")], same=True) == dict.fromkeys(QUESTION_PAIR_METRICS, 0.0) | {
        "cons": 1.0,
        "read": 1.0,
    }
    assert of([("no", "yes", "yes", "no")], same=False) == dict.fromkeys(QUESTION_PAIR_METRICS, 0.0) | {
        "cons": 1.0,
        "read": 1.0,
    }

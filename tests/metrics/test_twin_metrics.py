"""The metrics of twins against ten plain lines, over random replies with ties."""

import numpy as np
import pytest

from vlgate.metrics.answer_rules import QUESTION_TWIN_METRICS
from vlgate.metrics.answer_rules import question_twin_case_metrics as question_facts
from vlgate.metrics.score_rules import quad_case_metrics as quad_facts
from vlgate.metrics.score_rules import quad_twin_case_metrics as caption_facts


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
    found = question_facts(right, prior, read)
    assert set(found) == {*QUESTION_TWIN_METRICS, "read"}
    assert found["read"].tolist() == [sum(pair) / 2 for pair in read.tolist()]
    for index in range(200):
        for name, value in slow_question(right[index].tolist(), prior[index], read[index, 1]).items():
            assert found[name][index] == value, (index, name)
    total = found["acc_counterfactual"] + found["prior_rate"] + found["other_rate"] + found["unread_rate"]
    assert total.tolist() == [1.0] * 200


@pytest.mark.parametrize(("ties", "right", "prior"), [("strict", 0.0, 0.0), ("half", 0.5, 0.5), ("credit", 1.0, 0.0)])
def test_captions(ties, right, prior):
    scores = np.random.default_rng(4).integers(0, 3, (300, 4)).astype(float)
    found = caption_facts(scores, ties)
    assert {name: found[name].tolist() for name in ("group", "text")} == {
        name: quad_facts(scores, ties)[name].tolist() for name in ("group", "text")
    }
    for (normal, other, usual, own), *given in zip(
        scores.tolist(), found["acc_normal"], found["acc_counterfactual"], found["prior_rate"], strict=True
    ):
        first = right if normal == other else float(normal > other)
        second = right if own == usual else float(own > usual)
        assert given == [first, second, prior if own == usual else float(usual > own)]

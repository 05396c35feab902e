"""Replies and verdicts in columns look like the objects that they stand for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.judging.judged import Verdicts, in_order, joined, replies_of, replies_to, verdicts_of
from vlgate.judging.verdicts import judge
from vlgate.types import Batch, Case, LazyImage, Match, Prediction, Task

IMAGE = LazyImage(key="a.jpg", load=lambda: None)
REQUESTS = [Match(image=IMAGE, text=f"text {number}") for number in range(6)]
PREDICTION = st.builds(
    dict,
    score=st.none() | st.floats(allow_nan=False),
    answer=st.none() | st.text(max_size=3),
    accepted=st.none() | st.booleans(),
    cut=st.booleans(),
) | st.builds(dict, problem=st.text(max_size=3), skipped=st.booleans())
PREDICTIONS = st.lists(PREDICTION, min_size=6, max_size=6).map(
    lambda said: [Prediction(request=request, **one) for request, one in zip(REQUESTS, said, strict=True)]
)


def task():
    cases = tuple(
        Case(id=f"case-{row}", requests=tuple(REQUESTS[2 * row : 2 * row + 2]), truths=(True, False))
        for row in range(3)
    )
    return Task(id="x/y", capability="foil", shape="pair", cases=cases)


def judged(*positions, reverse=False):
    scores = [float(index % 3) * (-1 if reverse else 1) for index in range(6)]
    said = {request: Prediction(request=request, score=score) for request, score in zip(REQUESTS, scores, strict=True)}
    return judge(Batch(task=task(), positions=positions), said)


@given(PREDICTIONS)
def test_predictions_come_out_of_the_columns_as_they_went_in(said):
    columns = replies_of(said)
    assert dict(columns) == {one.request: one for one in said}
    assert [columns.take([5, 0]).at(place) for place in (0, 1)] == [said[5], said[0]]
    assert [joined([columns, columns]).at(index) for index in range(12)] == said * 2


def test_equal_requests_have_one_reply_which_is_the_first():
    replies = replies_to(
        [*REQUESTS[:2], REQUESTS[0]], {request: Prediction(request=request, score=1.0) for request in REQUESTS}
    )
    assert len(replies.requests) == 3
    assert len(replies) == len(list(replies)) == len(replies.once().requests) == 2
    assert list(replies.once()) == REQUESTS[:2]


def test_a_request_without_a_reply_is_a_key_error():
    with pytest.raises(KeyError):
        replies_of([])[REQUESTS[0]]


def test_a_score_that_is_not_a_number_is_an_error():
    with pytest.raises(ValueError, match="NaN"):
        replies_of([Prediction(request=REQUESTS[0], score=np.nan)])


def test_verdicts_are_a_sequence():
    verdicts = judged(0, 1, 2)
    assert isinstance(verdicts, Verdicts)
    assert [verdict.case.id for verdict in verdicts] == ["case-0", "case-1", "case-2"]
    assert verdicts[-1] == verdicts[2] != verdicts[0]
    assert verdicts[1:] == (verdicts[1], verdicts[2])
    with pytest.raises(IndexError):
        verdicts[3]


def test_verdicts_that_someone_made_keep_their_sentences():
    told = [replace(one, why=f"because {one.case.id}") for one in judged(0, 1, 2)]
    again = verdicts_of(told)
    assert again == told
    assert (
        again.whys() == [again.why(row) for row in range(3)] == ["because case-0", "because case-1", "because case-2"]
    )
    both = in_order([again.take([2]), judged(0)], [2, 0])
    assert [one.why for one in both] == [judged(0)[0].why, "because case-2"]


def test_parts_are_joined_in_the_order_of_the_cases_and_the_later_one_counts():
    whole = in_order([judged(2, 0), judged(1), judged(0, reverse=True)], [2, 0, 1, 0])
    assert [one.case.id for one in whole] == ["case-0", "case-1", "case-2"]
    assert whole[0] == judged(0, reverse=True)[0] != judged(0)[0]
    assert whole.whys() == [one.why for one in whole]
    assert len(in_order([], [])) == 0

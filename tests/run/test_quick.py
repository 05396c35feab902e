"""``--quick``: the sample and its decisions."""

from collections import Counter

import pytest

from vlgate.gates.records import Decision, Gate
from vlgate.run.quick import NO_PASS, QUICK_CASES, quick_sample, without_passes
from vlgate.types import Case, LazyImage, Match, Task


def task_of(tags):
    image = LazyImage(key="a.jpg", load=lambda: None)
    cases = tuple(
        Case(
            id=str(number),
            requests=(Match(image=image, text=f"{number}"), Match(image=image, text=f"no {number}")),
            truths=(True, False),
            tags=tag,
        )
        for number, tag in enumerate(tags)
    )
    return Task(id="mine/some", capability="foil", shape="pair", cases=cases, left_out={"odd": 2})


MIXED = [{"size": "large", "half": str(number % 2)} for number in range(990)] + [{"size": "small"}] * 10


def test_a_small_task_is_asked_as_a_whole():
    task = task_of(MIXED[:QUICK_CASES])
    assert quick_sample(task, "0") is task


@pytest.mark.parametrize("seed", range(5))
def test_every_slice_stays_and_large_ones_have_about_their_share(seed):
    some = quick_sample(task_of(MIXED), f"{seed}")
    assert len(some.cases) == QUICK_CASES
    assert some.left_out == {"odd": 2, "beyond --quick": 970}
    assert [int(case.id) for case in some.cases] == sorted(int(case.id) for case in some.cases)
    counts = Counter(part for case in some.cases for part in case.tags.items())
    assert 1 <= counts["size", "small"] <= 3
    assert counts["half", "0"] + counts["half", "1"] >= QUICK_CASES - 3
    assert min(counts["half", "0"], counts["half", "1"]) >= 6


def test_more_slices_than_cases_and_no_slices_at_all_give_a_full_sample():
    for tags in ([{"id": str(number)} for number in range(500)], [{}] * 500):
        first, again = (quick_sample(task_of(tags), "0") for _ in range(2))
        assert first == again
        assert len(first.cases) == QUICK_CASES
        assert max(int(case.id) for case in first.cases) > 250  # not the first ones
        assert {case.id for case in quick_sample(task_of(tags), "1").cases} != {case.id for case in first.cases}


def test_no_decision_passes_and_the_others_stay():
    gate = Gate(task="mine/some", metric="acc_r")
    made = [Decision(gate=gate, outcome=outcome, why="x") for outcome in ("pass", "fail", "cannot", "not run")]
    found = without_passes(made)
    assert [one.outcome for one in found] == ["inconclusive", "fail", "cannot", "not run"]
    assert [one.why for one in found] == [NO_PASS, "x", "x", "x"]

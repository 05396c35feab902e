"""``--quick``: the sample and its decisions."""

from collections import Counter

import pytest
from builders import image, pair_case, task_of

from vlgate.gates.records import Decision, Gate
from vlgate.record.run_gates import NO_PASS, QUICK_CASES, without_passes
from vlgate.run.sampling import KEPT, quick_sample
from vlgate.types import Ask, Case, LazyImage, Task


def number_of(case):
    return int(case.id.split()[1])


def tagged(tags):
    one = image("a.jpg")
    cases = [pair_case(number, f"{number}", f"no {number}", one, tags=tag) for number, tag in enumerate(tags)]
    return task_of(cases, "mine/some", left_out={"odd": 2})


MIXED = [{"size": "large", "half": str(number % 2)} for number in range(990)] + [{"size": "small"}] * 10


def test_a_small_task_is_asked_as_a_whole():
    task = tagged(MIXED[:QUICK_CASES])
    assert quick_sample(task, "0") is task


@pytest.mark.parametrize("seed", range(5))
def test_every_slice_stays_and_large_ones_have_about_their_share(seed):
    some = quick_sample(tagged(MIXED), f"{seed}")
    assert len(some.cases) == QUICK_CASES
    assert some.left_out == {"odd": 2, "beyond --quick": 970}
    assert [number_of(case) for case in some.cases] == sorted(number_of(case) for case in some.cases)
    counts = Counter(part for case in some.cases for part in case.tags.items())
    assert 1 <= counts["size", "small"] <= 3
    assert counts["half", "0"] + counts["half", "1"] >= QUICK_CASES - 3
    assert min(counts["half", "0"], counts["half", "1"]) >= 6


def test_slices_have_their_share_in_every_draw():
    """A tenth, two tenths and the rest of 1,000 cases, crossed with halves, are 3, 6 and 21 of 30, nearly."""
    tags = [
        {"size": ("small", "middle", "middle", *["large"] * 7)[number % 10], "half": str(number // 10 % 2)}
        for number in range(1000)
    ]
    for seed in range(20):
        cases = quick_sample(tagged(tags), f"{seed}").cases
        sizes = Counter(case.tags["size"] for case in cases)
        halves = Counter(case.tags["half"] for case in cases)
        assert abs(halves["0"] - 15) <= 1
        assert all(abs(sizes[name] - share) <= 2 for name, share in {"small": 3, "middle": 6, "large": 21}.items())


@pytest.mark.parametrize("n", [31, 32, 40, 59, 60, 61, 1000])
def test_the_sample_is_full_whatever_the_number_of_cases(n):
    for seed in range(20):
        some = quick_sample(tagged([{}] * n), f"{seed}")
        assert len(some.cases) == QUICK_CASES
        assert some.left_out["beyond --quick"] == n - QUICK_CASES


def test_every_case_is_as_likely_where_no_slice_must_be_completed():
    tags = [{"size": "small" if number % 5 else "large"} for number in range(90)]
    task = tagged(tags)
    counts = Counter(case.id for seed in range(600) for case in quick_sample(task, f"{seed}").cases)
    assert len(counts) == 90
    assert max(abs(count / 600 - 1 / 3) for count in counts.values()) < 0.1  # five standard deviations


def test_a_tag_of_many_values_gives_the_rare_ones_no_more_than_their_share():
    """With a case for each of 60 rare relations, a figure would be about them only."""
    tags = [{"relation": f"rare {number}" if number < KEPT * 6 else "on"} for number in range(2000)]
    for seed in range(10):
        cases = quick_sample(tagged(tags), f"{seed}").cases
        assert sum(case.tags["relation"] != "on" for case in cases) <= 2


def test_groups_of_cases_are_no_slices():
    """Metrics over groups are tags too: 100 sets of four would leave no room for the places."""
    places = ("on", "under", "left of", "right of")
    tags = [{"preposition": places[number % 4], "set_all": f"4 of {number // 4}"} for number in range(400)]
    for seed in range(10):
        counts = Counter(case.tags["preposition"] for case in quick_sample(tagged(tags), f"{seed}").cases)
        assert set(counts.values()) <= {7, 8}


def test_single_questions_keep_the_share_of_yes():
    asked = [
        Ask(image=LazyImage(key="a", load=lambda: None), question=f"{n}?", choices=("yes", "no")) for n in range(300)
    ]
    cases = tuple(Case(id=str(n), requests=(one,), truths=("no" if n % 3 else "yes",)) for n, one in enumerate(asked))
    task = Task(id="mine/single", capability="foil", shape="single", cases=cases)
    for seed in range(10):
        assert Counter(case.truths for case in quick_sample(task, f"{seed}").cases) == {("yes",): 10, ("no",): 20}


def test_more_slices_than_cases_and_no_slices_at_all_give_a_full_sample():
    for tags in ([{"id": str(number)} for number in range(500)], [{}] * 500):
        first, again = (quick_sample(tagged(tags), "0") for _ in range(2))
        assert first == again
        assert len(first.cases) == QUICK_CASES
        assert max(number_of(case) for case in first.cases) > 250  # not the first ones
        assert {case.id for case in quick_sample(tagged(tags), "1").cases} != {case.id for case in first.cases}


def test_no_decision_passes_and_the_others_stay():
    gate = Gate(task="mine/some", metric="acc_r")
    made = [Decision(gate=gate, outcome=outcome, why="x") for outcome in ("pass", "fail", "cannot", "not run")]
    found = without_passes(made)
    assert [one.outcome for one in found] == ["inconclusive", "fail", "cannot", "not run"]
    assert [one.why for one in found] == [NO_PASS, "x", "x", "x"]

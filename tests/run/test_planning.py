import re
import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path

import builders
import pytest
from builders import asked_task, image, pair_case, task_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.asking.items import BLOCK
from vlgate.errors import OptionError, UnknownNameError
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.record.options import QUICK_CASES, Options
from vlgate.record.run_gates import NO_PASS, unjudged_gates, without_passes
from vlgate.run import planning
from vlgate.run.planning import CASES_A_BATCH, make_plan
from vlgate.run.sampling import KEPT, quick_sample
from vlgate.sources.registry import shapes
from vlgate.types import CAPABILITIES, Read

SCENES = sorted(task for task in shapes() if task.startswith("scenes/"))
PAIRS = ("scenes/attributes", "scenes/existence", "scenes/foil-it")


def options(**given_):
    return Options(folder=Path(), thresholds=Path("thresholds.toml"), results=Path("results"), **given_)


def ids(task):
    return [case.id for case in task.cases]


def case(number, key="a", id_=None):
    return replace(pair_case(number, f"{number}/0", f"{number}/1", image(key)), id=id_ or f"{number}")


def own_task(cases, id_="scenes/existence"):
    return builders.task_of(cases, id_)


@pytest.fixture
def plan_of(monkeypatch):
    """The plan of some tasks, as if the sources had made them."""

    def planned(*tasks, **given_):
        monkeypatch.setattr(planning, "read_tasks", lambda _: list(tasks))
        return make_plan(options(**given_))

    return planned


@pytest.fixture(scope="module")
def whole():
    return make_plan(options())


def test_without_a_data_folder_the_scenes_of_the_seed_are_asked_each_time_alike(whole):
    assert [task.id for task in whole.tasks] == SCENES
    assert {task.capability for task in whole.tasks} == set(CAPABILITIES)
    again = make_plan(options())
    assert again.tasks == whole.tasks
    assert list(again.batches.items()) == list(whole.batches.items())
    assert all(name == f"{batch.task.id}:{batch.cases[0].id}" for name, batch in whole.batches.items())
    assert make_plan(options(seed=1)).tasks != whole.tasks


@pytest.mark.parametrize(
    ("suite", "expected"),
    [
        (("scenes/existence",), ["scenes/existence"]),
        (("scenes/*",), SCENES),
        (("*/relations", "scenes/foil-*"), ["scenes/foil-it", "scenes/relations"]),
        (("scenes/existence", "scenes/*"), SCENES),
    ],
)
def test_a_suite_names_tasks_by_pattern(suite, expected):
    assert [task.id for task in make_plan(options(suite=suite, limit=1)).tasks] == expected


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"suite": ("scenes/existence", "scenes/existance")}, r"'scenes/existance'; did you mean 'scenes/exist"),
        ({"suite": ("Scenes/*",)}, "Scenes/"),
        ({"protocols": frozenset({"as-printed"})}, "protocol 'as-printed'"),
        ({"suite": ("valse/existence",)}, r"nothing to ask.*valse/existence.*no data folder.*VLGATE_DATA"),
        ({"data": (Path("/none"),)}, r"--data /none: .*not a folder"),
    ],
)
def test_what_cannot_be_planned_is_named(given_, says):
    with pytest.raises((OptionError, UnknownNameError), match=says):
        make_plan(options(**given_))


def test_a_data_folder_replaces_the_scenes_and_without_data_or_cases_it_is_an_error(tmp_path, plan_of):
    where = re.escape(str(tmp_path))
    with pytest.raises(OptionError, match=rf"nothing to ask.*any of .*valse.*{where}.*--data"):
        make_plan(options(data=(tmp_path,)))
    assert make_plan(options(data=(tmp_path,), suite=("scenes/existence",))).tasks[0].id == "scenes/existence"
    with pytest.raises(OptionError, match="nothing to ask"):
        plan_of(own_task([]))


def test_every_batch_belongs_to_its_tasks_capability(whole):
    of = {capability: whole.of_capability(capability).values() for capability in CAPABILITIES}
    assert sum(map(len, of.values())) == len(whole.batches)
    assert all(batch.task.capability == capability for capability, batches in of.items() for batch in batches)


@pytest.mark.parametrize("limit", [1, 10, 50])
def test_a_limit_is_a_sample_in_the_tasks_order_and_what_is_left_out_is_counted(limit, whole):
    sampled = make_plan(options(limit=limit))
    for task, all_of_it in zip(sampled.tasks, whole.tasks, strict=True):
        assert len(task.cases) == limit
        places = [all_of_it.cases.index(case) for case in task.cases]
        assert places == sorted(set(places))
        assert task.left_out == {**all_of_it.left_out, f"beyond --limit {limit}": len(all_of_it.cases) - limit}
    assert any(ids(task) != ids(one)[:limit] for task, one in zip(sampled.tasks, whole.tasks, strict=True))


def test_the_sample_is_the_same_each_time_and_another_for_another_seed_or_task_but_not_beside_others(plan_of):
    cases = [case(number) for number in range(200)]
    tasks = [own_task(cases, id_) for id_ in PAIRS]
    first, again, other = (plan_of(*tasks, limit=20, seed=seed).tasks for seed in (0, 0, 1))
    assert first == again
    assert ids(first[0]) != ids(other[0])
    assert len({tuple(ids(task)) for task in first}) == len(PAIRS)
    assert plan_of(tasks[1], limit=20).tasks[0] == first[1]
    assert plan_of(*tasks, limit=200).tasks == tuple(tasks)


def test_every_case_has_the_same_chance_in_a_sample_and_in_a_quick_one_without_rare_slices(plan_of):
    task = own_task([case(number) for number in range(20)])
    drawn = Counter(id_ for seed in range(400) for id_ in ids(plan_of(task, limit=5, seed=seed).tasks[0]))
    # Each of 20 cases is expected 100 times; five deviations of sqrt(400 * 0.25 * 0.75) are 43.
    assert all(57 <= drawn[str(number)] <= 143 for number in range(20))
    tags = [{"size": "small" if number % 5 else "large"} for number in range(90)]
    task = tagged(tags)
    counts = Counter(case.id for seed in range(600) for case in quick_sample(task, f"{seed}").cases)
    assert len(counts) == 90
    assert max(abs(count / 600 - 1 / 3) for count in counts.values()) < 0.1  # five standard deviations


@pytest.mark.parametrize("items", ["auto", "pair", "batch"])
def test_the_batches_hold_each_case_exactly_once(items, whole):
    plan = make_plan(options(items=items))
    held = Counter((batch.task.id, position) for batch in plan.batches.values() for position in batch.positions)
    expected = {(task.id, position) for task in whole.tasks for position in range(len(task.cases))}
    assert held == dict.fromkeys(expected, 1)


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=40), st.integers(1, 7))
@settings(max_examples=50)
def test_every_batch_but_the_last_is_full(keys, size):
    task = own_task([case(number, key) for number, key in enumerate(keys)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "read_tasks", lambda _: [task])
        patch.setattr(planning, "CASES_A_BATCH", size)
        batches = make_plan(options(items="batch")).batches
    assert sorted(position for batch in batches.values() for position in batch.positions) == list(range(len(keys)))
    assert [len(batch.positions) for batch in batches.values()][:-1] == [size] * (len(batches) - 1)


def test_a_plan_of_batches_holds_few_bytes_a_case(monkeypatch):
    task = own_task([case(number, "a") for number in range(5_000)])
    monkeypatch.setattr(planning, "read_tasks", lambda _: [task])
    make_plan(options(items="batch"))  # fills caches
    tracemalloc.start()
    try:
        plan = make_plan(options(items="batch"))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 12 * len(plan.tasks[0].cases)


@pytest.mark.parametrize("items", ["pair", "batch"])
def test_the_cases_of_an_image_are_near_each_other_and_in_few_batches(plan_of, items):
    n, images = 2560, 640
    task = own_task([case(number, f"{number % images}.jpg") for number in range(n)])
    batches = plan_of(task, items=items).batches
    order = [position for batch in batches.values() for position in batch.positions]
    places = {image: [] for image in range(images)}
    for index, position in enumerate(order):
        places[position % images].append(index)
    assert all(max(of_image) - min(of_image) < 2 * BLOCK for of_image in places.values())
    cut = sum(len({place // CASES_A_BATCH for place in of_image}) > 1 for of_image in places.values())
    assert cut <= n / CASES_A_BATCH  # at most the image at the end of each batch


def test_auto_makes_an_item_of_each_pair_up_to_2000_cases_and_a_batch_is_of_one_task(plan_of):
    tasks = [own_task([case(number) for number in range(1001)], id_) for id_ in PAIRS[:2]]
    assert len(plan_of(*tasks).batches) == 8
    assert len(plan_of(*tasks, limit=1000).batches) == 2000
    assert len(plan_of(*tasks, items="pair").batches) == 2002
    tasks = [own_task([case(number) for number in range(CASES_A_BATCH + 1)], id_) for id_ in PAIRS]
    plan = plan_of(*tasks, items="batch")
    assert [(name, len(batch.positions)) for name, batch in plan.batches.items()] == [
        (f"{task}:{part}", size) for task in PAIRS for part, size in (("0-255", 256), ("256-256", 1))
    ]


def test_the_ids_of_items_are_unique_and_printable_whatever_the_ids_of_the_cases(plan_of):
    names = ["a b", "a_b", "a[1]", "a::b", "ünï", "line\nbreak", "", "x" * 9, "same", "same", "same", "same~2"]
    plan = plan_of(own_task([case(number, id_=name) for number, name in enumerate(names)]), items="pair")
    assert len(plan.batches) == len(names)
    assert all(re.fullmatch(r"scenes/existence:[!-~]*", name) for name in plan.batches)
    assert not any(set(name) & set("[] ") for name in plan.batches)
    assert {"scenes/existence:same", "scenes/existence:same~2"} <= set(plan.batches)


def test_what_a_tie_counts_travels_with_the_batches_and_cases_may_have_no_image(plan_of):
    plan = make_plan(options(ties="credit", limit=2))
    assert {batch.ties for batch in plan.batches.values()} == {"credit"}
    texts = [replace(case(n), requests=(Read(text=f"{n} true"), Read(text=f"{n} false"))) for n in range(3)]
    assert [batch.positions for batch in plan_of(own_task(texts)).batches.values()] == [(2,), (0,), (1,)]


def number_of(case):
    return int(case.id.split()[1])


def tagged(tags):
    one = image("a.jpg")
    cases = [pair_case(number, f"{number}", f"no {number}", one, tags=tag) for number, tag in enumerate(tags)]
    return task_of(cases, "mine/some", left_out={"odd": 2})


MIXED = [{"size": "large", "half": str(number % 2)} for number in range(990)] + [{"size": "small"}] * 10


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
    sizes_of = ("small", "middle", "middle", *["large"] * 7)
    tags = [{"size": sizes_of[number % 10], "half": str(number // 10 % 2)} for number in range(1000)]
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
    small = tagged([{}] * min(n, QUICK_CASES))
    assert quick_sample(small, "0") is small


def test_a_tag_of_many_values_gives_rare_ones_no_more_than_their_share_and_groups_are_no_slices():
    """With a case for each of 60 rare relations, a figure would be about them only."""
    tags = [{"relation": f"rare {number}" if number < KEPT * 6 else "on"} for number in range(2000)]
    for seed in range(10):
        cases = quick_sample(tagged(tags), f"{seed}").cases
        assert sum(case.tags["relation"] != "on" for case in cases) <= 2
    # Metrics over groups are tags too: 100 sets of four would leave no room for the places.
    places = ("on", "under", "left of", "right of")
    tags = [{"preposition": places[number % 4], "set_all": f"4 of {number // 4}"} for number in range(400)]
    for seed in range(10):
        counts = Counter(case.tags["preposition"] for case in quick_sample(tagged(tags), f"{seed}").cases)
        assert set(counts.values()) <= {7, 8}


def test_single_questions_keep_the_share_of_yes_and_any_number_of_slices_gives_a_full_sample():
    task = asked_task(*(("a", f"{n}?", "no" if n % 3 else "yes") for n in range(300)), shape="single")
    for seed in range(10):
        assert Counter(case.truths for case in quick_sample(task, f"{seed}").cases) == {("yes",): 10, ("no",): 20}
    for tags in ([{"id": str(number)} for number in range(500)], [{}] * 500):
        first, again = (quick_sample(tagged(tags), "0") for _ in range(2))
        assert first == again
        assert len(first.cases) == QUICK_CASES
        assert max(number_of(case) for case in first.cases) > 250  # not the first ones
        assert {case.id for case in quick_sample(tagged(tags), "1").cases} != {case.id for case in first.cases}


def test_no_decision_passes_and_the_others_stay():
    gate = Gate(task="mine/some", metric="acc_r")
    made = [Decision(gate=gate, outcome=outcome, why="x") for outcome in ("pass", "fail", "cannot", "not run")]
    assert without_passes(made, "half") == tuple(made)
    found = without_passes(made, "strict", quick=True)
    assert [one.outcome for one in found] == ["inconclusive", "fail", "cannot", "not run"]
    assert [one.why for one in found] == [NO_PASS, "x", "x", "x"]


LIMIT = Gate(task="mine/*", metric="acc_r", max=0.4, kind="limit")


@pytest.mark.parametrize(
    ("file", "rules", "why"),
    [
        ("t.toml", (Gate(task="mine/other", metric="acc_r", min=0.5),), "no gate of t.toml is about a task of this"),
        ("t.toml", (LIMIT,), "t.toml has no gate; add a gate with min"),
        ("t.toml", (), "t.toml has no gate; add a gate with min"),
        (None, (), "there is no thresholds file; write one with vlgate init"),
    ],
)
def test_a_run_without_a_judged_gate_says_what_the_file_lacks(tmp_path, file, rules, why):
    thresholds = Thresholds(file=Path("t.toml"), rules=rules, require=())
    named = None if file is None else Path(file)
    options = Options(folder=tmp_path, results=tmp_path, thresholds=named, require_gates=True)
    [decision] = unjudged_gates([], thresholds, options)
    assert decision.why.startswith(f"no gate was judged: {why}")

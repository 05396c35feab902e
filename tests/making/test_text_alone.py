"""What text alone tells of a set is said, with the reason and a remedy; a set that is kept unbalanced is marked."""

import json
from collections import Counter
from dataclasses import replace
from math import ceil
from random import Random

import pytest
from builders import write_lines

from vlgate.audit.flaws import examine
from vlgate.cli import main
from vlgate.making.inputs.reading import Read
from vlgate.making.kinds.kind import KINDS, Item, Selected, kind
from vlgate.making.sets import report
from vlgate.making.sets.candidates import choose
from vlgate.making.sets.run import Settings, make_set
from vlgate.perturb.foils.balance import ENOUGH
from vlgate.perturb.foils.candidates import Foil
from vlgate.sources.own import cases
from vlgate.sources.reading.source import ReadOptions


def item(number, caption, foil, classes, **tags):
    candidate = Foil(caption=caption, foil=foil, classes=classes, why="", tags=tags)
    return Item(id=str(number), image=f"{number}.jpg", origin=str(number), candidate=candidate)


def side(number, true="left", false="right"):
    return item(number, f"a cup {true} of {number}", f"a cup {false} of {number}", (true, false))


def measured(of, items, balance="near chance", used=None):
    chosen = choose(of, items, limit=None, seed=0, balance=balance)
    read = Read(name="captions", inputs=range(99), given=99)
    account = report.Account(read=read, used=used or len(items), candidates=len(items))
    return report.measured(of, chosen, account, made_by={}, lm="trigrams")


@pytest.mark.parametrize(("number", "rule"), [(16, "blind baseline, cross-validated"), (9, "what the other images")])
def test_a_small_set_of_one_side_says_so_with_the_reason_and_a_remedy(sides, number, rule):
    found = measured(sides, [side(n) for n in range(number)])
    assert rule in found["warning"]
    assert found["warning"].startswith("text alone is above chance (0.500): ")
    assert f"; 'left' is in {number} captions and 0 foils; give more inputs, in which" in found["warning"]
    assert f"Beware: {found['warning']}." in report.as_page(found)


@pytest.mark.parametrize("number", [6, 60, 300])
def test_words_of_one_side_are_named_though_their_classes_are_balanced(sides, number):
    one = [item(n, f"a man with cup {n}", f"men with cup {n}", ("one", "two")) for n in range(number // 2)]
    two = ("two cats and cup", "one cat and cup")
    other = [item(n, f"{two[0]} {n}", f"{two[1]} {n}", ("two", "one")) for n in range(number // 2, number)]
    found = measured(sides, [*one, *other])
    half = number // 2
    told = f"tell a case: 'a' is in {half} captions and 0 foils, 'man' is in {half} captions and 0 foils, 'two' is in"
    assert told in found["note"]
    assert "5 more" not in found["note"]
    assert found["note"].endswith(", 4 more; give more inputs, some of which have them the other way round")
    assert f"Beware: {found['note']}." in report.as_page(found)
    assert measured(sides, [side(n) if n % 2 else side(n, "right", "left") for n in range(number)])["note"] == ""
    assert measured(kind("counting-adversarial"), one)["note"] == ""


@pytest.mark.parametrize("number", [8, 40, 200])
def test_a_set_of_both_sides_says_nothing(sides, number):
    both = [side(n) if n % 2 else side(n, "right", "left") for n in range(number)]
    assert measured(sides, both)["warning"] == ""


def test_the_remedy_for_many_cases_is_pruning_and_after_that_the_figures(sides):
    longer = [item(n, f"a cup and mug {n}", f"a cup {n}", (f"mug{n}", f"cup{n}")) for n in range(200)]
    rows = {row["name"]: row for row in measured(sides, longer)["probes"]}
    assert (rows["longer text"]["value"], rows["longer text"]["chance"]) == (1.0, 0.5)
    assert rows["longer text"]["low"] > 0.97
    assert measured(sides, longer)["warning"].endswith(
        "--prune-shortcuts drops cases until no classifier of texts is above it"
    )
    assert measured(sides, longer, "pruned")["warning"].endswith("compare a model with these figures instead of chance")


def test_a_kind_that_text_tells_by_design_says_so():
    numbers = [
        item(n, f"{n % 5 + 4} cups {n % 7}", f"{n % 3} cups {n % 7}", (str(n % 5 + 4), str(n % 3))) for n in range(60)
    ]
    assert measured(kind("counting-adversarial"), numbers)["warning"].endswith("judge it together with counting-small")
    assert [name for name in KINDS if kind(name).tells] == ["counting-adversarial"]


def test_a_person_or_an_animal_does_it_is_a_rule_of_its_own(sides):
    nouns = [("man", "dog", "both"), ("man", "car", "agent"), ("car", "man", "other"), ("car", "cart", "none")]

    def swaps(*numbers):
        rows = [row for row, number in zip(nouns, numbers, strict=True) for _ in range(number)]
        return [
            item(n, f"a {one} hits a {other} {n}", f"a {other} hits a {one} {n}", (one, other), actors=actors)
            for n, (one, other, actors) in enumerate(rows)
        ]

    found = measured(replace(sides, permuted=True), swaps(20, 10, 6, 4))
    row = next(row for row in found["probes"] if row["name"] == "a person or an animal does it")
    assert (row["value"], row["chance"], row["n"]) == (0.55, 0.5, 40)
    assert "| a person or an animal does it | 0.550 | 0.500 | 40 |" in report.as_page(found)
    told = measured(replace(sides, permuted=True), swaps(0, 60, 0, 60))["warning"]
    assert told.endswith("; give more frames with persons or animals in both roles")


def test_the_inputs_that_a_gate_needs_are_told(sides):
    both = [side(n) if n % 2 else side(n, "right", "left") for n in range(40)]
    found = measured(sides, both, used=100)
    assert 60 <= found["gate"]["inputs"] <= 80
    told = f"a gate of 30 cases needs about {found['gate']['inputs']} captions such as these"
    assert told.capitalize() in report.as_page(found)


def one_for_each_two(items, _):
    """A balance that keeps n * n / 100 of n items: half of the inputs give a quarter of the cases."""
    return Selected(items=items[: len(items) ** 2 // 100], dropped={"uneven": len(items) - len(items) ** 2 // 100})


@pytest.mark.parametrize(("number", "least", "most"), [(100, 53, 66), (54, None, None)])
def test_a_balance_that_grows_faster_than_its_inputs_is_not_taken_for_a_share(sides, number, least, most):
    both = [side(n) if n % 2 else side(n, "right", "left") for n in range(number)]
    found = measured(replace(sides, select=one_for_each_two), both)
    inputs = found["gate"]["inputs"]
    assert inputs is None if least is None else least <= inputs <= most
    if inputs is None:
        assert "needs more than these 99 captions; few inputs give fewer" in report.as_page(found)


def both_of_each(items, _):
    """A balance that keeps an item if the one of the same half number is there: how many, is left to chance."""
    halves = Counter(int(item.id) // 2 for item in items)
    return Selected(items=[item for item in items if halves[int(item.id) // 2] == 2], dropped={})


def test_most_samples_as_large_as_a_gate_is_told_to_need_give_its_cases(sides):
    both, enough = [side(n) if n % 2 else side(n, "right", "left") for n in range(400)], Counter()
    for seed in range(6):
        chosen = choose(replace(sides, select=both_of_each), both, limit=None, seed=seed)
        samples = (Random(f"{seed} {n}").sample(both, ceil(chosen.share * len(both))) for n in range(20))
        enough.update(len(both_of_each(some, 0).items) >= ENOUGH for some in samples)
    assert enough[True] > 9 * enough[False], enough


def test_what_became_of_the_inputs_adds_up():
    inputs = {"name": "captions", "given": 99, "unread": 3, "used": 90, "with_case": 20}
    became, gate = report.sums({"inputs": inputs, "candidates": 40, "cases": 25, "gate": {"inputs": 1200}})
    told = (
        "99 captions: 20 gave a case, 70 gave none, 3 left out when read, 6 not used; 40 candidates, 25 of them cases"
    )
    assert (became, gate) == (told, "a gate of 30 cases needs about 1,200 captions such as these")


@pytest.fixture
def command(tmp_path, capsys, monkeypatch, sides):
    """Run the command on so many captions of one side; return its status, the folder and what it printed."""
    none = replace(sides, select=lambda items, _: Selected(items=items[:20], dropped={"alone": len(items) - 20}))
    monkeypatch.setattr("vlgate.cli.make.kind", lambda name: none if name == "object" else kind(name))

    def run(*options, number=120, name="object"):
        rows = [{"image": f"{n}.jpg", "caption": f"a cup is on the left of {n}"} for n in range(number)]
        file = write_lines(tmp_path / "captions.jsonl", rows)
        status = main(["make", name, "--from", str(file), "--out", str(tmp_path / "set"), *options])
        return status, tmp_path / "set", capsys.readouterr().err.splitlines()

    return run


def test_the_command_ends_with_the_warning_and_the_inputs_of_a_gate(command):
    status, folder, said = command()
    assert status == 0
    assert said[-3].startswith("beware: text alone is above chance (0.500): blind baseline, cross-validated 1.000 (")
    assert said[-2].startswith("beware: none of the 20 images of the cases is in ")
    assert "120 captions: 20 gave a case, 100 gave none; 120 candidates, 20 of them cases" in said
    assert said[-1].startswith(f"20 cases in {folder}; a gate of 30 cases needs more than these 120 captions; ")


def test_a_set_that_is_kept_unbalanced_is_whole_and_marked_wherever_it_is_read(command):
    status, folder, said = command("--keep-unbalanced")
    assert status == 0
    assert f"beware: {report.UNMARKED}" in said
    found = json.loads((folder / "bias.json").read_text())
    assert (found["cases"], found["balanced"], found["dropped"]) == (120, False, {})
    assert found["made_by"]["--keep-unbalanced"] == "on"
    assert f"Beware: {report.UNMARKED}." in (folder / "bias.md").read_text()
    [task] = cases.read(ReadOptions(folders=(folder,), seed=0, wanted=lambda _: True))
    assert task.id == "made/sides-unbalanced"
    assert [(flaw.name, flaw.count) for flaw in examine(task)] == [("not balanced", 120)]
    assert examine(replace(task, id="made/sides")) == ()


def test_an_unbalanced_set_has_no_release_and_questions_are_balanced(command):
    status, folder, said = command("--keep-unbalanced", "--format", "release")
    assert (status, folder.exists()) == (4, False)
    assert said[-1].endswith("--keep-unbalanced: --format release has no place for its mark; take cases")
    said = command("--keep-unbalanced", name="questions")[2]
    assert said[-1].endswith("--keep-unbalanced: questions are balanced by themselves; leave it out")


def test_a_limit_samples_an_unbalanced_set(sides, tmp_path):
    file = write_lines(tmp_path / "in.jsonl", [{"image": f"{n}.jpg", "caption": f"left {n}"} for n in range(50)])
    settings = Settings(files=(file,), out=tmp_path / "set", limit=7, balance="none")
    assert len(make_set(sides, settings, print)[0]) == 7


def test_a_baseline_below_chance_is_explained(sides):
    words = [(f"x{n}", f"y{n}") for n in range(20)]
    both = [*words, *(pair[::-1] for pair in words)]
    some = [item(n, f"a {pair[0]}", f"a {pair[1]}", pair) for n, pair in enumerate(both)]
    blind = measured(sides, some)["blind"]
    assert blind["high"] < blind["chance"]
    assert blind["why"].startswith("below chance: each word is exactly as often true as false in the set, so that what")
    uneven = measured(sides, [item(0, "a x0", "a z", ("x0", "z")), *some[1:]])["blind"]
    assert uneven["why"].startswith("below chance: what is more often true in the cases it learns from is")

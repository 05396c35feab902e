"""A limit of cases and a balance of classes hold at once."""

import json
from dataclasses import replace

import pytest

from vlgate.making.kinds.kind import Item, Selected
from vlgate.making.sets import candidates
from vlgate.making.sets.report import Account, measured
from vlgate.making.sets.run import Settings, make_set
from vlgate.perturb.foils.candidates import Foil


@pytest.fixture
def limited(sides, captions_file, tmp_path, monkeypatch):
    """Make a set whose classes are balanced with at most so many cases; return its report."""
    monkeypatch.setattr(candidates, "BLOCK", 100)
    one = replace(sides, select=one_of_each)

    def make(limit):
        out = tmp_path / "set"
        make_set(one, Settings(kind=one.name, files=(captions_file(),), out=out, limit=limit), lambda _: None)
        return json.loads((out / "bias.json").read_text())

    return make


def one_of_each(items, _):
    """Keep an item if there is one whose side is the other of the same two captions."""

    def pair(item):
        return int(item.candidate.caption.split()[-1].strip(".")) // 2

    sides_of = {}
    for item in items:
        sides_of.setdefault(pair(item), set()).add(item.candidate.classes[0])
    kept = tuple(item for item in items if len(sides_of[pair(item)]) == 2)
    return Selected(items=kept, dropped={"alone": len(items) - len(kept)})


@pytest.mark.parametrize("limit", [40, 7])
def test_a_limit_leaves_a_balanced_set_of_nearly_so_many_cases(limited, limit):
    found = limited(limit)
    assert limit - 2 <= found["cases"] <= limit
    assert found["classes"]["distance"] == 0
    assert found["dropped"].keys() <= {"alone", "beyond --limit"}
    assert found["candidates"] == found["cases"] + sum(found["dropped"].values())


def test_with_a_balanced_kind_inputs_that_a_limit_does_not_need_are_not_used(limited):
    assert limited(7)["inputs"]["used"] < 600


def test_a_limit_of_one_gives_a_case_though_one_case_has_no_balance(limited):
    assert limited(1)["cases"] == 1


def test_a_baseline_before_a_drop_is_told_only_if_something_was_dropped(limited):
    assert limited(40)["blind"]["before"] is None


def test_a_baseline_below_chance_is_explained(sides):
    words = [(f"x{n}", f"y{n}") for n in range(20)]
    both = words + [pair[::-1] for pair in words]
    foils = [Foil(caption=f"a {pair[0]}", foil=f"a {pair[1]}", classes=pair, why="") for pair in both]
    items = [Item(id=str(n), image=f"{n}.jpg", origin=str(n), candidate=one) for n, one in enumerate(foils)]
    account = Account(inputs=40, used=40, candidates=40)
    blind = measured(sides, items, account, before=None, made_by={}, lm=None)["blind"]
    assert blind["high"] < blind["chance"]
    assert blind["why"].startswith("below chance, as in small sets")

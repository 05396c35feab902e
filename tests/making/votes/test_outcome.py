"""What is kept and dropped, and the figures of VALSE's Table 5."""

import json
from pathlib import Path

import pytest
from builders import tabled
from voting import PAIRS, QUAD, SET, answer_of, read_items, write_cases

from vlgate.making.votes.form import items_of
from vlgate.making.votes.outcome import agreement, alpha, outcome, report, write_outcome
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source
from vlgate.types import Case, LazyImage, Match, Task

RELEASE = Path(__file__).parents[4] / "shared/data/valse/data"


@pytest.fixture
def decided(tmp_path):
    """Decide on the cases of one task by the meanings of their votes, in the order of the cases."""

    def decide(rows, meanings, voters=3):
        items = read_items(write_cases(tmp_path / "set", {"mine/x": rows}))
        ordered = sorted(items, key=lambda item: (item.case.id, item.image.key, item.caption))
        ballots = {
            item.id: {f"W{n}": answer_of(item, meaning) for n, meaning in enumerate(of_item)}
            for item, of_item in zip(ordered, meanings, strict=True)
        }
        return outcome(items, ballots, voters)

    return decide


@tabled
def test_two_of_three_must_choose_the_caption_but_not_the_foil(decided, votes, why):
    result = decided(PAIRS[:1], [votes.split()])
    assert result.dropped == {"mine/x": {why: 1} if why else {}}
    assert len(result.kept["mine/x"]) == (not why)


def test_a_case_is_kept_if_all_its_items_are_valid(decided):
    good, bad = ["caption"] * 3, ["both"] * 3
    result = decided([QUAD, SET | {"image": "2.png"}][:1] * 2, [good, good, good, bad])
    assert [case.id for case in result.kept["mine/x"]] == ["0"]
    assert result.dropped == {"mine/x": {"both texts are true": 1}}
    assert result.table["mine/x"].items == 4


def test_the_table_counts_valid_and_unanimous_items(decided):
    meanings = [["caption"] * 3, ["caption", "caption", "foil"], ["both"] * 3, ["caption", "caption"]]
    result = decided(PAIRS, meanings)
    line = result.table["mine/x"]
    assert (line.items, line.valid, line.unanimous) == (4, 2, 1)
    lines = list(report(result))
    assert lines[2].startswith("| mine/x | 4 | 2 (50.0) | 1 (25.0) | ")
    assert lines[-4] == "mine/x: 2 cases kept, 2 dropped: 1 x both texts are true, 1 x fewer than 3 votes"
    assert lines[-3:] == [
        "W0: 4 votes, 75.0 % for the caption",
        "W1: 4 votes, 75.0 % for the caption",
        "W2: 3 votes, 33.3 % for the caption",
    ]


def test_alpha_is_what_one_computes_by_hand():
    # Values aaa and abb: 2 of 6 pairs of votes differ, and 2 * 4 * 2 / (6 - 1) = 3.2 are expected to.
    assert alpha([_votes("first", 3, "both", 0), _votes("first", 1, "both", 2)]) == pytest.approx(1 - 2 / 3.2)
    # A vote that stands alone has no other to agree with.
    lonely = {"W9": "cannot_tell"}
    assert alpha([_votes("first", 3, "both", 0), _votes("first", 1, "both", 2), lonely]) == pytest.approx(0.375)
    assert alpha([_votes("first", 2, "both", 0), _votes("first", 0, "both", 2)]) == pytest.approx(1)


def test_alpha_is_not_defined_without_two_answers():
    assert alpha([]) is None
    assert alpha([_votes("first", 3, "both", 0)]) is None
    assert alpha([{"W0": "first"}, {"W0": "both"}]) is None


def test_kept_cases_read_back_as_they_were(tmp_path):
    tasks = {"mine/a": [{**PAIRS[0], "tags": {"way": "up", "n": 3}}, *PAIRS[1:]], "mine/b": [QUAD], "mine/c": [SET]}
    folder = write_cases(tmp_path / "set", tasks)
    items = read_items(folder)
    dropped = next(item for item in items if item.task == "mine/a")
    ballots = {item.id: {f"W{n}": item.right for n in range(3 * (item is not dropped))} for item in items}
    (tmp_path / "kept").mkdir()
    write_outcome(outcome(items, ballots), tmp_path / "kept")

    def cases(*folders):
        read = read_source("own", ReadOptions(folders=folders, seed=0, wanted=lambda _: True))
        return {(task.id, task.shape, case.id): case for task in read for case in task.cases}

    (tmp_path / "photos").mkdir()
    for image in folder.glob("*.png"):
        image.rename(tmp_path / "photos" / image.name)
    before, after = cases(folder, tmp_path / "photos"), cases(tmp_path / "kept", tmp_path / "photos")
    assert before.keys() - after.keys() == {("mine/a", "pair", dropped.case.id)}
    for name, case in after.items():
        assert (case.requests, case.truths, case.tags) == (
            before[name].requests,
            before[name].truths,
            before[name].tags,
        )
    figures = json.loads((tmp_path / "kept/votes.json").read_text())["tasks"]["mine/a"]
    assert (figures["items"], figures["valid"], figures["dropped"]) == (4, 3, {"fewer than 3 votes": 1})


@pytest.mark.skipif(not RELEASE.is_dir(), reason="needs the released files of VALSE in ../shared/data")
@tabled
def test_the_released_votes_give_the_shares_of_table_5(file, items, valid, unanimous):
    """``counting-hard.json`` has the figures that the table prints for the balanced counts."""
    records = json.loads((RELEASE / f"{file}.json").read_text())
    image = LazyImage(key="1", load=lambda: None)
    cases = tuple(
        Case(id=name, requests=(Match(image=image, text="a"), Match(image=image, text="b")), truths=(True, False))
        for name in records
    )
    made = items_of(Task(id=f"valse/{file}", capability="foil", shape="pair", cases=cases), 0)
    ballots = {}
    for item in made:
        counts = records[item.case.id]["mturk"]
        meanings = ["caption"] * counts["caption"] + ["foil"] * counts["foil"] + ["neither"] * counts["other"]
        ballots[item.id] = {f"W{n}": answer_of(item, meaning) for n, meaning in enumerate(meanings)}
    line = agreement(made, ballots)
    assert line.items == items
    table = list(report(outcome(made, ballots)))[2]
    assert f"| {valid} | {unanimous} |" in table
    assert 0 < line.alpha < line.alpha_valid < 1


def _votes(one, number, other, rest):
    return {f"W{n}": answer for n, answer in enumerate([one] * number + [other] * rest)}

"""The balance of a set: VALSE's Table 5, the files and the cap of coreference, numbers of answers, and a limit."""

import json
import math
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from builders import read_lines, tabled, write_lines

from vlgate.cli import main
from vlgate.making.kinds.kind import Item, Selected
from vlgate.making.kinds.valse import COREFERENCE, WHOLE
from vlgate.making.sets.run import Settings, make_set
from vlgate.making.sets.validity import jensen_shannon, of_classes, of_words
from vlgate.perturb.foils.candidates import Foil

RELEASED = Path(__file__).parents[3] / "shared/data/valse/data"
TABLE_5 = {
    "existence": (25, 0.628, 0.629),
    "plurals": (704, 0.742, 0.766),
    "counting-hard": (25, 0.070, 0.082),
    "actant-swap": (467, 0.000, 0.000),
    "coreference-standard": (2, 0.053, 0.084),
    "foil-it": (73, 0.426, 0.425),
}
"""The lexical items, and the distance of all records and of the valid ones; the paper cuts to three digits."""


def classes(record, *, permuted):
    both = [value if isinstance(value, list) else [value] for value in (record["classes"], record["classes_foil"])]
    texts = [[str(value) for value in values] for values in both]
    return (texts[0] + texts[1],) * 2 if permuted else tuple(texts)


@pytest.mark.parametrize("name", TABLE_5)
def test_the_distance_and_the_items_are_those_of_table_5(name):
    file = RELEASED / f"{name}.json"
    if not file.is_file():
        pytest.skip(f"there is no {file}")
    records = json.loads(file.read_text()).values()
    items, distance, valid = TABLE_5[name]
    permuted = name == "actant-swap"
    whole = of_classes(classes(record, permuted=permuted) for record in records)
    part = of_classes(classes(record, permuted=permuted) for record in records if record["mturk"]["caption"] >= 2)
    assert whole.items == items
    assert [one.distance for one in (whole, part)] == pytest.approx([distance, valid], abs=0.001)


def test_the_distance_is_the_root_of_the_divergence_by_hand():
    # m = (1/2, 1/4, 1/4): KL(c || m) = KL(f || m) = 1/2 log2(1) + 1/2 log2(2) = 1/2
    assert jensen_shannon({"a": 1, "b": 1}, {"a": 1, "c": 1}) == pytest.approx(math.sqrt(0.5))
    assert jensen_shannon({"a": 3, "b": 1}, {"b": 2, "a": 6}) == 0
    with pytest.raises(ValueError, match="at least one phrase"):
        jensen_shannon({}, {"a": 1})


def test_words_are_counted_without_capitals_and_marks():
    balance = of_words([("A dog, a cat.", "a dog  A cat"), ("Two dogs", "2 dogs")])
    assert dict(balance.captions) == {"a": 2, "dog": 1, "cat": 1, "two": 1, "dogs": 1}
    assert balance.items == 6


def item(number, image, answer="yes", about="caption"):
    foil = Foil(
        caption=f"a dog {number}. is it wet? {answer}.",
        foil=f"a dog {number}. is it wet? no.",
        classes=(answer, {"yes": "no", "no": "yes"}[answer]),
        why="",
        tags={"antecedent": about},
    )
    return Item(id=f"d-{number}", image=image, origin=f"d, {number}", candidate=foil, extra={})


@tabled
def test_the_file_is_that_of_the_instrument_that_the_images_belong_to(images, files):
    made = COREFERENCE.release([item(number, image) for number, image in enumerate(images)])
    assert {name: len(json.loads(text)) for name, text in made.items()} == {
        f"valse/data/{name}": count for name, count in files.items()
    }


def test_what_is_left_out_for_the_cap_is_counted_apart():
    about = ["caption"] * 4 + ["image"] * 10
    items = [item(number, "1.jpg", ("yes", "no")[number % 2], one) for number, one in enumerate(about)]
    chosen = COREFERENCE.select(items, 0)
    assert len(chosen.items) == 6
    assert chosen.dropped == {WHOLE: 8}


@pytest.fixture
def limited(sides, captions_file, tmp_path):
    one = replace(sides, select=one_of_each)

    def make(limit):
        out = tmp_path / "set"
        make_set(one, Settings(files=(captions_file(),), out=out, limit=limit), lambda _: None)
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


NOUNS = "dogs cats cups cars birds boats trees chairs books lamps pens hats".split()


@pytest.fixture
def made(tmp_path):
    pytest.importorskip("en_core_web_sm")

    def make(kind, answers, each):
        asked = [(noun, answer) for _ in range(each) for noun, answer in product(NOUNS, answers)]
        rows = [
            {"image": f"{number}.jpg", "question": f"How many {noun} are there?", "answer": str(answer)}
            for number, (noun, answer) in enumerate(asked)
        ]
        file = write_lines(tmp_path / "answers.jsonl", rows)
        assert main(["make", kind, "--from", str(file), "--out", str(tmp_path / "set"), "--seed", "71"]) == 0
        return read_lines(tmp_path / "set/why.jsonl")

    return make


@pytest.mark.parametrize("kind", ["counting-small", "counting-balanced"])
@pytest.mark.parametrize(("answers", "each"), [((0, 1, 1, 2, 2, 3), 10), ((1, 2, 3), 2), ((0, 1), 3)])
def test_each_number_is_as_often_in_captions_as_in_foils_and_none_is_lost(made, kind, answers, each):
    ways = Counter(tuple(row["classes"]) for row in made(kind, answers, each))
    captions, foils = Counter(), Counter()
    for (right, wrong), number in ways.items():
        captions[right] += number
        foils[wrong] += number
    assert set(captions) == set(map(str, answers))
    assert captions == foils


def test_equal_groups_do_not_put_the_same_number_for_each_number(made):
    ways = Counter(tuple(row["classes"]) for row in made("counting-small", (1, 2, 3), 2))
    assert len(ways) == 6  # with one draw for all nouns there are three: 1 for 2, 2 for 3, 3 for 1


def test_existence_keeps_the_singular_and_half_of_the_answers_from_zero(made, tmp_path):
    rows = made("existence", (0, 0, 0, 1, 2, 3), 3)
    classes = Counter(row["classes"][0] for row in rows)
    assert classes["0"] == classes["more"] >= 80
    texts = (tmp_path / "set/cases/existence.jsonl").read_text()
    assert texts.count('"caption": "There is ') >= 20

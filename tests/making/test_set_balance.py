"""The balance of captions and foils as in VALSE's Table 5, and the files and the cap of coreference."""

import json
import math
from pathlib import Path

import pytest

from vlgate.making.kinds.kind import Item
from vlgate.making.kinds.valse import COREFERENCE, WHOLE
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


@pytest.mark.parametrize(
    ("images", "files"),
    [
        (["VisualDialog_val2018_000000000001.jpg"], {"coreference-hard.json": 1}),
        (["COCO_train2014_000000000001.jpg", "1.jpg"], {"coreference-standard.json": 2}),
        (
            ["1.jpg", "VisualDialog_val2018_000000000001.jpg"],
            {"coreference-standard.json": 1, "coreference-hard.json": 1},
        ),
    ],
)
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

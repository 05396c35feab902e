"""Coreference in VALSE's format: VisDial's validation part is the clean instrument, other dialogs the standard one."""

import json

import pytest

from vlgate.making.kinds.kind import Item
from vlgate.making.kinds.valse import COREFERENCE, WHOLE
from vlgate.perturb.foils.candidates import Foil


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

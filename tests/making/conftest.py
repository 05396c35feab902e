"""A kind of data set that needs no parser: "left" for "right" in captions, and the other way round."""

import json
import sys
from pathlib import Path

import pytest

from vlgate.making.kinds.kind import Kind, Made
from vlgate.perturb.foils.candidates import Foil, Perturbed

sys.path.insert(0, str(Path(__file__).parents[1] / "models/support"))  # for the small checkpoints
OTHER = {"left": "right", "right": "left"}


def start(_):
    def make_some(inputs):
        for input_ in inputs:
            word = next((word for word in OTHER if word in input_.text.split()), None)
            foils = () if word is None else (foil(input_.text, word),)
            refused = () if foils else ("no left or right",)
            extra = tuple({"word": word} for _ in foils)
            yield Made(image=input_.image, origin=input_.origin, found=Perturbed.of(*foils, *refused), extra=extra)

    return make_some


def foil(text, word):
    other = text.replace(word, OTHER[word])
    return Foil(caption=text, foil=other, classes=(word, OTHER[word]), why=f"{word} is wrong", tags={"word": word})


def release(items):
    return {"sides/sides.json": json.dumps({item.id: item.extra["word"] for item in items})}


@pytest.fixture
def sides():
    """The kind; its captions are made by ``captions_file``."""
    return Kind(
        name="sides", sentence="left and right", takes=("captions",), shape="pair", start=start, release=release
    )


@pytest.fixture
def captions_file(tmp_path):
    """Write captions of so many images as JSON lines, left and right in turn; return the file."""

    def write(number=600, extra=()):
        names = [("cup", "dog", "tree", "car", "boy")[index // 7 % 5] for index in range(number)]
        texts = [f"a {name} is on the {('left', 'right')[index % 2]} of {index}." for index, name in enumerate(names)]
        rows = [{"image": f"{index}.jpg", "caption": text} for index, text in enumerate([*texts, *extra])]
        from builders import write_lines  # the programs of the tests import this file without it

        return write_lines(tmp_path / "captions.jsonl", rows)

    return write

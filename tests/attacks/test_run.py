"""The list of attacks against gates that are two lines long: what held, what is broken, and the exit status."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "attacks" / "run.py"
REFUSES = "import sys; sys.exit(1)"
PASSES = "pass"
LOOKS = """
import importlib, json, pathlib, sys

class Image:
    def __init__(self, file):
        self.key, self.file = file.name, file

    def load(self):
        from PIL import Image
        return Image.open(self.file)

class Pair:
    def __init__(self, image, text):
        self.image, self.text = image, text

model, data = sys.argv[1:]
module, _, name = model.partition(":")
model, data = getattr(importlib.import_module(module), name)(), pathlib.Path(data)
for record in json.loads((data / "valse/existence.json").read_text()).values():
    image = Image(data / "images/vg" / record["image_file"].replace("v7w_", ""))
    true, false = model.match([Pair(image, record["caption"]), Pair(image, record["foil"])])
    assert true > false
"""
"""A gate without vlgate and pytest: every caption must score above its foil."""


def attack(gate, *args):
    command = f"{sys.executable} -c '{gate}' {{model}} {{data}}"
    ended = subprocess.run(
        [sys.executable, RUN, "--gate", command, "--jobs=2", *args], capture_output=True, text=True, check=False
    )
    assert not ended.stderr
    return ended.returncode, ended.stdout.splitlines()


def rows(lines):
    return {line.split()[0]: line.split(None, 1)[1].split() for line in lines[1:-1]}


@pytest.mark.parametrize(("gate", "broken"), [(REFUSES, "good:plain"), (PASSES, "bad_numbers:one_nan")])
def test_a_gate_that_does_not_look_is_broken_in_one_half(gate, broken):
    status, lines = attack(gate, "--only=good:plain", "--only=bad_numbers:one_nan")
    assert status == 1
    found = rows(lines)
    assert [name for name, row in found.items() if "BROKEN:" in row] == [broken]
    assert lines[-1] == "1 of 2 attacks held, 1 broken"


def test_any_gate_that_looks_holds():
    names = [
        "good:plain",
        "good:single_precision",
        "bad_numbers:all_nan",
        "bad_raises:an_exception",
        "bad_exits:killed",
    ]
    status, lines = attack(LOOKS, *(f"--only={name}" for name in names))
    assert status == 0, lines
    assert {name: row[-1] for name, row in rows(lines).items()} == dict.fromkeys(names, "held")
    assert rows(lines)["bad_exits:killed"] == ["not", "0", "-9", "held"]


def test_a_gate_that_hangs_is_ended_and_broken():
    status, lines = attack("import time; time.sleep(60)", "--only=good:plain", "--seconds=0.5")
    assert status == 1
    assert rows(lines)["good:plain"][:3] == ["0", "ended", "BROKEN:"]


def test_the_list_names_every_attack_with_a_sentence():
    status, lines = attack(PASSES, "--list", "--hangs")
    assert status == 0
    assert len(lines) > 200
    assert any(line.startswith("bad_hangs:asleep") for line in lines)


def test_a_name_that_does_not_exist_is_an_error():
    status, lines = attack(PASSES, "--only=bad_numbers:one_nun")
    assert status == 2
    assert "no attack has such a name" in lines[0]

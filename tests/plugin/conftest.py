import json
from functools import cache
from importlib.resources import files
from shutil import rmtree

import pytest
from jsonschema import Draft202012Validator
from PIL import Image

RECORD = {
    "dataset": "visual7w",
    "original_split": "test",
    "linguistic_phenomena": "existence",
    "classes": 0,
    "classes_foil": [1],
    "provenance_of_foils": "zero_to_something",
    "mturk": {"caption": 3, "foil": 0, "other": 0},
}
GATE = '[gate."valse/*".acc_r]\nmin = 0.5\n'


class Workplace:
    """A user's folder with data, thresholds and a model, and the command to start the suite in it."""

    def __init__(self, pytester):
        self.pytester = pytester
        self.path = pytester.path

    def valse(self, n=40, images=True, file="existence.json", change=None):
        """Write n records, two per image; ``change`` edits record i in place."""
        records = {}
        for i in range(n):
            name = f"v7w_{100 + i // 2}.jpg"
            texts = {"caption": f"There are {i} dogs.", "foil": f"There are no {i} dogs."}
            record = records[f"record_{i}"] = {**RECORD, "image_file": name, **texts}
            if change is not None:
                change(i, record)
            if images:
                self.image(f"vg/{100 + i // 2}.jpg", (i * 5 % 256, 90, 40))
        folder = self.path / "data" / "valse"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(json.dumps(records))
        return folder / file

    def image(self, name, colour=(200, 10, 10)):
        file = self.path / "data" / "images" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (32, 24), colour).save(file)
        return file

    def thresholds(self, text=GATE, schema="schema = 1\n"):
        (self.path / "thresholds.toml").write_text(schema + text)

    def ready(self, gates=GATE, **records):
        self.valse(**records)
        self.thresholds(gates)

    def model(self, body, name="my_model"):
        """A module with ``build``; ``body`` is the inside of the class ``Model``."""
        inside = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
        source = f"import os, sys\nimport numpy as np\n\nclass Model:\n{inside}\n\ndef build():\n    return Model()\n"
        (self.path / f"{name}.py").write_text(source)
        rmtree(self.path / "__pycache__", ignore_errors=True)  # a source of the same second and length is another one
        return f"--model={name}:build"

    def matching(self, score="-float(len(pair.text))", first="pass", head="", name="my_model"):
        """A model with these scores of the pairs, by default right on every record of ``valse``.

        ``first``: statements at the beginning of each call; ``head``: attributes of the class.
        """
        return self.model(f"{head}\ndef match(self, pairs):\n    {first}\n    return [{score} for pair in pairs]", name)

    def run(
        self, *args, data=True, subprocess=False, overwrite=True, model="bag-of-words", ret=None, says="", error=""
    ):
        """Start the suite; ``model`` is for tests that name none, None for the default model.

        ``ret``: the exit status that it must have. ``says`` and ``error``: a line of its output, and of its errors.
        """
        where = ["--overwrite"] if overwrite else []
        where += ["--data=data"] if data else []
        start = self.pytester.runpytest_subprocess if subprocess else self.pytester.runpytest_inprocess
        named = any(str(arg).startswith("--model") for arg in args) or model is None
        where += [] if named else [f"--model={model}"]
        result = start("--pyargs", "tests_vl", "--results=out", *where, *args)
        assert ret is None or result.ret == ret
        result.stdout.fnmatch_lines([says] if says else [])
        result.stderr.fnmatch_lines([error] if error else [])
        return result

    def metrics(self, folder="out"):
        return self._valid("metrics", folder)

    def verdict(self, folder="out"):
        return self._valid("verdict", folder)

    def decisions(self, folder="out"):
        return {gate["gate"]: gate["decision"] for gate in self.metrics(folder)["gates"]}

    def _valid(self, name, folder):
        content = json.loads((self.path / folder / f"{name}.json").read_text())
        validator(name).validate(content)
        return content

    def task(self, name="valse/existence", folder="out"):
        return self.metrics(folder)["tasks"][name]


@cache
def validator(name):
    file = files("vlgate.record").joinpath(f"{name}.schema.json")
    return Draft202012Validator(json.loads(file.read_text("utf-8")))


@pytest.fixture
def place(pytester, monkeypatch):
    monkeypatch.delenv("VLGATE_DATA", raising=False)
    monkeypatch.delenv("CI", raising=False)  # there, a run without a judged gate fails
    monkeypatch.syspath_prepend(pytester.path)
    return Workplace(pytester)


@pytest.fixture
def data(place):
    """A place with 40 cases and a gate that a model passes which is right on them."""
    place.ready()
    return place


@pytest.fixture(params=[(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["serial", "xdist"])
def workers(request):
    """Whether a run is in one process or has workers."""
    return request.param


@pytest.fixture
def right(place):
    return place.matching(name="right_model")


@pytest.fixture
def wrong(place):
    return place.matching("float(len(pair.text))", name="wrong_model")

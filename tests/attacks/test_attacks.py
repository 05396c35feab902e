"""No bad model ends with status 0, whatever it does and however the suite is run, and no good one is called bad."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from attacks.catalogue import MODELS, models
from attacks.ways import BAD, GOOD, WAYS, Way

pytestmark = pytest.mark.slow
QUICK = Way(name="quick", about="many cases in one test", args=("--items=batch",))
REFUSED = {1, 2, 4}
"""A test or a gate failed, the run was interrupted, or there is no model: never an error of pytest itself."""


def named():
    """The models; all but the first of each kind in each module are slow."""
    first, params = set(), []
    for model in models():
        kind = (model.name.partition(":")[0], model.good, model.alone, model.hangs)
        params.append(pytest.param(model.name, marks=(pytest.mark.slow,) if kind in first else ()))
        first.add(kind)
    return params


@pytest.mark.parametrize("model", named())
def test_a_good_model_passes_and_a_bad_one_does_not(request, model):
    """A model that changes, ends or hangs its process has one of its own."""
    [spec] = [one for one in models() if one.name == model]
    run = request.getfixturevalue("alone" if spec.alone or spec.hangs else "inside")
    ended = run(model, replace(QUICK, args=(*QUICK.args, "--call-timeout=1")) if spec.hangs else QUICK)
    if spec.good:
        assert ended.status == 0, ended.output
    elif spec.alone or spec.hangs:
        assert ended.status not in {0, None}, ended.output
    else:
        assert ended.status in REFUSED, ended.output
        assert "INTERNALERROR" not in ended.output


def test_there_are_enough_models_and_ways_and_each_model_says_what_it_does():
    assert len([model for model in models() if not model.good]) >= 60
    assert len([model for model in models() if model.good]) >= 10
    assert [model.name for model in models() if not model.about.endswith(".")] == []
    assert len(WAYS) == len({way.name for way in WAYS}) >= 30


CONTROLS = """schema = 1

[defaults]
min_cases = 20

[gate."valse/existence".{figure}]
{limit}
basis = "value"
"""


@pytest.fixture
def controlled(inside, pytester):
    """The decision and reason of the gate on one figure of a control, and the exit status."""

    def run(model, control, figure, limit):
        file = pytester.path / "controls.toml"
        file.write_text(CONTROLS.format(figure=figure, limit=limit))
        args = ("--items=batch", "--suite=valse/existence", f"--controls={control}", f"--thresholds={file}")
        ended = inside(model, Way(name=control, about=control, args=args))
        assert "INTERNALERROR" not in ended.output
        gates = json.loads((ended.results / "metrics.json").read_text())["gates"]
        return ended.status, {gate["gate"]: (gate["decision"], gate["why"]) for gate in gates}

    return run


def test_the_name_of_a_perturbed_image_does_not_reach_the_model(pytester, monkeypatch):
    monkeypatch.syspath_prepend(MODELS)
    monkeypatch.setenv("CI", "true")
    args = ("--items=batch", "--health=off", "--suite=scenes/occlusion-dir", "--results=results")
    ended = pytester.runpytest_inprocess("--pyargs", "tests_vl", "--model=bad_names:perturbation", *args)
    assert ended.ret == 1
    ended.stdout.fnmatch_lines(["FAIL: *"])


@pytest.mark.parametrize("model", ["bad_names:noise", "bad_names:noise_of_the_original"])
@pytest.mark.parametrize(
    ("control", "figure", "limit"), [("delivery", "flip_rate", "max = 0.9"), ("look", "visual_gain", "min = -0.9")]
)
def test_a_model_that_goes_by_names_passes_no_gate_on_a_control(controlled, model, control, figure, limit):
    status, gates = controlled(model, control, figure, limit)
    assert status == 1
    decision, why = gates[f"valse/existence:{figure}"]
    if model == "bad_names:noise":
        assert gates["model:determinism"][0] == "inconclusive"
    else:
        assert decision == "inconclusive"
        assert "equal pictures in files of other names get other scores" in why


def test_a_model_that_sees_passes_them(controlled):
    status, gates = controlled("good:plain", "look", "visual_gain", "min = 0.1")
    assert (status, gates["valse/existence:visual_gain"][0]) == (0, "pass")


BY_ITSELF = {"no-capture", "no-terminal", "sets-status", "swallows", "conftest-ends"}
"""Ways that change how this process prints, or how it ends."""
LIKE_LOAD = ("loadfile", "loadscope", "loadgroup", "worksteal")
"""Ways to which a good model is the same as to --dist load; each takes three processes."""


@pytest.fixture
def run(request):
    """Run a model in a way: in this process, or in one of its own for workers and what an environment changes."""

    def start(model, way):
        alone = way.env or any(arg.startswith("-n") for arg in way.args) or way.name in BY_ITSELF
        return request.getfixturevalue("alone" if alone else "inside")(model, way)

    return start


SOME = {"keyword", "conftest-skips", "quick", "half-suite", "passes-all", "ends-status", "load", "images-cut"}
SOME |= {"no-gates"}
"""One way of each group; the others are slow."""


def ways(*left_out):
    slow = {name: () if name in SOME else (pytest.mark.slow,) for name in (way.name for way in WAYS)}
    shown = [pytest.param(way, id=way.name, marks=slow[way.name]) for way in WAYS if way.name not in left_out]
    return pytest.mark.parametrize("way", shown)


@ways()
def test_no_way_lets_a_bad_model_pass(run, way):
    ended = run(BAD, way)
    assert ended.status not in {0, None}, ended.output


@ways(*LIKE_LOAD)
def test_a_good_model_is_never_called_bad(run, failed, way):
    """It passes if everything was asked. If something was left out it does not pass, and no gate of a figure fails."""
    ended = run(GOOD, way)
    assert ended.status is not None
    if way.whole is not None:
        assert (ended.status == 0) == way.whole, ended.output
    assert [gate for gate in failed(ended.results) if gate.partition(":")[2] in {"acc_r", "acc"}] == []
    assert "INTERNALERROR" not in ended.output or "odd_plugin.py" in ended.output  # pytest says so of its plugins


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
    names = ["good:plain", "good:single_precision", "bad_numbers:all_nan", "bad_raises:an_exception"]
    names += ["bad_exits:killed"]
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

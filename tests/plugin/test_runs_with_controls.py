"""``--controls`` and ``--explain``: what is said before, which files have the figures, what gates decide."""

import json

import numpy as np
import pytest
from PIL import Image

from vlgate.cli import main
from vlgate.plugin.parse_options import controls_of

GAIN = '[gate."valse/*".visual_gain]\nmin = {}\n'
DARK = """
def match(self, pairs):
    return np.array([self.score(pair) for pair in pairs])

def score(self, pair):
    number = next(int(word) for word in pair.text.split() if word.isdigit())
    red = int(np.asarray(pair.image.load())[0, 0, 0])
    looks = abs(red - 5 * (number // 2 * 2 + 1)) <= 3  # the colour of its own image
    return float(" no " not in pair.text) if looks else float(hash_of(pair.text) % 2)
"""
RAISING = {
    "first": "if any(pair.image.key.startswith('uniform') for pair in pairs): raise RuntimeError('I see nothing')",
    "head": "image_names = True",
}


@pytest.fixture
def looking(place):
    """A model that is right with the image, and guesses by the text without it; a gate on the gain."""
    place.ready(GAIN.format(0.05))
    named = place.model(DARK, name="looking_model")
    file = place.path / "looking_model.py"
    file.write_text("import zlib\ndef hash_of(text): return zlib.crc32(text.encode())\n" + file.read_text())
    return named


def control(place):
    return place.task()["controls"]["look"]


def judge(place, file="thresholds.toml"):
    return main(["judge", str(place.path / "out"), "--thresholds", str(place.path / file)])


def gate(place):
    return place.decisions()["valse/existence:visual_gain"]


def test_a_gate_on_the_gain_is_judged_and_every_report_has_the_control(place, looking):
    result = place.run(looking, "--controls=look", "--controls-limit=36")
    said = [line for line in result.outlines if line.startswith("vlgate: the control look asks")]
    line = "vlgate: the control look asks up to 300 requests more, about 36 cases of 1 task, at most 36 of each"
    assert said == [line]
    found = control(place)
    assert (found["cases"], gate(place)) == (36, "pass")
    assert found["left_out"]["beyond --controls-limit 36"] == 4
    assert found["requests"] <= 300 - 12
    gain, image = found["figures"]["visual_gain"], found["figures"]["image"]
    assert (image["value"], image["n"], gain["difference"]) == (1.0, 36, True)
    assert gain["low"] > 0.05
    assert place.metrics()["controls"]["look"]["lacking"] == ""
    assert len(json.loads((place.path / "out/controls.json").read_text())["controls"]["look"]["tasks"]) == 1
    result.stdout.fnmatch_lines(["*= control look =*", "valse/existence *"])


def test_cases_without_their_image_are_neither_drawn_nor_shown(place, looking):
    for number in range(100, 113):
        (place.path / f"data/images/vg/{number}.jpg").unlink()
    place.run(looking, "--controls=look", "--controls-limit=10", "--missing-images=skip")
    found = control(place)
    assert found["cases"] == 10
    assert found["left_out"] == {"beyond --controls-limit 10": 4, "not judged in the run": 26}
    assert found["figures"]["other"]["n"] == 10


@pytest.mark.slow
def test_several_workers_find_the_same_and_the_time_of_a_control_is_said(place, looking):
    place.run(looking, "--controls=look", "--results=one", subprocess=True)
    place.run(looking, "--controls=look", "--results=two", "-n", "2", subprocess=True)
    assert place.metrics("one")["tasks"] == place.metrics("two")["tasks"]
    assert place.metrics("one")["gates"] == place.metrics("two")["gates"]
    assert place.task(folder="one")["controls"]["look"]["cases"] == 40
    place.ready(n=12)
    first = "Model.asked += len(pairs)\n    if Model.asked <= 12: __import__('time').sleep(0.1 * len(pairs))"
    result = place.run(place.matching(first=first, head="asked = 0"), "--controls=delivery")
    result.stdout.fnmatch_lines(["*about * min more for the * requests of the control delivery*"])


def test_a_model_that_reads_only_the_text_passes_a_negative_threshold_alone_which_says_so(place, right):
    place.ready(GAIN.format(0.2))
    row = next(line.split() for line in place.run(right).outlines if " visual_gain " in line and "existence" in line)
    assert row[row.index("visual_gain") :][1:4] == ["-", "-", "-"]  # not asked without --controls
    place.run(right, "--controls=look", ret=1)
    assert (control(place)["figures"]["visual_gain"]["value"], gate(place)) == (0.0, "fail")
    place.thresholds(GAIN.format(-0.2))
    result = place.run(right, "--controls=look", ret=0)
    assert gate(place) == "pass"
    says = "valse/existence:visual_gain: min = -0.2 is not above 0, what a model gains that does not look"
    result.stdout.fnmatch_lines([says])
    assert says in (place.path / "out/summary.md").read_text()


LOOK = ("controls", "look", "tasks", "valse/existence")
OTHER_FILES = [
    (("columns", "right"), [0] * 40),
    (("images",), ["one.jpg"] * 40),
    (("figures", "other"), None),
    ((), None),
    (("figures", "visual_gain", "before"), "nope"),
]


def test_a_run_is_judged_again_without_its_model_unless_the_file_of_controls_is_not_of_the_run(place, looking, capsys):
    place.run(looking, "--controls=look")
    (place.path / "again.toml").write_text(f"schema = 1\n{GAIN.format(0.99)}confidence = 0.9\n")
    assert (judge(place), judge(place, "again.toml")) == (0, 1)
    assert "fail: valse/existence:visual_gain: " in capsys.readouterr().out
    file = place.path / "out/controls.json"
    whole = file.read_text()
    before = json.loads(whole)["controls"]["look"]["tasks"]["valse/existence"]["figures"]["visual_gain"]["before"]
    for path, value in OTHER_FILES:
        content = inner = json.loads(whole)
        *keys, last = (*LOOK, *(before if key == "right" else key for key in path))
        for key in keys:
            inner = inner[key]
        inner.pop(last)
        inner |= {} if value is None else {last: value}
        file.write_text(json.dumps(content))
        capsys.readouterr()
        assert judge(place) == 4
        said = capsys.readouterr().err
        assert "controls.json" in said
        assert ("metrics.json" in said and "name a folder whose files are of one run" in said) == (value != "nope")
    content = json.loads(whole)
    content["controls"]["delivery"] = content["controls"]["look"]
    file.write_text(json.dumps(content))
    assert judge(place) == 4


def test_which_controls_are_asked_by_default():
    assert controls_of([], model="tiny-lxmert", scenes=True) == ("look",)
    assert controls_of([], model="tiny-lxmert", scenes=False) == ()
    assert controls_of([], model="tiny-clip", scenes=True) == ()
    assert controls_of(["look", "look"], model="oracle", scenes=False) == ("look",)


FLIPS = '[gate."valse/*".flip_rate]\nmax = {}\n'
CANARIES = "if any('alone' in pair.image.key for pair in pairs): raise RuntimeError('no canaries')"


@pytest.mark.parametrize(
    ("first", "why"),
    [
        ("pass", "within max = 0.2, but answers that do not depend on the picture survive every change"),
        (CANARIES, "but not all of the control delivery was asked: the model raised RuntimeError: no canaries"),
    ],
    ids=["does not look", "evades the canaries"],
)
def test_a_gate_on_flips_does_not_pass_a_model_that_does_not_look(place, capsys, first, why):
    place.ready(FLIPS.format(0.2))
    model = place.matching("float(len(pair.text))", first, "image_names = True", name="blind_model")
    result = place.run(model, "--controls=delivery", "--controls-limit=36")
    [found] = place.metrics()["gates"]
    assert (result.ret, found["value"], found["decision"]) == (1, 0.0, "inconclusive")
    assert why in found["why"]
    assert judge(place) == 1
    assert why in " ".join(capsys.readouterr().out.split())


def test_a_model_that_raises_ends_the_control_and_not_the_run_and_its_gate_says_so(place):
    place.ready(GAIN.format(0.05))
    result = place.run(place.matching(**RAISING), "--controls=look")
    assert place.metrics()["controls"]["look"]["lacking"] == "the model raised RuntimeError: I see nothing"
    assert place.metrics()["complete"]
    result.stdout.fnmatch_lines(["not all was asked: the model raised RuntimeError: I see nothing"])
    [found] = [metric for metric in place.metrics()["gates"] if metric["gate"] == "valse/existence:visual_gain"]
    assert (result.ret, found["decision"]) == (1, "inconclusive")
    assert found["why"] == (
        "the control look has no visual_gain of this task, because the model raised RuntimeError: I see nothing; "
        "correct the model, and ask again"
    )


BODY = """
image_names = True

def match(self, pairs):
    with open({log!r}, "a") as log:
        log.writelines(f"{{pair.image.key}} {{pair.text}}\\n" for pair in pairs)
    return np.array([self.score(pair) for pair in pairs])

def score(self, pair):
    length = len(pair.text.split()) - 1.0 * (" no " in pair.text) - 5.0 * ("7" not in pair.text)
    length += 0.01 * self.number(pair.text)
    dark = float(np.asarray(pair.image.load())[:4, :4].mean() < 40)
    return dark + length * (-1 if " no " in pair.text else 1)

def number(self, text):
    return sum(int(word) for word in text.split() if word.isdigit())
"""


@pytest.fixture
def body(place):
    """The inside of a model that keeps a log, in a place with 12 cases about images of noise."""
    place.ready(n=12)
    chance = np.random.default_rng(0)
    for file in (place.path / "data/images/vg").iterdir():
        Image.fromarray(chance.integers(0, 255, (48, 64, 3)).astype(np.uint8)).save(file)
    return BODY.format(log=str(place.path / "log.txt"))


@pytest.fixture
def logging(place, body):
    return place.model(body, name="some_model")


def explanations(place):
    return {file.name: file.read_bytes() for file in sorted((place.path / "out/explanations").iterdir())}


def asked(place):
    return (place.path / "log.txt").read_text().splitlines()


@pytest.mark.slow
def test_the_worst_missed_cases_are_explained_alike_with_workers_and_the_cost_is_said_before(place, logging):
    result = place.run(logging)
    assert not (place.path / "out/explanations").exists()
    assert not [line for line in result.outlines if line.startswith("explaining ")]
    before = len(asked(place))
    result = place.run(logging, "--explain=2")
    said = [line for line in result.outlines if line.startswith("explaining ")]
    found = json.loads(explanations(place)["index.json"])["explanations"]
    assert len(said) == 1
    assert said[0].startswith("explaining 2 missed cases of 1 task with ")
    known = 2 * 2  # the requests of the two cases themselves were asked before
    assert len(asked(place)) - 2 * before == int(said[0].split()[-2].replace(",", "")) - known
    assert len(found) == 2
    assert [one["case"] for one in found] == ["record_0", "record_1"]
    assert found[0]["margin"] < found[1]["margin"] < 0
    for one in found:
        assert {finding["method"] for finding in one["findings"]} >= {"hide windows", "leave words out"}
        assert all((place.path / "out/explanations" / shown["file"]).is_file() for shown in one["pictures"])
    result.stdout.fnmatch_lines(["*= why cases were missed =*", f"valse/existence:{found[0]['case']}: *"])
    place.run(logging, "--explain=1")
    alone = explanations(place)
    place.run(logging, "--explain=1", "-n", "2")
    assert explanations(place) == alone
    assert len(alone) > 1


def test_the_explanations_of_an_earlier_run_are_refused_or_removed(place, logging):
    place.run(logging, "--explain=1")
    (place.path / "out/metrics.json").unlink()
    for name in ("report.html", "cases.parquet", "predictions.parquet", "summary.md", "environment.json"):
        (place.path / "out" / name).unlink()
    (place.path / "out/explanations/mine.txt").write_text("kept")
    place.run(logging, overwrite=False, ret=4)
    place.run(logging)
    assert list(explanations(place)) == ["mine.txt"]


def test_a_model_that_fails_in_the_explanations_costs_nothing_else_and_ctrl_c_no_figures(place, body):
    failing = body.replace("dark =", "assert '#' not in pair.image.key\n    dark =")
    result = place.run(place.model(failing, name="failing_model"), "--explain=1")
    result.stdout.fnmatch_lines(["not all were explained: the model raised *"])
    assert place.metrics()["complete"]
    stopped = body.replace("dark =", "exec('raise KeyboardInterrupt' if '#' in pair.image.key else '')\n    dark =")
    place.run(place.model(stopped, name="stopped_model"), "--explain=1", ret=2)
    figures = place.metrics()
    assert not figures["complete"]
    assert "the run was interrupted" in figures["why"]
    assert figures["tasks"]["valse/existence"]["judged"] == 12

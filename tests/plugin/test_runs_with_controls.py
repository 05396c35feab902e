"""``--controls``: what is said before, which files have the figures, what gates decide, and what is refused."""

import json

import pytest

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
    """A model that is right with the image, and guesses by the text without it."""
    place.valse(n=40)
    named = place.model(DARK, name="looking_model")
    file = place.path / "looking_model.py"
    file.write_text("import zlib\ndef hash_of(text): return zlib.crc32(text.encode())\n" + file.read_text())
    return named


def control(place, folder="out"):
    return place.task(folder=folder)["controls"]["look"]


def gate(place, folder="out"):
    return {metric["gate"]: metric["decision"] for metric in place.metrics(folder)["gates"]}[
        "valse/existence:visual_gain"
    ]


def test_a_gate_on_the_gain_is_judged_and_every_report_has_the_control(place, looking):
    place.thresholds(GAIN.format(0.05))
    result = place.run(looking, "--controls=look", "--controls-limit=36")
    said = [line for line in result.outlines if line.startswith("vlgate: the control look asks")]
    assert said == [
        "vlgate: the control look asks up to 300 requests more, about 36 cases of 1 task, at most 36 of each"
    ]
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
    place.thresholds(GAIN.format(0.05))
    for number in range(100, 113):
        (place.path / f"data/images/vg/{number}.jpg").unlink()
    place.run(looking, "--controls=look", "--controls-limit=10", "--missing-images=skip")
    found = control(place)
    assert found["cases"] == 10
    assert found["left_out"] == {"beyond --controls-limit 10": 4, "not judged in the run": 26}
    assert found["figures"]["other"]["n"] == 10


@pytest.mark.slow
def test_several_workers_find_the_same(place, looking):
    place.thresholds(GAIN.format(0.05))
    place.run(looking, "--controls=look", "--results=one", subprocess=True)
    place.run(looking, "--controls=look", "--results=two", "-n", "2", subprocess=True)
    assert place.metrics("one")["tasks"] == place.metrics("two")["tasks"]
    assert place.metrics("one")["gates"] == place.metrics("two")["gates"]
    assert control(place, "one")["cases"] == 40


def test_a_model_that_reads_only_the_text_does_not_pass(place, right):
    place.ready(GAIN.format(0.2), n=40)
    result = place.run(right, "--controls=look")
    assert control(place)["figures"]["visual_gain"]["value"] == 0.0
    assert gate(place) == "fail"
    assert result.ret == 1


def test_a_run_is_judged_again_without_its_model(place, looking, capsys):
    from vlgate.cli import main

    place.thresholds(GAIN.format(0.05))
    place.run(looking, "--controls=look")
    for least, outcome in (("0.05", "pass"), ("0.99", "fail")):
        (place.path / "again.toml").write_text(f"schema = 1\n{GAIN.format(least)}confidence = 0.9\n")
        capsys.readouterr()
        main(["judge", str(place.path / "out"), "--thresholds", str(place.path / "again.toml"), "--json"])
        judged = json.loads(capsys.readouterr().out)["gates"]
        assert [one["decision"] for one in judged] == [outcome]
    (place.path / "out/controls.json").write_text("{}")
    assert main(["judge", str(place.path / "out"), "--thresholds", str(place.path / "again.toml")]) == 4


def test_a_control_that_was_not_asked_is_about_no_case(place, right):
    place.ready(GAIN.format(0.1), n=40)
    result = place.run(right)
    [row] = [line.split() for line in result.outlines if line.startswith("foil ") and "visual_gain" in line]
    assert row[2:6] == ["visual_gain", "-", "-", "-"]


def test_a_negative_threshold_passes_and_says_that_it_asks_for_nothing(place, right):
    place.ready(GAIN.format(-0.2), n=40)
    result = place.run(right, "--controls=look")
    assert (result.ret, gate(place)) == (0, "pass")
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


def test_a_file_of_controls_that_is_not_of_the_run_is_refused(place, looking, capsys):
    from vlgate.cli import main

    place.thresholds(GAIN.format(0.05))
    place.run(looking, "--controls=look")
    file = place.path / "out/controls.json"
    judge = ["judge", str(place.path / "out"), "--thresholds", str(place.path / "thresholds.toml")]
    whole = file.read_text()
    assert main(judge) == 0
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
        assert main(judge) == 4
        said = capsys.readouterr().err
        assert "controls.json" in said
        assert ("metrics.json" in said and "name a folder whose files are of one run" in said) == (value != "nope")
    content = json.loads(whole)
    content["controls"]["delivery"] = content["controls"]["look"]
    file.write_text(json.dumps(content))
    assert main(judge) == 4


def test_a_model_that_raises_ends_the_control_and_not_the_run(place):
    place.ready(n=8)
    result = place.run(place.matching(**RAISING), "--controls=look")
    assert place.metrics()["controls"]["look"]["lacking"] == "the model raised RuntimeError: I see nothing"
    assert place.metrics()["complete"]
    result.stdout.fnmatch_lines(["not all was asked: the model raised RuntimeError: I see nothing"])


def test_which_controls_are_asked_by_default():
    from vlgate.plugin.parse_options import controls_of

    assert controls_of([], model="tiny-lxmert", scenes=True) == ("look",)
    assert controls_of([], model="tiny-lxmert", scenes=False) == ()
    assert controls_of([], model="tiny-clip", scenes=True) == ()
    assert controls_of(["look", "look"], model="oracle", scenes=False) == ("look",)


FLIPS = '[gate."valse/*".flip_rate]\nmax = {}\n'


def test_a_gate_on_flips_does_not_pass_a_model_that_does_not_look(place, capsys):
    place.ready(FLIPS.format(0.2), n=40)
    result = place.run(
        place.matching("float(len(pair.text))", name="blind_model"), "--controls=delivery", "--controls-limit=36"
    )
    [found] = place.metrics()["gates"]
    assert (result.ret, found["value"], found["decision"]) == (1, 0.0, "inconclusive")
    assert "within max = 0.2, but answers that do not depend on the picture survive every change" in found["why"]
    from vlgate.cli import main

    assert main(["judge", str(place.path / "out"), "--thresholds", str(place.path / "thresholds.toml")]) == 1
    assert "answers that do not depend on the picture" in " ".join(capsys.readouterr().out.split())


def test_a_gate_on_flips_does_not_pass_without_the_canaries(place):
    place.ready(FLIPS.format(0.2), n=40)
    body = """
image_names = True

def match(self, pairs):
    if any("alone" in pair.image.key for pair in pairs):  # as the canaries are named
        raise RuntimeError("no canaries")
    return np.array([float(len(pair.text)) for pair in pairs])
"""
    result = place.run(place.model(body, name="evading_model"), "--controls=delivery", "--controls-limit=36")
    [found] = place.metrics()["gates"]
    assert (result.ret, found["value"], found["decision"]) == (1, 0.0, "inconclusive")
    assert "but not all of the control delivery was asked: the model raised RuntimeError: no canaries" in found["why"]


def test_a_gate_says_that_the_model_raised_in_its_control(place):
    place.ready(GAIN.format(0.05), n=40)
    result = place.run(place.matching(**RAISING), "--controls=look")
    [found] = [metric for metric in place.metrics()["gates"] if metric["gate"] == "valse/existence:visual_gain"]
    assert (result.ret, found["decision"]) == (1, "inconclusive")
    assert found["why"] == (
        "the control look has no visual_gain of this task, because the model raised RuntimeError: I see nothing; "
        "correct the model, and ask again"
    )


@pytest.mark.slow
def test_the_time_of_a_control_is_said_for_a_short_run_too(place):
    place.ready(n=12)
    body = """
def match(self, pairs):
    import time
    if Model.asked < 12:  # as many as are measured; the test need not wait for the others
        time.sleep(0.1 * len(pairs))
    Model.asked += len(pairs)
    return np.array([float(len(pair.text)) for pair in pairs])

asked = 0
"""
    result = place.run(place.model(body, name="slow_model"), "--controls=delivery")
    result.stdout.fnmatch_lines(["*about * min more for the * requests of the control delivery*"])

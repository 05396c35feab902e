"""A run, its files, ``merge``, ``judge``, ``compare``, ``baseline`` and ``report`` give one verdict."""

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from vlgate.cli import main

N = 40
MODEL = """
import os
from vlgate.errors import NoReplyError

class Model:
    fingerprint = "{name}"

    def match(self, pairs):
        numbers = [int(pair.text.split()[1]) for pair in pairs]
        if "{name}" == "silent":
            lost = [at for at, pair in enumerate(pairs) if "blue" in pair.text and numbers[at] == 3]
            if lost:
                raise NoReplyError(lost, "no answer")
        if "{name}" == "unchecked" and any(
            pair.image.load().getpixel((0, 0))[0] != number for pair, number in zip(pairs, numbers)
        ):
            raise ValueError("only asked so in a check")
        return [float(("not" in pair.text) == (number % 4 == 0)) for pair, number in zip(pairs, numbers)]

def build():
    return Model()
"""
GATE = '[gate."mine/red".acc_r]\n'
THRESHOLDS = {
    "pass": GATE + "min = 0.5\n",
    "fail": GATE + "min = 0.95\n",
    "inconclusive": GATE + "min = 0.75\n",
    "none": "",
    "limit": '[limit."mine/red".acc_r]\nmax = 0.99\n',
}
COMPARED = GATE + "max_broken = 3\n"
NEIGHBOURS = {
    "neighbour": "def test_neighbour(): assert False",
    "first": "def test_first(): assert False",
    "ctrl_c": "def test_stop(): raise KeyboardInterrupt",
    "crash": "import os\ndef test_crash(): os.abort()",
}
AS_GATED = {name: name for name in THRESHOLDS} | {"none": "not gated", "limit": "not gated"}
RUNS = {
    "plain": ((), AS_GATED),
    "two workers": (("-n2",), AS_GATED),
    "neighbour": (("test_neighbour.py",), dict.fromkeys(THRESHOLDS, "fail")),
    "neighbour, two workers": (("test_neighbour.py", "-n2"), dict.fromkeys(THRESHOLDS, "fail")),
    "quick": (("--quick",), AS_GATED | {"pass": "inconclusive"}),
    "shard": (("--shard=1/2",), dict.fromkeys(THRESHOLDS, "incomplete")),
    "stopped": (("--maxfail=1", "test_first.py"), dict.fromkeys(THRESHOLDS, "incomplete")),
    "interrupted": (("test_ctrl_c.py",), dict.fromkeys(THRESHOLDS, "incomplete")),
    "crashed worker": (("test_crash.py", "-n2"), dict.fromkeys(THRESHOLDS, "broken")),
    "unscored": (("--model=silent:build",), dict.fromkeys(THRESHOLDS, "broken")),
    "failed check": (("--model=unchecked:build",), dict.fromkeys(THRESHOLDS, "broken")),
}
"""Arguments of each run, and the verdict with each thresholds file."""
SLOW = {"two workers", "neighbour, two workers", "crashed worker"}
MADE = [
    (run, gates)
    for run in RUNS
    for gates in THRESHOLDS
    if gates == "pass" or (run not in SLOW and (gates == "none" or run in {"plain", "neighbour", "quick"}))
]
"""The runs that are made: with all thresholds only those that are quick, and whose verdict depends on them."""
QUICK = [("plain", "pass"), ("plain", "fail"), ("plain", "none"), ("neighbour", "pass"), ("unscored", "pass")]


def slowly(points):
    """The points of a table, those that are not about a quick run marked as slow."""
    return [point if point[:2] in QUICK else pytest.param(*point, marks=pytest.mark.slow) for point in points]


RELEASABLE = {"pass": 0, "not gated": 0}


class Place:
    """A folder with data, models, thresholds and neighbour tests, in which each run is made once."""

    def __init__(self, path):
        self.path = path
        self.made = {}
        images = path / "data" / "images"
        images.mkdir(parents=True)
        lines = []
        for number in range(N):
            Image.new("RGB", (8, 8), (number, 90, 40)).save(images / f"{number}.png")
            lines += [case("mine/red", number, "red")] + ([case("mine/blue", number, "blue")] if number < 8 else [])
        (path / "data" / "cases.jsonl").write_text("\n".join(lines))
        for name in ("good", "silent", "unchecked"):
            (path / f"{name}.py").write_text(MODEL.format(name=name))
        for name, text in NEIGHBOURS.items():
            (path / f"test_{name}.py").write_text(text)
        for name, text in {**THRESHOLDS, "compared": COMPARED}.items():
            self.gates(name).write_text(f"schema = 1\n{text}")
        script = Path(__file__).with_name("one_verdict_runs.py")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("VLGATE_", "PYTEST_"))}
        self.runner = subprocess.Popen(
            [sys.executable, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**kept, "OMP_NUM_THREADS": "1", "VLGATE_CACHE": "off", "PYTHONPATH": str(path)},
        )

    def gates(self, name):
        return self.path / f"{name}.toml"

    def run(self, run, gates, *more):
        """The results folder of a run, which is made on first use; its exit status is in the file ``status``."""
        name = "-".join([run.replace(", ", "-").replace(" ", "-"), gates, *(one.strip("-=") for one in more)])
        name, arguments = name.replace("/", "of"), RUNS[run][0]
        if name not in self.made:
            args = ["--results", name, "--thresholds", f"{gates}.toml", "--data=data", "--health=off"]
            args += [] if any(argument.startswith("--model") for argument in arguments) else ["--model=good:build"]
            args += ["-p", "no:cacheprovider", f"--alluredir={name}-allure", f"--junitxml={name}.xml"]
            neighbours = [argument for argument in arguments if argument.endswith(".py")]
            tests = ["--pyargs", *neighbours, "tests_vl"] if run == "stopped" else ["--pyargs", "tests_vl", *neighbours]
            options = [argument for argument in arguments if argument not in neighbours]
            output = str(self.path / f"{name}.txt")
            job = {"folder": str(self.path), "args": [*tests, *options, *args, *more], "output": output}
            self.runner.stdin.write(json.dumps(job) + "\n")
            self.runner.stdin.flush()
            self.made[name] = int(self.runner.stdout.readline())
        return self.path / name, self.made[name]


def case(task, number, colour):
    texts = {"caption": f"thing {number} is {colour}", "foil": f"thing {number} is not {colour}"}
    return json.dumps({"task": task, "id": str(number), "image": f"images/{number}.png", **texts})


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    found = Place(tmp_path_factory.mktemp("one_verdict"))
    yield found
    found.runner.communicate()


def verdict(folder):
    return json.loads((folder / "verdict.json").read_text())


def first_words(folder):
    return re.search("<h1>(.*?)</h1>", (folder / "report.html").read_text(encoding="utf-8"))[1]


PAGE = {
    "pass": "This release may ship",
    "not gated": "No gate was judged, so nothing says whether this release may ship",
}
SUMMARY = {"pass": "gates pass", "not gated": "no gate was judged"}
COLOURS = {"pass": "brightgreen", "fail": "red", "inconclusive": "yellow"}
ALLURE = {"pass": "passed", "not gated": "skipped"}


def said_by(folder, name):
    """What the files of a run, its terminal, Allure and JUnit say: the verdict as each of them words it."""
    text = (folder.parent / f"{folder.name}.txt").read_text()
    results = [json.loads(file.read_text()) for file in (folder.parent / f"{name}-allure").glob("*-result.json")]
    [whole] = [result["status"] for result in results if result["name"].startswith("results of ")]
    suite = ET.parse(folder.parent / f"{name}.xml").getroot()
    badge = json.loads((folder / "badge.json").read_text())
    return {
        "terminal": re.search(r"^([A-Z ]+): \S+ may|^([A-Z ]+): nothing", text, re.MULTILINE)[0].partition(":")[0],
        "page": first_words(folder).partition(":")[0].removesuffix("."),
        "badge": (badge["color"], badge["message"].partition(",")[0]),
        "summary": (folder / "summary.md").read_text().partition("\n")[0].rpartition(": ")[2].partition(",")[0],
        "allure": whole,
        "junit": [one.get("value") for one in suite.iter("property") if one.get("name") == "vlgate.verdict"],
    }


def expected_of(word, gates):
    stopped = {"fail": "gates do not pass", "inconclusive": "gates do not pass", "broken": "broken"}
    summary = SUMMARY.get(word) or stopped.get(word, "incomplete")
    if word == "fail" and AS_GATED[gates] not in {"fail", "inconclusive"}:
        summary = "a test that is not a gate fails"
    return {
        "terminal": word.upper(),
        "page": PAGE.get(word, "This release may not ship"),
        "badge": (COLOURS.get(word, "lightgrey"), word),
        "summary": summary,
        "allure": ALLURE.get(word, "failed"),
        "junit": [word],
    }


@pytest.mark.slow
@pytest.mark.parametrize(("run", "gates"), slowly(MADE))
def test_the_exit_status_and_all_files_of_a_run_say_the_same(place, run, gates):
    folder, status = place.run(run, gates)
    word = RUNS[run][1][gates]
    assert verdict(folder)["verdict"] == word
    assert (verdict(folder)["status"] == 0) == (word == "pass")
    assert (status == 0) == (word in RELEASABLE or run == "shard")
    if status:
        assert verdict(folder)["status"] == status
    assert said_by(folder, folder.name) == expected_of(word, gates)


@pytest.mark.parametrize(("run", "gates"), slowly(MADE))
def test_the_page_written_again_says_the_same_and_only_a_pass_is_a_baseline(place, run, gates, tmp_path, capsys):
    folder = shutil.copytree(place.run(run, gates)[0], tmp_path / "run")
    before, word = first_words(folder), RUNS[run][1][gates]
    assert main(["report", str(folder)]) == 0
    assert first_words(folder) == before
    assert main(["baseline", str(folder), f"--out={tmp_path / 'kept'}"]) == (0 if word == "pass" else 4)
    assert capsys.readouterr().err.startswith("" if word == "pass" else f"vlgate baseline {folder}: ")
    assert (tmp_path / "kept").exists() == (word == "pass")


@pytest.mark.parametrize(
    "gates", ["pass", *(pytest.param(name, marks=pytest.mark.slow) for name in THRESHOLDS if name != "pass")]
)
@pytest.mark.parametrize(("run", "own"), slowly((run, own) for run, own in MADE if own in {"pass", "none"}))
def test_a_run_judged_again_is_the_run_with_that_file(place, run, own, gates, tmp_path, capsys):
    folder, _ = place.run(run, own)
    command = ["judge", str(folder), f"--thresholds={place.gates(gates)}", f"--results={tmp_path / 'again'}"]
    status = main([*command, "--no-require-gates", "--json"])
    word = RUNS[run][1][gates]
    assert (status == 0) == (word in RELEASABLE)
    assert json.loads(capsys.readouterr().out)["passed"] == (status == 0)
    again = tmp_path / "again"
    assert verdict(again)["verdict"] == word
    assert first_words(again).startswith(PAGE.get(word, "This release may not ship"))
    if (run, gates) in MADE and run != "shard":  # a part judges no gate, and says so in its own file
        live = place.run(run, gates)[0]
        assert (again / "verdict.json").read_bytes() == (live / "verdict.json").read_bytes()
    assert main(["judge", str(folder), f"--thresholds={place.gates(gates)}"]) == int(word != "pass")


MERGED = {"plain": (), "neighbour": ("test_neighbour.py",), "quick": (), "unscored": ()}


@pytest.mark.parametrize(("run", "gates"), slowly(product(MERGED, THRESHOLDS)))
def test_parts_that_are_joined_are_the_run(place, run, gates, tmp_path, capsys):
    parts = [str(place.run(run, "pass", f"--shard={number}/2")[0]) for number in (1, 2)]
    to = tmp_path / "joined"
    status = main(["merge", *parts, f"--thresholds={place.gates(gates)}", f"--results={to}"])
    word = RUNS[run][1][gates]
    assert verdict(to)["verdict"] == word
    assert (status == 0) == (word in RELEASABLE)
    assert capsys.readouterr().out.startswith(f"{word.upper()}: ")
    assert first_words(to).startswith(PAGE.get(word, "This release may not ship"))
    assert json.loads((to / "badge.json").read_text())["color"] == COLOURS.get(word, "lightgrey")
    if (run, gates) in MADE:
        assert (to / "verdict.json").read_bytes() == (place.run(run, gates)[0] / "verdict.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_gates_on_a_comparison_pass_only_a_run_that_may_pass(place, run, capsys):
    before, later = place.run("quick" if run == "quick" else "plain", "pass")[0], place.run(run, "pass")[0]
    arguments = ["compare", str(before), str(later)]
    whole = RUNS[run][1]["pass"] != "incomplete" and run not in {"crashed worker", "failed check"}
    assert main(arguments) == (0 if whole else 4)
    passes = run in {"plain", "two workers"}
    gated = f"--thresholds={place.gates('compared')}"
    assert main([*arguments, gated]) == ((0 if passes else 1) if whole else 4)
    capsys.readouterr()


@pytest.mark.slow
def test_a_drop_that_a_quick_run_could_not_show_is_judged_as_in_the_run(place, capsys):
    place.gates("drop").write_text(f"schema = 1\n{GATE}max_drop = 0.02\n")
    folder, status = place.run("quick", "drop")
    assert (status, verdict(folder)["verdict"]) == (1, "inconclusive")
    judge = ["judge", str(place.run("quick", "pass")[0]), f"--thresholds={place.gates('drop')}"]
    assert main(judge) == 1
    parts = [str(place.run("quick", "pass", f"--shard={number}/2")[0]) for number in (1, 2)]
    assert main(["merge", *parts, f"--thresholds={place.gates('drop')}", f"--results={place.path / 'dropped'}"]) == 1
    whole = str(place.run("plain", "pass")[0])
    assert main(["judge", whole, f"--thresholds={place.gates('drop')}"]) == 4
    assert "max_drop = 0.02 cannot be shown by 40 cases" in capsys.readouterr().err

"""The suite's own cost per case: generated cases like VALSE's, models that take no time, ``--items batch``.

For each number of cases and each model, one that scores and one that says yes or no too, it prints microseconds of CPU
time per case for the whole command (start, read, ask, judge, gate, write), and peak memory. CPU time says more than
the clock on a machine with other work, and the ratio to parsing the file's JSON compares machines. ``--against TREE``
runs another checkout in turn with this one and prints the ratios of the least times. ``--own`` writes the same cases
in the format of a user's own, ``cases.jsonl``. Microseconds depend on the machine: c346710 took 44 us per case for a
model that scores on the machine of the goals, so that beside it the 60 us of a model that says yes or no too are 60/44
of its cost, on any machine::

    python benchmarks/suite_cost.py --cases 100000 200000 --runs 3 --against ../older-checkout
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from run_all import Row

CASES = 100_000
GOALS = {"free_model:build": 30, "free_model:build_classifier": 60}
"""Microseconds per case at 200,000 cases, by model."""

MEASURED = 44
"""Microseconds per case of commit c346710 for a model that scores, on the machine of the goals."""

WORDS = [
    "dog",
    "cat",
    "man",
    "woman",
    "child",
    "car",
    "tree",
    "house",
    "field",
    "street",
    "ball",
    "red",
    "green",
    "two",
]

FREE = """
import numpy as np

class Free:
    def match(self, pairs):
        return np.arange(len(pairs), dtype=np.float64) % 7

class FreeClassifier(Free):
    def accepts(self, pairs):
        return np.arange(len(pairs), dtype=np.float64) % 2

def build():
    return Free()

def build_classifier():
    return FreeClassifier()
"""


def main() -> None:
    """Generate, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, nargs="+", default=[CASES], help="numbers of cases")
    parser.add_argument("--runs", type=int, default=1, help="how often each is run; the least time counts")
    parser.add_argument("--against", type=Path, help="another checkout of vlgate, to compare with")
    parser.add_argument("--own", action="store_true", help="the cases in cases.jsonl, instead of VALSE's format")
    given = parser.parse_args()
    trees = [Path(__file__).resolve().parent.parent, *([given.against.resolve()] if given.against else [])]
    for cases in given.cases:
        with tempfile.TemporaryDirectory() as name:
            for line in measured(Path(name), cases, trees, given.runs, own=given.own):
                print(f"suite_cost: {line}", flush=True)


def measured(folder: Path, cases: int, trees: list[Path], runs: int, *, own: bool) -> Iterator[str]:
    """Yield lines that say what some cases cost in each of the trees, in turn."""
    file = as_own_cases(generate(folder, cases)) if own else generate(folder, cases)
    parse = parse_seconds(file)
    yield f"{cases:,} cases; parsing their JSON alone takes {parse / cases * 1e6:.1f} us per case"
    for tree in trees:
        run(folder, tree, "free_model:build", "--collect-only")  # writes Python's bytecode
    scores = 0.0  # seconds of the other tree for the model that scores
    for model, goal in GOALS.items():
        found = [[run(folder, tree, model) for tree in trees] for _ in range(runs)]
        seconds = [min(some) for some in zip(*([one[0] for one in turn] for turn in found), strict=True)]
        here = seconds[0]
        yield f"{model}: {here / cases * 1e6:.1f} us per case, goal {goal} at 200,000; {here / parse:.1f} x the parsing"
        said = f"{', cases.jsonl' if own else ''}, {'a yes too' if 'classifier' in model else 'scores'}"
        what = f"own cost of {cases:,} cases{said}"
        print(Row(what=f"{what}, against parsing their JSON, in CPU time", ratio=here / parse))
        if cases >= CASES:
            print(Row(what=f"{what}, against {goal} us per case", ratio=here / cases * 1e6 / goal, bar=1, most=True))
        yield f"{model}: peak memory {max(turn[0][1] for turn in found):,.0f} MB"
        if len(trees) > 1:
            yield f"{model}: {here / seconds[1]:.2f} x the time of {trees[1]}"
            scores = scores or seconds[1]
            bar = 1 if scores == seconds[1] else goal / MEASURED
            print(Row(what=f"{what}, against {trees[1].name}, scores", ratio=here / scores, bar=bar, most=True))


def parse_seconds(file: Path) -> float:
    """Return the least CPU seconds of three that parsing a JSON file takes."""
    found = []
    for _ in range(3):
        start = process_time()
        if file.suffix == ".jsonl":
            _ = [json.loads(line) for line in file.read_text().splitlines()]
        else:
            json.loads(file.read_text())
        found.append(process_time() - start)
    return min(found)


def generate(folder: Path, cases: int) -> Path:
    """Write records in the format of VALSE's existence file, two per image."""
    random.seed(0)
    records = {}
    for index in range(cases):
        words = random.choices(WORDS, k=9)
        caption = " ".join(words)
        words[random.randrange(9)] = "no"
        records[f"existence_{index}"] = {
            "dataset": "visual7w",
            "original_split": "test",
            "linguistic_phenomena": "existence",
            "image_file": f"v7w_{index // 2}.jpg",
            "caption": f"There is {caption}.",
            "foil": f"There is {' '.join(words)}.",
            "classes": 0,
            "classes_foil": [1, 2],
            "provenance_of_foils": ("zero_to_something", "something_to_zero")[index % 2],
            "mturk": {"foil": 0, "caption": 3, "other": 0},
        }
    target = folder / "data/valse/existence.json"
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(records))
    (folder / "free_model.py").write_text(FREE)
    return target


def as_own_cases(file: Path) -> Path:
    """Write the cases of a generated file as a user would, into the data folder, and remove the file."""
    target = file.parent.parent / "cases.jsonl"
    with target.open("w") as lines:
        for name, record in json.loads(file.read_text()).items():
            tags = {"provenance": record["provenance_of_foils"], "dataset": record["dataset"]}
            case = {"task": "mine/existence", "id": name, "image": record["image_file"], "tags": tags}
            lines.write(json.dumps(case | {"caption": record["caption"], "foil": record["foil"]}) + "\n")
    shutil.rmtree(file.parent)
    return target


def run(folder: Path, tree: Path, model: str, *more: str) -> tuple[float, float]:
    """Start the suite of a checkout as a user would; return the CPU seconds of the process and its peak megabytes."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    options = [f"--model={model}", "--data=data", "--items=batch", "--missing-images=skip", "--results=out", "-q"]
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", *options, *more]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(tree)
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        _, _, used = os.wait4(process.pid, 0)
    if not more and not (folder / "out/metrics.json").is_file():
        raise SystemExit(f"{tree} wrote no figures:\n{(folder / 'log.txt').read_text()}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()

"""The suite's own cost per case: 100,000 generated cases like VALSE's, a model that takes no time, ``--items batch``.

Prints microseconds per case for the whole command (collect, ask, judge, gate, write), peak memory and, to compare
machines, the ratio to the time of parsing the file's JSON.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

CASES = 100_000
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

def build():
    return Free()
"""


def main() -> None:
    """Generate, run, print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = generate(folder)
        parse = timed(lambda: json.loads(file.read_text()))
        run(folder, "--collect-only")  # Python writes its bytecode on the first run after an install
        start = perf_counter()
        done = run(folder)
        seconds = perf_counter() - start
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        found = json.loads((folder / "out/metrics.json").read_text())["tasks"]["valse/existence"]["judged"]
    print(f"suite_cost: {found:,} cases judged, exit status {done.returncode}")
    print(f"suite_cost: {seconds / CASES * 1e6:.1f} us per case in all ({seconds:.2f} s), bar 50")
    print(f"suite_cost: peak memory {memory:.0f} MB, bar 1,000")
    print(f"suite_cost: {seconds / parse:.1f} x the cost of parsing the file's JSON alone ({parse:.2f} s)")


def generate(folder: Path) -> Path:
    """Write 100,000 records in the format of VALSE's existence file, two per image."""
    random.seed(0)
    records = {}
    for place in range(CASES):
        words = random.choices(WORDS, k=9)
        caption = " ".join(words)
        words[random.randrange(9)] = "no"
        records[f"existence_{place}"] = {
            "dataset": "visual7w",
            "original_split": "test",
            "linguistic_phenomena": "existence",
            "image_file": f"v7w_{place // 2}.jpg",
            "caption": f"There is {caption}.",
            "foil": f"There is {' '.join(words)}.",
            "classes": 0,
            "classes_foil": [1, 2],
            "provenance_of_foils": ("zero_to_something", "something_to_zero")[place % 2],
            "mturk": {"foil": 0, "caption": 3, "other": 0},
        }
    target = folder / "data/valse/existence.json"
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(records))
    (folder / "free_model.py").write_text(FREE)
    return target


def run(folder: Path, *more: str) -> subprocess.CompletedProcess[bytes]:
    """Start the suite as a user would."""
    options = [
        "--model=free_model:build",
        "--data=data",
        "--items=batch",
        "--missing-images=skip",
        "--results=out",
        "--overwrite",
        "-q",
        *more,
    ]
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", *options]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


def timed(call: object) -> float:
    """The seconds that a call takes, the best of three."""
    found = []
    for _ in range(3):
        start = perf_counter()
        call()  # type: ignore[operator]
        found.append(perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    main()

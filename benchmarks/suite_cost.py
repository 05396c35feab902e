"""The suite's own cost: what a case adds to a run whose model takes no time, in CPU time and in memory.

The cases are generated, in the format of VALSE's existence file and as a user's own ``cases.jsonl``. A run of 100 cases
is the start, and is taken off. The CPU time of a case is divided by that of parsing its JSON, which compares machines;
its memory is what the process held at most, without the texts as Python holds them.
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
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import process_time

from run_all import Row

START = 100  # cases
PARSINGS, BYTES = 25, 500
"""The bars of a case: its CPU time in parsings of its JSON, its memory beyond its texts."""

LEAST = 100_000  # cases that the bars are about: in fewer, the report takes more than they do

WORDS = "dog cat man woman child car tree house field street ball red green two".split()

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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, nargs="+", default=[LEAST], help="numbers of cases")
    parser.add_argument("--runs", type=int, default=1, help="how often each is run; the least counts")
    given = parser.parse_args()
    for cases in given.cases:
        for own in (False, True):
            with tempfile.TemporaryDirectory() as name:
                measure(Path(name), cases, given.runs, own=own)


def measure(folder: Path, cases: int, runs: int, *, own: bool) -> None:
    """Print what a case costs."""
    few, many = folder / "few", folder / "many"
    # In a process of its own: the peak of a command is at least what this process holds when it starts it.
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
        for place, number in ((few, START), (many, cases)):
            file = apart.submit(generate, place, number).result()
            file = apart.submit(as_own_cases, file).result() if own else file
        parse, texts = apart.submit(parsing, file).result()
    run(few)  # writes Python's bytecode
    (start, at_start), (seconds, peak) = (
        map(min, zip(*(run(place) for _ in range(runs)), strict=True)) for place in (few, many)
    )
    what = f"{cases:,} cases, {'cases.jsonl' if own else 'as VALSE'}"
    each, held = (seconds - start) / (cases - START), (peak - at_start) / (cases - START) - texts
    print(f"suite_cost: {what}: {each * 1e6:.1f} us per case, {held:.0f} B beyond its texts ({texts:.0f} B)")
    for row, found, bar in (
        (f"own cost of {what}, against parsing their JSON", each / parse, PARSINGS),
        (f"memory of {what}, beyond their texts, in B per case", held, BYTES),
    ):
        print(Row(what=row, ratio=found, bar=bar if cases >= LEAST else None, most=True))


def parsing(file: Path) -> tuple[float, float]:
    """Return the CPU seconds that parsing takes, the least of three, and the bytes of the two texts, both of a case."""
    found = []
    for _ in range(3):
        start = process_time()
        if file.suffix == ".jsonl":
            records = [json.loads(line) for line in file.read_text().splitlines()]
        else:
            records = list(json.loads(file.read_text()).values())
        found.append(process_time() - start)
    texts = sum(sys.getsizeof(record[name]) for record in records for name in ("caption", "foil"))
    return min(found) / len(records), texts / len(records)


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


def run(folder: Path) -> tuple[float, float]:
    """Start the suite as a user would; return the CPU seconds of the process and the bytes that it held at most."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    options = [
        "--model=free_model:build",
        "--data=data",
        "--items=batch",
        "--missing-images=skip",
        "--results=out",
        "-q",
    ]
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", *options]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        _, _, used = os.wait4(process.pid, 0)
    if not (folder / "out/metrics.json").is_file():
        raise SystemExit(f"no figures were written:\n{(folder / 'log.txt').read_text()}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


if __name__ == "__main__":
    main()

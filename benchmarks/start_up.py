"""``pytest --collect-only -q`` and ``pytest --help``: seconds, and whether torch was imported.

They are compared with the import of numpy, pytest and hypothesis in the same run, without data and with a folder of
400,000 cases.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from run_all import Row
from suite_cost import generate

BAR, BAR_OF_DATA = 2.5, 10.0
CASES = 400_000
STARTS = 5
IMPORTS = "import sys, numpy, pytest, hypothesis; print('torch' in sys.modules, file=sys.stderr)"
PROBE = "import sys, pytest; pytest.main(sys.argv[1:]); print('torch' in sys.modules, file=sys.stderr)"
COLLECT = ("--pyargs", "tests_vl", "--collect-only", "-q")


def main() -> None:
    """Start each some times in turn, print the median, and the ratio to the bare imports in the same run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="cases of the data folder")
    parser.add_argument("--starts", type=int, default=STARTS, help="how often each is started; the median counts")
    given = parser.parse_args()
    data = f"a data folder of {given.cases:,} cases"
    ways = {
        "the imports": (IMPORTS, ()),
        "pytest --collect-only": (PROBE, COLLECT),
        "pytest --help": (PROBE, ("--help",)),
        data: (PROBE, (*COLLECT, "--model=bag-of-words", "--data=data", "--missing-images=skip")),
    }
    found: dict[str, list[float]] = {what: [] for what in ways}
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTHONDONTWRITEBYTECODE"}}
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as full:
        generate(Path(full), given.cases)
        for number in range(given.starts + 1):
            for what, (program, arguments) in ways.items():
                seconds, torch = start(program, arguments, full if what == data else empty, environment)
                found[what] += [seconds] if number else []  # the first start writes Python's bytecode
                if torch != "False":
                    print(f"start_up: {what}: torch imported: {torch}")
    bare = median(found.pop("the imports"))
    for what, some in found.items():
        bar = BAR_OF_DATA if what == data else BAR
        print(f"start_up: {what}: {median(some):.2f} s, the imports {bare:.2f} s")
        print(Row(what=f"start-up: {what} against the imports", ratio=median(some) / bare, bar=bar, most=True))


def start(program: str, args: tuple[str, ...], folder: str, environment: dict[str, str]) -> tuple[float, str]:
    """The seconds of one start, and whether it imported torch."""
    begin = perf_counter()
    command = [sys.executable, "-c", program, *args]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return perf_counter() - begin, done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    main()

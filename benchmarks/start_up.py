"""``pytest --collect-only -q``, ``pytest --help`` and small runs: CPU seconds, and whether torch was imported.

They are compared with the import of numpy, pytest and hypothesis in the same run: without data, with a folder of
400,000 cases, and as a run of 100 cases by a model that needs no torch.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from run_all import Row
from suite_cost import generate

BAR, BAR_OF_RUN, BAR_OF_DATA = 2.5, 5.0, 10.0
CASES, FEW = 400_000, 100
STARTS = 3
IMPORTS = "import sys, numpy, pytest, hypothesis; print('torch' in sys.modules, file=sys.stderr)"
PROBE = "import sys, pytest; pytest.main(sys.argv[1:]); print('torch' in sys.modules, file=sys.stderr)"
COLLECT = ("--pyargs", "tests_vl", "--collect-only", "-q")


def main() -> None:
    """Start each some times in turn, print the least, and the ratio to the bare imports in the same run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="cases of the data folder")
    parser.add_argument("--starts", type=int, default=STARTS, help="how often each is started; the least counts")
    given = parser.parse_args()
    data, few = f"a data folder of {given.cases:,} cases", f"a run of {FEW} cases"
    asked = ("--data=data", "--missing-images=skip")
    running = ("--pyargs", "tests_vl", "-q", "--model=free_model:build", "--results=out", "--overwrite", *asked)
    ways = {
        "the imports": (IMPORTS, (), None),
        "pytest --collect-only": (PROBE, COLLECT, BAR),
        "pytest --help": (PROBE, ("--help",), BAR),
        few: (PROBE, running, BAR_OF_RUN),
        data: (PROBE, (*COLLECT, "--model=bag-of-words", *asked), BAR_OF_DATA),
    }
    found: dict[str, list[float]] = {what: [] for what in ways}
    with tempfile.TemporaryDirectory() as name:
        folders = {what: Path(name, str(number)) for number, what in enumerate(ways)}
        for what, folder in folders.items():
            folder.mkdir()
            if what in {data, few}:
                generate(folder, given.cases if what == data else FEW)
        for number in range(given.starts + 1):
            for what, (program, arguments, _) in ways.items():
                seconds, torch = start(program, arguments, folders[what])
                found[what] += [seconds] if number else []  # the first start writes Python's bytecode
                if torch != "False":
                    print(f"start_up: {what}: torch imported: {torch}")
    bare = min(found["the imports"])
    for what, (_, _, bar) in ways.items():
        if bar:
            print(f"start_up: {what}: {min(found[what]):.2f} CPU seconds, the imports {bare:.2f}")
            row = f"start-up: {what} against the imports, in CPU time"
            print(Row(what=row, ratio=min(found[what]) / bare, bar=bar, most=True))


def start(program: str, args: tuple[str, ...], folder: Path) -> tuple[float, str]:
    """The CPU seconds of one start, and whether it imported torch."""
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTHONDONTWRITEBYTECODE"}}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", program, *args]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    main()
